"""The terms of a shop and its items, by day.

Settings change by events, each with a first day. On a day, a setting has the value of the last written event that
names it and whose first day has come. Settings of ``items.csv`` hold from the beginning. What an item does not say
comes from the shop, as it is on that day.
"""

import bisect
import functools
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from driftmdp.inventory.terms import ItemTerms, Settings, ShopTerms, Value, merged

SHOP = ""  # stands for the shop among the names of items
SUPPLIER = "\0"  # begins the names of suppliers there. No item's name can have it
BEGINNING = 0  # the first day of settings that always held
NO_SETTINGS: dict[str, Any] = {}
_as_text = json.JSONEncoder(sort_keys=True).encode


class TermsTimeline:
    """Settings by item and day.

    Parameters
    ----------
    shop
        The terms that the shop was made with.

    Attributes
    ----------
    own
        Settings of items and suppliers from the beginning, up to the first event with a day. Items without any are
        left out. The name of a supplier begins with SUPPLIER.
    dated
        Later events of items, suppliers and, under an empty name, of the shop: first day and settings, as they were
        written.
    days
        The first days of all events but BEGINNING, increasing.
    longest_lead
        The longest lead time that was ever set.
    """

    def __init__(self, shop: ShopTerms) -> None:
        self._shop = shop
        self.own: dict[str, dict[str, Any]] = {}
        self.dated: dict[str, list[tuple[int, Settings]]] = {}
        self.days: list[int] = []
        self.longest_lead = shop.lead_time
        self._terms: dict[tuple[tuple[int, ...], str, str], ItemTerms] = {}
        self._shop_after = functools.cache(self._shop_with)

    def add(self, name: str, first_day: int, values: Settings) -> None:
        """Add an event."""
        if first_day == BEGINNING and name not in self.dated and name != SHOP:
            self.own[name] = merged(self.own.get(name, {}), values)
        else:
            self.dated.setdefault(name, []).append((first_day, dict(values)))
        place = bisect.bisect_left(self.days, first_day)
        if first_day != BEGINNING and first_day not in self.days[place : place + 1]:
            self.days.insert(place, first_day)
        self.longest_lead = max(self.longest_lead, values.get("lead_time") or 0)

    def part(self, day: int) -> int:
        """Return the number of the part of time that a day is in. Terms do not change within a part."""
        return bisect.bisect_right(self.days, day)

    def days_from(self, first_day: int) -> list[int]:
        """Return a day, and the later ones on which something changes."""
        return [first_day, *self.days[self.part(first_day) :]]

    def own_on(self, sku: str, day: int) -> dict[str, Any]:
        """Return an item's own settings on a day."""
        found = self.own.get(sku, NO_SETTINGS)
        for first_day, values in self.dated.get(sku, ()):
            if first_day <= day:
                found = merged(found, values)
        return found

    def shop_on(self, day: int) -> ShopTerms:
        """Return the shop's terms on a day."""
        return self._shop_after(self._events_until(day))

    def terms_on(self, sku: str, day: int) -> ItemTerms:
        """Return an item's terms on a day. Items with the same settings share them."""
        return self.terms_with(self.own_on(sku, day), day)

    def terms_with(self, own: Settings, day: int) -> ItemTerms:
        """Return the terms of an item with some settings of its own on a day."""
        return self._terms_maker(day)(own)

    def terms_of(self, skus: Iterable[str], day: int) -> list[ItemTerms]:
        """Return the terms of many items on a day."""
        terms_with = self._terms_maker(day)
        return [terms_with(self.own_on(sku, day)) for sku in skus]

    def _terms_maker(self, day: int) -> Callable[[Settings], ItemTerms]:
        """Return a function from settings of an item's own to its terms on a day."""
        events = self._events_until(day)
        shop = self._shop_after(events)
        suppliers: dict[str, tuple[dict[str, Any], str]] = {}

        def terms_with(own: Settings) -> ItemTerms:
            name = own.get("supplier", shop.supplier)
            if name not in suppliers:
                settings = self.own_on(SUPPLIER + name, day)
                suppliers[name] = settings, _as_text(settings)
            settings, text = suppliers[name]
            key = events, _as_text(own) if own else "", text
            if key not in self._terms:
                self._terms[key] = shop.for_item(own, settings)
            return self._terms[key]

        return terms_with

    def suppliers_on(self, day: int) -> dict[str, dict[str, Any]]:
        """Return the suppliers' settings on a day, by name."""
        keys = [name for name in {**self.own, **self.dated} if name.startswith(SUPPLIER)]
        return {key.removeprefix(SUPPLIER): self.own_on(key, day) for key in keys}

    def supplier_names(self) -> set[str]:
        """Return the suppliers that are named on any day."""
        events = [*self.own.values(), *(values for each in self.dated.values() for _, values in each)]
        named = {values.get("supplier") for values in events} | {self._shop.supplier}
        return {name for name in named if name} | self.suppliers_on(BEGINNING).keys()

    def rename(self, old: str, new: str) -> None:
        """Give an item's settings to another name, in place of those that it had."""
        self.remove(new)
        _move(self.own, old, new)
        _move(self.dated, old, new)

    def remove(self, name: str) -> None:
        """Drop the settings of a name."""
        self.own.pop(name, None)
        self.dated.pop(name, None)

    def copy(self) -> "TermsTimeline":
        """Return the same timeline, to try changes on."""
        found = TermsTimeline(self._shop)
        found.own, found.days, found.longest_lead = dict(self.own), list(self.days), self.longest_lead
        found.dated = {name: list(events) for name, events in self.dated.items()}
        return found

    def as_json(self) -> dict[str, Any]:
        """Return what ``restore`` takes."""
        return {"own": self.own, "dated": self.dated, "days": self.days, "longest_lead": self.longest_lead}

    def restore(self, found: Settings) -> None:
        """Take over what ``as_json`` returned."""
        self.own, self.days, self.longest_lead = found["own"], found["days"], found["longest_lead"]
        self.dated = {name: [(day, values) for day, values in events] for name, events in found["dated"].items()}

    def _events_until(self, day: int) -> tuple[int, ...]:
        """Return the places of the shop's events whose day has come."""
        events = self.dated.get(SHOP)
        return tuple(place for place, (first, _) in enumerate(events) if first <= day) if events else ()

    def _shop_with(self, events: Sequence[int]) -> ShopTerms:
        found = self._shop
        for place in events:
            found = found.changed(self.dated[SHOP][place][1])
        return found


def _move(kept: dict[str, Value], old: str, new: str) -> None:
    if old in kept:
        kept[new] = kept.pop(old)

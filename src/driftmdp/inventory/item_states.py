"""The state of a shop, computed from its event log: items, their terms, their last days, what is learned."""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import log_entries as entries
from driftmdp.inventory.array_bytes import joined_bytes, parts_of_bytes
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.delivery_ledger import WAITED, DeliveryLedger
from driftmdp.inventory.event_log import EventBatch, EventLog
from driftmdp.inventory.last_days import LAST_DAY, evening, no_days, read_last_days
from driftmdp.inventory.learned_demand import Checkpoint, LearnedDemand
from driftmdp.inventory.log_entries import (
    ADVICE,
    ALWAYS,
    CALENDAR,
    DECIDED,
    EVERY_DAY,
    ITEMS,
    MERGED,
    RECEIVED,
    RENAMED,
    SALES,
    TERMS,
    UNKNOWN,
    WITHDRAWN,
    Columns,
)
from driftmdp.inventory.order_engine import OrderEngine
from driftmdp.inventory.periods import days
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.terms import ItemTerms, Settings, ShopTerms, merged
from driftmdp.inventory.terms_timeline import BEGINNING, SHOP, SUPPLIER, TermsTimeline
from driftmdp.kernels.arrays import Longs

SNAPSHOT_VERSION = 7
LEARNED_FROM = ("group", "period", "capacity", "closed_days")  # terms that change what is learned
GROWTH = 1.5  # of the array, when it is full


class ItemStates:
    """All items of a shop, by number.

    Parameters
    ----------
    shop
        The shop's terms.
    forecaster
        A plug-in of the engine, or None.

    Attributes
    ----------
    numbers, skus, terms
        The number of each name, then names and terms by number. The terms are those of the day of ``move_to``.
    former, merged
        The numbers of names that items had before, which ``numbers`` has too, and the numbers of items that were
        merged into others, with those of the others. A merged item keeps its place, without records.
    timeline
        Settings by item and day. Items that were never sold or counted may have some.
    calendar
        The special days.
    demand
        What is learned of the demand.
    deliveries
        Orders and deliveries of the items of which deliveries are told.
    last
        Each item's last day. The array may be longer than there are items. Days count from 0001-01-01. ``stock``
        was counted in the morning, ``sales`` are UNKNOWN until they are recorded, and ``evening`` is what was
        then left.
    last_batch
        The number of the last batch that was applied.
    """

    def __init__(self, shop: ShopTerms, forecaster: str | None = None) -> None:
        self.shop, self._forecaster = shop, forecaster
        self.timeline = TermsTimeline(shop)
        self._day = BEGINNING  # whose terms these are
        self.numbers: dict[str, int] = {}
        self.skus: list[str] = []
        self.terms: list[ItemTerms] = []
        self.former: dict[str, int] = {}
        self.merged: dict[int, int] = {}
        self.calendar = SpecialDays()
        self.demand = LearnedDemand(forecaster)
        self.deliveries = DeliveryLedger(shop.lead_time)
        self.last = no_days(0)
        self.last_batch = 0
        self.is_unsaved = False  # more was learned than the snapshot has

    def add_items(self, skus: Sequence[str]) -> None:
        """Append new items."""
        terms = self.timeline.terms_of(skus, self._day)
        self.numbers.update((sku, len(self.skus) + place) for place, sku in enumerate(skus))
        self.skus += skus
        self.terms += terms
        self.demand.add_items(skus, terms)
        have, need = self.last.size, len(self.skus)
        if need > have:
            self.last = np.concatenate([self.last, no_days(max(need, int(GROWTH * have)) - have)])

    @property
    def present_skus(self) -> list[str]:
        """The names of the items that were not merged into others."""
        return [sku for item, sku in enumerate(self.skus) if item not in self.merged] if self.merged else self.skus

    def present_name(self, sku: str) -> str:
        """Return the name that an item has now. Names of no item stay as they are."""
        return self.skus[self.former[sku]] if sku in self.former else sku

    def parts_of(self, item: int) -> list[int]:
        """Return the numbers of an item and of those that were merged into it."""
        return [item, *(gone for gone, stays in self.merged.items() if stays == item)]

    def move_to(self, day: int) -> None:
        """Let the terms be those of a day."""
        before, self._day = self._day, day
        if self.timeline.part(before) != self.timeline.part(day):
            self._renew_terms(self.timeline.dated)

    def _renew_terms(self, names: Iterable[str]) -> None:
        """Give items of some names the terms of the day, or all items if the shop or a supplier is among them."""
        found = set(names)
        is_shared = any(name == SHOP or name.startswith(SUPPLIER) for name in found)
        skus = self.present_skus if is_shared else list(found & self.numbers.keys())
        changed: dict[int, ItemTerms] = {}
        for sku, terms in zip(skus, self.timeline.terms_of(skus, self._day), strict=True):
            item = self.numbers[sku]
            if terms is not self.terms[item]:
                self.terms[item] = changed[item] = terms
        self.engine.set_terms(changed)

    def terms_on(self, item: int, day: int) -> ItemTerms:
        """Return an item's terms on a day."""
        is_now = self.timeline.part(day) == self.timeline.part(self._day)
        return self.terms[item] if is_now else self.timeline.terms_on(self.skus[item], day)

    def check_settings(self, sku: str, given: Settings) -> None:
        """Refuse settings that do not fit the shop's, or the item's records."""
        for day in self.timeline.days_from(BEGINNING):
            own, shop = merged(self.timeline.own_on(sku, day), given), self.timeline.shop_on(day)
            terms = self.timeline.terms_with({"pack": 1} | own if shop.chooses_packs else own, day)
        item = self.numbers.get(sku)
        if item is not None and self.terms[item].period != terms.period and self.last["day"][item] != UNKNOWN:
            rule = f"{sku} must keep its period, a {self.terms[item].period}, as it has records"
            raise InvalidInputError(f"{rule}; got {terms.period}. Give the item a new name.")

    # ---- from the log

    def catch_up(self, log: EventLog, use_snapshot: bool = True) -> None:
        """Apply the batches that were not applied yet, only while the log is read or written."""
        snapshot = log.load_snapshot() if use_snapshot and self.last_batch == 0 else None
        if snapshot is not None:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # only a cache: the batches have it all
                self._restore(*snapshot)
        self.is_unsaved |= self.last_batch == 0 and log.number > 0
        for batch in log.batches(after=self.last_batch):
            self._apply_batch(log, batch)
        self.relearn(log)

    def _apply_batch(self, log: EventLog, batch: EventBatch) -> None:
        header, columns = entries.unpack(batch.kind, batch.content)
        if batch.kind == ITEMS:
            self._apply_settings(header["items"])
        elif batch.kind == CALENDAR:
            self._apply_calendar(header["days"], header.get("gone", ()))
        elif batch.kind == TERMS:
            self._apply_settings([(name, header["values"]) for name in header["names"]], header["from"])
        elif batch.kind == RENAMED:
            self._apply_name(header["old"], header["new"])
        elif batch.kind == MERGED:
            self._apply_merge(log, int(columns["item"][0]), int(columns["into"][0]), header["from"])
        else:
            self._add_from_header(header["new"])
            self._apply(log, batch.kind, date.fromisoformat(batch.day).toordinal(), columns)
        self.last_batch += 1

    def _add_from_header(self, new: Sequence[Any]) -> None:
        """Add a batch's new items. Earlier versions wrote the units in a lot beside the name."""
        for item in new:
            if not isinstance(item, str):
                self.timeline.own[item[0]] = {"pack": item[1]}
        self.add_items([item if isinstance(item, str) else item[0] for item in new])

    def append(self, log: EventLog, kind: str, day: int, columns: Columns, new: Sequence[str]) -> None:
        """Add a batch of rows to the log and apply it. The ``new`` items were added already."""
        order = np.argsort(columns["item"], kind="stable")
        ordered = {name: np.asarray(column)[order] for name, column in columns.items()}
        log.append(kind, date.fromordinal(day).isoformat(), entries.pack({"new": list(new)}, ordered))
        self._apply(log, kind, day, ordered)
        self.last_batch += 1
        self.is_unsaved |= kind != DECIDED

    def append_settings(self, log: EventLog, given: Mapping[str, Settings]) -> int:
        """Add items' own settings to the log and apply them; return how many were new."""
        news = [(sku, dict(values)) for sku, values in given.items() if self.is_new(sku, BEGINNING, values)]
        if news:
            log.append(ITEMS, ALWAYS, entries.pack({"items": news}))
            self._apply_settings(news)
            self.last_batch += 1
        return len(news)

    def append_terms(self, log: EventLog, names: Sequence[str], first_day: int, values: Settings) -> int:
        """Add settings from a day on to the log and apply them. Return how many names changed."""
        news = [name for name in names if self.is_new(name, first_day, values)]
        if news:
            log.append(TERMS, ALWAYS, entries.pack({"from": first_day, "names": news, "values": dict(values)}))
            self._apply_settings([(name, values) for name in news], first_day)
            self.last_batch += 1
        return len(news)

    def is_new(self, name: str, first_day: int, values: Settings) -> bool:
        """Return whether settings change something, on any day from the first on."""
        days = self.timeline.days_from(first_day)
        if name == SHOP:
            shops = (self.timeline.shop_on(day) for day in days)
            return any(shop.changed(values) != shop for shop in shops)
        owns = (self.timeline.own_on(name, day) for day in days)
        return any(merged(own, values) != own for own in owns)

    def append_calendar(self, log: EventLog, lines: Iterable[SpecialDay], gone: Iterable[SpecialDay] = ()) -> int:
        """Add special days to the log, and others that are taken back; return how many were new."""
        known = set(self.calendar.lines)
        news = [list(line) for line in lines if line not in known]
        taken = [list(line) for line in gone if line in known]
        if news or taken:
            log.append(CALENDAR, ALWAYS, entries.pack({"days": news} | ({"gone": taken} if taken else {})))
            self._apply_calendar(news, taken)
            self.last_batch += 1
        return len(news) + len(taken)

    def append_name(self, log: EventLog, old: str, new: str) -> None:
        """Add an item's new name to the log and apply it."""
        log.append(RENAMED, ALWAYS, entries.pack({"old": old, "new": new}))
        self._apply_name(old, new)
        self.last_batch += 1

    def append_merge(self, log: EventLog, item: int, into: int, first_sold: int | None) -> None:
        """Add to the log that two items are one, and apply it. ``first_sold`` is the first day with sales of it."""
        pair = {"item": np.array([item]), "into": np.array([into])}
        log.append(MERGED, EVERY_DAY, entries.pack({"from": first_sold}, pair))
        self._apply_merge(log, item, into, first_sold)
        self.last_batch += 1

    def _apply_name(self, old: str, new: str) -> None:
        item = self.numbers[old]
        for gone in self.merged:  # no two items have one name, so a merged one takes over the old name
            if self.skus[gone] == new:
                self.skus[gone] = old
                self.engine.rename(gone, old)
        self.former.pop(new, None)
        self.former[old] = self.numbers[new] = item
        self.skus[item] = new
        self.timeline.rename(old, new)
        self.engine.rename(item, new)
        named = {line.sku for line in self.calendar.lines}
        if old in named:
            self.calendar = self.calendar.renamed(old, new)
            self.engine.set_calendar(self.calendar.lines)
        if new in named:  # special days that were about nothing until now
            self.demand.change_past()

    def _apply_merge(self, log: EventLog, item: int, into: int, first_sold: int | None) -> None:
        days = self.timeline.days_from(BEGINNING)
        before = [self.timeline.terms_on(self.skus[item], day) for day in days]
        self.timeline.remove(self.skus[item])
        for day, terms in zip(days, before, strict=True):
            self._compare(day, terms, self.timeline.terms_on(self.skus[item], day))
        self._give_up(item)
        self.former.update((name, into) for name, number in self.numbers.items() if number == item)
        self.numbers.update(self.former)
        self.merged = {gone: into if stays == item else stays for gone, stays in self.merged.items()} | {item: into}
        self.last[item] = no_days(1)[0]  # asked of the log, it would be read to its beginning
        stays = np.array([into], np.int64)
        self.last[stays] = read_last_days(log, stays, self.shop.lead_time, self.last_batch + 1)
        self.deliveries.merge(log, item, into, int(self.steps(stays)[0]), self.last_batch + 1)
        if first_sold is not None:
            self.demand.change_past(first_sold)

    def _give_up(self, item: int) -> None:
        """Let a merged item be one that is never ordered: it has no share of what its supplier's items share."""
        terms = replace(self.timeline.terms_on(self.skus[item], self._day), is_discontinued=True)
        self.terms[item] = terms
        self.engine.set_terms({item: terms})

    def _apply_settings(self, rows: Iterable[tuple[str, Settings]], first_day: int = BEGINNING) -> None:
        for name, given in rows:
            is_known, days = name in self.numbers, self.timeline.days_from(first_day)
            before = [self.timeline.terms_on(name, day) for day in days] if is_known else []
            self.timeline.add(name, first_day, given)
            for day, terms in zip(days, before, strict=False):
                self._compare(day, terms, self.timeline.terms_on(name, day))
            if name == SHOP and given.keys() & {*LEARNED_FROM, "pack"}:
                self.demand.change_past(first_day)
            self._renew_terms([name])

    def _compare(self, day: int, before: ItemTerms, after: ItemTerms) -> None:
        """Learn again from a day on, if what is learned then depends on terms that changed."""
        if any(getattr(before, name) != getattr(after, name) for name in LEARNED_FROM):
            self.demand.change_past(day)

    def _apply_calendar(self, rows: Sequence[Sequence[Any]], gone: Sequence[Sequence[Any]] = ()) -> None:
        self.calendar = self.calendar.without(SpecialDay(*row) for row in gone)
        self.calendar = self.calendar.with_lines(SpecialDay(*row) for row in rows)
        self.engine.set_calendar(self.calendar.lines)
        self.demand.change_past()

    def _apply(self, log: EventLog, kind: str, day: int, columns: Columns) -> None:
        """Apply rows, whose new items were added already."""
        if kind == RECEIVED:
            back = self.steps(columns["item"].astype(np.int64)) * (self.timeline.longest_lead + WAITED)
            self.deliveries.receive(log, day, columns, back, self.last_batch + 1)
            return
        self.deliveries.apply(kind, day, columns)
        if kind == WITHDRAWN:
            self._apply_withdrawn(log, day, columns)
        elif kind == DECIDED:
            last, items = self.last, columns["item"]
            last["day"][items], last["stock"][items] = day, columns["stock"]
            last["sales"][items] = last["evening"][items] = UNKNOWN
        else:
            self._apply_sales(day, entries.sold_columns(columns, self.shop.lead_time))

    def _apply_withdrawn(self, log: EventLog, day: int, columns: Columns) -> None:
        """Go back to the days before the withdrawn one, as the batches up to this one have them."""
        self.deliveries.withdraw(day, columns)
        items = columns["item"].astype(np.int64)
        mine = items[(self.last["day"][items] == day) & (columns["what"] & (SALES | ADVICE) != 0)]
        self.last[mine] = read_last_days(log, mine, self.shop.lead_time, self.last_batch + 1)
        if (columns["what"] & SALES).any():
            self.demand.change_past(day)

    def _apply_sales(self, day: int, sold: Columns) -> None:
        last, items = self.last, sold["item"]
        newest = last["day"][items] <= day
        now = items[newest]
        last["day"][now] = day
        last["stock"][now], last["sales"][now] = sold["stock"][newest], sold["sales"][newest]
        last["evening"][now] = evening(sold)[newest]
        self.move_to(day)
        self.demand.learn(day, items, sold)

    def relearn(self, log: EventLog) -> None:
        """Learn again what is outdated, as the past or the settings changed."""
        what = self.skus, self.terms, self.calendar.lines
        self.is_unsaved |= self.demand.relearn(log, *what, self.shop.lead_time, self.move_to)

    @property
    def engine(self) -> OrderEngine:
        """What is believed of the demand."""
        return self.demand.engine

    # ---- for one morning

    def steps(self, items: Longs) -> Longs:
        """Return the days of a period of items."""
        return np.array([days(self.terms[item].period) for item in items.tolist()], np.int64)

    def lead_times(self, items: Longs) -> Longs:
        """Return the lead times of items."""
        return np.array([self.terms[item].lead_time for item in items.tolist()], np.int64)

    def shelf_lives(self, items: Longs) -> Longs:
        """Return the shelf lives of items, 0 for goods that do not spoil."""
        return np.array([self.terms[item].shelf_life or 0 for item in items.tolist()], np.int64)

    def packs(self, items: Longs) -> Longs:
        """Return the packs of items."""
        return np.array([self.terms[item].pack for item in items.tolist()], np.int64)

    # ---- snapshot

    def as_bytes(self) -> bytes:
        """Return all that follows from the log."""
        described = {
            "version": SNAPSHOT_VERSION,
            "skus": self.skus,
            "former": self.former,
            "merged": list(self.merged.items()),
            "terms": self.timeline.as_json(),
            "calendar": [list(line) for line in self.calendar.lines],
        }
        n = len(self.skus)
        header = json.dumps(described, sort_keys=True).encode()
        arrays = (each[:n].tobytes() for each in (self.last, self.demand.learned, self.demand.largest))
        return joined_bytes([header, *arrays, self.engine.as_bytes(), self.deliveries.as_bytes()])

    def snapshot(self) -> bytes:
        """Return what follows from the log, and checkpoints, which save time when a late day comes."""
        kept = self.demand.checkpoints
        about = json.dumps([(checkpoint.day, checkpoint.items) for checkpoint in kept]).encode()
        parts = (part for each in kept for part in (each.learned.tobytes(), each.largest.tobytes(), each.engine))
        return joined_bytes([self.as_bytes(), about, *parts])

    def _restore(self, last_batch: int, content: bytes) -> None:
        """Take over a snapshot. One that does not fit raises ValueError, KeyError or TypeError."""
        whole, about, *kept = parts_of_bytes(memoryview(content))  # views, as there may be hundreds of megabytes
        text, last, learned, largest, engine, deliveries = parts_of_bytes(whole)
        header = json.loads(bytes(text))
        if header["version"] != SNAPSHOT_VERSION:
            raise ValueError("the snapshot is of another version")
        found = ItemStates(self.shop, self._forecaster)
        found.timeline.restore(header["terms"])
        found.calendar = SpecialDays(SpecialDay(*line) for line in header["calendar"])
        found.engine.set_calendar(found.calendar.lines)
        days = np.frombuffer(last, LAST_DAY)["day"]
        found._day = int(days.max(initial=BEGINNING))  # the next command is mostly about a day with the same terms
        found.add_items(header["skus"])
        found.former, found.merged = header["former"], dict(header["merged"])
        for item in found.merged:
            found._give_up(item)
        found.numbers.update(found.former)
        n = len(found.skus)
        found.last[:n] = np.frombuffer(last, LAST_DAY)
        found.demand.learned[:n] = np.frombuffer(learned, np.int64)
        found.demand.largest[:n] = np.frombuffer(largest, np.int64)
        found.engine.restore(engine)
        found.deliveries.restore(deliveries)
        found.demand.checkpoints = [
            Checkpoint(day, items, np.frombuffer(days, np.int64), np.frombuffer(units, np.int64), beliefs)
            for (day, items), days, units, beliefs in zip(
                json.loads(bytes(about)), kept[::3], kept[1::3], kept[2::3], strict=True
            )
        ]
        found.last_batch = last_batch
        self.__dict__.update(found.__dict__)

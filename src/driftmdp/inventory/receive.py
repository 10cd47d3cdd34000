"""Telling deliveries: the new rows of a day, and what is unusual about them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.inventory.delivered_csv import RESTS, Delivery
from driftmdp.inventory.deliveries import follow_orders, open_mornings
from driftmdp.inventory.delivery_ledger import WAITED
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import UNKNOWN, Columns, DayEntries, order_of, read_day, read_days
from driftmdp.inventory.periods import days, mornings_after
from driftmdp.inventory.terms import ItemTerms
from driftmdp.inventory.terms_timeline import BEGINNING
from driftmdp.kernels.arrays import Longs
from driftmdp.kernels.deliveries import NONE, RECEIVED
from driftmdp.validation import nearest_name


class NewDeliveries(NamedTuple):
    """What a day's lines come to: the new rows, and how many are recorded, repeated and corrected."""

    columns: Columns
    counts: Counter[str]


def unique_deliveries(lines: Iterable[Delivery]) -> dict[date, list[Delivery]]:
    """Return lines by day, each once. Two for one item, day and order that differ are refused."""
    found: dict[tuple[str, date, date | None], Delivery] = {}
    for line in lines:
        if found.setdefault((line.sku, line.day, line.ordered_on), line) != line:
            raise InvalidInputError(f"{line.sku} on {line.day} must be told once; got two lines that differ.")
    days: dict[date, list[Delivery]] = {}
    for line in found.values():
        days.setdefault(line.day, []).append(line)
    return dict(sorted(days.items()))


class DeliveryCheck:
    """Checks of lines against a shop's items and orders.

    Parameters
    ----------
    states, log
        The shop.
    supplier
        Whose deliveries they are, or None.
    """

    def __init__(self, states: ItemStates, log: EventLog, supplier: str | None) -> None:
        self._states, self._log, self._supplier = states, log, supplier
        self._days: dict[int, DayEntries] = {}
        names = states.timeline.supplier_names()
        if supplier is not None and supplier not in names:
            near = nearest_name(supplier, names)
            raise UnknownNameError(f"No item of the shop has the supplier {supplier!r}.{near} Nothing was done.")

    def _was_from(self, item: int) -> bool:
        """Return whether an item has, or had, the supplier."""
        timeline, sku = self._states.timeline, self._states.skus[item]
        return any(timeline.terms_on(sku, day).supplier == self._supplier for day in timeline.days_from(BEGINNING))

    def items(self, lines: Sequence[Delivery]) -> list[Delivery]:
        """Return the lines that say something. Those that cannot be true are refused."""
        return [line for line in lines if self._says_something(line)]

    def _says_something(self, line: Delivery) -> bool:
        states = self._states
        item = states.numbers.get(line.sku)
        if item is None:
            near = nearest_name(line.sku, states.numbers)
            raise UnknownNameError(
                f"{line.source}The shop has no item {line.sku!r}, so nothing was ordered of it.{near} "
                "Nothing was done."
            )
        terms = states.terms[item]
        if self._supplier is not None and terms.supplier != self._supplier and not self._was_from(item):
            of = f"is from {terms.supplier}" if terms.supplier else "has no supplier"
            rule = f"{line.source}Every line must be about an item from {self._supplier}; {line.sku} {of}"
            raise InvalidInputError(f"{rule}. Nothing was done; leave out --supplier if others delivered too.")
        if terms.lead_time == 0 and line.ordered_on is None and item not in states.deliveries.told():
            rule = f"{line.source}{line.sku} must have a lead time for deliveries to be told; it has 0"
            advice = "tell `record` what came as `ordered`, or set a lead time of 1 or more."
            raise InvalidInputError(f"{rule}: what is ordered is on the shelf at once. Nothing was done; {advice}")
        _check_expected(line, terms)
        return line.ordered_on is None or self._has_order(line, item)

    def _has_order(self, line: Delivery, item: int) -> bool:
        """Return whether there is the order that a line names. Without it, nothing may have come of it."""
        assert line.ordered_on is not None
        if self._order(line.ordered_on.toordinal(), item) > 0:
            return True
        if line.units == 0:
            return False
        rule = f"{line.source}{line.sku} must have an order of {line.ordered_on} for this delivery; it has none"
        raise InvalidInputError(
            f"{rule}. Nothing was done; leave ordered_on empty if the day of the order is not known."
        )

    def _order(self, day: int, item: int) -> int:
        if day not in self._days:
            self._days[day] = read_day(self._log, day, self._states.shop.lead_time)
        units, lead = order_of(self._days[day], np.array([item]))
        return 0 if lead[0] == 0 else int(units[0])  # what was on sale at once cannot come later

    def missing(self, day: int, lines: Sequence[Delivery]) -> Iterator[int]:
        """Yield the items of the supplier that were due by a day and are in no line."""
        if self._supplier is None:
            return
        states, there = self._states, {self._states.numbers[line.sku] for line in lines}
        terms = states.terms
        there |= states.merged.keys()
        mine = [i for i, each in enumerate(terms) if each.supplier == self._supplier and i not in there]
        items = np.array([item for item in mine if terms[item].lead_time > 0], np.int64)
        told = np.intersect1d(items, states.deliveries.told())
        orders = follow_orders(states, told, day)
        yield from np.unique(told[orders.promises.item[orders.is_open & (orders.late >= 0)]]).tolist()
        yield from self._due_untold(day, np.setdiff1d(items, told)).tolist()

    def _due_untold(self, day: int, items: Longs) -> Longs:
        """Return the items with an order that is due in the period of a day, or on the closed days before it."""
        if not items.size:
            return items
        states = self._states
        steps, leads = states.steps(items), states.lead_times(items)
        mornings = day - (day - 1) % steps
        before = open_mornings(states, items, np.arange(items.size), mornings - steps, ahead=False)
        first = int((before - steps * states.timeline.longest_lead).min())
        is_due = np.zeros(items.size, np.bool_)
        for when, entries in read_days(self._log, first, day, states.shop.lead_time):
            units, lead = order_of(entries, items)
            lead = np.where(lead == UNKNOWN, leads, lead)
            due = when + steps * lead
            is_due |= (units > 0) & (lead > 0) & (due > before) & (due <= mornings)
        return items[is_due]


def _check_expected(line: Delivery, terms: ItemTerms) -> None:
    """Refuse a day on which the rest would not be waited for any more."""
    most = days(terms.period) * (terms.lead_time + WAITED)
    if line.expected is not None and (line.expected - line.day).days > most:
        rule = f"{line.source}expected of {line.sku} must be at most {most} days after {line.day}"
        advice = "check the year, or leave expected empty if the day is not known."
        raise InvalidInputError(f"{rule}; got {line.expected}. Nothing was done; {advice}")


def new_deliveries(
    states: ItemStates, day: int, lines: Sequence[Delivery], missing: Iterable[int], correct: bool
) -> NewDeliveries:
    """Return the new rows of a day. Nothing came of the ``missing`` items."""
    before, rows = _told_before(states, day), dict[tuple[int, int], tuple[tuple[int, int, int], str]]()
    for line in lines:
        key = states.numbers[line.sku], _number(line.ordered_on)
        units = line.units + (rows[key][0][0] if key in rows else 0)  # a line under a former name adds up
        rows[key] = (units, RESTS.index(line.rest), _number(line.expected)), line.source
    for item in missing:
        key = item, UNKNOWN
        rows[key] = before.get(key, (0, 0, UNKNOWN)), ""
    counts, new = Counter[str](), []
    for (item, ordered_on), (said, source) in rows.items():
        old = before.get((item, ordered_on))
        if old is not None and old != said and not correct:
            what = f"{source}{states.skus[item]} on {date.fromordinal(day)} is told with {_as_text(old)}"
            advice = "use --correct if the first was wrong."
            raise InvalidInputError(f"{what}; got {_as_text(said)}. Nothing was done; {advice}")
        counts["recorded" if old is None else "repeated" if old == said else "corrected"] += 1
        if old != said:
            new.append((item, ordered_on, *said))
    names = ("item", "ordered_on", "units", "rest", "expected")
    table = np.array(new, np.int64).reshape(-1, len(names))
    return NewDeliveries(dict(zip(names, table.T, strict=True)), counts)


def _number(day: date | None) -> int:
    return UNKNOWN if day is None else day.toordinal()


def _told_before(states: ItemStates, day: int) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Return what was told of a day, by item and day of the order."""
    rows = states.deliveries.rows
    rows = rows[(rows["what"] == RECEIVED) & (rows["day"] == day)]
    told = zip(*(rows[name].tolist() for name in ("item", "key", "units", "more", "expected")), strict=True)
    return {(item, key): (units, more, expected) for item, key, units, more, expected in told}


def _as_text(said: tuple[int, int, int]) -> str:
    units, rest, expected = said
    what = "the rest cancelled" if rest else "the rest waited for"
    when = "" if expected == UNKNOWN else f" on {date.fromordinal(expected)}"
    return f"{units} received and {what}{when}"


def more_than_open(states: ItemStates, day: int, items: Longs) -> list[str]:
    """Return a remark on deliveries of a day that were more than was open."""
    mine = np.unique(items)
    steps = states.steps(mine)
    mornings = mornings_after(day, steps)
    orders = follow_orders(states, mine, int(mornings.max(initial=0)))
    parts = orders.parts
    extra = (parts.promise == NONE) & (parts.day == mornings[parts.item])
    texts = [
        f"{states.skus[mine[item]]}: {units} more on {date.fromordinal(day)}"
        for item, units in zip(parts.item[extra].tolist(), parts.units[extra].tolist(), strict=True)
    ]
    return [f"More came than was open, and is taken as it is: {listed(texts)}."] if texts else []

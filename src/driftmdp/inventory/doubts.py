"""Input that may be a mistake: days, names and sales that do not look like the shop's others.

Some are so likely mistakes that they must be confirmed: days that the shop cannot have reached, and new names that
look like another item's. The others may be taken with a remark.

Years are judged by the shop's own days. A shop that is simulated goes on ahead of the clock, day after day. Only
where it cannot have come that far since its last day does the clock decide, and in an empty shop.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.log_entries import ALWAYS, EVERY_DAY, UNKNOWN
from driftmdp.inventory.misspellings import misspellings
from driftmdp.inventory.sales_table import SalesTable
from driftmdp.kernels.arrays import Longs

FUTURE, YEAR, GAP, NAME, UNITS = "future", "year", "gap", "name", "units"  # kinds of doubts
AHEAD = 1  # days after today that are still today somewhere
LATEST = 14  # days of the shop that show its rhythm
WEEK_DAYS = 7  # between two days of a shop that has not shown its rhythm yet
MOST_RHYTHM = 31  # days; a longer step was a closed season
FAR_DAYS = 92  # from the shop's other days, for a year that may be wrong
FEW_DAYS = 7  # that one mistake puts into another year; more are a history that comes late
LONG_GAP_DAYS = 366  # between two days
TIMES = 10  # any other day of the item
LEAST_LARGEST = 5  # units that a slow item's largest other day counts as
LEAST_PERIODS = 7  # of an item, before a day of it is called large


@dataclass(frozen=True)
class Doubt:
    """Something in the input that may be a mistake.

    Attributes
    ----------
    kind
        ``future``, ``year`` or ``gap`` of a day, ``name`` of an item that is new, or ``units`` of sales.
    sentence
        What it is.
    must_confirm
        Whether it is so likely a mistake that nobody should take it without asking.
    skus
        The new names that it is about.
    """

    kind: str
    sentence: str
    must_confirm: bool
    skus: tuple[str, ...] = ()


Confirm = Callable[[Doubt], bool]


def confirm_all(doubts: Iterable[Doubt], confirm: Confirm | None) -> None:
    """Ask about doubts, and refuse the input if one is not confirmed."""
    for doubt in doubts:
        if confirm is not None and not confirm(doubt):
            raise InvalidInputError(f"{doubt.sentence} Nothing was done; correct the input.")


class ShopDays(NamedTuple):
    """The days on which a shop has records, increasing, and the clock's today."""

    known: Longs
    today: int

    @property
    def last(self) -> int:
        """The last day."""
        return int(self.known[-1])

    @property
    def longest_step(self) -> int:
        """How many days the next day may come after the last one, and still follow it."""
        return FAR_DAYS if self.last > self.today + AHEAD else self.rhythm  # the first in a simulated shop

    @property
    def rhythm(self) -> int:
        """The most days between two of the latest days."""
        steps = np.diff(self.known[-LATEST:])
        rhythm = int(steps.max(initial=1))
        return min(MOST_RHYTHM, rhythm if steps.size == LATEST - 1 else max(rhythm, WEEK_DAYS))


def shop_days(states: ItemStates, written: Sequence[str], today: int) -> ShopDays:
    """Return the days of a shop. ``written`` are the days of its log's batches."""
    last = int(states.last["day"].max(initial=UNKNOWN))
    days = {date.fromisoformat(text).toordinal() for text in {*written} - {ALWAYS, EVERY_DAY}}
    return ShopDays(np.array(sorted(day for day in days if day <= last), np.int64), today)  # others are withdrawn


def doubtful_days(shop: ShopDays, days: Longs) -> list[Doubt]:
    """Return doubts about the days of a command. Those that the shop has already are none."""
    new = np.setdiff1d(days, shop.known)
    future, odd = _future(shop, new), _odd_years(shop, new)
    odd = odd[~np.isin(odd, future)]
    gaps = _after_gaps(shop, new)
    gaps = gaps[~np.isin(gaps, [*future, *odd])]
    found = []
    if future.size:
        last = (
            f"The shop's last day is {date.fromordinal(shop.last)}" if shop.known.size else "The shop has no days"
        )
        found.append(Doubt(FUTURE, f"In the future: {_listed(future)}. {last}.", True))
    if odd.size:
        span = f"{date.fromordinal(int(shop.known[0]))} to {date.fromordinal(shop.last)}"
        what = f"Far from the shop's days ({span}), but in another year next to the last one"
        is_today = bool((np.abs(odd - shop.today) <= WEEK_DAYS).all())  # a season that begins again
        found.append(Doubt(YEAR, f"{what}: {_listed(odd)}. Is the year right?", not is_today))
    if gaps.size:
        found.append(Doubt(GAP, f"More than a year from the day before or after: {_listed(gaps)}.", False))
    return found


def _listed(days: Longs) -> str:
    return listed([date.fromordinal(day).isoformat() for day in days.tolist()], separator=", ")


def _future(shop: ShopDays, new: Longs) -> Longs:
    """Return new days that are in the future and do not go on with the days before them."""
    late: Longs = new[new > shop.today + AHEAD]
    if not shop.known.size:
        return late if new.size == 1 else new[:0]  # a history has its own span
    before = np.union1d(shop.known, new)
    steps = late - before[np.searchsorted(before, late) - 1]
    return np.asarray(late[(steps > shop.longest_step) & (late > shop.last)])


def _odd_years(shop: ShopDays, new: Longs) -> Longs:
    """Return a few new days, far from the others, that would follow the last day if they had another year."""
    if not shop.known.size:
        return new[:0]
    is_far = (new < shop.known[0] - FAR_DAYS) | (new > shop.last + FAR_DAYS)
    far: Longs = new[is_far]
    end = max(shop.last, int(new[~is_far].max(initial=0)))
    if far.size > FEW_DAYS:
        return far[:0]
    first, last = end - WEEK_DAYS, min(end + max(shop.rhythm, WEEK_DAYS), date.max.toordinal())
    return np.array([day for day in far.tolist() if _fits(date.fromordinal(day), first, last)], np.int64)


def _fits(day: date, first: int, last: int) -> bool:
    """Return whether a day lies between two if it has the year of one of them."""
    years = {date.fromordinal(end).year for end in (first, last)}
    if (day.month, day.day) == (2, 29):
        day = day.replace(day=28)
    return any(first <= day.replace(year=year).toordinal() <= last for year in years)


def _after_gaps(shop: ShopDays, new: Longs) -> Longs:
    """Return new days that are more than a year from the day before, or from the shop's next day."""
    every = np.union1d(shop.known, new)
    steps = np.diff(every)
    is_long = steps > LONG_GAP_DAYS
    earlier = new[new < shop.known[0]] if shop.known.size else new[:0]
    return np.union1d(np.intersect1d(every[1:][is_long], new), np.intersect1d(every[:-1][is_long], earlier))


def doubtful_names(new: Sequence[str], known: Collection[str]) -> list[Doubt]:
    """Return a doubt about new names that look like known ones."""
    found = misspellings(list(dict.fromkeys(new)), known)
    pairs = [f"{name} (perhaps {right})" for name, right in found.items()]
    sentence = f"New, but like a name that the shop has: {listed(pairs)}."
    return [Doubt(NAME, sentence, True, tuple(found))] if found else []


def doubtful_sales(states: ItemStates, table: SalesTable) -> list[Doubt]:
    """Return a doubt about days that sold more than ten times any other of their item, recorded or in the table."""
    items = np.array([states.numbers.get(sku, UNKNOWN) for sku in table.skus], np.int64)
    is_known, n = items != UNKNOWN, len(table.skus)
    recorded, periods = np.zeros(n, np.int64), np.bincount(table.sku, minlength=n)
    recorded[is_known] = states.demand.largest[items[is_known]]
    periods[is_known] += states.engine.beliefs.periods[items[is_known]]
    largest, others = np.zeros(n, np.int64), recorded
    np.maximum.at(largest, table.sku, table.units)
    is_largest = table.units == largest[table.sku]
    is_alone = np.bincount(table.sku[is_largest], minlength=n) == 1
    np.maximum.at(others, table.sku[~is_largest], table.units[~is_largest])
    is_odd = is_alone & (largest > TIMES * np.maximum(others, LEAST_LARGEST)) & (periods > LEAST_PERIODS)
    lines = np.flatnonzero(is_odd[table.sku] & is_largest).tolist()
    if not lines:
        return []
    texts = [_sold(table, line, int(others[table.sku[line]])) for line in lines]
    return [Doubt(UNITS, f"More than {TIMES} times any other day of the item: {listed(texts)}.", False)]


def _sold(table: SalesTable, line: int, most: int) -> str:
    day = date.fromordinal(int(table.day[line]))
    return (
        f"{table.source(line)}{table.skus[table.sku[line]]} on {day} with {table.units[line]}, others up to {most}"
    )

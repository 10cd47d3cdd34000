"""How old the goods on the shelves are, worked out from the log: what arrived, what was sold, what was counted.

The work begins at an item's last morning whose ages are in the log, and goes from period to period: what arrives is
new, a count is the truth (`ages.as_counted`), the oldest are sold first, and in the evening of their last period
goods spoil. Where no ages are in the log, it begins with nothing a shelf life ago, and the first count's goods are
taken as new. Later entries of a day overrule earlier ones, so a correction or a withdrawal needs nothing more.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.ages import add_new, age, as_counted, sell_oldest, within_life
from driftmdp.inventory.deliveries import FollowedOrders, put_arrivals
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.log_entries import UNKNOWN, DayEntries, Entries, read_days
from driftmdp.inventory.open_orders import PipelineItems, read_arrivals
from driftmdp.kernels.arrays import Longs

LEFT = "left_"  # begins the names of the columns that have ages: left_1 is sold today or spoils


class ShelfAges(NamedTuple):
    """The shelves of goods that spoil, this morning.

    Attributes
    ----------
    rows, lives
        The places of such items among those asked about, and their shelf lives.
    ages
        By row and periods left, less one: what the records expect, before today's count.
    spoiled
        What should have spoiled since the last count.
    """

    rows: Longs
    lives: Longs
    ages: Longs
    spoiled: Longs

    def counted(self, stock: Longs) -> Longs:
        """Return the ages that fit today's counts of all items asked about, shape (items, longest life)."""
        found = np.zeros((stock.size, self.ages.shape[1]), np.int64)
        if self.rows.size:
            found[self.rows] = as_counted(self.ages, self.lives, stock[self.rows], self.spoiled)
        return found


def read_shelf_ages(
    log: EventLog,
    day: int,
    items: PipelineItems,
    lives: Longs,
    lead_time: int,
    told: FollowedOrders | None = None,
) -> ShelfAges:
    """Return the ages in the morning of a day.

    Parameters
    ----------
    log, day
        The shop's records, and the morning.
    items
        The items asked about. Those without an evening (UNKNOWN) were never counted.
    lives
        Their shelf lives, 0 for goods that do not spoil.
    lead_time
        That of rows that do not say it.
    told
        Orders of those items that spoil and of which deliveries are told. Goods age from their arrival.
    """
    rows = np.flatnonzero(lives > 0)
    about = items.numbers[rows], items.lead_times[rows], items.steps[rows], items.evenings[rows]
    spoils = PipelineItems(*about, items.longest)
    lives = lives[rows]
    nothing = np.zeros((rows.size, int(lives.max(initial=0))), np.int64)
    if not rows.size:
        return ShelfAges(rows, lives, nothing, lives)
    back = np.where(spoils.evenings == UNKNOWN, 0, lives)
    days = _days_needed(log, day, spoils, back, lead_time)
    back = np.minimum(back, (day - min((when for when, _ in days), default=day)) // spoils.steps)
    arriving = read_arrivals(log, day, spoils, back, lead_time)
    is_told = np.zeros(rows.size, np.bool_)
    if told is not None:
        put_arrivals(arriving, spoils.numbers, int(back.max()), told)
        is_told = np.isin(spoils.numbers, told.items)
    ledger = _Ledger(spoils, lives, day, back, (arriving, is_told))
    for when, entries in days:
        ledger.add(when, entries)
    return ShelfAges(rows, lives, *ledger.play(nothing))


def _days_needed(
    log: EventLog, day: int, items: PipelineItems, back: Longs, lead_time: int
) -> list[tuple[int, DayEntries]]:
    """Return the days from the last one on that has ages of each item, at most its life ago, up to this one."""
    first, found = int((day - back * items.steps).min()), []
    is_missing = back > 0
    for when, entries in read_days(log, first, day, lead_time, backwards=True):
        is_missing &= when >= day - back * items.steps
        if when < day and not is_missing.any():
            break
        found.append((when, entries))
        if when < day:
            is_missing &= ~_has_ages(entries.decided, items.numbers)
    return found


class _Ledger:
    """What happened to goods that spoil, by item and period up to this morning.

    ``arrivals`` are units by item and period, and of which items deliveries are told: these have no at-once orders.
    """

    def __init__(
        self,
        items: PipelineItems,
        lives: Longs,
        day: int,
        back: Longs,
        arrivals: tuple[Longs, NDArray[np.bool_]],
    ) -> None:
        self._items, self._lives, self._day, self._before = items, lives, day, int(back.max())
        arriving, self._is_told = arrivals
        self._arriving = arriving[:, : self._before + 1].copy()
        shape = self._arriving.shape
        self._counts = np.full(shape, UNKNOWN, np.int64)
        self._at_once, self._sales = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self._known: list[tuple[Longs, Longs, Longs]] = []  # rows, places and ages

    def add(self, day: int, entries: DayEntries) -> None:
        """Put a day's entries in their places. Of today only what was ordered: it is not on the shelf yet."""
        decided, sold = entries
        numbers = self._items.numbers
        places = self._before - (self._day - day) // self._items.steps
        rows = np.flatnonzero((places >= 0) & ((self._day - day) % self._items.steps == 0))
        places = places[rows]
        at_once = _at_once(entries, numbers, self._items.lead_times)[rows]
        self._at_once[rows, places] = at_once
        self._arriving[rows, places] -= np.where(self._is_told[rows], 0, at_once)
        if day == self._day:
            return
        stock = sold.column("stock", numbers)
        stock = np.where(stock == UNKNOWN, decided.column("stock", numbers), stock)
        self._counts[rows, places] = stock[rows]
        self._sales[rows, places] = np.maximum(sold.column("sales", numbers), 0)[rows]
        has = _has_ages(decided, numbers)[rows]
        if has.any():
            self._known.append((rows[has], places[has], recorded_ages(decided, numbers, self._lives)[rows[has]]))

    def play(self, ages: Longs) -> tuple[Longs, Longs]:
        """Return this morning's ages, and what should have spoiled since the last count, from empty shelves."""
        spoiled = np.zeros(len(ages), np.int64)
        for place in range(self._before + 1):
            ages = add_new(ages, self._lives, np.maximum(self._arriving[:, place], 0))
            for rows, places, known in self._known:
                mine = places == place
                ages[rows[mine]] = known[mine]
            counts = self._counts[:, place]
            is_counted = counts != UNKNOWN
            fitting = as_counted(ages, self._lives, np.maximum(counts, 0), spoiled)
            ages = np.where(is_counted[:, None], fitting, ages)
            spoiled = np.where(is_counted, 0, spoiled)
            if place < self._before:
                ages = sell_oldest(add_new(ages, self._lives, self._at_once[:, place]), self._sales[:, place])
                ages, gone = age(ages)
                spoiled = spoiled + gone
        return ages, spoiled


def _at_once(entries: DayEntries, numbers: Longs, lead_times: Longs) -> Longs:
    """Return a day's orders that were on sale on the same day."""
    decided, sold = entries
    ordered = sold.column("ordered", numbers)
    units = np.where(ordered == UNKNOWN, decided.column("advice", numbers), ordered)
    lead = np.where(ordered == UNKNOWN, decided.column("lead_time", numbers), sold.column("lead_time", numbers))
    lead = np.where(lead == UNKNOWN, lead_times, lead)
    return np.where((lead == 0) & (units != UNKNOWN), units, 0)


def _has_ages(decided: Entries, numbers: Longs) -> NDArray[np.bool_]:
    """Return which items have ages in a day's advice. An empty shelf needs none."""
    found = np.asarray(decided.column("stock", numbers) == 0)
    for name in decided.columns:
        if name.startswith(LEFT):
            found |= decided.column(name, numbers) > 0
    return found


def recorded_ages(decided: Entries, numbers: Longs, lives: Longs) -> Longs:
    """Return the ages of a day's advice, 0 where it has none, with goods of a longer life as new."""
    names = [name for name in decided.columns if name.startswith(LEFT)]
    width = max([int(lives.max(initial=0)), *(int(name.removeprefix(LEFT)) for name in names)])
    found = np.zeros((numbers.size, width), np.int64)
    for name in names:
        found[:, int(name.removeprefix(LEFT)) - 1] = np.maximum(decided.column(name, numbers), 0)
    return within_life(found, lives)[:, : int(lives.max(initial=0))]


def age_columns(ages: Longs) -> dict[str, Longs]:
    """Return ages as columns of the log, without those that are empty.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.shelf_log import age_columns
    >>> {name: units.tolist() for name, units in age_columns(np.array([[0, 2, 0], [0, 1, 4]])).items()}
    {'left_2': [2, 1], 'left_3': [0, 4]}
    """
    return {f"{LEFT}{place}": units for place, units in enumerate(ages.T, 1) if units.any()}

"""What a shop has learned of its items' demand, from the last entry of each item and day.

The engine learns day by day, in the order of the calendar. Sales that come late, or correct others, change the
past. Then the days from there on are learned again, from a checkpoint: what was believed at the beginning of a day
some weeks ago. As the items share what they learn, all of them learn again. What is believed does not depend on
when, or in which order, the entries were written, nor on checkpoints.
"""

import sys
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.log_entries import DEMAND, UNKNOWN, Columns, on_sale, read_days
from driftmdp.inventory.order_engine import EXACT, OrderEngine
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Longs

CHECKPOINT_DAYS = 28  # between two checkpoints
CHECKPOINTS = 2  # that are kept, so that at least four weeks can be learned again
NEVER = sys.maxsize
GROWTH = 1.5  # of the array, when it is full


class Checkpoint(NamedTuple):
    """What was believed at the beginning of a day, of how many items, with their last and largest days."""

    day: int
    items: int
    learned: Longs
    largest: Longs
    engine: bytes | memoryview


NOTHING_LEARNED = Checkpoint(0, 0, np.zeros(0, np.int64), np.zeros(0, np.int64), b"")


class LearnedDemand:
    """The engine, and what it has learned.

    Parameters
    ----------
    forecaster
        A plug-in of the engine, or None.

    Attributes
    ----------
    engine
        What is believed of the demand.
    learned
        The last day that was learned from, by item. The array may be longer than there are items.
    largest
        The most units of a day that was learned from, by item. As long as ``learned``.
    checkpoints
        The last ones, by day.
    """

    def __init__(self, forecaster: str | None = None) -> None:
        self._forecaster = forecaster
        self.engine = OrderEngine(forecaster)
        self.learned: Longs = np.zeros(0, np.int64)
        self.largest: Longs = np.zeros(0, np.int64)
        self.checkpoints: list[Checkpoint] = []
        self._size = 0
        self._outdated_from = NEVER

    def add_items(self, skus: Sequence[str], terms: Sequence[ItemTerms]) -> None:
        """Append new items."""
        self.engine.add_items(skus, terms)
        self._size += len(skus)
        if self._size > self.learned.size:
            more = max(self._size, int(GROWTH * self.learned.size)) - self.learned.size
            self.learned = np.append(self.learned, np.full(more, UNKNOWN))
            self.largest = np.append(self.largest, np.zeros(more, np.int64))

    @property
    def last_day(self) -> int:
        """The last day that was learned from, or UNKNOWN."""
        return int(self.learned[: self._size].max(initial=UNKNOWN))

    def learn(self, day: int, items: NDArray[Any], sold: Columns) -> None:
        """Learn a day's sales of some items, whose numbers increase, or note that the past changed."""
        if (self.learned[items] >= day).any() or not self.engine.is_current(day):
            self.change_past(day)
        self._drop_checkpoints(day)
        if self._outdated_from == NEVER and day > self.last_day:
            self._keep_checkpoint(day)
        self.learned[items] = np.maximum(self.learned[items], day)
        self.largest[items] = np.maximum(self.largest[items], sold["sales"])
        if self._outdated_from == NEVER:
            seen = np.where(sold["seen"] == DEMAND, EXACT, sold["seen"]).astype(np.int8)
            units = sold["sales"].astype(np.int64)
            self.engine.learn(day, items.astype(np.int64), seen, on_sale(sold), units)

    def change_past(self, day: int = 0) -> None:
        """Note that what was learned from a day on is to be learned again."""
        self._outdated_from = min(self._outdated_from, day)

    def relearn(
        self,
        log: EventLog,
        skus: Sequence[str],
        terms: Sequence[ItemTerms],
        calendar: Sequence[SpecialDay],
        lead_time: int,
        move_to: Callable[[int], None],
    ) -> bool:
        """Learn again what is outdated, if anything is.

        ``lead_time`` is that of rows that do not say it, and ``move_to`` makes the terms those of a day.
        """
        if self._outdated_from == NEVER:
            return False
        self._drop_checkpoints(self._outdated_from)
        begin = self._rewind(skus, terms, calendar)
        self.learned[:], self.largest[:] = UNKNOWN, 0
        self.learned[: begin.items], self.largest[: begin.items] = begin.learned, begin.largest
        self._outdated_from = NEVER
        for day, found in read_days(log, begin.day, date.max.toordinal(), lead_time):
            if found.sold.items.size:
                move_to(day)
                self.learn(day, found.sold.items, found.sold.columns)
        return True

    def _rewind(
        self, skus: Sequence[str], terms: Sequence[ItemTerms], calendar: Sequence[SpecialDay]
    ) -> Checkpoint:
        """Make an engine with what was believed at the last checkpoint, or with nothing. Return which."""
        begin = self.checkpoints.pop() if self.checkpoints else NOTHING_LEARNED
        self.engine = OrderEngine(self._forecaster)
        self.engine.add_items(skus[: begin.items], terms[: begin.items])
        self.engine.set_calendar(calendar)
        try:
            if begin.engine:
                self.engine.restore(begin.engine)
        except ValueError:  # such as with a forecaster of one's own, who needs the whole history
            return self._rewind(skus, terms, calendar)
        self.engine.add_items(skus[begin.items :], terms[begin.items :])
        return begin

    def _drop_checkpoints(self, day: int) -> None:
        """Drop what was believed before later days: this day is missing in it."""
        while self.checkpoints and self.checkpoints[-1].day > day:
            self.checkpoints.pop()

    def _keep_checkpoint(self, day: int) -> None:
        """Keep what is believed before a new day, if that comes long enough after the last checkpoint."""
        if not self.checkpoints or day >= self.checkpoints[-1].day + CHECKPOINT_DAYS:
            each = self.learned[: self._size].copy(), self.largest[: self._size].copy()
            kept = [*self.checkpoints, Checkpoint(day, self._size, *each, self.engine.as_bytes())]
            self.checkpoints = kept[-CHECKPOINTS:]

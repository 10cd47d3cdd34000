"""A shop: a number each morning, what was sold each evening, and why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import date
from types import TracebackType
from typing import Self

import numpy as np

from driftmdp.agents.order_explanation import outlook
from driftmdp.display import counted
from driftmdp.inventory import decide, record
from driftmdp.inventory.batch_codec import DECIDED, unpack
from driftmdp.inventory.daily_csv import Count, Sold
from driftmdp.inventory.desk import Desk, checked_lot
from driftmdp.inventory.event_log import EventBatch, EventLog
from driftmdp.inventory.item_states import NEVER, ItemStates
from driftmdp.inventory.ordering_rules import shelf_model
from driftmdp.inventory.results import Decision, Event, Reason, Receipt
from driftmdp.problems.inventory import Costs
from driftmdp.validation import as_integer


class Shop:
    """A shop's book, open; ``with Shop(path) as shop`` closes it again.

    Parameters
    ----------
    path
        Of the database that ``Shop.create`` or ``driftmdp inventory init`` made.

    Raises
    ------
    StorageError
        If it is damaged, was edited, or is in use by another process for long.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import date
    >>> monday = date(2026, 11, 16)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Shop.create(f"{folder}/shop.db", Costs(), capacity=20) as shop:
    ...         first = shop.decide([Count("A", stock=3)], monday)
    ...         again = shop.decide([Count("A", stock=3)], monday)
    ...         receipt = shop.record([Sold("A", monday, units=8)])
    >>> first.advice == again.advice, first.advice[0].order, receipt.recorded
    (True, 17, 1)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._desk = Desk(path)

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], costs: Costs, capacity: int, lead_time: int = 0, lot: int | str = 1
    ) -> Self:
        """Make an empty shop and open it.

        Parameters
        ----------
        path
            Where; nothing may be there yet.
        costs
            Per lot.
        capacity
            Lots on the shelf, of each item.
        lead_time
            Days from an order to its arrival: 0, 1 or 2.
        lot
            Units in a lot, unless an item says otherwise; ``"auto"`` chooses from a new item's history, of which
            60 days must then be recorded at once.
        """
        shelf = shelf_model(costs, capacity, lead_time)
        if lot != "auto":
            lot = checked_lot(as_integer(lot, "lot"), shelf.capacity)
        names = ("fixed", "unit", "lost_sale", "holding")
        settings = {
            "costs": {name: getattr(costs, name) for name in names},
            "capacity": shelf.capacity,
            "lead_time": shelf.lead_time,
            "lot": lot,
        }
        EventLog.create(path, settings)
        return cls(path)

    def close(self) -> None:
        """Let go of the file."""
        self._desk.book.close()

    def __repr__(self) -> str:
        return (
            f"<Shop in {str(self._desk.book.path)!r}: {counted(len(self._desk.shelves.skus), 'item')} when last "
            f"read, capacity {self.capacity}, lead time {self.lead_time}>"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def costs(self) -> Costs:
        """What a day costs, per lot."""
        return self._desk.costs

    @property
    def capacity(self) -> int:
        """Lots on the shelf, of each item."""
        return self._desk.shelf.capacity

    @property
    def lead_time(self) -> int:
        """Days from an order to its arrival."""
        return self._desk.shelf.lead_time

    @property
    def skus(self) -> tuple[str, ...]:
        """The names of all items, in the order in which they came."""
        with self._desk.reading():
            return tuple(self._desk.shelves.skus)

    def decide(self, counts: Iterable[Count], day: date, correct: bool = False, strict: bool = False) -> Decision:
        """Return what to order on a day; the answer is in the book before it is given.

        Asked again for the same day, the answer is the same.

        Parameters
        ----------
        counts
            What is on the shelf this morning.
        day
            The day.
        correct
            Let another count replace the one that was given for this day.
        strict
            Refuse counts that differ from what the book expects, instead of taking them for the truth.

        Raises
        ------
        InvalidInputError
            If a count contradicts the one given before, the day is over, or a later day was decided.
        """
        return decide.decide(self._desk, counts, day, correct, strict)

    def record(self, sold: Iterable[Sold], correct: bool = False, plenty: bool = False) -> Receipt:
        """Write down what was sold, and learn from it; told again, it changes nothing.

        Parameters
        ----------
        sold
            Of any days; a day may come late.
        correct
            Let sales replace what was recorded for the same item and day.
        plenty
            Days of which the stock is not known were not sold out: for a history of sales without stocks.

        Raises
        ------
        InvalidInputError
            If sales contradict what is recorded, or nothing is known of the stock.
        """
        return record.record(self._desk, sold, correct, plenty)

    def explain(self, sku: str) -> Reason:
        """Return what is believed of an item, what follows from it, and its last advice."""
        advice = None
        for event in self.history(sku):
            advice = event if event.kind == DECIDED else advice
        shelves, item = self._desk.shelves, self._desk.item(sku)
        last = shelves.last[item]
        day, stock, coming = int(last["day"]), int(last["stock"]), int(last["coming"])
        if last["sales"] != NEVER:
            day = min(day + 1, date.max.toordinal())
            stock = shelves.expected(item, day)
            coming = max(0, int(last["ordered"])) if self.lead_time == 2 else 0
        known = None if stock == NEVER else stock
        here = np.array([item]), np.array([known or 0]), np.array([coming])
        s, q = (int(lots[0]) for lots in shelves.places(*here))
        found = outlook(shelves.demands, item, (day - 1) % 7, self._desk.shelf, shelves.workspace, s, q)
        return Reason(sku, shelves.lots[item], date.fromordinal(day), known, coming, found, advice)

    @property
    def lots(self) -> dict[str, int]:
        """The units in a lot of every item."""
        with self._desk.reading():
            return dict(zip(self._desk.shelves.skus, self._desk.shelves.lots, strict=True))

    def lot_of(self, sku: str) -> int:
        """Return the units in a lot of an item."""
        with self._desk.reading():
            return self._desk.shelves.lots[self._desk.item(sku)]

    def history(self, sku: str | None = None) -> Iterator[Event]:
        """Yield the lines of the book, of one item or of all, in the order in which they were written."""
        with self._desk.reading():
            item = None if sku is None else self._desk.item(sku)
            batches = list(self._desk.book.batches())  # whoever reads slowly holds nobody up
        for batch in batches:
            yield from _events(batch, item, self._desk.shelves)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the shop as a new file, whole and checked; others may use the shop meanwhile.

        Raises
        ------
        InvalidInputError
            If something is at ``path`` already; it is left as it is.
        StorageError
            If the copy could not be written.
        """
        self._desk.book.backup(path)

    def verify(self) -> bool:
        """Return whether what is in use equals what follows from the book when it is read from its first line."""
        with self._desk.reading():
            return self._desk.replayed().as_bytes() == self._desk.shelves.as_bytes()


def _events(batch: EventBatch, item: int | None, shelves: ItemStates) -> Iterator[Event]:
    content = unpack(batch.kind, batch.content)
    rows = range(content.size) if item is None else np.flatnonzero(content["item"] == item).tolist()
    names = ("stock", "coming", "expected", "advice", "ordered", "sales")
    for row in rows:
        values = {name: int(column[row]) for name, column in content.columns.items()}
        yield Event(
            batch.number,
            batch.written_at,
            batch.kind,
            date.fromisoformat(batch.day),
            shelves.skus[values["item"]],
            **{name: None if values.get(name, NEVER) == NEVER else values[name] for name in names},
        )

"""A shop: advice on orders, records of sales, and explanations.

A shop is an event log (``event_log.py``) and the item states computed from it (``item_states.py``), read and
written together. ``decide.py`` and ``record.py`` compute the rows that a command adds to the log.
"""

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import date
from typing import Self

import numpy as np

from driftmdp.agents.order_explanation import outlook
from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError, StorageError, UnknownNameError
from driftmdp.inventory.daily_csv import Count, Sold, as_day
from driftmdp.inventory.decide import new_advice, unique_counts
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import DECIDED, LARGEST_NUMBER, SOLD, UNKNOWN, ItemStates, read_day, unpack
from driftmdp.inventory.ordering_rules import shelf_model
from driftmdp.inventory.record import lines_by_day, long_gaps, new_sales, require_stocks, small_lots
from driftmdp.inventory.results import Advice, Decision, Event, Reason, Receipt
from driftmdp.inventory.sales_history import WARM_UP, lot_size
from driftmdp.problems.inventory import Costs
from driftmdp.validation import as_integer, nearest_name

MAX_NAMES_SHOWN = 5  # of new items in a remark


class Shop:
    """An open shop. ``with Shop(path) as shop`` closes it again.

    Parameters
    ----------
    path
        Of the database that ``Shop.create`` or ``driftmdp inventory init`` made.

    Attributes
    ----------
    costs
        Per lot.

    Raises
    ------
    StorageError
        If it is damaged, was edited, or stays locked by another process.

    Examples
    --------
    >>> from driftmdp.inventory import Costs, Count, Shop, Sold
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
        self._log = EventLog(path)
        settings = self._log.settings
        try:
            self.costs = Costs(**settings["costs"])
            self._shelf = shelf_model(self.costs, settings["capacity"], settings["lead_time"])
            self._lot: int | str = settings["lot"]
        except (KeyError, TypeError, InvalidInputError):
            self._log.close()
            raise StorageError(f"{path} must be a shop's database; its settings do not fit together.") from None
        self._states = ItemStates(self._shelf)
        with self._reading():
            pass

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], costs: Costs, capacity: int, lead_time: int = 0, lot: int | str = 1
    ) -> Self:
        """Make an empty shop and open it.

        Parameters
        ----------
        path
            Of the new database. No file may be there yet.
        costs
            Per lot.
        capacity
            Lots on the shelf, of each item.
        lead_time
            Days from an order to its arrival: 0, 1 or 2.
        lot
            Units in a lot, unless an item has its own. ``"auto"`` chooses from a new item's history, of which
            60 days must then be recorded at once.
        """
        shelf = shelf_model(costs, capacity, lead_time)
        if lot != "auto":
            lot = _checked_lot(as_integer(lot, "lot"), shelf.capacity)
        settings = {"costs": asdict(costs), "capacity": shelf.capacity, "lead_time": shelf.lead_time, "lot": lot}
        EventLog.create(path, settings)
        return cls(path)

    def close(self) -> None:
        """Close the database."""
        self._log.close()

    def __repr__(self) -> str:
        items = f"{counted(len(self._states.skus), 'item')} when last read"
        size = f"capacity {self.capacity}, lead time {self.lead_time}"
        return f"<Shop in {str(self._log.path)!r}: {items}, {size}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def capacity(self) -> int:
        """Lots on the shelf, of each item."""
        return self._shelf.capacity

    @property
    def lead_time(self) -> int:
        """Days from an order to its arrival."""
        return self._shelf.lead_time

    @property
    def skus(self) -> tuple[str, ...]:
        """The names of all items, in the order in which they came."""
        return tuple(self.lots)

    @property
    def lots(self) -> dict[str, int]:
        """The units in a lot of every item."""
        with self._reading():
            return dict(zip(self._states.skus, self._states.lots, strict=True))

    def lot_of(self, sku: str) -> int:
        """Return the units in a lot of an item."""
        with self._reading():
            return self._states.lots[self._item(sku)]

    def decide(self, counts: Iterable[Count], day: date, correct: bool = False, strict: bool = False) -> Decision:
        """Return what to order on a day. The answer is recorded before it is given.

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
            Refuse counts that differ from what the records expect, instead of taking them as the truth.

        Raises
        ------
        InvalidInputError
            If a count contradicts the one given before, the day is over, or a later day was decided.
        """
        asked, day = unique_counts(counts), as_day(day)
        with self._writing():
            new = self._add_items(asked)
            states, records = self._states, read_day(self._log, day)
            rows, remarks = new_advice(states, asked, day, records, correct, strict)
            if rows:
                states.append(self._log, DECIDED, day, rows, new)
        advice = []
        for count in asked:
            item = states.numbers[count.sku]
            stock, coming, _, order = rows[item] if item in rows else records.decided[item]
            advice.append(Advice(count.sku, day, stock, coming, order, states.lots[item]))
        return Decision(day, advice, len(asked) - len(rows), (*self._new_names(new), *remarks))

    def record(self, sold: Iterable[Sold], correct: bool = False, plenty: bool = False) -> Receipt:
        """Record what was sold, and learn from it. Recording the same again changes nothing.

        Parameters
        ----------
        sold
            Of any days. A day may come late.
        correct
            Let sales replace what was recorded for the same item and day.
        plenty
            Days of which the stock is unknown were not sold out: for a history of sales without stocks.

        Raises
        ------
        InvalidInputError
            If sales contradict what is recorded, or the stock is unknown.
        """
        lines = list(sold)
        days = lines_by_day(lines)
        counts, oversold = Counter[str](), list[str]()
        with self._writing():
            remarks = long_gaps(int(self._states.last["day"].max(initial=0)), lines)
            new = unwritten = self._add_items(lines)
            if not plenty:
                require_stocks(self._states, self._log, days)
            for day, day_lines in days:
                records = read_day(self._log, day)
                rows, outcome, odd = new_sales(self._states, day, day_lines, records, correct)
                counts += outcome
                oversold += odd
                if rows:
                    self._states.append(self._log, SOLD, day, rows, unwritten)
                    unwritten = []
            self._states.relearn(self._log)
            if counts["recorded"] or counts["corrected"]:
                self._log.save_snapshot(self._states.as_bytes())
        remarks = [*self._new_names(new), *remarks, *small_lots(self._states, lines)]
        if oversold:
            what = "More was sold than was there, so a count was wrong; taken as sold out"
            remarks.append(f"{what}: {listed(oversold)}.")
        return Receipt(counts["recorded"], counts["repeated"], counts["corrected"], tuple(remarks))

    def explain(self, sku: str) -> Reason:
        """Return an item's estimated demand, the order that follows, and its last advice."""
        advice = None
        for event in self.history(sku):
            advice = event if event.kind == DECIDED else advice
        states, item = self._states, self._item(sku)
        last = states.last[item]
        day, stock, coming = int(last["day"]), int(last["stock"]), int(last["coming"])
        if last["sales"] != UNKNOWN:
            day = min(day + 1, date.max.toordinal())
            stock = states.expected(item, day)
            coming = max(0, int(last["ordered"])) if self.lead_time == 2 else 0
        on_hand = None if stock == UNKNOWN else stock
        lots = states.stock_in_lots(np.array([item]), np.array([on_hand or 0]), np.array([coming]))
        s, q = (int(array[0]) for array in lots)
        found = outlook(states.demands, item, (day - 1) % 7, self._shelf, states.workspace, s, q)
        return Reason(sku, states.lots[item], date.fromordinal(day), on_hand, coming, found, advice)

    def history(self, sku: str | None = None) -> Iterator[Event]:
        """Yield the recorded events of one item or of all, in the order in which they were written."""
        with self._reading():
            item = None if sku is None else self._item(sku)
            batches = list(self._log.batches())  # a slow reader must not hold up the writers
        names = ("stock", "coming", "expected", "advice", "ordered", "sales")
        for batch in batches:
            columns, _ = unpack(batch.kind, batch.content)
            day, items = date.fromisoformat(batch.day), columns["item"]
            for row in range(items.size) if item is None else np.flatnonzero(items == item).tolist():
                values = {name: int(column[row]) for name, column in columns.items()}
                numbers = (None if values.get(name, UNKNOWN) == UNKNOWN else values[name] for name in names)
                name = self._states.skus[values["item"]]
                yield Event(batch.number, batch.written_at, batch.kind, day, name, *numbers)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the shop as a new file, whole and checked. Others may use the shop meanwhile.

        Raises
        ------
        InvalidInputError
            If there is a file at ``path`` already. It is left as it is.
        StorageError
            If the copy could not be written.
        """
        self._log.backup(path)

    def verify(self) -> bool:
        """Return whether the items' states equal a replay of the whole event log, to the last bit."""
        with self._reading():
            replayed = ItemStates(self._shelf)
            replayed.catch_up(self._log, use_snapshot=False)
            return replayed.as_bytes() == self._states.as_bytes()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with self._log.reading():
            self._states.catch_up(self._log)
            yield

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only writer. If an error leaves the block, log and states are as they were."""
        try:
            with self._log.writing():
                self._states.catch_up(self._log)
                yield
        except BaseException:
            self._states = ItemStates(self._shelf)
            with contextlib.suppress(StorageError), self._reading():
                pass
            raise

    def _item(self, sku: str) -> int:
        numbers = self._states.numbers
        if sku not in numbers:
            raise UnknownNameError(f"{self._log.path} has no item {sku!r}.{nearest_name(sku, numbers)}")
        return numbers[sku]

    def _add_items(self, lines: Sequence[Count | Sold]) -> list[tuple[str, int]]:
        """Add new items to the states and return them with their lots. A lot that differs is refused."""
        states, new = self._states, dict[str, int]()
        history: dict[str, list[tuple[date, int]]] = {}
        for line in lines:
            if self._lot == "auto" and isinstance(line, Sold) and line.sku not in states.numbers:
                history.setdefault(line.sku, []).append((line.day, line.units))
        for line in lines:
            number = states.numbers.get(line.sku)
            lot = new.get(line.sku) if number is None else states.lots[number]
            if lot is None:
                lot = line.lot or self._default_lot(line.sku, history.get(line.sku, []))
                new[line.sku] = _checked_lot(lot, self.capacity)
            elif line.lot not in (None, lot):
                advice = "Nothing was done; a lot cannot change, give the item a new name."
                raise InvalidInputError(f"{line.sku} has {lot} units in a lot; got {line.lot}. {advice}")
        states.add_items(new.items())
        return list(new.items())

    def _default_lot(self, sku: str, history: list[tuple[date, int]]) -> int:
        if isinstance(self._lot, int):
            return self._lot
        if len(history) < WARM_UP:
            rule = f"{sku} is new, and its lot is chosen from {WARM_UP} days of sales; got {len(history)}"
            advice = "record its history first, add a column lot, or make the shop with --lot-size 1."
            raise InvalidInputError(f"{rule}. Nothing was done; {advice}")
        return lot_size([units for _, units in sorted(history)], self.capacity)

    def _new_names(self, new: Sequence[tuple[str, int]]) -> list[str]:
        """Return a remark on new items if the shop had others: a name may be misspelt."""
        before = self._states.skus[: len(self._states.skus) - len(new)]
        if not new or not before:
            return []
        named = [f"{sku}{nearest_name(sku, before)}" for sku, _ in new[:MAX_NAMES_SHOWN]]
        named += [""] * (len(new) - len(named))  # they are only counted, and the nearest name takes time
        what = "1 item is new" if len(new) == 1 else f"{len(new)} items are new"
        remark = f"{what}, and nothing was learned yet: {listed(named, MAX_NAMES_SHOWN)}"
        return [remark if remark.endswith("?") else f"{remark}."]


def _checked_lot(lot: int, capacity: int) -> int:
    """Return a lot for which a full shelf can still be counted."""
    largest = LARGEST_NUMBER // capacity
    if lot > largest:
        raise InvalidInputError(f"lot must be at most {largest}, so that a shelf can be counted; got {lot}.")
    return as_integer(lot, "lot", minimum=1)

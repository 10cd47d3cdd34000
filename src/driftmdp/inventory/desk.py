"""A book and what follows from it, side by side: read together, written together."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from driftmdp.errors import InvalidInputError, StorageError, UnknownNameError
from driftmdp.inventory.batch_codec import DECIDED, SOLD, pack, unpack
from driftmdp.inventory.daily_csv import LARGEST, Count, Sold
from driftmdp.inventory.event_log import EventBatch, EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.ordering_rules import shelf_model
from driftmdp.inventory.sales_history import WARM_UP, lot_size
from driftmdp.inventory.text import SHOWN, listed
from driftmdp.problems.inventory import Costs
from driftmdp.validation import as_integer, nearest_name


def checked_lot(lot: int, capacity: int) -> int:
    """Return a lot of which a full shelf can be counted."""
    if lot > LARGEST // capacity:
        raise InvalidInputError(
            f"lot must be at most {LARGEST // capacity}, so that a shelf can be counted; got {lot}."
        )
    return as_integer(lot, "lot", minimum=1)


class Desk:
    """A shop's book, open, and its shelves as they follow from it.

    Attributes
    ----------
    book, shelves
        The batches, and what follows from those up to the last that is known.
    costs, prices, lot
        What the shop is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.book = EventLog(path)
        settings = self.book.settings
        try:
            self.costs = Costs(**settings["costs"])
            self.shelf = shelf_model(self.costs, settings["capacity"], settings["lead_time"])
            self.lot: int | str = settings["lot"]
        except (KeyError, TypeError, InvalidInputError):
            self.book.close()
            raise StorageError(f"{path} must be a shop's database; its settings do not fit together.") from None
        self._begin()
        with self.book.reading():
            self._catch_up()

    @property
    def path(self) -> Path:
        """Where the book is."""
        return self.book.path

    def _begin(self) -> None:
        self.shelves, self._known, self._anew = ItemStates(self.shelf), 0, set[int]()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only one who writes; if an error leaves the block, book and shelves are as they were."""
        try:
            with self.book.writing():
                self._catch_up()
                yield
                self.settle()
        except BaseException:
            self._begin()
            with contextlib.suppress(StorageError), self.book.reading():
                self._catch_up()
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """See book and shelves as they are now."""
        with self.book.reading():
            self.book.check_rest()
            self._catch_up()
            yield

    def write(self, kind: str, day: date, columns: dict[str, object], new: Sequence[tuple[str, int]]) -> None:
        """Add a batch, and let its consequences follow; ``new`` items must be on the shelves already."""
        batch = self.book.append(kind, day.isoformat(), pack(kind, columns, new))
        known = EventBatch(batch.number, kind, batch.day, batch.written_at, pack(kind, columns))
        self._anew |= self.shelves.apply(known)
        self._known = batch.number

    def settle(self) -> None:
        """Let items begin anew whose past was changed; once, whatever was written."""
        if self._anew:
            self.shelves.relearn(self._anew, self.book.batches())
            self._anew = set()

    def _catch_up(self) -> None:
        """Take in what the book has and we do not."""
        kept = self.book.snapshot() if self._known == 0 else None
        if kept is not None:
            try:
                self.shelves.restore(kept[1])
                self._known = kept[0]
            except (ValueError, KeyError, TypeError):  # only a cache: the book says it all
                self._begin()
        for batch in self.book.batches(after=self._known):
            self._anew |= self.shelves.apply(batch)
            self._known = batch.number
        self.settle()

    def replayed(self) -> ItemStates:
        """Return what follows from the book when it is read from its first line; only while reading."""
        shelves, anew = ItemStates(self.shelf), set[int]()
        for batch in self.book.batches():
            anew |= shelves.apply(batch)
        if anew:
            shelves.relearn(anew, self.book.batches())
        return shelves

    def mornings(self, day: date) -> dict[int, tuple[int, int, int]]:
        """Return stock, what is coming and the advice of each item on a day: the last word."""
        return self._told(DECIDED, day, ("stock", "coming", "advice"))

    def expectations(self, day: date) -> dict[int, int]:
        """Return what was expected on the shelf in the morning of a day, by item."""
        return {item: row[1] for item, row in self._told(DECIDED, day, ("stock", "expected", "advice")).items()}

    def evenings(self, day: date) -> dict[int, tuple[int, int, int]]:
        """Return stock, what was ordered and sold of each item on a day: the last word."""
        return self._told(SOLD, day, ("stock", "ordered", "sales"))

    def _told(self, kind: str, day: date, names: tuple[str, str, str]) -> dict[int, tuple[int, int, int]]:
        found: dict[int, tuple[int, int, int]] = {}
        for batch in self.book.batches(day=day.isoformat()):
            if batch.kind == kind:
                content = unpack(kind, batch.content)
                first, second, third = (content[name].tolist() for name in names)
                rows = zip(first, second, third, strict=True)
                found |= dict(zip(content["item"].tolist(), rows, strict=True))
        return found

    def item(self, sku: str) -> int:
        """Return the number of an item."""
        if sku not in self.shelves.numbers:
            raise UnknownNameError(f"{self.path} has no item {sku!r}.{nearest_name(sku, self.shelves.numbers)}")
        return self.shelves.numbers[sku]

    def odd_names(self, new: Sequence[tuple[str, int]]) -> list[str]:
        """Return a remark on new items, if the book has others: a name may be misspelt."""
        known = self.shelves.skus[: len(self.shelves.skus) - len(new)]
        if not new or not known:
            return []
        named = [f"{sku}{nearest_name(sku, known)}" for sku, _ in new[:SHOWN]]
        more = [""] * (len(new) - len(named))
        what = "1 item is new" if len(new) == 1 else f"{len(new)} items are new"
        told = f"{what}, and nothing is known of {'it' if len(new) == 1 else 'them'}: {listed(named + more)}"
        return [told if told.endswith("?") else f"{told}."]

    def add_items(self, lines: Sequence[Count | Sold]) -> list[tuple[str, int]]:
        """Put new items on the shelves and return them with their lots; refuse lots that differ from the known."""
        new: dict[str, int] = {}
        history = self._history(lines)
        for line in lines:
            known = self.shelves.numbers.get(line.sku)
            lot = new.get(line.sku) if known is None else self.shelves.lots[known]
            if lot is None:
                new[line.sku] = checked_lot(line.lot or self._default_lot(line.sku, history), self.shelf.capacity)
            elif line.lot not in (None, lot):
                raise InvalidInputError(
                    f"{line.sku} has {lot} units in a lot; got {line.lot}. Nothing was done; a lot cannot "
                    "change, give the item a new name."
                )
        self.shelves.add_items(new.items())
        return list(new.items())

    def _history(self, lines: Sequence[Count | Sold]) -> dict[str, list[tuple[date, int]]]:
        """Return the days and sales of new items, if their lots are chosen from them."""
        found: dict[str, list[tuple[date, int]]] = {}
        if self.lot == "auto":
            for line in lines:
                if isinstance(line, Sold) and line.sku not in self.shelves.numbers:
                    found.setdefault(line.sku, []).append((line.day, line.units))
        return found

    def _default_lot(self, sku: str, history: Mapping[str, list[tuple[date, int]]]) -> int:
        if isinstance(self.lot, int):
            return self.lot
        days = sorted(history.get(sku, []))
        if len(days) < WARM_UP:
            raise InvalidInputError(
                f"{sku} is new, and its lot is chosen from {WARM_UP} days of sales; got {len(days)}. "
                "Nothing was done; record its history first, add a column lot, or make the shop with --lot-size 1."
            )
        return lot_size([units for _, units in days], self.shelf.capacity)

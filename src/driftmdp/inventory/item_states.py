"""What follows from a shop's batches: what is believed of each item's demand, and each item's last day.

The beliefs about an item follow from its evenings alone, each day's last word, in the order of the days: they are
the same whenever and in whatever order these were written down. An evening later than all others of its item is
learned at once; one that comes late, or corrects another, makes the item begin anew from all its evenings.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.inventory_optimist import restored_demands
from driftmdp.inventory.batch_codec import DECIDED, SOLD, Content, unpack
from driftmdp.inventory.event_log import EventBatch
from driftmdp.kernels.inventory_arrays import (
    Demands,
    DemandWorkspace,
    ShelfModel,
    new_demand_workspace,
    new_demands,
)

NEVER = -1  # a day, or a number, that there is not
LAST = np.dtype(
    [
        ("day", "<i4"),  # the item's last day, as days since 0001-01-01
        ("stock", "<i4"),  # counted in its morning
        ("coming", "<i4"),  # that arrives the morning after, with a lead time of 2
        ("ordered", "<i4"),  # on that day: what was advised, until it is known better
        ("sales", "<i4"),  # on that day; NEVER until they are recorded
        ("learned", "<i4"),  # the last day that was learned from
    ]
)
GROWTH = 1.5


@dataclass
class ItemStates:
    """All items of a shop, by number.

    Attributes
    ----------
    prices
        What the shop is.
    numbers, skus, lots
        The number of each name; names and units in a lot by number.
    demands, last
        Beliefs and last days; there is room for more items than there are.
    """

    shelf: ShelfModel
    numbers: dict[str, int] = field(default_factory=dict)
    skus: list[str] = field(default_factory=list)
    lots: list[int] = field(default_factory=list)
    demands: Demands = field(init=False)
    last: NDArray[np.void] = field(init=False)
    workspace: DemandWorkspace = field(init=False)

    def __post_init__(self) -> None:
        self.demands = new_demands(0, self.shelf.capacity)
        self.last = _new_last(0)
        self.workspace = new_demand_workspace(self.shelf.capacity, self.shelf.lead_time)

    def add_items(self, new: Iterable[tuple[str, int]]) -> None:
        """Make room for new items."""
        for sku, lot in new:
            self.numbers[sku] = len(self.skus)
            self.skus.append(sku)
            self.lots.append(lot)
        have, need = self.last.size, len(self.skus)
        if need > have:
            room = max(need, int(GROWTH * have))
            fresh = new_demands(room - have, self.shelf.capacity)
            pairs = zip(self.demands, fresh, strict=True)
            self.demands = Demands(*(np.concatenate(pair) for pair in pairs))
            self.last = np.concatenate([self.last, _new_last(room - have)])

    def apply(self, batch: EventBatch) -> set[int]:
        """Take in a batch; return the items that must begin anew from all their evenings."""
        content = unpack(batch.kind, batch.content)
        self.add_items(content.new)
        day = date.fromisoformat(batch.day).toordinal()
        if batch.kind == DECIDED:
            self._take_morning(day, content)
            return set()
        return self._take_evening(day, content)

    def _take_morning(self, day: int, content: Content) -> None:
        last, items = self.last, content["item"]
        last["day"][items], last["stock"][items] = day, content["stock"]
        last["coming"][items], last["ordered"][items] = content["coming"], content["advice"]
        last["sales"][items] = NEVER

    def _take_evening(self, day: int, content: Content) -> set[int]:
        last, items = self.last, content["item"]
        in_order = last["learned"][items] < day
        newest = last["day"][items] <= day
        now = items[newest]
        if self.shelf.lead_time == 2:  # a day without a morning: what was ordered the day before is coming
            unseen = now[last["day"][now] < day]
            yesterday = last["day"][unseen] == day - 1
            last["coming"][unseen] = np.where(yesterday, np.maximum(0, last["ordered"][unseen]), 0)
            late = last["day"][items] == day + 1  # the morning after knew only what was advised
            told = late & (content["ordered"] != NEVER)
            last["coming"][items[told]] = content["ordered"][told]
        last["day"][now] = day
        last["stock"][now], last["ordered"][now] = content["stock"][newest], content["ordered"][newest]
        last["sales"][now] = content["sales"][newest]
        self.learn(items[in_order], day, {name: content[name][in_order] for name in ("stock", "ordered", "sales")})
        return set(items[~in_order].tolist())

    def learn(self, items: NDArray[np.int32], day: int, evening: Mapping[str, NDArray[np.int32]]) -> None:
        """Learn one evening of some items."""
        on_sale, sales = self._in_lots(items, evening)
        weekdays = np.full(items.size, (day - 1) % 7, np.int64)  # day 1 was a Monday
        kernels.inventory_rules.learn_all(
            self.demands, items.astype(np.int64), weekdays, on_sale, sales, self.workspace
        )
        self.last["learned"][items] = day

    def relearn(self, items: set[int], batches: Iterable[EventBatch]) -> None:
        """Learn items again from all their evenings, each day's last word, in the order of the days."""
        chosen = np.zeros(len(self.skus), np.bool_)
        chosen[list(items)] = True
        names = "item", "stock", "ordered", "sales"
        found: list[NDArray[np.int32]] = []  # rows of day and the columns above
        for batch in batches:
            if batch.kind == SOLD:
                content, day = unpack(SOLD, batch.content), date.fromisoformat(batch.day).toordinal()
                mine = np.flatnonzero(chosen[content["item"]])
                found.append(
                    np.array([np.full(mine.size, day), *(content[name][mine] for name in names)], np.int32)
                )
        table = np.concatenate(found, axis=1)
        table = table[:, np.lexsort((np.arange(table.shape[1]), table[1], table[0]))]  # by day, item, then time
        last_word = np.append((np.diff(table[0]) != 0) | (np.diff(table[1]) != 0), True)
        table = table[:, last_word]
        fresh = new_demands(1, self.shelf.capacity)
        for array, empty in zip(self.demands, fresh, strict=True):
            array[chosen.nonzero()[0]] = empty[0]
        starts = np.append(np.flatnonzero(np.diff(table[0], prepend=0)), table.shape[1])
        for first, last in itertools.pairwise(starts.tolist()):
            evening = {name: table[2 + i, first:last] for i, name in enumerate(names[1:])}
            self.learn(table[1, first:last], int(table[0, first]), evening)

    def _in_lots(
        self, items: NDArray[np.int32], evening: Mapping[str, NDArray[np.int32]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return what was on sale and sold in lots, at most the capacity.

        A shelf that was emptied stays so when it is rounded, and one that was not keeps a lot more than was sold.
        """
        lot = np.array([self.lots[item] for item in items.tolist()], np.int64)
        stock, ordered, sales = (evening[name].astype(np.int64) for name in ("stock", "ordered", "sales"))
        there = stock + (np.maximum(0, ordered) if self.shelf.lead_time == 0 else 0)
        emptied = (sales >= there) & (stock != NEVER)
        sold = _rounded(sales, lot)
        on_sale = np.where(emptied, sold, np.maximum(_rounded(there, lot), sold + 1))
        on_sale = np.where(stock == NEVER, self.shelf.capacity, on_sale)
        return np.minimum(on_sale, self.shelf.capacity), np.minimum(sold, self.shelf.capacity)

    def expected(self, item: int, day: int) -> int:
        """Return what should be on the shelf in a morning after the item's last day, or NEVER if nobody can say."""
        last = self.last[item]
        if not NEVER < last["day"] < day or last["sales"] == NEVER or last["stock"] == NEVER:
            return NEVER
        ordered = max(0, int(last["ordered"]))
        if self.shelf.lead_time == 0:
            return max(0, int(last["stock"]) + ordered - int(last["sales"]))
        left = max(0, int(last["stock"]) - int(last["sales"]))
        if self.shelf.lead_time == 1:
            return left + ordered
        return left + int(last["coming"]) + (ordered if day > last["day"] + 1 else 0)

    def places(
        self, items: NDArray[np.int64], stock: NDArray[np.int64], coming: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return stock and what is coming in lots, together at most the capacity."""
        lot = np.array([self.lots[item] for item in items.tolist()], np.int64)
        s = np.minimum(_rounded(stock, lot), self.shelf.capacity)
        return s, np.minimum(_rounded(coming, lot), self.shelf.capacity - s)

    def as_bytes(self) -> bytes:
        """Return a snapshot."""
        n = len(self.skus)
        out = io.BytesIO()
        header = json.dumps({"skus": self.skus, "lots": self.lots}).encode()
        out.write(len(header).to_bytes(8, "little"))
        out.write(header)
        for array in (*self.demands, self.last):
            out.write(np.ascontiguousarray(array[:n]).view(np.uint8).reshape(-1).data)
        return out.getvalue()

    def restore(self, content: bytes) -> None:
        """Take over a snapshot; what does not fit raises ValueError."""
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:end])
        n = len(header["skus"])
        arrays: dict[str, Any] = {}
        empty = new_demands(n, self.shelf.capacity)
        for name, like in zip((*Demands._fields, "last"), (*empty, _new_last(n)), strict=True):
            arrays[name] = np.frombuffer(content, like.dtype, like.size, end).reshape(like.shape)
            end += like.nbytes
        if end != len(content):
            raise ValueError("the snapshot has the wrong length")
        self.demands = restored_demands(arrays, n, self.shelf.capacity)
        self.last = arrays["last"].copy()
        self.skus, self.lots = header["skus"], header["lots"]
        self.numbers = {sku: number for number, sku in enumerate(self.skus)}


def _new_last(n: int) -> NDArray[np.void]:
    last = np.zeros(n, LAST)
    for name in ("day", "sales", "learned"):
        last[name] = NEVER
    return last


def _rounded(units: NDArray[np.int64], lot: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray((2 * units + lot) // (2 * lot))

"""The terms of items as columns that kernels take."""

import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory.periods import WEEK
from driftmdp.inventory.terms import MEASURES, ItemTerms
from driftmdp.kernels.ordering_arrays import NO_LIMIT

GROWTH = 1.5  # of an array that is full
ALONE = -1
COLUMNS = np.dtype(
    [
        ("kind", "<i8"),
        ("group", "<i8"),
        ("supplier", "<i8"),
        ("seed", "<u8"),
        ("costs", "<f8", (4,)),
        ("sizes", "<i8", (5,)),
        ("service", "<f8", (2,)),
        ("waste", "<f8"),
    ]
)


class ItemTable:
    """Names and terms of items, by number.

    Attributes
    ----------
    skus, terms
        By number.
    columns
        The same as numbers: the kind of period (1 for a week), the numbers of the group and of the supplier, a seed
        from the name, costs (fixed, unit, lost, holding), sizes (capacity, pack, minimum, lead time, shelf
        life or 0), service (target or 0, measure) and the cost of waste. It may be longer than there are items.
    groups, suppliers
        The number of each group, and of each supplier whose items are ordered together, in the order in which they
        came. Items that are ordered alone, or not any more, have supplier ALONE.
    """

    def __init__(self) -> None:
        self.skus: list[str] = []
        self.terms: list[ItemTerms] = []
        self.columns: NDArray[np.void] = np.zeros(0, COLUMNS)
        self.groups: dict[str, int] = {}
        self.suppliers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.skus)

    def add(self, skus: Sequence[str], terms: Sequence[ItemTerms]) -> None:
        """Append items."""
        first = len(self.skus)
        self.skus += skus
        self.terms += terms
        if len(self) > self.columns.size:
            more = max(len(self), int(GROWTH * self.columns.size)) - self.columns.size
            self.columns = np.concatenate([self.columns, np.zeros(more, COLUMNS)])
        self.columns[first : len(self)] = self._rows(terms)
        self.columns["seed"][first : len(self)] = [zlib.crc32(sku.encode()) for sku in skus]

    def rename(self, item: int, sku: str) -> None:
        """Give an item another name."""
        self.skus[item] = sku
        self.columns["seed"][item] = zlib.crc32(sku.encode())

    def replace(self, terms: Mapping[int, ItemTerms]) -> None:
        """Give some items other terms, by number."""
        for item, each in terms.items():
            self.terms[item] = each
        items = np.array(list(terms), np.int64)
        seeds = self.columns["seed"][items]
        self.columns[items] = self._rows(list(terms.values()))
        self.columns["seed"][items] = seeds

    def _rows(self, terms: Sequence[ItemTerms]) -> NDArray[np.void]:
        """Return the rows of terms. Items often share them."""
        different = {id(each): each for each in terms}
        places = {key: place for place, key in enumerate(different)}
        rows = np.zeros(len(different), COLUMNS)
        for place, each in enumerate(different.values()):
            rows[place] = self._row(each)
        return rows[np.array([places[id(each)] for each in terms], np.int64)]

    def _row(self, terms: ItemTerms) -> NDArray[np.void]:
        row = np.zeros((), COLUMNS)
        row["kind"] = int(terms.period == WEEK)
        row["group"] = self.groups.setdefault(terms.group, len(self.groups))
        row["supplier"] = self._supplier(terms)
        costs = terms.costs
        row["costs"] = costs.fixed, costs.unit, costs.lost_sale, costs.holding
        capacity = NO_LIMIT if terms.capacity is None else terms.capacity
        row["sizes"] = capacity, terms.pack, terms.minimum, terms.lead_time, terms.shelf_life or 0
        row["waste"] = terms.waste
        row["service"] = terms.service or 0.0, MEASURES.index(terms.service_measure)
        return row

    def _supplier(self, terms: ItemTerms) -> int:
        if terms.shared_order.is_alone or terms.is_discontinued:
            return ALONE
        return self.suppliers.setdefault(terms.supplier, len(self.suppliers))

"""Lines under names that items had before: they are taken under the present ones, as a till may lag behind.

Where a file has an item under two names, the lines of a day add up, as the days of two merged items do.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.cells import LARGEST_NUMBER
from driftmdp.inventory.entry_codes import UNKNOWN
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.items_csv import ItemSettings
from driftmdp.inventory.lines import Count
from driftmdp.inventory.sales_table import SalesTable
from driftmdp.kernels.arrays import Longs

SUMMED = ("units", "ordered", "stock")
COLUMNS = ("sku", "day", *SUMMED, "in_stock", "pack", "demand", "line")


def former_names(states: ItemStates, skus: Iterable[str]) -> list[str]:
    """Return a remark on names that items had before."""
    pairs = [f"{sku} as {states.present_name(sku)}" for sku in dict.fromkeys(skus) if sku in states.former]
    return [f"Taken under their present names: {listed(pairs)}."] if pairs else []


def counts_by_present_names(states: ItemStates, counts: Sequence[Count]) -> list[Count]:
    """Return counts under present names. Those of one item add up."""
    if not any(count.sku in states.former for count in counts):
        return list(counts)
    found: dict[str, Count] = {}
    for count in counts:
        named = replace(count, sku=states.present_name(count.sku))
        found[named.sku] = _added(found[named.sku], named) if named.sku in found else named
    return list(found.values())


def _added(first: Count, second: Count) -> Count:
    """Return two counts of an item as one."""
    coming, left = _by_period(first.coming, second.coming), _by_period(first.left, second.left)
    stock, pack = first.stock + second.stock, first.pack or second.pack
    return replace(first, stock=stock, coming=coming, left=left, pack=pack)


def _by_period(first: Sequence[int | None], second: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return the sums of units by period, None where neither is known."""
    pairs = itertools.zip_longest(first, second)
    return tuple(None if pair == (None, None) else sum(units or 0 for units in pair) for pair in pairs)


def sales_by_present_names(states: ItemStates, table: SalesTable) -> SalesTable:
    """Return sales under present names. Lines of one item and day add up."""
    if not any(sku in states.former for sku in table.skus):
        return table
    names = [states.present_name(sku) for sku in table.skus]
    skus = list(dict.fromkeys(names))
    places = {sku: place for place, sku in enumerate(skus)}
    number = np.array([places[name] for name in names], np.int64)
    columns = {name: getattr(table, name) for name in COLUMNS} | {"sku": number[table.sku]}
    order = np.lexsort((columns["day"], columns["sku"]))
    rows = {name: column[order] for name, column in columns.items()}
    starts = np.flatnonzero((np.diff(rows["sku"], prepend=-1) != 0) | (np.diff(rows["day"], prepend=0) != 0))
    if starts.size == order.size:
        return replace(table, skus=skus, sku=columns["sku"])
    joined: dict[str, Any] = {name: np.maximum.reduceat(column, starts) for name, column in rows.items()}
    for name in SUMMED:
        joined[name] = _sums(rows[name], starts)
        if joined[name].max() > LARGEST_NUMBER:
            raise InvalidInputError(f"{name} must be at most {LARGEST_NUMBER} together; got {joined[name].max()}.")
    return replace(table, skus=skus, **joined)


def _sums(units: Longs, starts: Longs) -> Longs:
    """Return the sums of numbers from start to start, UNKNOWN where none is known."""
    is_known = np.logical_or.reduceat(units != UNKNOWN, starts)
    return np.where(is_known, np.add.reduceat(np.maximum(units, 0), starts), UNKNOWN)


def settings_by_present_names(states: ItemStates, items: Iterable[ItemSettings]) -> list[ItemSettings]:
    """Return items' own settings under present names. What is given for the present name comes last, and holds."""
    given = sorted(items, key=lambda item: item.sku not in states.former)
    return [replace(item, sku=states.present_name(item.sku)) for item in given]


def calendar_by_present_names(states: ItemStates, lines: Iterable[SpecialDay]) -> list[SpecialDay]:
    """Return special days under present names."""
    return [line._replace(sku=states.present_name(line.sku)) for line in lines]

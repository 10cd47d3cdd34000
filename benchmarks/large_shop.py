"""A large shop of many days: how long it takes to open: ``python -m benchmarks.large_shop [FOLDER]``.

It makes a shop of 100,000 items with two years of advice and sales, opens it in a new process, and works a day. The
file stays in FOLDER if that is given, and a file that is there is used again.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.child import call_in_child
from driftmdp.inventory import Costs, Count, Shop, Sold
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.log_entries import DECIDED, SOLD, Columns
from driftmdp.inventory.sales_table import SalesTable
from driftmdp.kernels.arrays import Longs

__all__ = ["main", "make_shop", "opened"]

ITEMS, DAYS = 100_000, 730
FIRST_DAY = date(2024, 1, 1).toordinal()
CAPACITY = 20


def make_shop(path: str, n_items: int, n_days: int) -> float:
    """Make a shop with a batch of advice and one of sales for each day. Return the seconds that it took."""
    start, rng = time.perf_counter(), np.random.default_rng(7)
    items = np.arange(n_items)
    levels = np.exp(rng.normal(0.0, 1.0, n_items))
    with Shop.create(path, Costs(), CAPACITY) as shop, shop._writing((), ()):
        states, new = shop._states, [f"item {item}" for item in items.tolist()]
        states.add_items(new)
        for day in range(FIRST_DAY, FIRST_DAY + n_days):
            stock, demand = rng.integers(0, CAPACITY, n_items), rng.poisson(levels)
            decided, sold = _day(items, stock, demand)
            states.append(shop._log, DECIDED, day, decided, new)
            states.append(shop._log, SOLD, day, sold, [])
            new = []
    return time.perf_counter() - start


def _day(items: Longs, stock: Longs, demand: Longs) -> tuple[Columns, Columns]:
    """Return the columns of a day's advice, which fills the shelf to a half, and of its sales."""
    zero, unknown = np.zeros_like(items), np.full_like(items, -1)
    order = np.maximum(0, CAPACITY // 2 - stock)
    sales = np.minimum(demand, stock + order)
    seen = np.where(sales < stock + order, 0, 1)
    cost = (sales + 0.5).astype("<f4").view("<i4")
    decided = {"item": items, "stock": stock, "coming": zero, "expected": unknown, "advice": order}
    decided |= {"until": unknown, "cost": cost, "method": zero, "lead_time": zero, "pack": zero + 1}
    sold = {"item": items, "stock": stock, "ordered": order, "sales": sales, "seen": seen, "lead_time": zero}
    return decided, sold


def opened(path: str, n_items: int, day: int) -> dict[str, float]:
    """Return how long it takes to open the log, and the shop, and to work a day; and the memory."""
    stock = [Count(f"item {item}", item % 9) for item in range(n_items)]
    today, found = date.fromordinal(day), dict[str, float]()
    sold = SalesTable.of(Sold(f"item {item}", today, item % 3) for item in range(n_items))

    def since(what: str, start: float) -> float:
        found[what] = time.perf_counter() - start
        return time.perf_counter()

    at = time.perf_counter()
    with closing(EventLog(path)):
        at = since("open the log, s", at)
    with Shop(path) as shop:
        at = since("open the shop, s", at)
        found["memory after opening, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        shop.decide(stock, today)
        at = since("decide a day, s", at)
        shop.record(sold)
        since("record a day, s", at)
    found["memory in the end, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the shop, open it, and print the times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_shop", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--days", type=int, default=DAYS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        path = (options.folder or Path(temporary)) / f"large-{options.items}-{options.days}.db"
        if not path.exists():
            print(f"make it, s: {make_shop(str(path), options.items, options.days):.1f}", flush=True)
        print(f"size, MB: {path.stat().st_size / 1e6:.0f}")
        with closing(EventLog(path)) as log:
            day = date.fromisoformat(log.days[-1]).toordinal() + 1
        for what, number in call_in_child(opened, str(path), options.items, day).result.items():
            print(f"{what}: {number:.2f}")


if __name__ == "__main__":
    from benchmarks.large_shop import main as run  # a child imports functions by the name of their module

    run()

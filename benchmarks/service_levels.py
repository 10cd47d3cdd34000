"""Whether service targets are reached: ``python -m benchmarks.service_levels [FILE]``.

200 simulated items (Poisson and negative binomial laws with means of 0.05 to 20 a day that drift, lead times of 0
to 7 days, packs, order days, no limit of capacity) over two years, and a retailer's daily sales, if FILE is there,
with a shelf of 20 packs, of whose demand only what the shelf can hold is counted, and without a limit.
The first 90 days (of the retailer 60) are not scored. Each item's share is compared with its target. A slow item
asks for a few units in all, so one unit may be several points: *pooled* is the share of all items of a class, where
that noise cancels, with an interval over items. *Surely beyond* are items that miss by more than 2 points and two
standard errors, which come from blocks of 40 days. Periods are served if all that was asked for was there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.engine_shops import FIRST_DAY, follow_engine_with_lead_times
from benchmarks.retailer_runs import read_daily_sales, terms_of
from benchmarks.shops import _means
from benchmarks.two_way import shown
from driftmdp.inventory.periods import EVERY_PERIOD, OrderDays
from driftmdp.inventory.sales_history import WARM_UP
from driftmdp.inventory.terms import MEASURES, ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.ordering_arrays import NO_LIMIT
from driftmdp.problems.inventory import Costs
from driftmdp.statistics import ratio_interval

FILE = "/work/shared/data/online_retail_daily_top100.csv"
TARGETS = (0.9, 0.95, 0.98)
ITEMS, DAYS, UNSCORED = 200, 730, 90
WITHIN = 0.02 + 1e-9  # 1 is within 2 points of 0.98
BLOCK = 40  # days
ORDER_DAYS = ("mon", "mon,thu", "every 3")
CLASSES = {"below 0.2 a day": (0.0, 0.2), "0.2 to 2": (0.2, 2.0), "above 2": (2.0, np.inf)}


class Items(NamedTuple):
    """Terms without a target, demand by (item, day), the days, and how many are not scored.

    Of a day's demand, at most what the shelf can hold counts: no order can serve more.
    """

    terms: list[ItemTerms]
    demand: Longs
    days: Sequence[int]
    unscored: int


def simulated_items(seed: int = 7) -> Items:
    """Return items drawn at random."""
    rng = np.random.default_rng(seed)
    terms, demand = [], []
    for _ in range(ITEMS):
        path = _means(rng)
        mean = float(np.exp(rng.uniform(np.log(0.05), np.log(20.0))))
        means = mean * np.interp(np.linspace(0, path.size - 1, DAYS), np.arange(path.size), path) / path.mean()
        size = float(rng.choice([np.inf, np.inf, 5.0, 2.0, 1.0, 0.7]))
        demand.append(rng.poisson(means if np.isinf(size) else rng.gamma(size, means / size)))
        order_days = OrderDays.parse(str(rng.choice(ORDER_DAYS))) if rng.random() < 0.3 else EVERY_PERIOD
        pack = int(rng.choice([1, 1, 1, 2, 6, 12])) if mean > 0.2 else 1
        costs = Costs(float(rng.choice([0.0, 0.0, 2.0])), 0.0, 1.0, 0.1)
        terms.append(ItemTerms(costs, None, pack=pack, lead_time=int(rng.integers(0, 8)), order_days=order_days))
    return Items(terms, np.array(demand), range(FIRST_DAY, FIRST_DAY + DAYS), UNSCORED)


def retailer_items(path: Path, is_limited: bool) -> Items:
    """Return the retailer's items in packs, with a shelf of 20 packs or without a limit."""
    sales = read_daily_sales(path)
    terms = terms_of(sales)
    if not is_limited:
        terms = [_changed(each, capacity=None) for each in terms]
    return Items(terms, sales.units, sales.days, WARM_UP)


def served_and_asked(items: Items, target: float, measure: str) -> tuple[Floats, Floats]:
    """Return what was served and asked for on the scored days, by (item, block of days), in units or periods."""
    terms = [_changed(each, service=target, service_measure=measure) for each in items.terms]
    on_sale = follow_engine_with_lead_times(terms, items.demand, items.days).on_sale[:, items.unscored :]
    capacity = [NO_LIMIT if each.capacity is None else each.capacity for each in terms]
    demand = np.minimum(items.demand[:, items.unscored :], np.array(capacity)[:, None])
    served, asked = (demand <= on_sale).astype(np.int64), np.ones_like(demand)
    if measure == "units":
        served, asked = np.minimum(demand, on_sale), demand
    starts = np.arange(0, demand.shape[1], BLOCK)
    return tuple(np.add.reduceat(each, starts, axis=1).astype(np.float64) for each in (served, asked))  # type: ignore[return-value]


def standard_errors(served: Floats, asked: Floats) -> Floats:
    """Return the standard error of each item's share, from its blocks."""
    shares = served.sum(axis=1, keepdims=True) / asked.sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt(((served - shares * asked) ** 2).sum(axis=1)) / asked.sum(axis=1))


def _changed(terms: ItemTerms, **changes: object) -> ItemTerms:
    return replace(terms, **changes)  # type: ignore[arg-type]


def table_rows(name: str, items: Items, target: float, measure: str) -> Iterator[str]:
    """Yield the rows of a target: each class of speed, and all."""
    in_blocks = served_and_asked(items, target, measure)
    served, asked = (each.sum(axis=1) for each in in_blocks)
    speed = items.demand.mean(axis=1)
    classes = {text: (low <= speed) & (speed < high) for text, (low, high) in CLASSES.items()}
    for text, mine in {**classes, "all": np.ones(speed.size, np.bool_)}.items():
        mine = mine & (asked > 0)
        if mine.sum() < 2 or (text != "all" and mine.all()):
            continue
        shares = served[mine] / asked[mine]
        near = np.abs(shares - target) <= WITHIN
        enough = shares >= target - WITHIN
        errors = standard_errors(*(each[mine] for each in in_blocks))
        beyond = np.abs(shares - target) - 2.0 * errors > WITHIN
        worst = shares[np.abs(shares - target).argmax()]
        cells = [name, measure, f"{target:g}", text, str(int(mine.sum()))]
        cells += [shown(ratio_interval(served[mine], asked[mine])), f"{shares.mean():.3f}"]
        cells += [f"{100 * near.mean():.0f}%", f"{100 * enough.mean():.0f}%", f"{100 * beyond.mean():.0f}%"]
        cells += [f"{shares.min():.3f}, {worst:.3f}"]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default=FILE)
    options = parser.parse_args()
    path, shops = Path(options.file), {"simulated": simulated_items()}
    if path.is_file():
        shops["retailer, shelf of 20 packs"] = retailer_items(path, True)
        shops["retailer, no limit"] = retailer_items(path, False)
    columns = (
        "items", "share of", "target", "class", "how many", "pooled", "mean of items", "within 2 points",
        "at least target - 2 points", "surely beyond 2 points", "least, farthest",
    )  # fmt: skip
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, items in shops.items():
        for measure in MEASURES:
            for target in TARGETS:
                for row in table_rows(name, items, target, measure):
                    print(row, flush=True)
    if not path.is_file():
        print(f"\nThe retailer's sales are not in {options.file}: they are left out.")


if __name__ == "__main__":
    main()

"""Slow, rare, new and ended items beside usual ones: ``python -m benchmarks.slow_items``.

A made-up shop records two years of sales of six usual items and of the unusual ones below. Then it runs for half a
year: every morning the shelves are counted and orders decided, every evening sales are recorded. An order costs 2
and arrives the next day, a lost sale costs 5, and a unit in the evening 0.02 (0.5 of the item that is dear to keep).
The table has the mean over shops, and the least and the most in brackets.
"""

import argparse
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftmdp.inventory import Costs, Count, ItemSettings, Shop, Sold, SpecialDay
from driftmdp.kernels.arrays import Longs

MONDAY = date(2026, 1, 5)
HISTORY, DAYS = 728, 182
GIFT_DAY = HISTORY - 13  # of the year before: two weeks ago
GIVEN_AWAY = 200


class Half(NamedTuple):
    """What an item got: its first order, the most in an evening, and units ordered and sold in half a year."""

    first: int
    most: int
    ordered: int
    sold: int


def draw_demand(seed: int) -> dict[str, Longs]:
    """Return each item's demand by day, of the past and of the half year."""
    rng, n = np.random.default_rng(seed), HISTORY + DAYS
    found = {f"usual {i}": rng.poisson(0.5 + 0.5 * i, n) for i in range(6)}
    quarter = np.zeros(n, np.int64)
    quarter[np.arange(0, n, 91) + rng.integers(0, 91, n // 91)] = 1
    found |= {"one a quarter": quarter, "one a quarter, dear to keep": quarter, "never sold": 0 * quarter}
    steady = rng.poisson(3.0, n)
    for name, last in (("ended two months ago", HISTORY - 60), ("ends today", HISTORY)):
        found[name] = np.where(np.arange(n) < last, steady, 0)
    even = rng.poisson(1.0, n)
    gift = even.copy()
    gift[GIFT_DAY] = GIVEN_AWAY
    return found | {"one a day": even, "given away": gift, "given away, in the calendar": gift, "new": even}


def run(demand: dict[str, Longs], folder: Path) -> dict[str, Half]:
    """Return what each item got."""
    first = MONDAY - timedelta(HISTORY)
    settings = [ItemSettings("one a quarter, dear to keep", {"holding": 0.5}), ItemSettings("new", {"price": 3.0})]
    gift_day = (first + timedelta(GIFT_DAY)).toordinal()
    calendar = [SpecialDay(gift_day, "gifts", sku="given away, in the calendar")]
    past = [
        Sold(sku, first + timedelta(day), int(units[day]), in_stock=True)
        for day in range(HISTORY)
        for sku, units in demand.items()
        if sku != "new"
    ]
    stock, coming = dict.fromkeys(demand, 0), dict.fromkeys(demand, 0)
    orders, left, sold = ({sku: list[int]() for sku in demand} for _ in range(3))
    with Shop.create(folder / "shop.db", Costs(2.0, 0.0, 5.0, 0.02), None, lead_time=1) as shop:
        shop.record(past, items=settings, calendar=calendar)
        for day in range(DAYS):
            for sku in demand:
                stock[sku] += coming[sku]
            advice = shop.decide(
                [Count(sku, units) for sku, units in stock.items()], MONDAY + timedelta(day)
            ).advice
            coming = {each.sku: each.order for each in advice}
            for sku, units in demand.items():
                sold[sku].append(min(stock[sku], int(units[HISTORY + day])))
                stock[sku] -= sold[sku][-1]
                orders[sku].append(coming[sku])
                left[sku].append(stock[sku])
            shop.record([Sold(sku, MONDAY + timedelta(day), sold[sku][-1]) for sku in demand])
    return {sku: Half(orders[sku][0], max(left[sku]), sum(orders[sku]), sum(sold[sku])) for sku in demand}


def find(seeds: int) -> list[dict[str, Half]]:
    """Return what each item got in several shops."""
    found = []
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            found.append(run(draw_demand(seed), Path(folder)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shops", type=int, default=10)
    found = find(parser.parse_args().shops)
    print(f"{'item':28s} {'first order':>16s} {'most on shelf':>16s} {'ordered':>16s} {'sold':>16s}")
    for sku in found[0]:
        if not sku.startswith("usual"):
            columns = zip(*(each[sku] for each in found), strict=True)
            cells = [f"{np.mean(column):.1f} [{min(column)}, {max(column)}]" for column in columns]
            print(f"{sku:28s} " + " ".join(f"{cell:>16s}" for cell in cells))


if __name__ == "__main__":
    main()

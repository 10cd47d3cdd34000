"""Nine earlier windows of the weekly contest: ``python -m benchmarks.contest [FOLDER]``.

FOLDER has ``history.csv`` and ``items.csv``. It prints, for driftmdp, for driftmdp without each of its parts and
for what a user would take instead, the cost of weeks 3 to 8 over that of the organiser's benchmark, on nine windows
and on the eight between them. Intervals resample items and windows. Not all models of statsforecast are quick
enough for all windows and items: the table says what they were given. ``--only`` takes rows by a part of the name.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.contest_rules import COVER, FRACTILE, STARTS, LevelRule, run_engine
from benchmarks.contest_windows import (
    BETWEEN,
    NINE,
    ORDERS,
    OrganisersBenchmark,
    WeeklySales,
    read_weekly_sales,
    run_windows,
)
from benchmarks.engine_variants import AS_IT_IS, VARIANTS, call_variant
from benchmarks.statsforecast_peers import WAYS, has_statsforecast, up_to_levels
from benchmarks.two_way import shown, two_way_ratio
from driftmdp.kernels.arrays import Floats

FOLDER = "/work/shared/data/vn2"
NOT_WEEKLY = ("weekdays are alike", "no weekdays of items' own", "laws not calibrated")  # variants of days
ALL_ITEMS, OF_A_SAMPLE = 1, 15  # every how many-th item
RECENT = 13  # weeks whose mean stands for one that was not in stock, for models that need a number
# What a peer is given: the model, whether the organiser's season is taken out first, windows and items.
PEERS: dict[str, tuple[str, bool, tuple[int, ...], int]] = {
    "statsforecast AutoETS, season taken out first": ("AutoETS", True, STARTS, ALL_ITEMS),
    "statsforecast AutoETS, slow items CrostonSBA, season taken out first": (
        "AutoETS, slow items CrostonSBA",
        True,
        STARTS,
        ALL_ITEMS,
    ),
    "statsforecast AutoETS": ("AutoETS", False, STARTS, ALL_ITEMS),
    "statsforecast AutoTheta, season 52": ("AutoTheta", False, (*NINE[::2], *BETWEEN[::2]), ALL_ITEMS),
    "statsforecast AutoARIMA, season taken out first": (
        "AutoARIMA",
        True,
        (*NINE[::4], *BETWEEN[::4]),
        OF_A_SAMPLE,
    ),
}


class Found(NamedTuple):
    """A row: costs by (window, item) of these windows and items, and seconds per item and decision."""

    name: str
    starts: tuple[int, ...]
    every: int
    costs: Floats
    seconds: float


def engine_rows(folder: str, only: str) -> Iterator[Found]:
    """Yield driftmdp and its variants."""
    rows: list[tuple[str, str, dict[str, Any]]] = [(AS_IT_IS, AS_IT_IS, {})]
    rows += [(f"without: {name}", name, {}) for name in VARIANTS if name not in (AS_IT_IS, *NOT_WEEKLY)]
    rows += [
        ("without: no season of departments", AS_IT_IS, {"by_group": False}),
        ("without: stock-outs taken as zeros", AS_IT_IS, {"zeros": True}),
        *((f"our forecast, textbook order-up-to, errors {way}", AS_IT_IS, {"textbook": way}) for way in WAYS),
    ]
    for name, variant, settings in rows:
        if only in name or name == AS_IT_IS:
            costs, seconds = call_variant(run_engine, variant, folder, settings)
            yield Found(name, STARTS, ALL_ITEMS, np.array(costs), seconds)


def peer_rows(sales: WeeklySales, only: str, workers: int) -> Iterator[Found]:
    """Yield the models of statsforecast, each with the cheaper way to a level."""
    for name, (model, season, starts, every) in PEERS.items():
        if only not in name:
            continue
        tasks = [(start, week) for start in starts for week in range(start, start + ORDERS)]
        with ProcessPoolExecutor(workers) as pool:
            found = list(pool.map(partial(_levels, _part(sales, every), model, season), tasks))
        seconds = float(np.mean([each.seconds for each in found]))
        runs = []
        for way in range(len(WAYS)):
            levels = {task: each.levels[way] for task, each in zip(tasks, found, strict=True)}
            runs.append(run_windows(_part(sales, every), LevelRule(levels), starts).costs)
        best = min(range(len(WAYS)), key=lambda way: float(runs[way].sum()))
        yield Found(f"{name}, errors {WAYS[best]}", starts, every, runs[best], seconds)


def _part(sales: WeeklySales, every: int) -> WeeklySales:
    return WeeklySales(
        sales.skus[::every], sales.groups[::every], sales.mondays, sales.units[::every], sales.in_stock[::every]
    )


def _levels(sales: WeeklySales, model: str, season: bool, task: tuple[int, int]) -> Any:
    """Return the levels of a week in a window."""
    start, week = task
    factors = OrganisersBenchmark(sales).season(week)[sales.week_of_year] if season else np.ones(10_000)
    series = [_series(sales, item, start, week) for item in range(len(sales.skus))]
    past = [values / factors[week - values.size : week] for values in series]
    coming = np.tile(factors[week : week + COVER], (len(series), 1))
    return up_to_levels(model, past, coming, FRACTILE, 1 if season else 52)


def _series(sales: WeeklySales, item: int, start: int, week: int) -> Floats:
    """Return an item's demand before a week, from its first week in stock on.

    The recent mean stands for weeks before the window that were not in stock.
    """
    values, there = sales.demand[item, :week].astype(np.float64), sales.in_stock[item, :week].copy()
    there[start:] = True
    for missing in np.flatnonzero(~there):
        seen = values[:missing][there[:missing]]
        values[missing] = seen[-RECENT:].mean() if seen.size else 0.0
    return values[int(there.argmax()) :] if there.any() else values[:0]


def print_table(rows: Iterator[Found], sales: WeeklySales) -> None:
    """Print rows as they are found. The first is driftmdp, which the others are compared with too."""
    columns = (
        "", "nine windows", "eight between", "over driftmdp, same windows", "ms per item and decision", "given"
    )  # fmt: skip
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    benchmark = run_windows(sales, OrganisersBenchmark(sales), STARTS)
    ours: Found | None = None
    for row in rows:
        ours = ours or row
        cells = [row.name]
        cells += [
            _ratio(row, benchmark.costs, [k for k in starts if k in row.starts]) for starts in (NINE, BETWEEN)
        ]
        cells += ["" if row is ours else _ratio(row, ours.costs, row.starts), f"{1e3 * row.seconds:.2f}"]
        whole = row.starts == STARTS and row.every == ALL_ITEMS
        cells += ["" if whole else f"{len(row.starts)} windows, {row.costs.shape[1]} items"]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"| the organiser's benchmark | 1 | 1 | | {1e3 * benchmark.seconds:.2f} | |")


def _ratio(row: Found, other: Floats, starts: Sequence[int]) -> str:
    """Return the ratio of costs to another's, which has all windows and items."""
    if not starts:
        return ""
    mine = row.costs[[row.starts.index(start) for start in starts]]
    theirs = other[[STARTS.index(start) for start in starts]][:, :: row.every]
    return shown(two_way_ratio(mine, theirs))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=FOLDER)
    parser.add_argument("--only", default="", help="rows whose name has this text, and driftmdp")
    parser.add_argument("--workers", type=int, default=2, help="processes for statsforecast")
    options = parser.parse_args()
    folder = Path(options.folder)
    if not (folder / "history.csv").is_file():
        print(f"The contest's data are not in {folder}: nothing is measured.")
        return
    sales = read_weekly_sales(folder)

    def rows() -> Iterator[Found]:
        yield from engine_rows(str(folder), options.only)
        if has_statsforecast():
            yield from peer_rows(sales, options.only, options.workers)

    print_table(rows(), sales)
    if not has_statsforecast():
        print("\nstatsforecast is not installed (the bench extra): its rows are left out.")


if __name__ == "__main__":
    main()

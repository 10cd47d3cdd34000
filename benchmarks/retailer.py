"""A retailer's daily sales: ``python -m benchmarks.retailer [FILE]``.

FILE has the columns date, sku and units. It prints, for driftmdp, for driftmdp without each of its parts and for
what a user would take instead, the cost over that of the best fixed (s, S) in hindsight, with an interval over
items. retailer_runs.py has the terms. ``--only`` takes rows by a part of their name.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.child import call_in_child
from benchmarks.engine_variants import AS_IT_IS, VARIANTS, call_variant
from benchmarks.retailer_runs import hindsight, read_daily_sales, run_engine, run_statsforecast
from benchmarks.statsforecast_peers import has_statsforecast
from benchmarks.two_way import shown
from driftmdp.kernels.arrays import Floats
from driftmdp.statistics import ratio_interval

FILE = "/work/shared/data/online_retail_daily_top100.csv"
RULES = ("up to a quantile every day", "(s, S) by quantile and economic order quantity")
PEERS = {"AutoETS": 1, "AutoTheta": 1, "AutoARIMA": 10}  # every how many-th item they are given
FINER = 4  # steps of a pack


class Found(NamedTuple):
    """A row: the costs of every how many-th item, and a remark."""

    name: str
    costs: Floats
    every: int = 1
    remark: str = ""


def rows(path: str, only: str) -> Iterator[Found]:
    """Yield driftmdp, its variants and the models of statsforecast."""
    for name in VARIANTS:
        shown_name = name if name == AS_IT_IS else f"without: {name}"
        if only in shown_name or name == AS_IT_IS:
            yield Found(shown_name, np.array(call_variant(run_engine, name, path, False)))
    name = "without: sold-out days taken at face value"
    if only in name:
        yield Found(name, np.array(call_variant(run_engine, AS_IT_IS, path, True)))
    for model, every in PEERS.items():
        if has_statsforecast() and only in f"statsforecast {model}":
            costs, seconds = call_in_child(run_statsforecast, model, path, every).result
            best = int(np.argmin(np.sum(costs, axis=1)))
            remark = f"{1e3 * seconds:.0f} ms per fit, {len(costs[best])} items"
            yield Found(f"statsforecast {model}, {RULES[best]}", np.array(costs[best]), every, remark)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default=FILE)
    parser.add_argument("--only", default="", help="rows whose name has this text, and driftmdp")
    options = parser.parse_args()
    if not Path(options.file).is_file():
        print(f"The retailer's sales are not in {options.file}: nothing is measured.")
        return
    sales = read_daily_sales(Path(options.file))
    best, ours = hindsight(sales), None
    columns = "", "over the best fixed (s, S)", "over driftmdp", "items that cost less than it", "remark"
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows(options.file, options.only):
        ours = row.costs if ours is None else ours
        cells = [row.name, shown(ratio_interval(row.costs, best[:: row.every]))]
        cells += ["" if row.costs is ours else shown(ratio_interval(row.costs, ours[:: row.every]))]
        cells += [f"{100 * float((row.costs < best[:: row.every]).mean()):.0f}%", row.remark]
        print(f"| {' | '.join(cells)} |", flush=True)
    finer = shown(ratio_interval(hindsight(sales, FINER), best))
    print(f"| best fixed (s, S), levels in quarters of a pack | {finer} | | | in hindsight |")
    if not has_statsforecast():
        print("\nstatsforecast is not installed (the bench extra): its rows are left out.")


if __name__ == "__main__":
    main()

"""What each part of the order engine is worth in simulated worlds: ``python -m benchmarks.inventory_ablations``.

Each variant of engine_variants.py runs in its own process and kernel cache. Costs are compared with the
clairvoyant's and with those of ``agents.InventoryOptimist`` on ``random_shops(7)``, scored from day 61, with an
interval over shops. Regret is compared with that of the best fixed (s, S) on the seasonal problem, with an interval
over seeds. In a shop whose items have weekdays of their own, costs are compared with those of the whole engine.
``benchmarks.contest`` and ``benchmarks.retailer`` do the same on real sales.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from benchmarks.engine_variants import AS_IT_IS, VARIANTS, call_variant
from benchmarks.simulated_runs import Yardsticks, run_engine
from benchmarks.two_way import shown
from driftmdp.statistics import ratio_interval

SEEDS = 20


def main() -> None:
    """Print a table of all variants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of the seasonal problem")
    parser.add_argument("--only", default="", help="variants whose name has this text, and driftmdp")
    options = parser.parse_args()
    columns = (
        "", "240 shops, over the clairvoyant", "240 shops, over InventoryOptimist",
        f"seasonal, regret over the best fixed (s, S), {options.seeds} seeds",
        "items with their own weekdays, over driftmdp",
    )  # fmt: skip
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    yardsticks = Yardsticks(options.seeds)
    optimist = yardsticks.ratios(yardsticks.optimist_in_shops.tolist(), yardsticks.optimist.tolist())
    _print_row("agents.InventoryOptimist", [*map(shown, optimist), ""])
    whole: list[float] = []
    for name in VARIANTS:
        if options.only in name or name == AS_IT_IS:
            *found, rhythms = call_variant(run_engine, name, options.seeds)
            whole = whole or rhythms
            _print_row(name, map(shown, [*yardsticks.ratios(*found), ratio_interval(rhythms, whole)]))


def _print_row(name: str, cells: Iterable[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

"""What each part of InventoryOptimist is worth: ``python -m benchmarks.inventory_ablations [sales.csv]``.

Each variant changes constants of kernels/censored_demand.py before they are compiled,
in its own process and kernel cache. Costs are compared with the clairvoyant's on ``random_shops(7)``, scored
from day 61. Regret is compared with that
of the best fixed (s, S) on the seasonal problem. If sales are given, cost is compared with the best fixed (s, S)'s.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no optimism": {"OPTIMISM": 0.0},
    "half a deviation of optimism": {"OPTIMISM": 0.5},
    "a whole deviation": {"OPTIMISM": 1.0},
    "weekdays are alike": {"WEEKDAY_PRIOR": 1e12},
    "levels without neighbours": {"NEIGHBOUR_DECAY": 0.0},
    "weights without a share": {"FIXED_SHARE": 0.0},
    "5 days only": {"DAY_DECAY": 5.0},
    "15 days only": {"DAY_DECAY": 15.0},
    "45 days only": {"DAY_DECAY": 45.0},
    "135 days only": {"DAY_DECAY": 135.0},
    "all days": {"DAY_DECAY": np.inf},
}
SEEDS = 20


def main(sales: str | None) -> None:
    """Print a table of all variants."""
    columns = (
        "variant",
        "240 shops, over clairvoyant",
        "seasonal, regret over best fixed",
        "real, over best fixed",
    )
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in VARIANTS:
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "benchmarks.inventory_ablations", "--variant", name, sales or ""]
            environment = os.environ | {"NUMBA_CACHE_DIR": cache}
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        shown = ["{:.3f} [{:.3f}, {:.3f}]".format(*found) for found in json.loads(done.stdout)]
        print(f"| {name} | {' | '.join(shown)} |", flush=True)


def variant(name: str, sales: str) -> None:
    """Print the numbers of one variant, each with its interval: over shops, seeds and items."""
    import driftmdp as dm
    from benchmarks.shops import random_shops
    from driftmdp.inventory import backtest, compare_rules, read_sales
    from driftmdp.kernels import censored_demand
    from driftmdp.problems.inventory import Costs
    from driftmdp.statistics import ratio_interval

    for constant, value in VARIANTS[name].items():
        changed = np.full(6, 1.0 - 1.0 / value) if constant == "DAY_DECAY" else value
        setattr(censored_demand, constant, changed)
    shops = [compare_rules(shop, [number], ["optimist"]) for number, shop in enumerate(random_shops(7))]
    paid, best = (
        [float(array[..., 60:].sum()) for array in arrays]
        for arrays in zip(*((shop.costs, shop.clairvoyant) for shop in shops), strict=True)
    )
    found = [ratio_interval(paid, best)]
    seasonal = compare_rules(dm.problems.inventory(), range(SEEDS), ["optimist", "hindsight"])
    found.append(seasonal.regret_ratio("optimist", "hindsight"))
    if sales and Path(sales).is_file():
        result = backtest(read_sales(sales), Costs(), 20, rules=["optimist", "hindsight"])
        found.append(result.ratio("optimist", "hindsight"))
    print(json.dumps([[float(each.estimate), float(each.low), float(each.high)] for each in found]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--variant"]:
        variant(sys.argv[2], sys.argv[3])
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else None)

"""How long a decision takes with a long shelf life: ``python -m benchmarks.shelf_life_time none 10 60 365``.

300 items that sell 0.2 to 6.2 a day, after 20 days.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from driftmdp.inventory import Costs, Count, Shop, Sold

N_ITEMS, DAYS, FIRST = 300, 20, date(2026, 1, 1)


def milliseconds(life: int | None) -> float:
    """Return the CPU time of a decision, per item."""
    rng = np.random.default_rng(1)
    costs = Costs(2.0, 1.0, 5.0, 0.1)
    with (
        tempfile.TemporaryDirectory() as folder,
        Shop.create(Path(folder) / "shop.db", costs, 60, 1, shelf_life=life) as shop,
    ):
        for number in range(DAYS):
            today = FIRST + timedelta(number)
            shop.record(
                [Sold(f"I{i}", today, int(rng.poisson(0.2 + i % 7)), in_stock=True) for i in range(N_ITEMS)]
            )
        start = time.process_time()
        shop.decide([Count(f"I{i}", i % 9) for i in range(N_ITEMS)], FIRST + timedelta(DAYS))
        return (time.process_time() - start) / N_ITEMS * 1e3


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lives", nargs="*", default=["none", "10", "60", "365"])
    milliseconds(3)  # may compile
    for life in parser.parse_args(arguments).lives:
        print(f"shelf life {life}: {milliseconds(None if life == 'none' else int(life)):.1f} ms per item")


if __name__ == "__main__":
    main()

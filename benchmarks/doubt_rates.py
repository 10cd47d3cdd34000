"""How often usual sales are doubted as ten times any other day: ``python -m benchmarks.doubt_rates``.

Items with lumpy demand over two years, with means of 0.02 to 30 a day. Each day is compared with the days before
it. The constant was chosen on the first seeds, and is judged on the others.
"""

import numpy as np

from driftmdp.inventory.doubts import LEAST_LARGEST, LEAST_PERIODS, TIMES

__all__ = ["main", "share_doubted"]

ITEMS, DAYS = 4000, 730
CANDIDATES = (0, 1, 2, 3, LEAST_LARGEST, 8)
TUNING, JUDGED = (0, 1, 2), (100, 101, 102)


def share_doubted(seed: int) -> dict[int, float]:
    """Return the share of items with a doubted day, by the units that a slow item's largest day counts as."""
    rng = np.random.default_rng(seed)
    mean = np.exp(rng.uniform(np.log(0.02), np.log(30.0), ITEMS))
    shape = np.exp(rng.uniform(np.log(0.1), np.log(10.0), ITEMS))
    units = rng.poisson(rng.gamma(shape[:, None], (mean / shape)[:, None], (ITEMS, DAYS)))
    before = np.maximum.accumulate(units, axis=1)[:, LEAST_PERIODS - 1 : -1]
    odd = {least: units[:, LEAST_PERIODS:] > TIMES * np.maximum(before, least) for least in CANDIDATES}
    return {least: float(found.any(axis=1).mean()) for least, found in odd.items()}


def main() -> None:
    """Print the shares."""
    for name, seeds in (("tuning", TUNING), ("judged", JUDGED)):
        for seed in seeds:
            shares = ", ".join(f"{least}: {share:.2%}" for least, share in share_doubted(seed).items())
            print(f"{name} seed {seed}: items doubted at least once, by least largest day: {shares}")


if __name__ == "__main__":
    main()

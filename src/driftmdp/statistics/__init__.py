"""What a handful of seeds can say: intervals, tests and rankings.

A seed is the unit of replication: row i of every sample belongs to seed i, and whole seeds are drawn again. All of
it is deterministic: which seeds are drawn depends on the number of seeds, ``resamples`` and ``seed`` only, so two
samples of as many seeds are resampled alike.

========================  ==================================================================================
interval                  expanded percentile bootstrap, Hesterberg (2015): the tail alpha / 2 is replaced by
                          Phi(-sqrt(n / (n - 1)) t), t the 1 - alpha / 2 quantile of Student's law with
                          n - 1 degrees of freedom. Ends are order statistics, rounded outwards.
paired test               sign flips of the differences; every pattern if n <= 13, otherwise random ones and
                          (1 + hits) / (1 + draws), which is never 0, Phipson and Smyth (2010)
many tests                Holm (1979)
========================  ==================================================================================

What to expect of a 95% interval for a mean, by simulation (the tests repeat it): with normal data it covers 95% at
n = 50, 94.6% at n = 10, 92% at n = 5, and 75% and 49% at n = 3 and 2, where it cannot be wider than the data; with
skewed data less (exponential: 94% at n = 50, 91% at n = 10).

Where a resample has no value (a ratio whose denominator changes its sign, the logarithm of a negative mean) it
counts as minus infinity for the low end and as plus infinity for the high end.

References
----------
T. Hesterberg, What teachers should know about the bootstrap, The American Statistician 69(4), 2015.
B. Phipson and G. Smyth, Permutation p-values should never be zero, 2010.
S. Holm, A simple sequentially rejective multiple test procedure, 1979.
"""

from driftmdp.statistics.intervals import (
    Interval,
    difference_interval,
    log_log_slope,
    mean_interval,
    median_interval,
    ratio_interval,
)
from driftmdp.statistics.paired_tests import holm, sign_flip_test
from driftmdp.statistics.ranking import Ranking, rank_shares

__all__ = [
    "Interval", "Ranking", "difference_interval", "holm", "log_log_slope", "mean_interval", "median_interval",
    "rank_shares", "ratio_interval", "sign_flip_test",
]  # fmt: skip

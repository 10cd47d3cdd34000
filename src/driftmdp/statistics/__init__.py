"""Statistics over seeds: intervals, tests and rankings.

A seed is the unit of replication: row i of every sample belongs to seed i, and whole seeds are resampled. The
results are deterministic. Which seeds are drawn depends only on the number of seeds, ``resamples`` and ``seed``, so
two samples with the same number of seeds are resampled alike.

========================  ==================================================================================
interval                  expanded percentile bootstrap, Hesterberg (2015): the tail alpha / 2 is replaced by
                          Phi(-sqrt(n / (n - 1)) t), t the 1 - alpha / 2 quantile of Student's law with
                          n - 1 degrees of freedom. Ends are order statistics, rounded outwards.
paired test               sign flips of the differences: every pattern if n <= 24, otherwise random ones and
                          (1 + hits) / (1 + draws), which is never 0, Phipson and Smyth (2010)
many tests                Holm (1979)
========================  ==================================================================================

Coverage of a 95% interval for a mean, by simulation (the tests repeat it): with normal data 95% at n = 50, 94.6% at
n = 10, 92% at n = 5, and 75% and 49% at n = 3 and 2, where it cannot be wider than the data. With skewed data it is
lower (exponential: 94% at n = 50, 91% at n = 10).

A resample without a value (a ratio whose denominator changes its sign, the logarithm of a negative mean) counts as
minus infinity for the low end and as plus infinity for the high end.

References
----------
T. Hesterberg, What teachers should know about the bootstrap, The American Statistician 69(4), 2015.
B. Phipson and G. Smyth, Permutation p-values should never be zero, 2010.
S. Holm, A simple sequentially rejective multiple test procedure, 1979.
"""

from driftmdp.statistics.intervals import (
    Interval,
    Ranking,
    difference_interval,
    log_log_slope,
    mean_interval,
    median_interval,
    rank_shares,
    ratio_interval,
)
from driftmdp.statistics.paired_tests import holm, sign_flip_test, smallest_p_value

__all__ = [
    "Interval", "Ranking", "difference_interval", "holm", "log_log_slope", "mean_interval", "median_interval",
    "rank_shares", "ratio_interval", "sign_flip_test", "smallest_p_value",
]  # fmt: skip

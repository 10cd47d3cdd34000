"""The arrays of what is believed of demand, by name, and the functions that make them. No compiler is needed."""

from typing import NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Floats, Longs

N_MEMORIES, N_DISPERSIONS = 6, 7
# Periods that a memory spans: of days, and of weeks.
MEMORIES = np.array([[5.0, 15.0, 45.0, 135.0, 405.0, 1000.0], [3.0, 6.0, 12.0, 24.0, 48.0, 96.0]])
DISPERSIONS = np.array([0.02, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0])  # phi: variance is mean + phi mean^2
# Shares of the probability below a demand, at which calibration is counted: finer where orders are decided.
BIN_EDGES = np.array([0, 0.02, *np.arange(0.05, 0.96, 0.05).round(2), 0.98, 0.99, 1.0])
N_BINS = BIN_EDGES.size - 1
# The same for what a period loses, which lies in the tail: further up, to one period in 20,000.
LOSS_EDGES = np.array([*BIN_EDGES[:-1], *(1 - np.geomspace(0.005, 5e-5, 7)).round(6), 1.0])
N_LOSS_BINS = LOSS_EDGES.size - 1
LEAST_MEAN = 1e-3  # of a period's demand
DAY_KIND, WEEK_KIND = 0, 1  # rows of MEMORIES


class DemandBeliefs(NamedTuple):
    """What is believed of the demand of n items. Field names are stored in files.

    =========  ======================  ==================================================================
    units      (n, memories)           fading sums of demand
    exposure   (n, memories)           the same of the factors: season, weekday and special days
    weights    (n, memories, disp.)    of the experts: a memory and a dispersion each
    periods    (n,)                    learned from
    unseen     (n,)                    periods in a row with nothing on sale, or sold out as a negative number
    service    (n, 6)                  fading sums of expected demand and loss, of periods and stock-outs, and of
                                       squared errors less the mean, and squared means
    =========  ======================  ==================================================================
    """

    units: Floats
    exposure: Floats
    weights: Floats
    periods: Longs
    unseen: Longs
    service: Floats


class Shared(NamedTuple):
    """What all items share.

    =============  ==========================  ============================================================
    weights        (kinds, memories, disp.)    mean weights of the experts, by kind of period
    calibration    (kinds, bins + 1)           how often demand really was below each of ``BIN_EDGES``
    loss_shape     (kinds, loss bins + 1)      the same of ``LOSS_EDGES``, in the law of expected_loss.py
    =============  ==========================  ============================================================
    """

    weights: Floats
    calibration: Floats
    loss_shape: Floats


def new_beliefs(n: int) -> DemandBeliefs:
    """Return items that nothing was learned of."""
    even = 1.0 / (N_MEMORIES * N_DISPERSIONS)
    return DemandBeliefs(
        np.zeros((n, N_MEMORIES)),
        np.zeros((n, N_MEMORIES)),
        np.full((n, N_MEMORIES, N_DISPERSIONS), even),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros((n, 6)),
    )


def new_shared() -> Shared:
    """Return what is shared before anything was learned."""
    even = 1.0 / (N_MEMORIES * N_DISPERSIONS)
    weights = np.full((2, N_MEMORIES, N_DISPERSIONS), even)
    return Shared(weights, np.tile(BIN_EDGES, (2, 1)), np.tile(LOSS_EDGES, (2, 1)))

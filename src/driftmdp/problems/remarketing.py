"""Vehicle remarketing, [CSZ20] Example 1: how many off-lease cars to list at each wholesale auction.

========  ==============  ==========================================================================
symbol    name here       meaning
========  ==============  ==========================================================================
C         capacity        places on the lot for 0 .. C cars, so there are C + 1 states
s, a      state, action   cars on the lot before the auction, and batches listed
n         listed          cars listed, min(a batch, s)
D, Y      demand, sales   cars that dealers want, Poisson(delta), and min(D, n)
Z         arrivals        cars whose lease ended, Poisson, which come after the auction
m         margin          what a car fetches above the cheap channel, thousand dollars, if few are listed
i         price_impact    share of m lost for each car listed per car wanted, n / delta
f         listing_fee     of each listed car, sold or not
h         holding         of each car on the lot after the auction
r         rewards         m (1 - i n / delta) E[Y] - f n - h (s - E[Y])
s'        next state      min(s - Y + Z, C). Other cars go to the cheap channel, whose margin is 0
========  ==============  ==========================================================================

An anchor is a market with its own delta, mean arrivals and m. A mixture of markets is a day that is one of them
by chance. Arrivals are capped a little above four standard deviations: 40 successors at most by default.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.problems.inventory.demand import Poisson
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drift_weights
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number

MIN_MEAN, MAX_MEAN = 0.01, 500.0  # of demand and arrivals, so that every state can be reached


class Market(NamedTuple):
    """A market: factors of the usual mean demand, mean arrivals and margin."""

    demand: float
    arrivals: float
    margin: float


MARKETS = {"usual": Market(1.0, 1.0, 1.0), "thin": Market(0.3, 0.35, 2.0), "deep": Market(2.0, 1.6, 0.5)}


@register("remarketing-v1")
def remarketing(
    capacity: int = 100,
    batch: int = 4,
    n_batches: int = 4,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float = 5,
    changes: int = 5,
    demand: float = 7.0,
    arrivals: float = 5.5,
    margin: float = 3.0,
    price_impact: float = 0.25,
    listing_fee: float = 0.1,
    holding: float = 0.02,
    noise: str = "none",
) -> Problem:
    """How many off-lease cars to list at each wholesale auction while the market turns.

    Each auction day: see the cars on the lot, list some, sell to the dealers who want one, pay for listing and
    for the cars that stay. Then cars come in from ended leases. Listing many lowers the price of all. The market
    moves between three. In the ``thin`` one few dealers want few cars, at double the margin of the ``usual`` one.
    In the ``deep`` one many want many, at half of it.

    It tests tracking in many similar states: in a thin market it is best to list one batch, in a deep one
    three. With the defaults the oracle of each step earns 7.89 thousand dollars per day, the optimal policy of the
    average market 7.24, a random one 2.69 (20 seeds, docs/problems.md). There is no closed form.

    Rewards are thousands of dollars above selling each car through the cheap channel, and ``reward_range`` is the
    exact range of mean rewards. The defaults are plausible, not fitted. Sources and choices are in
    docs/problems.md.

    Parameters
    ----------
    capacity
        Places on the lot.
    batch, n_batches
        Cars per batch, and the most batches that are listed. The last batch may be smaller.
    horizon
        T, auction days.
    drift
        ``stationary`` (the usual market), ``seasonal`` (linear from usual to thin to deep and back) or
        ``abrupt`` (jumps in that order).
    cycles
        Cycles of ``seasonal`` over the horizon.
    changes
        Jumps of ``abrupt``.
    demand, arrivals
        Means of the usual market, cars per day, 0.01 to 500.
    margin
        Margin of the usual market, thousand dollars per car.
    price_impact
        Share of the margin lost for each car listed per car wanted. A margin may become negative.
    listing_fee, holding
        Thousand dollars per car.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import remarketing
    >>> problem = remarketing(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 101 states, 477 pairs>
    >>> thin, deep = (planning.optimal_gain(problem.drifting.anchor(k)).policy for k in (1, 2))
    >>> [problem.space.action_names[50][int(policy[50])] for policy in (thin, deep)]  # with 50 cars on the lot
    ['list 4', 'list 12']
    """
    batch = as_integer(batch, "batch", minimum=1)
    lot = Lot(as_integer(capacity, "capacity", minimum=1), batch, as_integer(n_batches, "n_batches", minimum=1))
    demand = as_number(demand, "demand", MIN_MEAN, MAX_MEAN)
    arrivals = as_number(arrivals, "arrivals", MIN_MEAN, MAX_MEAN)
    margin = as_number(margin, "margin", minimum=0.0)
    price_impact = as_number(price_impact, "price_impact", minimum=0.0)
    listing_fee = as_number(listing_fee, "listing_fee", minimum=0.0)
    holding = as_number(holding, "holding", minimum=0.0)
    require_memory(len(MARKETS) * 24 * lot.listed.sum(), f"capacity = {lot.capacity:,}")
    anchors = []
    for market in MARKETS.values():
        wanted = demand * market.demand
        sales, transitions = lot.auction(wanted, arrivals * market.arrivals)
        revenue = margin * market.margin * (1 - price_impact * lot.listed / wanted) * sales
        costs = listing_fee * lot.listed + holding * (lot.stock - sales)
        anchors.append(Mdp(lot.space, revenue - costs, transitions))
    return Problem(DriftingMdp(anchors, drift_weights(drift, horizon, len(anchors), cycles, changes)), noise=noise)


class Lot:
    """The states of the lot, and for each pair the cars on it and the cars listed."""

    def __init__(self, capacity: int, batch: int, n_batches: int) -> None:
        n_listings = min(n_batches, -(-capacity // batch)) + 1
        require_memory(250 * (capacity + 1) * n_listings, f"capacity = {capacity:,}")
        batches = np.minimum(-(-np.arange(capacity + 1) // batch), n_batches)
        listings = [[f"list {min(k * batch, s)}" for k in range(most + 1)] for s, most in enumerate(batches)]
        self.capacity = capacity
        self.space = Space(batches + 1, [f"{s} cars" for s in range(capacity + 1)], listings)
        self.stock = self.space.pair_states.astype(np.int64)
        action = np.arange(self.space.n_pairs) - self.space.offsets[self.stock]
        self.listed = np.minimum(batch * action, self.stock)

    def auction(self, demand: float, arrivals: float) -> tuple[NDArray[np.float64], sp.csr_array]:
        """Return E[Y] and the next-state distribution of each pair."""
        listed = self.listed.tolist()
        sold = {n: poisson_up_to(n, demand) for n in set(listed)}
        arrived = poisson_up_to(math.ceil(arrivals + 4 * math.sqrt(arrivals) + 2), arrivals)
        laws = [np.convolve(sold[n][::-1], arrived) for n in listed]  # distributions of the cars beyond s - n
        pairs = np.repeat(np.arange(self.space.n_pairs), [law.size for law in laws])
        cars = (self.stock - self.listed)[pairs] + np.concatenate([np.arange(law.size) for law in laws])
        entries = np.concatenate(laws), (pairs, np.minimum(cars, self.capacity))
        transitions = sp.coo_array(entries, shape=(self.space.n_pairs, self.space.n_states)).tocsr()
        return np.array([sold[n] @ np.arange(n + 1) for n in listed]), transitions


def poisson_up_to(most: int, mean: float) -> NDArray[np.float64]:
    """Return the distribution of min(X, most) for a Poisson X, shape (most + 1,)."""
    return np.asarray(Poisson(mean).table(1, most)[0])

"""Real-time bidding for display ads, [CSZ20] Example 2: what to bid while rivals come and go.

========  ==============  ==========================================================================
symbol    name here       meaning
========  ==============  ==========================================================================
B, b      budget          units of money of a full budget; what is left of it, 0 .. B
E, e      exposures       most recent exposures that are counted; how many there are, 0 .. E
(b, e)    state           (B + 1)(E + 1) states; index b (E + 1) + e
x         action          bid for the block, 0 (none) .. min(n_bids, b) units; the winner pays its bid
M         rivals          highest rival bid, Binomial(n_bids, q); a bid wins if it is higher
u         uncontested     chance that nobody else bids
w(x)      win_chances     u + (1 - u) Pr(M < x) for x > 0
c         clicks          clicks in a block won when the ad is fresh
g         fatigue         share of clicks lost with each recent exposure
v         recovery        chance that an exposure is forgotten in a block not won
P         period          mean number of blocks until the budget is filled again
r         rewards         c (1 - g)^e w(x)
========  ==============  ==========================================================================

A step is a block of a thousand impressions, the unit in which prices are quoted (CPM). Won: b - x left and e +
1 exposures, at most E. Not won: e - 1 with chance v, at least 0. Then with chance 1 / P the budget is filled to
B whatever is left: a period without memory, so that the state need not hold the time of day.

An anchor is an audience with its own q and c.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import moves
from driftmdp.system import require_memory
from driftmdp.validation import as_fraction, as_integer, as_number

MOST_BIDS = 1000  # their binomial coefficients are numbers that floats can hold
LEAST = 0.01  # of chances without which some states could not be reached


class Audience(NamedTuple):
    """An audience against the usual one: factors of the odds q / (1 - q) and of the clicks."""

    odds: float
    clicks: float


AUDIENCES = {"usual": Audience(1.0, 1.0), "quiet": Audience(0.1, 0.7), "fierce": Audience(8.0, 1.3)}


@register("bidding-v1")
def bidding(
    budget: int = 24,
    exposures: int = 4,
    n_bids: int = 4,
    period: float = 24.0,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float = 5,
    changes: int = 5,
    competition: float = 0.5,
    uncontested: float = 0.02,
    clicks: float = 0.8,
    fatigue: float = 0.1,
    recovery: float = 0.5,
    noise: str = "none",
) -> Problem:
    """How much to bid for each block of impressions while the budget shrinks, viewers tire and rivals change.

    Before each block: see what is left of the budget and how often the ad was shown of late, bid, pay the bid
    if it wins, count the clicks. The audience moves between ``usual``; ``quiet``, where nearly every bid wins
    and fewer people click; and ``fierce``, where only the highest bids win and more do.

    It tests spending a resource while its price drifts: in quiet times it is best to bid 1, in fierce ones 4 or
    next to nothing. With the defaults the oracle of each step gets 0.174 clicks a block, the optimal policy of
    the average audience 0.159, a random one 0.129 (20 seeds; docs/problems.md). No closed form.

    Rewards are expected clicks; ``reward_range`` is the exact range of mean rewards. The defaults are
    plausible, not fitted: sources and choices are in docs/problems.md.

    Parameters
    ----------
    budget
        Units of money of a full budget.
    exposures
        Most recent exposures that are counted.
    n_bids
        The highest bid, units of money a block, at most 1,000.
    period
        Mean number of blocks until the budget is filled again, at least 2.
    horizon
        T, blocks.
    drift
        ``stationary``: the usual audience; ``seasonal``: in straight lines from usual to quiet to fierce and
        back; ``abrupt``: jumps in that order.
    cycles
        Rounds of ``seasonal`` over the horizon.
    changes
        Jumps of ``abrupt``.
    competition
        q of the usual audience: the highest rival bid is Binomial(n_bids, q).
    uncontested
        Chance that nobody else bids, at least 0.01.
    clicks
        Of the usual audience, in a block won with a fresh ad.
    fatigue
        Share of clicks lost with each recent exposure.
    recovery
        Chance that a recent exposure is forgotten in a block not won, at least 0.01.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> problem = bidding(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 125 states, 575 pairs>
    >>> problem.space.state_names[problem.start]
    '24 left, 0 shown'
    >>> [int(planning.optimal_gain(anchor).policy[problem.start]) for anchor in problem.drifting.anchors]
    [3, 1, 4]
    """
    campaign = Campaign(
        as_integer(budget, "budget", minimum=1),
        as_integer(exposures, "exposures", minimum=0),
        as_integer(n_bids, "n_bids", 1, MOST_BIDS),
        forget=as_number(recovery, "recovery", LEAST, 1.0),
        refill=1 / as_number(period, "period", minimum=2.0),
    )
    competition = as_fraction(competition, "competition")
    uncontested = as_number(uncontested, "uncontested", LEAST, 1.0)
    fresh = (1 - as_fraction(fatigue, "fatigue")) ** campaign.shown
    clicks = as_number(clicks, "clicks", minimum=0.0)
    anchors = []
    for audience in AUDIENCES.values():
        odds = audience.odds * competition
        wins = win_chances(campaign.n_bids, odds / (odds + 1 - competition), uncontested)[campaign.bid]
        anchors.append(Mdp(campaign.space, clicks * audience.clicks * fresh * wins, campaign.transitions(wins)))
    weights = moves(drift, horizon, len(anchors), cycles, changes)
    return Problem(DriftingMdp(anchors, weights), start=campaign.state(campaign.budget, 0), noise=noise)


def win_chances(n_bids: int, competition: float, uncontested: float) -> NDArray[np.float64]:
    """Return w(x) of the bids 0 .. n_bids.

    Examples
    --------
    >>> win_chances(n_bids=2, competition=0.5, uncontested=0.2).round(2)
    array([0. , 0.4, 0.8])
    """
    rivals = [math.comb(n_bids, m) * competition**m * (1 - competition) ** (n_bids - m) for m in range(n_bids)]
    return np.concatenate([[0.0], uncontested + (1 - uncontested) * np.cumsum(rivals)])


class Campaign:
    """A campaign's states, and by pair what is left, how often the ad was shown, and the bid."""

    def __init__(self, budget: int, exposures: int, n_bids: int, forget: float, refill: float) -> None:
        self.budget, self.exposures, self.n_bids = budget, exposures, n_bids
        self.forget, self.refill = forget, refill
        n_states = (budget + 1) * (exposures + 1)
        require_memory(250 * n_states * (min(budget, n_bids) + 1), f"(budget + 1) x (exposures + 1) = {n_states:,}")
        left, shown = np.divmod(np.arange((budget + 1) * (exposures + 1)), exposures + 1)
        self.space = Space(
            np.minimum(left, n_bids) + 1,
            [f"{b} left, {e} shown" for b, e in zip(left, shown, strict=True)],
            ["no bid", *(f"bid {x}" for x in range(1, n_bids + 1))],
        )
        states = self.space.pair_states
        self.left, self.shown = left[states], shown[states]
        self.bid = np.arange(self.space.n_pairs) - self.space.offsets[states]

    def state(self, left: int, shown: int) -> int:
        """Return a state's index."""
        return left * (self.exposures + 1) + shown

    def transitions(self, wins: NDArray[np.float64]) -> sp.csr_array:
        """Return the law of the next state by pair, from each pair's chance to win."""
        outcomes = (  # chance, left before a refill, shown
            (wins, self.left - self.bid, np.minimum(self.shown + 1, self.exposures)),
            ((1 - wins) * self.forget, self.left, np.maximum(self.shown - 1, 0)),
            ((1 - wins) * (1 - self.forget), self.left, self.shown),
        )
        chances, following = [], []
        for chance, left, shown in outcomes:
            chances += [chance * (1 - self.refill), chance * self.refill]
            following += [left * (self.exposures + 1) + shown, self.budget * (self.exposures + 1) + shown]
        pairs = np.tile(np.arange(self.space.n_pairs), len(chances))
        entries = np.concatenate(chances), (pairs, np.concatenate(following))
        table = sp.coo_array(entries, shape=(self.space.n_pairs, self.space.n_states)).tocsr()
        table.eliminate_zeros()
        return table

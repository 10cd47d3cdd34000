"""Real-time bidding for display ads, [CSZ20] Example 2: what to bid while rivals come and go.

========  ==============  ==========================================================================
symbol    name here       meaning
========  ==============  ==========================================================================
B, b      budget          units of money of a full budget, and what is left of it, 0 .. B
E, e      exposures       cap on the recent exposures, and their number, 0 .. E
(b, e)    state           (B + 1)(E + 1) states, index b (E + 1) + e
x         action          bid for the block, 0 (none) .. min(n_bids, b) units, which the winner pays
M         rivals          highest rival bid, Binomial(n_bids, q). A higher bid wins
u         uncontested     chance that there is no other bid
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

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.problems.outcomes import transition_table
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drift_weights
from driftmdp.system import require_memory
from driftmdp.validation import as_fraction, as_integer, as_number

MAX_BIDS = 1000  # floats can hold the binomial coefficients
MIN_CHANCE = 0.01  # a chance of 0 would leave states out of reach


class Audience(NamedTuple):
    """An audience: factors of the usual odds q / (1 - q) and of the usual clicks."""

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

    Before each block: see what is left of the budget and how often the ad was shown recently, bid, pay the bid if
    it wins, and count the clicks. The audience moves between three. In the ``quiet`` one nearly every bid wins and
    fewer people click than in the ``usual`` one. In the ``fierce`` one only the highest bids win and more people
    click.

    It tests spending a resource while its price drifts: in quiet times it is best to bid 1, in fierce ones 4 or
    next to nothing. With the defaults the oracle of each step gets 0.174 clicks per block, the optimal policy of
    the average audience 0.159, a random one 0.129 (20 seeds, docs/problems.md). There is no closed form.

    Rewards are expected clicks, and ``reward_range`` is the exact range of mean rewards. The defaults are
    plausible, not fitted. Sources and choices are in docs/problems.md.

    Parameters
    ----------
    budget
        Units of money of a full budget.
    exposures
        Cap on the number of recent exposures.
    n_bids
        The highest bid in units of money per block, at most 1,000.
    period
        Mean number of blocks until the budget is filled again, at least 2.
    horizon
        T, blocks.
    drift
        ``stationary`` (the usual audience), ``seasonal`` (linear from usual to quiet to fierce and back) or
        ``abrupt`` (jumps in that order).
    cycles
        Cycles of ``seasonal`` over the horizon.
    changes
        Jumps of ``abrupt``.
    competition
        q of the usual audience: the highest rival bid is Binomial(n_bids, q).
    uncontested
        Chance that there is no other bid, at least 0.01.
    clicks
        Clicks of the usual audience in a block won with a fresh ad.
    fatigue
        Share of clicks lost with each recent exposure.
    recovery
        Chance that a recent exposure is forgotten in a block not won, at least 0.01.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import bidding
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
        as_integer(n_bids, "n_bids", 1, MAX_BIDS),
        forget=as_number(recovery, "recovery", MIN_CHANCE, 1.0),
        refill=1 / as_number(period, "period", minimum=2.0),
    )
    competition = as_fraction(competition, "competition")
    uncontested = as_number(uncontested, "uncontested", MIN_CHANCE, 1.0)
    fresh = (1 - as_fraction(fatigue, "fatigue")) ** campaign.shown
    clicks = as_number(clicks, "clicks", minimum=0.0)
    anchors = []
    for audience in AUDIENCES.values():
        odds = audience.odds * competition
        wins = win_chances(campaign.n_bids, odds / (odds + 1 - competition), uncontested)[campaign.bid]
        anchors.append(Mdp(campaign.space, clicks * audience.clicks * fresh * wins, campaign.transitions(wins)))
    drifting = DriftingMdp(anchors, drift_weights(drift, horizon, len(anchors), cycles, changes))
    return Problem(drifting, start=campaign.budget * (campaign.exposures + 1), noise=noise)


def win_chances(n_bids: int, competition: float, uncontested: float) -> NDArray[np.float64]:
    """Return w(x) of the bids 0 .. n_bids.

    Examples
    --------
    >>> from driftmdp.problems.bidding import win_chances
    >>> win_chances(n_bids=2, competition=0.5, uncontested=0.2).round(2)
    array([0. , 0.4, 0.8])
    """
    rivals = [math.comb(n_bids, m) * competition**m * (1 - competition) ** (n_bids - m) for m in range(n_bids)]
    return np.concatenate([[0.0], uncontested + (1 - uncontested) * np.cumsum(rivals)])


class Campaign:
    """The states of a campaign, and for each pair the budget left, the exposures and the bid."""

    def __init__(self, budget: int, exposures: int, n_bids: int, forget: float, refill: float) -> None:
        self.budget, self.exposures, self.n_bids = budget, exposures, n_bids
        self.forget, self.refill = forget, refill
        n_states = (budget + 1) * (exposures + 1)
        require_memory(250 * n_states * (min(budget, n_bids) + 1), f"(budget + 1) x (exposures + 1) = {n_states:,}")
        left, shown = np.divmod(np.arange(n_states), exposures + 1)
        state_names = [f"{b} left, {e} shown" for b, e in zip(left, shown, strict=True)]
        action_names = ["no bid", *(f"bid {x}" for x in range(1, n_bids + 1))]
        self.space = Space(np.minimum(left, n_bids) + 1, state_names, action_names)
        states = self.space.pair_states
        self.left, self.shown = left[states], shown[states]
        self.bid = np.arange(self.space.n_pairs) - self.space.offsets[states]

    def transitions(self, wins: NDArray[np.float64]) -> sp.csr_array:
        """Return the next-state distribution of each pair, from its chance to win."""
        outcomes = (  # chance, left before a refill, shown
            (wins, self.left - self.bid, np.minimum(self.shown + 1, self.exposures)),
            ((1 - wins) * self.forget, self.left, np.maximum(self.shown - 1, 0)),
            ((1 - wins) * (1 - self.forget), self.left, self.shown),
        )
        after = []
        for chance, left, shown in outcomes:
            after.append((chance * (1 - self.refill), left * (self.exposures + 1) + shown))
            after.append((chance * self.refill, self.budget * (self.exposures + 1) + shown))
        return transition_table(self.space, after)

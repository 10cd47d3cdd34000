"""Pricing for customers who remember prices: what to charge while taste and memory change.

========  ==============  ==========================================================================
symbol    name here       meaning
========  ==============  ==========================================================================
p         action          price, a share of the list price, n_prices of them from lowest to 1
k, x      state           level of the reference price, 0 .. (n_prices - 1) steps, and its price x
u(x, p)   utility         taste - sensitivity p + discount (x - p)^+ - surcharge (p - x)^+
w         rival           utility of the rival's product. That of buying nothing is 0
q(x, p)   sale            e^u / (e^u + e^w + 1), chance that a customer buys: multinomial logit
r         rewards         p q(x, p), expected revenue from a customer as a share of the list price
g         adaptation      share of the gap by which the reference moves towards the price shown
k'        next state      k + g (level of p - k), rounded to a level by chance so that this is its mean
========  ==============  ==========================================================================

Reference prices that follow the prices shown by exponential smoothing are the standard model of the literature
[PW07]. In the logit model they stand beside the price itself [W18]. An anchor is a regime with its own taste,
sensitivity, discount and surcharge, and its own g upwards and downwards.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.outcomes import transition_table
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number

MIN_ADAPTATION, MAX_ADAPTATION = 0.01, 0.5  # times the largest factor of a regime it is still a share
MIN_PRICE, MAX_PRICE = 0.01, 0.99  # of the lowest price
MAX_UTILITY = 10.0
MAX_SENSITIVITY = 20.0
BYTES_PER_PAIR = 250  # while the anchors are made


class CustomerRegime(NamedTuple):
    """Customers of a regime: what is added to the usual taste, and factors of all else."""

    taste: float
    sensitivity: float
    discount: float
    surcharge: float
    upwards: float
    downwards: float


REGIMES = {
    "usual": CustomerRegime(0.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    "bargain": CustomerRegime(0.0, 1.3, 5.0, 0.2, 2.0, 0.5),
    "luxury": CustomerRegime(-0.5, 0.5, 0.5, 1.0, 0.5, 2.0),
}


@register("choice-v1")
def choice(
    n_prices: int = 6,
    steps: int = 3,
    lowest: float = 0.2,
    taste: float = 5.0,
    sensitivity: float = 6.0,
    discount: float = 2.0,
    surcharge: float = 4.5,
    rival: float = 0.0,
    adaptation: float = 0.2,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "bernoulli",
) -> Problem:
    """Which price to show to each customer while tastes and the memory of prices change.

    **Decision.** Before each customer: know the reference price, which is what customers expect to pay, and choose
    a price. The customer buys, takes the rival's product or leaves, by a multinomial logit. The states are the
    levels of the reference price, the actions the prices. The reward is the expected revenue as a share of the list
    price.

    **Endogenous** is the reference price. It moves towards the price shown, so that a discount sells today and
    makes the usual price look dear tomorrow. **What drifts** is taste. ``usual`` customers mind a surcharge more
    than they like a discount. ``bargain`` hunters buy what looks cheap and soon believe in a high price again.
    ``luxury`` customers pay more, but a discount spoils their idea of the price fast. **Noise** is in the
    sale: the reward is 1 with chance p q(x, p), else 0. So a low price pays less often, not less at a time.

    **It tests** planning for a slow state whose best use changes. For usual and luxury customers one price for ever
    is best, 52 % and 100 % of the list price. For bargain hunters high and low prices must alternate [PW07, HCH16].
    With the defaults the oracle of each step earns 0.448 per customer, the best fixed policy measured 0.387, a
    random one 0.269 (20 seeds, docs/applications/choice.md). The defaults are plausible, not fitted. The gain of
    one price for ever has a closed form: p q(p, p).

    Parameters
    ----------
    n_prices
        Prices, evenly spaced from ``lowest`` to the list price 1, at least 2.
    steps
        Levels of the reference price from one price to the next, at least 1 and at most 1 / ``adaptation``.
    lowest
        The lowest price as a share of the list price, 0.01 to 0.99.
    taste
        Utility of the product for usual customers before its price, -10 to 10.
    sensitivity
        Utility lost by the list price, 0 to 20.
    discount
        Utility won per unit of price below the reference, 0 to 10.
    surcharge
        Utility lost per unit of price above the reference, 0 to 20.
    rival
        Utility of the rival's product, -10 to 10.
    adaptation
        Share of the gap by which the reference of usual customers moves, 0.01 to 0.5, and at most 1 / ``steps``.
    horizon
        T, customers, at least 1.
    drift
        ``stationary`` (the usual regime), ``seasonal``, ``slow`` and ``fast`` (linear from usual to bargain to
        luxury and back, 5, 1 or 20 times), ``reward-only`` and ``transition-only`` (twice, with the other fixed),
        or ``abrupt`` (jumps in that order).
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import choice
    >>> problem = choice(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 16 states, 96 pairs>
    >>> problem.space.state_names[6]
    'reference 52 %'
    >>> best = [planning.optimal_gain(anchor).policy[6] for anchor in problem.drifting.anchors]
    >>> [problem.space.action_names[6][action] for action in best]
    ['price 52 %', 'price 100 %', 'price 84 %']
    """
    adaptation = as_number(adaptation, "adaptation", MIN_ADAPTATION, MAX_ADAPTATION)
    market = PriceMemory(
        as_integer(n_prices, "n_prices", minimum=2),
        as_integer(steps, "steps", 1, int(1 / adaptation)),  # more would be jumped over, out of reach
        as_number(lowest, "lowest", MIN_PRICE, MAX_PRICE),
    )
    usual = CustomerRegime(
        as_number(taste, "taste", -MAX_UTILITY, MAX_UTILITY),
        as_number(sensitivity, "sensitivity", 0.0, MAX_SENSITIVITY),
        as_number(discount, "discount", 0.0, MAX_UTILITY),
        as_number(surcharge, "surcharge", 0.0, MAX_SENSITIVITY),
        upwards=adaptation,
        downwards=adaptation,
    )
    rival = as_number(rival, "rival", -MAX_UTILITY, MAX_UTILITY)
    anchors = []
    for regime in REGIMES.values():
        factors = (own * factor for own, factor in zip(usual[1:], regime[1:], strict=True))
        customers = CustomerRegime(usual.taste + regime.taste, *factors)
        anchors.append(Mdp(market.space, market.rewards(customers, rival), market.transitions(customers)))
    drifting = drifting_between(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, start=market.space.n_states - 1, noise=noise, reward_range=(0.0, 1.0))


class PriceMemory:
    """The levels of the reference price, and for each pair the levels of the reference and of the price shown."""

    def __init__(self, n_prices: int, steps: int, lowest: float) -> None:
        n_states = (n_prices - 1) * steps + 1
        require_memory(BYTES_PER_PAIR * n_states * n_prices, f"(n_prices - 1) x steps = {n_states - 1:,}")
        levels = lowest + (1 - lowest) * np.arange(n_states) / (n_states - 1)
        names = [f"{price:.0%}".replace("%", " %") for price in levels]
        states, actions = [f"reference {name}" for name in names], [f"price {name}" for name in names[::steps]]
        self.space = Space(np.full(n_states, n_prices), states, actions)
        self.before = np.repeat(np.arange(n_states), n_prices)
        self.shown = np.tile(np.arange(n_prices) * steps, n_states)
        self.reference, self.price = levels[self.before], levels[self.shown]

    def rewards(self, customers: CustomerRegime, rival: float) -> NDArray[np.float64]:
        """Return the expected revenue of each pair."""
        below = np.maximum(self.reference - self.price, 0)
        above = np.maximum(self.price - self.reference, 0)
        utility = customers.taste - customers.sensitivity * self.price
        utility += customers.discount * below - customers.surcharge * above
        return np.asarray(self.price / (1 + (1 + np.exp(rival)) * np.exp(-utility)))

    def transitions(self, customers: CustomerRegime) -> sp.csr_array:
        """Return the next-state distribution of each pair."""
        gap = self.shown - self.before
        share = np.where(gap > 0, customers.upwards, customers.downwards)
        target = np.round(self.before + share * gap, 12)  # a whole level but for rounding is that level
        level = np.floor(target).astype(np.int64)
        part = target - level
        above = np.minimum(level + 1, self.space.n_states - 1)
        return transition_table(self.space, [(1 - part, level), (part, above)])

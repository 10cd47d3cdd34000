"""Admission and service rate of a queue [N69, L75]: whom to let in, and when to pay for fast service.

===========  ===================  =====================================================================
symbol       name here            meaning
===========  ===================  =====================================================================
N            capacity             places in the system, so there are N + 1 states
s            state                customers in the system, the one in service included, 0 .. N
(d, m)       action               d = 1 admits a customer who comes, m is slow or fast service
lambda       arrivals             chance that a customer comes in a step
mu(m)        slow, fast           chance that a service ends in a step, if the server is busy
R            fee                  what a served customer pays
h            holding              cost of each customer in the system per step
c            fast_cost            cost of fast service per step, busy or not
b            refusal              cost of each customer turned away
r            rewards              R mu(m) [s > 0] - h s - c [m is fast] - b lambda (1 - d)
s'           next state           s + 1 with chance d lambda, s - 1 with chance mu(m) [s > 0], else s
===========  ===================  =====================================================================

A step is a tick of the clock of an M/M/1/N queue that is watched at random times (uniformisation): at most one
thing happens in it. So lambda + mu must be at most 1.

An anchor is a regime with its own lambda, R and c. A mixture of regimes is again such a queue, with the mean
lambda, R and c.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.outcomes import transition_table
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number

MIN_CHANCE = 0.01  # a chance of 0 would leave states out of reach
MAX_ARRIVALS = 0.25  # twice as many in the rush, and fast service up to 0.5, fill a step
MAX_FAST = 0.5
MAX_MONEY = 1e6
ACTIONS = ("refuse, slow", "refuse, fast", "admit, slow", "admit, fast")


class Crowd(NamedTuple):
    """A regime: factors of the usual arrivals, of what a customer pays and of the cost of fast service."""

    arrivals: float
    fee: float
    fast_cost: float


REGIMES = {"usual": Crowd(1.0, 1.0, 1.0), "quiet": Crowd(0.5, 0.6, 1.5), "rush": Crowd(2.0, 1.5, 0.75)}


@register("queue-v1")
def queue(
    capacity: int = 12,
    arrivals: float = 0.25,
    slow: float = 0.1,
    fast: float = 0.4,
    fee: float = 1.0,
    holding: float = 0.01,
    fast_cost: float = 0.28,
    refusal: float = 0.1,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "binomial(10)",
) -> Problem:
    """Whom to admit to a queue and when to pay for fast service, while traffic moves from quiet to rush.

    At each step: see how many customers are in the system, decide whether a customer who comes is admitted, and
    whether the service is slow or fast. A full system admits nobody. Rewards are money: the fees of the customers
    served, minus a cost of each customer in the system, of fast service and of each customer refused.

    The queue is endogenous: only the decision maker's own actions and chance change it. What drifts is the traffic.
    In ``quiet`` times half as many customers come, they pay less than the ``usual`` ones, and fast service is
    dear. In the ``rush`` twice as many come, they pay more, and fast service is cheap, as the staff is there. The
    noise is that of counts: the money of a step is a number of equal units.

    It tests whether an agent tells drift from its own doing: a long queue may mean a rush, or slow service.
    With the defaults the best policy admits up to 2 customers in quiet times and serves them slowly, and up to 6
    in the rush, with fast service for all. Fixed thresholds have a closed form, and Naor's rule [N69] gives
    the best threshold without fast service. Numbers are in docs/applications/queue.md.

    Rewards are expected money, and ``reward_range`` is the exact range of mean rewards. The defaults are plausible,
    not fitted.

    Parameters
    ----------
    capacity
        N, places in the system, at least 1.
    arrivals
        Chance that a customer comes in a step of the usual regime, 0.01 to 0.25. The rush has twice this chance.
    slow
        Chance that a slow service ends in a step, from 0.01 to ``fast``.
    fast
        Chance that a fast service ends in a step, ``slow`` to 0.5.
    fee
        What a served customer pays in the usual regime, 0 to a million.
    holding
        Cost of each customer in the system per step, 0 to a million.
    fast_cost
        Cost of fast service per step in the usual regime, 0 to a million. Slow service costs nothing.
    refusal
        Cost of each customer who is turned away, 0 to a million.
    horizon
        T, steps, at least 1.
    drift
        ``stationary`` (the usual regime), ``slow``, ``seasonal`` and ``fast`` (linear from usual to quiet to rush
        and back, 1, 5 or 20 times), ``reward-only`` and ``transition-only`` (twice, with the other fixed), or
        ``abrupt`` (jumps in that order).
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import queue
    >>> problem = queue(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 13 states, 50 pairs>
    >>> for anchor in problem.drifting.anchors:
    ...     print(problem.space.action_names[3][planning.optimal_gain(anchor).policy[3]])
    admit, fast
    refuse, slow
    admit, fast
    """
    fast = as_number(fast, "fast", MIN_CHANCE, MAX_FAST)
    line = WaitingLine(
        as_integer(capacity, "capacity", minimum=1),
        slow=as_number(slow, "slow", MIN_CHANCE, fast),
        fast=fast,
        holding=as_number(holding, "holding", 0.0, MAX_MONEY),
        refusal=as_number(refusal, "refusal", 0.0, MAX_MONEY),
    )
    usual = Crowd(
        as_number(arrivals, "arrivals", MIN_CHANCE, MAX_ARRIVALS),
        as_number(fee, "fee", 0.0, MAX_MONEY),
        as_number(fast_cost, "fast_cost", 0.0, MAX_MONEY),
    )
    regimes = [Crowd(*(a * b for a, b in zip(usual, factors, strict=True))) for factors in REGIMES.values()]
    anchors = [line.mdp(regime) for regime in regimes]
    return Problem(drifting_between(anchors, drift, horizon, cycles, changes), noise=noise)


class WaitingLine:
    """The states of a queue, and for each pair the customers, whether one may enter, and the speed of service."""

    def __init__(self, capacity: int, slow: float, fast: float, holding: float, refusal: float) -> None:
        require_memory(2000 * (capacity + 1), f"capacity + 1 = {capacity + 1:,}")
        self.holding, self.refusal = holding, refusal
        n_actions = np.full(capacity + 1, len(ACTIONS))
        n_actions[capacity] = 2  # nobody enters a full system
        self.space = Space(n_actions, [f"{s} in the system" for s in range(capacity + 1)], ACTIONS)
        self.customers = self.space.pair_states
        action = np.arange(self.space.n_pairs) - self.space.offsets[self.customers]
        self.admits, self.is_fast = np.divmod(action, 2)
        self.serves = np.where(self.is_fast, fast, slow) * (self.customers > 0)

    def mdp(self, crowd: Crowd) -> Mdp:
        """Return the world of one regime."""
        earned = crowd.fee * self.serves - self.holding * self.customers
        refused = self.refusal * crowd.arrivals * (1 - self.admits)
        return Mdp(self.space, earned - crowd.fast_cost * self.is_fast - refused, self.transitions(crowd.arrivals))

    def transitions(self, arrivals: float) -> sp.csr_array:
        """Return the next-state distribution of each pair."""
        enters = arrivals * self.admits
        outcomes = (  # chance, next state
            (enters, self.customers + self.admits),
            (self.serves, np.maximum(self.customers - 1, 0)),
            (1 - enters - self.serves, self.customers),
        )
        return transition_table(self.space, outcomes)

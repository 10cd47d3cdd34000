"""KL-UCRL, from its specification: Filippi, Cappe and Garivier (2010), arXiv 1004.5229.

Plausible transitions are a ball of the divergence, KL(p_hat, q) <= radius. Memory, episodes and the choice of
actions are those of the optimists beside it. The plan starts from the last plan's bias and is damped after 100
sweeps.
"""

import math
from dataclasses import dataclass

from tests.reference.optimists import Optimist

PLAIN_SWEEPS = 100
MOST_SWEEPS = 1000


@dataclass(frozen=True)
class WarmPlan:
    """The values of the last sweep and the bias that it started from."""

    values: list
    bias: list
    sweeps: int
    residual: float


class WarmOptimist(Optimist):
    """Plans to a precision of 1/t from the bias of the plan before."""

    def __init__(self, n_actions, horizon, **options):
        super().__init__(n_actions, horizon, **options)
        self.bias = [0.0] * self.n_states

    def observe(self, reward, next_state, action=None):
        if action is not None:
            self.doing = (self.doing[0], action)
        super().observe(reward, next_state)

    def best_transition(self, pair, p_hat, u):
        """The largest mean of u over the plausible transitions of a pair that was seen."""
        raise NotImplementedError

    def plan(self):
        rewards = self.table(self.reward_upper)
        p_hat = {pair: self.p_hat(pair) for pair in self.visits}

        def sweep(u, number):
            self.sweep_number = number
            best = self.table(
                lambda pair: self.best_transition(pair, p_hat[pair], u) if self.visits[pair] else max(u)
            )
            return [[r + v for r, v in zip(*rows, strict=True)] for rows in zip(rewards, best, strict=True)]

        plan = warm_value_iteration(sweep, self.bias, 1 / self.t)
        self.bias, self.values, self.rewards = plan.bias, plan.values, rewards
        return plan


class KLUCRL(WarmOptimist):
    """Radii that shrink with the visits; the constants are those of the proofs."""

    def logarithm(self):
        return math.log(max(2, self.t))

    def reward_radius(self, rewards, t):
        constant = math.sqrt(math.log(4 * self.n_pairs * self.logarithm() / self.delta) / 1.99)
        return self.scale * constant / math.sqrt(max(1, len(rewards)))

    def divergence_radius(self, n):
        log = self.logarithm()
        b = math.log(2 * math.e * self.n_states * self.n_pairs * log / self.delta)
        constant = self.n_states * (b + math.log(b + 1 / log) * (1 + 1 / (b + 1 / log)))
        return self.scale * constant / n

    def best_transition(self, pair, p_hat, u):
        q = kl_maximum(p_hat, self.divergence_radius(self.visits[pair]), u)
        return sum(x * y for x, y in zip(q, u, strict=True))


def warm_value_iteration(sweep, start, precision):
    """u <- u + share (Tu - u) until the span of Tu - u is small. `sweep(u, i)[s][a]` are the values of sweep i."""
    u, least, best = list(start), math.inf, None
    for i in range(1, MOST_SWEEPS + 1):
        values, change, residual = _look(sweep, u, i)
        if residual <= precision:
            return WarmPlan(values, u, i, residual)
        if residual < least:
            least, best = residual, u
        share = 1.0 if i <= PLAIN_SWEEPS else 0.5
        u = [x + share * c for x, c in zip(u, change, strict=True)]
        u = [x - min(u) for x in u]
    values, _, residual = _look(sweep, best, MOST_SWEEPS + 1)
    return WarmPlan(values, best, MOST_SWEEPS + 1, residual)


def _look(sweep, u, number):
    values = sweep(u, number)
    change = [max(row) - x for row, x in zip(values, u, strict=True)]
    return values, change, max(change) - min(change)


def kl_maximum(p_hat, radius, u):
    """The q with KL(p_hat, q) <= radius that has the largest mean of u."""
    seen = [i for i, p in enumerate(p_hat) if p > 0]
    top, best_seen = max(u), max(u[i] for i in seen)
    if top > best_seen and _f(top, p_hat, u, seen) < radius:
        spare = 1 - math.exp(_f(top, p_hat, u, seen) - radius)
        q = _tilted(top, p_hat, u, seen, 1 - spare)
        q[u.index(top)] += spare
        return q
    if all(u[i] == best_seen for i in seen):
        return list(p_hat)
    nu = best_seen + _root(lambda x: _f_above(x, best_seen, p_hat, u, seen) - radius)
    if nu == best_seen:  # the root is too near to be told apart: all mass on the best
        q = [0.0] * len(u)
        q[max(seen, key=lambda i: u[i])] = 1.0
        return q
    return _tilted(nu, p_hat, u, seen, 1.0)


def _f(nu, p_hat, u, seen):
    return sum(p_hat[i] * math.log(nu - u[i]) for i in seen) + math.log(sum(p_hat[i] / (nu - u[i]) for i in seen))


def _f_above(x, best_seen, p_hat, u, seen):
    """f(best_seen + x), with the differences taken before the sum, so that a tiny x is not lost."""
    gaps = {i: x + (best_seen - u[i]) for i in seen}
    return sum(p_hat[i] * math.log(gaps[i]) for i in seen) + math.log(sum(p_hat[i] / gaps[i] for i in seen))


def _tilted(nu, p_hat, u, seen, mass):
    weights = [p_hat[i] / (nu - u[i]) if i in seen else 0.0 for i in range(len(u))]
    return [mass * weight / sum(weights) for weight in weights]


def _root(falls):
    """The zero of a falling function on (0, inf), by bisection of the logarithm."""
    low, high = -700.0, 700.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(math.exp(middle)) > 0 else (low, middle)
    return math.exp((low + high) / 2)

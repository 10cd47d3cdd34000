"""Extended value iteration, [CSZ20] alg:evi (Algorithm 3), and the action it chooses.

Tables are ragged: `reward_upper[s][a]` is the largest reward of H_r, `p_hat[s][a][s2]` and
`radius[s][a]` the ball of H_p. The inner maximum over an L1 ball is Figure 2 of Jaksch et al. (2010),
JMLR 11 (PAPER_NOTES 29). Past 1,000 sweeps the iteration is helped by policy iteration, and every
answer is still closed by one true step of Algorithm 3 (PAPER_NOTES 31).
"""

from dataclasses import dataclass

import numpy as np

PLAIN_SWEEPS = 1000
ROUNDS = 1000
TIE = 1e-9


@dataclass(frozen=True)
class Plan:
    """What Algorithm 3 returns; `values[s][a]` are the Upsilon_i of its last sweep."""

    values: list
    gain: float
    bias: list
    rewards: list
    transitions: list
    sweeps: int
    residual: float


def inner_maximum(p_hat, radius, u):
    """max of sum p u over the distributions p with ||p - p_hat||_1 <= radius, and where it is."""
    n = len(u)
    best_first = sorted(range(n), key=lambda s: -u[s])
    if radius >= 2 or not any(p_hat):
        p = [0.0] * n
        p[best_first[0]] = 1.0
        return u[best_first[0]], p
    p = list(p_hat)
    p[best_first[0]] = min(1.0, p_hat[best_first[0]] + radius / 2)
    for worst in reversed(best_first):
        if sum(p) <= 1:
            break
        others = sum(p[s] for s in range(n) if s != worst)
        p[worst] = max(0.0, 1 - others)
    return _dot(p, u), p


def interval_maximum(lower, upper, u):
    """max of sum p u over the distributions p with lower <= p <= upper, and where it is."""
    p = list(lower)
    left = 1 - sum(lower)
    for s in sorted(range(len(u)), key=lambda s: -u[s]):
        more = max(0.0, min(left, upper[s] - lower[s]))
        p[s] += more
        left -= more
    if abs(left) > TIE:
        raise ValueError(f"no distribution lies between lower and upper; {left:g} is left over")
    return _dot(p, u), p


def extended_value_iteration(reward_upper, p_hat, radius, precision):
    """EVI(H_r, H_p; precision) over L1 balls."""
    return _iterate(reward_upper, lambda s, a, u: inner_maximum(p_hat[s][a], radius[s][a], u), precision)


def extended_value_iteration_over_intervals(reward_upper, lower, upper, precision):
    """The same where H_p is lower[s][a][s2] <= p(s2) <= upper[s][a][s2]."""
    return _iterate(reward_upper, lambda s, a, u: interval_maximum(lower[s][a], upper[s][a], u), precision)


def choose(values, visits, ties):
    """The action of one state: the best within 1e-9, then by `ties` (PAPER_NOTES 5)."""
    best = max(values)
    candidates = [a for a in range(len(values)) if values[a] >= best - TIE]
    if ties == "first":
        return candidates[0]
    if ties == "least-visited":
        return min(candidates, key=lambda a: (visits[a], a))
    raise ValueError(f"ties must be 'least-visited' or 'first'; got {ties!r}")


def _iterate(rewards, inner, precision):
    u = [0.0] * len(rewards)
    for sweep in range(1, PLAIN_SWEEPS + 1):
        plan = _sweep(rewards, inner, u, sweep)
        if plan.residual <= precision:
            return plan
        u = [max(row) for row in plan.values]
    transitions = _sweep(rewards, inner, u, 0).transitions
    for extra in range(1, ROUNDS + 1):
        gain, bias = _best_policy(rewards, transitions)
        u = [h + 1000.0 * extra * g for g, h in zip(gain, bias, strict=True)] if _span(gain) > TIE else bias
        plan = _sweep(rewards, inner, u, PLAIN_SWEEPS + extra)
        if plan.residual <= precision:
            return plan
        transitions = plan.transitions
    raise RuntimeError(f"no plan within {precision:g}; do the sets contain a communicating MDP?")


def _sweep(rewards, inner, u, sweep):
    """One pass of the loop of Algorithm 3 from u_i = u, with everything it defines."""
    values, transitions = [], []
    for s in range(len(rewards)):
        answers = [inner(s, a, u) for a in range(len(rewards[s]))]
        values.append([r + value for r, (value, _) in zip(rewards[s], answers, strict=True)])
        transitions.append([p for _, p in answers])
    change = [max(row) - before for row, before in zip(values, u, strict=True)]
    bias = [x - min(u) for x in u]
    return Plan(values, max(change), bias, rewards, transitions, sweep, _span(change))


def _best_policy(rewards, transitions):
    """Gain and bias of a gain-optimal policy: Howard's policy iteration for any chain structure.

    An action is left only for one that is better by more than 1e-9, first in gain, then in value.
    """
    n = len(rewards)
    policy = [max(range(len(row)), key=row.__getitem__) for row in rewards]
    for _ in range(ROUNDS):
        gain, bias = _evaluate(rewards, transitions, policy)
        better = []
        for s in range(n):
            gains = [_dot(p, gain) for p in transitions[s]]
            values = [r + _dot(p, bias) for r, p in zip(rewards[s], transitions[s], strict=True)]
            if max(gains) > gains[policy[s]] + TIE:
                better.append(gains.index(max(gains)))
                continue
            keep = [a for a in range(len(values)) if gains[a] >= max(gains) - TIE]
            best = max(keep, key=values.__getitem__)
            better.append(best if values[best] > values[policy[s]] + TIE else policy[s])
        if better == policy:
            return gain, bias
        policy = better
    raise RuntimeError("policy iteration did not settle")


def _evaluate(rewards, transitions, policy):
    """g = P* r and h = (I - P + P*)^-1 (r - g); P* is the limit of ((I + P) / 2)^n, as in gain.py."""
    n = len(rewards)
    r = np.array([rewards[s][policy[s]] for s in range(n)])
    chain = np.array([transitions[s][policy[s]] for s in range(n)])
    limit = (np.eye(n) + chain) / 2
    for _ in range(60):
        limit = limit @ limit
        limit = limit / limit.sum(axis=1, keepdims=True)
    gain = limit @ r
    bias = np.linalg.solve(np.eye(n) - chain + limit, r - gain)
    return gain.tolist(), bias.tolist()


def _dot(p, u):
    return sum(x * y for x, y in zip(p, u, strict=True))


def _span(values):
    return max(values) - min(values)

"""Appendix A: the linear programs and the span of dual solutions."""

from __future__ import annotations

import numpy as np

from driftmdp import planning
from driftmdp.mdp import Mdp, Space
from driftmdp.statements.context import CheckContext
from driftmdp.statements.optimism import random_regions
from driftmdp.statements.regions import Floats, bellman_values
from driftmdp.statements.registry import statement
from driftmdp.statements.verdict import Evidence
from driftmdp.statements.worlds import random_mdp


@statement("linear-programs", "rho* as a linear program and its dual", "P(r, p), D(r, p) (eq:primal, eq:dual)", 90)
def linear_programs(context: CheckContext) -> Evidence:
    """The optimal long-term average reward is the value of P(r, p), and of its dual D(r, p).

    P: max sum r x over stationary x >= 0 that sum to 1.
    D: min rho with rho + gamma(s) >= r(s, a) + sum_s' p(s' | s, a) gamma(s').
    The dual's "phi free" is a slip for rho.
    """
    evidence = Evidence()
    rng = context.rng("linear-programs")
    for i in range(context.many(40, 400)):
        mdp = random_mdp(rng, int(rng.integers(1, 9)), int(rng.integers(1, 4)), sparse=bool(i % 2))
        primal, dual = (planning.gain_by_linear_program(mdp, form).gain for form in ("primal", "dual"))
        gain = planning.optimal_gain(mdp).gain
        instance = f"random MDP {i}, S = {mdp.space.n_states}"
        evidence.printed.equal(f"{instance}, primal", primal, gain, 1e-7)
        evidence.printed.equal(f"{instance}, dual", dual, gain, 1e-7)
    evidence.why = "both programs (HiGHS) against the certified gain, to 1e-7"
    return evidence


@statement("lemma-2", "the span of dual solutions", "Lemma 2 (lemma:mc)", 91)
def lemma_2(context: CheckContext) -> Evidence:
    """A dual solution does not vary more than the diameter allows.

    For every feasible (rho, gamma) of D(r, p), max over s, s' of gamma(s) - gamma(s') <= 2 D. Corrected:
    <= D (rho - min r), so <= 2 D for the output of extended value iteration on [0, 1], where rho~ <= 1 + epsilon.
    Sharper: from u_0 = 0, as Algorithm 3 begins, every u_i has a span of at most D, D that of any p in H_p.
    """
    evidence = Evidence()
    swap = Mdp(Space.uniform(2, 1), [0.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])
    bias = np.array([5.0, 0.0])
    name = f"two states that swap, r = 0, gamma = (5, 0), rho = {_least_feasible(swap, bias):g}"
    evidence.printed.at_most(name, np.ptp(bias), 2 * planning.diameter(swap))
    rng = context.rng("lemma-2")
    for i in range(context.many(60, 1000)):
        mdp = random_mdp(rng, int(rng.integers(2, 7)), int(rng.integers(1, 4)), sparse=bool(i % 2))
        diameter = planning.diameter(mdp)
        bias = rng.exponential(rng.choice([0.1, 1.0, 10.0]), mdp.space.n_states)
        rho = _least_feasible(mdp, bias) + rng.choice([0.0, 1.0])
        evidence.corrected.at_most(f"random MDP {i}", float(np.ptp(bias)), diameter * (rho - mdp.rewards.min()))
        best = planning.optimal_gain(mdp)
        evidence.corrected.at_most(f"random MDP {i}, the optimal solution", float(np.ptp(best.bias)), 2 * diameter)
    for name, (space, rewards, p_hat, radius) in random_regions(context, "lemma-2"):
        u, widest = np.zeros(space.n_states), 0.0
        diameter = planning.diameter(Mdp(space, rewards, _anywhere(p_hat)))
        for _ in range(50):
            u = np.maximum.reduceat(bellman_values(rewards, p_hat, radius, u), space.offsets[:-1])
            widest = max(widest, float(np.ptp(u)))
        evidence.corrected.at_most(f"{name}, Algorithm 3 from u_0 = 0, span <= D", widest, diameter)
    for trace in context.traces():
        span = trace.bias.max(axis=1)[trace.inside]
        limit = 2 * trace.diameters_then[trace.inside]
        evidence.corrected.at_most(f"{trace.name}, gamma~ <= 2 D", span, limit)
    evidence.correction = (
        "the span is at most D (rho - min r), so at most 2 D for extended value iteration; "
        "and at most D if that begins at 0"
    )
    evidence.why = "any gamma is feasible with a rho that is large enough, so no bound without rho can hold"
    return evidence


def _least_feasible(mdp: Mdp, bias: Floats) -> float:
    """Return the least rho with which a gamma is feasible."""
    return float((mdp.rewards + mdp.transitions @ bias - bias[mdp.space.pair_states]).max())


def _anywhere(p_hat: Floats) -> Floats:
    """Return a p of the region: its centre, and for pairs that were never seen any distribution."""
    return np.asarray(np.where(p_hat.sum(axis=1, keepdims=True) == 0, 1 / p_hat.shape[1], p_hat))

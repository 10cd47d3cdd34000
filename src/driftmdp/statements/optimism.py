"""Appendix A.3: extended value iteration, its two properties and its convergence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from driftmdp import planning
from driftmdp.mdp import Space
from driftmdp.statements.algorithm import try_algorithm
from driftmdp.statements.context import CheckContext
from driftmdp.statements.regions import Floats, bellman_values, plain_sweeps
from driftmdp.statements.registry import statement
from driftmdp.statements.run_trace import RunTrace
from driftmdp.statements.verdict import Evidence

Region = tuple[Space, Floats, Floats, Floats]


def random_regions(context: CheckContext, name: str) -> Iterator[tuple[str, Region]]:
    """Return tops of H_r, centres and radii of H_p, some pairs never seen."""
    rng = context.rng(name)
    for i in range(context.many(40, 1000)):
        space = Space.uniform(int(rng.integers(1, 7)), int(rng.integers(1, 4)))
        p_hat = rng.dirichlet(np.full(space.n_states, rng.choice([0.2, 1.0])), size=space.n_pairs)
        p_hat[rng.random(space.n_pairs) < 0.15] = 0.0
        radius = rng.random(space.n_pairs) * rng.choice([0.05, 0.5, 2.5])
        yield f"random region {i}, S = {space.n_states}", (space, rng.random(space.n_pairs), p_hat, radius)


def _seen_traces(context: CheckContext) -> list[RunTrace]:
    return [*context.traces(), *context.shop_traces()]


@statement("property-1", "the dual variables are optimistic", "Property 1 (property:1)", 92)
def property_1(context: CheckContext) -> Evidence:
    """(rho~, gamma~) is feasible for every plausible MDP.

    rho~ + gamma~(s) >= max over H_r of r + max over H_p of sum_s' p(s') gamma~(s'), for every pair. As printed the
    maximum stands inside the sum: sum_s' gamma~(s') max over H_p of p(s').
    """
    evidence = Evidence()
    for name, (space, rewards, p_hat, radius) in random_regions(context, "property-1"):
        plan = planning.extended_value_iteration(space, rewards, p_hat, radius, 1e-3)
        bound = plan.gain + plan.bias[space.pair_states]
        values = bellman_values(rewards, p_hat, radius, plan.bias)
        evidence.corrected.at_most(name, values, bound)
        unseen = (p_hat.sum(axis=1) == 0)[:, None]
        largest = np.where(unseen, 1.0, np.minimum(1.0, p_hat + radius[:, None] / 2))
        evidence.printed.at_most(name, rewards + largest @ plan.bias, bound)
    for trace in _seen_traces(context):
        states = trace.problem.space.pair_states
        right = trace.gain[:, None] + trace.bias[:, states]
        evidence.corrected.at_most(f"plans of {trace.name}", trace.upper_values, right)
        try_algorithm(evidence, trace)
    evidence.correction = "the maximum over p stands outside the sum over s'"
    evidence.why = "random regions, and every plan of the runs against regions recomputed from their trajectories"
    return evidence


@statement("property-2", "the policy is nearly optimal", "Property 2 (property:2)", 93)
def property_2(context: CheckContext) -> Evidence:
    """In the optimistic MDP the policy loses at most epsilon.

    r~(s, pi~(s)) >= rho~ + gamma~(s) - sum_s' p~(s' | s, pi~(s)) gamma~(s') - epsilon, for every state.
    """
    evidence = Evidence()
    for name, (space, rewards, p_hat, radius) in random_regions(context, "property-2"):
        for precision in (0.1, 1e-3):
            plan = planning.extended_value_iteration(space, rewards, p_hat, radius, precision, method="paper")
            chosen = space.offsets[:-1] + plan.policy
            own = plan.rewards[chosen] + plan.transitions[chosen] @ plan.bias
            evidence.printed.at_most(f"{name}, epsilon {precision:g}", plan.gain + plan.bias - precision, own)
            best = bellman_values(rewards, p_hat, radius, plan.bias)[chosen]
            evidence.printed.at_most(f"{name}, p~ is plausible", own, best)
    for trace in _seen_traces(context):
        try_algorithm(evidence, trace)
    evidence.why = "random regions, and every plan of the runs against regions recomputed from their trajectories"
    return evidence


@statement("evi-convergence", "extended value iteration ends", "Appendix A.3 (alg:evi)", 94)
def convergence(context: CheckContext) -> Evidence:
    """Extended value iteration stops after finitely many sweeps if H_p contains a communicating p.

    It stops when span(u_{i+1} - u_i) <= epsilon. With radius 0 and a periodic chain plain sweeps never do; here an
    aperiodic step, or policy iteration closed by one true sweep, does (docs/paper-notes.md, items 31 and 32).
    """
    evidence = Evidence()
    epsilon, limit = 1e-3, 20_000
    regions = list(random_regions(context, "evi-convergence"))
    for n in (2, 3, 7):
        onward = np.eye(n)[(np.arange(n) + 1) % n]
        pays = (np.arange(n) == 0).astype(float)
        regions.append((f"ring of {n} states, radius 0", (Space.uniform(n, 1), pays, onward, np.zeros(n))))
    sweeps = 0
    for name, (space, rewards, p_hat, radius) in regions:
        used, span = plain_sweeps(space, rewards, p_hat, radius, epsilon, limit if "ring" not in name else 2000)
        sweeps = max(sweeps, used if span <= epsilon else 0)
        evidence.printed.at_most(name, span, epsilon)
        plan = planning.extended_value_iteration(space, rewards, p_hat, radius, epsilon)
        evidence.corrected.at_most(name, plan.residual, epsilon)
    evidence.correction = "ask for a positive radius, which the paper's always are, or damp the sweep"
    evidence.why = f"plain sweeps took at most {sweeps} where they end; on a deterministic ring the span stays at 1"
    return evidence

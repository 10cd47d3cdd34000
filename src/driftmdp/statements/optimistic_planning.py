"""Appendix A: the linear programs, the span of dual solutions, and extended value iteration."""

from collections.abc import Iterator

import numpy as np

from driftmdp import planning
from driftmdp.mdp import Mdp, Space
from driftmdp.statements.context import CheckContext, random_mdp
from driftmdp.statements.registry import checks
from driftmdp.statements.run_trace import bellman_values, plain_sweeps
from driftmdp.statements.verdict import Evidence, Floats

Region = tuple[Space, Floats, Floats, Floats]
ON_RUNS = "Tried on random regions, and on every plan of the runs with regions recomputed from their trajectories"


def random_regions(context: CheckContext, name: str) -> Iterator[tuple[str, Region]]:
    """Return upper ends of H_r, centres and radii of H_p, with some pairs never seen."""
    rng = context.rng(name)
    for i in range(context.by_effort(40, 1000)):
        space = Space.uniform(int(rng.integers(1, 7)), int(rng.integers(1, 4)))
        p_hat = rng.dirichlet(np.full(space.n_states, rng.choice([0.2, 1.0])), size=space.n_pairs)
        p_hat[rng.random(space.n_pairs) < 0.15] = 0.0
        radius = rng.random(space.n_pairs) * rng.choice([0.05, 0.5, 2.5])
        yield f"random region {i}, S = {space.n_states}", (space, rng.random(space.n_pairs), p_hat, radius)


@checks("linear-programs", "rho* as a linear program and its dual", "P(r, p), D(r, p) (eq:primal, eq:dual)", 90)
def linear_programs(context: CheckContext, evidence: Evidence) -> str:
    """The optimal long-term average reward is the value of P(r, p), and of its dual D(r, p).

    P: max sum r x over stationary x >= 0 that sum to 1.
    D: min rho with rho + gamma(s) >= r(s, a) + sum_s' p(s' | s, a) gamma(s').
    The dual's "phi free" is a slip for rho.
    """
    rng = context.rng("linear-programs")
    for i in range(context.by_effort(40, 400)):
        mdp = random_mdp(rng, int(rng.integers(1, 9)), int(rng.integers(1, 4)), sparse=bool(i % 2))
        gain = planning.optimal_gain(mdp).gain
        for form in ("primal", "dual"):
            found = planning.gain_by_linear_program(mdp, form).gain
            evidence.printed.equal(f"random MDP {i}, S = {mdp.space.n_states}, {form}", found, gain, 1e-7)
    return "Both programs, solved by HiGHS, agree with the certified gain to 1e-7"


@checks("lemma-2", "the span of dual solutions", "Lemma 2 (lemma:mc)", 91)
def lemma_2(context: CheckContext, evidence: Evidence) -> str:
    """A dual solution does not vary more than the diameter allows.

    For every feasible (rho, gamma) of D(r, p), max over s, s' of gamma(s) - gamma(s') <= 2 D. Corrected:
    <= D (rho - min r), so <= 2 D for the output of extended value iteration on [0, 1], where rho~ <= 1 + epsilon.
    Sharper: from u_0 = 0, as Algorithm 3 begins, every u_i has a span of at most D, the diameter of any p in H_p.
    """
    swap = Mdp(Space.uniform(2, 1), [0.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])
    bias = np.array([5.0, 0.0])
    name = f"two states that swap, r = 0, gamma = (5, 0), rho = {_least_feasible(swap, bias):g}"
    evidence.printed.at_most(name, np.ptp(bias), 2 * planning.diameter(swap))
    rng = context.rng("lemma-2")
    for i in range(context.by_effort(60, 1000)):
        mdp = random_mdp(rng, int(rng.integers(2, 7)), int(rng.integers(1, 4)), sparse=bool(i % 2))
        diameter = planning.diameter(mdp)
        bias = rng.exponential(rng.choice([0.1, 1.0, 10.0]), mdp.space.n_states)
        rho = _least_feasible(mdp, bias) + rng.choice([0.0, 1.0])
        evidence.corrected.at_most(f"random MDP {i}", float(np.ptp(bias)), diameter * (rho - mdp.rewards.min()))
        best = planning.optimal_gain(mdp)
        evidence.corrected.at_most(f"random MDP {i}, the optimal solution", float(np.ptp(best.bias)), 2 * diameter)
    for name, (space, rewards, p_hat, radius) in random_regions(context, "lemma-2"):
        u, widest = np.zeros(space.n_states), 0.0
        unseen = p_hat.sum(axis=1, keepdims=True) == 0
        plausible = Mdp(space, rewards, np.where(unseen, 1 / space.n_states, p_hat))
        for _ in range(50):
            u = np.maximum.reduceat(bellman_values(rewards, p_hat, radius, u), space.offsets[:-1])
            widest = max(widest, float(np.ptp(u)))
        instance = f"{name}, Algorithm 3 from u_0 = 0, span <= D"
        evidence.corrected.at_most(instance, widest, planning.diameter(plausible))
    for trace in context.traces():
        limit = 2 * trace.diameters_at_start[trace.inside]
        evidence.corrected.at_most(f"{trace.name}, gamma~ <= 2 D", trace.bias.max(axis=1)[trace.inside], limit)
    evidence.correction = "The span is at most D (rho - min r), so 2 D for extended value iteration, D from u_0 = 0"
    return "Any gamma is feasible with a large enough rho, so no bound without rho can hold"


def _least_feasible(mdp: Mdp, bias: Floats) -> float:
    """Return the least rho with which a gamma is feasible."""
    return float((mdp.rewards + mdp.transitions @ bias - bias[mdp.space.pair_states]).max())


@checks("property-1", "the dual variables are optimistic", "Property 1 (property:1)", 92)
def property_1(context: CheckContext, evidence: Evidence) -> str:
    """(rho~, gamma~) is feasible for every plausible MDP.

    rho~ + gamma~(s) >= max over H_r of r + max over H_p of sum_s' p(s') gamma~(s'), for every pair. As printed the
    maximum stands inside the sum: sum_s' gamma~(s') max over H_p of p(s').
    """
    for name, (space, rewards, p_hat, radius) in random_regions(context, "property-1"):
        plan = planning.extended_value_iteration(space, rewards, p_hat, radius, 1e-3)
        bound = plan.gain + plan.bias[space.pair_states]
        evidence.corrected.at_most(name, bellman_values(rewards, p_hat, radius, plan.bias), bound)
        unseen = (p_hat.sum(axis=1) == 0)[:, None]
        largest = np.where(unseen, 1.0, np.minimum(1.0, p_hat + radius[:, None] / 2))
        evidence.printed.at_most(name, rewards + largest @ plan.bias, bound)
    for trace in [*context.traces(), *context.shop_traces()]:
        right = trace.gain[:, None] + trace.bias[:, trace.problem.space.pair_states]
        evidence.corrected.at_most(f"plans of {trace.name}", trace.upper_values, right)
        trace.try_algorithm(evidence)
    evidence.correction = "The maximum over p stands outside the sum over s'"
    return ON_RUNS


@checks("property-2", "the policy is nearly optimal", "Property 2 (property:2)", 93)
def property_2(context: CheckContext, evidence: Evidence) -> str:
    """In the optimistic MDP the policy loses at most epsilon.

    r~(s, pi~(s)) >= rho~ + gamma~(s) - sum_s' p~(s' | s, pi~(s)) gamma~(s') - epsilon, for every state.
    """
    for name, (space, rewards, p_hat, radius) in random_regions(context, "property-2"):
        for precision in (0.1, 1e-3):
            plan = planning.extended_value_iteration(space, rewards, p_hat, radius, precision, method="paper")
            chosen = space.offsets[:-1] + plan.policy
            own = plan.rewards[chosen] + plan.transitions[chosen] @ plan.bias
            evidence.printed.at_most(f"{name}, epsilon {precision:g}", plan.gain + plan.bias - precision, own)
            best = bellman_values(rewards, p_hat, radius, plan.bias)[chosen]
            evidence.printed.at_most(f"{name}, p~ is plausible", own, best)
    for trace in [*context.traces(), *context.shop_traces()]:
        trace.try_algorithm(evidence)
    return ON_RUNS


@checks("evi-convergence", "extended value iteration ends", "Appendix A.3 (alg:evi)", 94)
def convergence(context: CheckContext, evidence: Evidence) -> str:
    """Extended value iteration stops after finitely many sweeps if H_p contains a communicating p.

    It stops when span(u_{i+1} - u_i) <= epsilon. With radius 0 and a periodic chain plain sweeps never stop. Here
    an aperiodic step, or policy iteration closed by one true sweep, does (docs/paper-notes.md, items 31 and 32).
    """
    epsilon, sweeps = 1e-3, 0
    regions = [(*region, 20_000) for region in random_regions(context, "evi-convergence")]
    for n in (2, 3, 7):
        onward, pays = np.eye(n)[(np.arange(n) + 1) % n], (np.arange(n) == 0).astype(float)
        regions.append((f"ring of {n} states, radius 0", (Space.uniform(n, 1), pays, onward, np.zeros(n)), 2000))
    for name, region, limit in regions:
        used, span = plain_sweeps(*region, epsilon, limit)
        sweeps = max(sweeps, used if span <= epsilon else 0)
        evidence.printed.at_most(name, span, epsilon)
        plan = planning.extended_value_iteration(*region, epsilon)
        evidence.corrected.at_most(name, plan.residual, epsilon)
    evidence.correction = "Require a positive radius, which the paper's always are, or damp the sweep"
    return f"Where plain sweeps end they took at most {sweeps}. On a deterministic ring the span stays at 1"

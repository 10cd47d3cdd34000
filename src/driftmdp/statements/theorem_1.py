"""Section 4.4: Theorem 1, its tuned form, the remarks that follow it, and the measured growth of regret."""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from driftmdp import formulas, planning, problems
from driftmdp.agents import SWUCRL2CW, BuiltinAgent, Random
from driftmdp.formulas import bounds
from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.simulation import simulate
from driftmdp.statements.context import STAY_OR_MOVE, CheckContext, turns
from driftmdp.statements.registry import checks
from driftmdp.statements.regret_lemmas import try_regret
from driftmdp.statements.verdict import Caveat, Evidence
from driftmdp.statistics import log_log_slope

CONFIDENCE_LEVEL = 0.99  # of the slope of measured regret


@checks("theorem-1", "the dynamic regret of SWUCRL2-CW", "Theorem 1 (thm:main1)", 22)
def theorem_1(context: CheckContext, evidence: Evidence) -> str:
    """SWUCRL2-CW's dynamic regret, for any window W and widening eta > 0 and delta = 1/T, S > 1.

    O~(B_p W / eta + B_r W + sqrt(SA) T / sqrt(W)
    + D_max (B_p W + S sqrt(A) T / sqrt(W) + T eta + SAT / W + sqrt(T))).
    It is tried with the sum of its lemmas' constants, corrected, as in driftmdp.formulas.lemmas. Its regret splits
    into four parts, each tried against its own lemma (lemma-8 to lemma-11). The bound is far from tight. So counts,
    regions, precision and episodes of the runs are compared with Algorithm 1 as well.
    """
    shares: list[tuple[float, str]] = []
    for trace in context.covered_traces():
        regret, right = try_regret(evidence, trace, trace.max_diameter)
        evidence.printed.step(f"{trace.name}, the four parts", regret, sum(trace.parts.values()))
        t = trace.horizon
        if right < t:
            shares.append((regret / right, f"{trace.name}: regret {regret:,.0f}, bound {right:,.0f}, T {t:,}"))
    small = Space.uniform(2, 2)
    horizon = bounds.useful_horizon(lambda t: bounds.theorem_1_tuned(small, t, 1, 1, 1, explicit=True))
    evidence.test = "Holds with probability 1 - 2/T on each run"
    nearest = max(shares, default=(0.0, "none"))[1]
    runs = f"The bound is below T on {len(shares)} of the runs. The run nearest to its bound is {nearest}"
    return f"{runs}. With W*, eta*, S = A = 2 and D = B_r = B_p = 1 the bound is below T from T = {horizon:.1e} on"


def _sizes() -> Iterator[tuple[str, Space, int]]:
    for states, actions, t in itertools.product((2, 5, 20, 100), (1, 2, 10), (10**3, 10**5, 10**8)):
        yield f"S = {states}, A = {actions}, T = {t:.0e}", Space.uniform(states, actions), t


@checks("theorem-1-tuned", "W* and eta*", "Theorem 1, second sentence (thm:main1)", 23)
def theorem_1_tuned(context: CheckContext, evidence: Evidence) -> str:
    """With W* and eta* = sqrt(B_p W* / T) Theorem 1 gives O~(D_max (B_r + B_p)^(1/4) S^(2/3) A^(1/2) T^(3/4)).

    This is a claim about orders. The ratio of Theorem 1's terms to the printed form must be bounded, here by 8, for
    all S, A, T, B_r and B_p. Budgets up to T are tried, split in three ways, and D >= 1 divides out. The ratio is
    not bounded for small B, where W* > T and the printed form falls to 0 while no regret does. Corrected: for
    W* <= T, that is B_r + B_p >= S^(4/3) A / T.
    """
    for name, space, t in _sizes():
        for b, share in itertools.product((1e-9, 1e-3, 1.0, math.sqrt(t), float(t)), (0.5, 0.0, 1.0)):
            b_r, b_p = (1 - share) * b, share * b
            window = space.n_states ** (2 / 3) * space.mean_actions**0.5 * math.sqrt(t / b)
            order = bounds.theorem_1_tuned(space, t, b_r, b_p, 1.0)
            here = f"{name}, B_r = {b_r:.0e}, B_p = {b_p:.0e}"
            as_printed = bounds.theorem_1(space, t, b_r, b_p, 1.0, window, math.sqrt(b_p * window / t))
            evidence.printed.at_most(f"{here}: the terms at W* over the order", as_printed / order, 8.0)
            widening = math.sqrt(b_p * min(window, t) / t)
            terms = bounds.theorem_1(space, t, b_r, b_p, 1.0, min(window, t), widening)
            plus_one = bounds.theorem_2(space, t, b_r, b_p, 1.0)  # the same with B_r + B_p + 1
            evidence.corrected.step(f"{here}, with B_r + B_p + 1", terms, 8.0 * plus_one)
            if 1 <= window <= t:
                evidence.corrected.at_most(here, terms / order, 8.0)
                chosen = formulas.tuned(space, t, b_r, b_p)
                evidence.library.equal(f"{here}: W* of formulas.tuned", chosen.window, window, 1.0)
    evidence.correction = "Require W* <= T, or put (B_r + B_p + 1) for (B_r + B_p)"
    return "As B falls the printed form falls to 0. UCRL2's lower bound sqrt(D S A T) does not"


@checks("remark-4", "confidence widening", "Remark 4", 24)
def remark_4(context: CheckContext, evidence: Evidence) -> str:
    """If p_tau(m) leaves H_p(eta), a considerable amount of variation budget is consumed: more than eta.

    The rest of the remark recalls Propositions 2 and 3.
    """
    lost = 0
    for trace in context.covered_traces():
        outside = np.flatnonzero(~trace.inside)
        if outside.size:
            lost += outside.size
            spent = trace.var_p[trace.starts[outside] - 1]
            name = f"{trace.name}, {outside.size} episodes"
            evidence.printed.at_most(name, trace.widening, spent, scaled=trace.scaled)
    return f"In {lost} episodes p_tau(m) was outside. Each time the variation within the window was more than eta"


def _final_regret(agent: BuiltinAgent, problem: Problem, seed: int) -> float:
    return float(simulate(agent, problem, seed).dynamic_regret(problem)[-1])


@checks("remark-5", "bandits", "Remark 5 (remark:bandit)", 25, Caveat.LOOSE)
def remark_5(context: CheckContext, evidence: Evidence) -> str:
    """With S = 1, D_max = B_p = 0 and W* = A^(1/3) T^(2/3) B_r^(-2/3) the regret is O~(B_r^(1/3) A^(1/3) T^(2/3)).

    That matches the minimax rate, it says, for B_r in [1/A, T/A]. But W* <= T needs B_r >= sqrt(A/T). For T < A^3
    that is above 1/A, and for smaller B_r the sum B_r W + sqrt(A) T / sqrt(W) is above that order. Corrected:
    B_r >= max(1/A, sqrt(A/T)).
    """
    for arms, t in itertools.product((2, 10, 1000), (1000, 10**5, 10**8)):
        for b in np.geomspace(1 / arms, t / arms, 7):
            window = min(t, arms ** (1 / 3) * (t / b) ** (2 / 3))
            terms = b * window + math.sqrt(arms) * t / math.sqrt(window)
            name = f"A = {arms}, T = {t:.0e}, B_r = {b:.2g}: B_r W + sqrt(A) T / sqrt(W) at min(W*, T)"
            evidence.printed.at_most(name, terms, 3 * bounds.bandit(arms, t, b))
            if b >= math.sqrt(arms / t):
                evidence.corrected.step(name, terms, 3 * bounds.bandit(arms, t, b))
    no_noise = problems.bandit(n_arms=3, horizon=400_000, drift="abrupt", changes=2, noise="none")
    for name, problem, scale in [
        ("sinusoidal bandit, T = 5000, theory's radii", problems.bandit(horizon=5000), 1.0),
        ("still bandit, T = 1e6, theory's radii", problems.bandit(horizon=1_000_000, drift="stationary"), 1.0),
        ("abrupt bandit without noise, scale 0.001", no_noise, 0.001),
    ]:
        agent = SWUCRL2CW.for_problem(problem, scale=scale)
        b_r, t = problem.budget()[0], problem.horizon
        right = bounds.theorem_1(problem.space, t, b_r, 0.0, 0.0, agent.window, 0.0, explicit=True, scale=scale)
        evidence.both(name, _final_regret(agent, problem, 1), right, trivial=t, scaled=scale < 1)
    evidence.correction = "B_r >= max(1/A, sqrt(A/T)), so that W* <= T"
    return "Tried: the explicit bound at D = 0 on runs, and the two terms of the order at W*"


@checks("remark-6", "stationary MDPs", "Remark 6 (remark:rl)", 26, Caveat.LOOSE)
def remark_6(context: CheckContext, evidence: Evidence) -> str:
    """In a stationary MDP, with W = T and eta = 0, the bound is UCRL2's, O~(D_max S sqrt(A T)).

    The terms of Theorem 1 at B = 0, W = T and eta = 0 are at most 5 times that, for T >= SA.
    """
    for name, space, t in _sizes():
        terms = bounds.theorem_1(space, t, 0.0, 0.0, 1.0, t, 0.0)
        evidence.printed.step(f"{name}, orders", terms, 5 * bounds.stationary(space, t, 1.0))
    still = Mdp(Space.uniform(2, 2), [0.01, 0.01, 0.8, 0.99], STAY_OR_MOVE)
    for t in (5000, 2_000_000):
        drifting = DriftingMdp.stationary(still, t)
        problem = Problem(drifting, reward_range=(0.0, 1.0), noise="bernoulli", name="still")
        regret = _final_regret(SWUCRL2CW.for_problem(problem, window=t, widening=0.0), problem, 2)
        right = bounds.stationary(problem.space, t, planning.max_diameter(drifting), explicit=True)
        evidence.printed.at_most(f"two still states, T = {t:,}, theory's radii", regret, right, trivial=t)
    evidence.test = "Holds with probability 1 - 2/T on each run"
    useful = bounds.useful_horizon(lambda t: bounds.stationary(Space.uniform(2, 2), t, 1.0, explicit=True))
    return f"For S = A = 2 and D = 1 the explicit bound is below T from T = {useful:,} on"


@checks("remark-7", "windows chosen without the budgets", "Remark 7 (remark:obl)", 27, Caveat.LOOSE)
def remark_7(context: CheckContext, evidence: Evidence) -> str:
    """A window and a widening chosen without the budgets cost a factor linear in the budgets.

    W = S^(2/3) A^(1/2) T^(1/2), eta = sqrt(W/T) gives O~(D_max (B_r + B_p + 1) S^(2/3) A^(1/2) T^(3/4)). Printed:
    eta = sqrt(W/T) = S^(2/3) A^(1/2) T^(-1/2). Corrected: sqrt(W/T) = S^(1/3) A^(1/4) T^(-1/4). As to orders,
    Theorem 1's terms are at most 8 times the claimed one.
    """
    for name, space, t in _sizes():
        choice = formulas.tuned(space, t, 0.0, 0.0, "oblivious")
        size = space.n_states ** (2 / 3) * space.mean_actions**0.5
        window = size * t**0.5
        if window > t:
            continue
        eta = math.sqrt(window / t)
        off = f"{name}: |S^(2/3) A^(1/2) T^(-1/2) / sqrt(W/T) - 1|"
        evidence.printed.equal(off, size * t**-0.5 / eta, 1.0)
        off = f"{name}: |S^(1/3) A^(1/4) T^(-1/4) / sqrt(W/T) - 1|"
        evidence.corrected.step(off, abs(size**0.5 * t**-0.25 / eta - 1), 1e-9)
        evidence.library.equal(f"{name}, formulas.tuned", choice.widening, eta)
        for b in (0.0, 1.0, math.sqrt(t)):
            terms = bounds.theorem_1(space, t, b / 2, b / 2, 1.0, window, choice.widening)
            order = bounds.oblivious(space, t, b / 2, b / 2, 1.0)
            evidence.corrected.step(f"{name}, B = {b:.0e}, orders", terms, 8 * order)
    problem = turns(1_000_000, changes=1, cycles=0.5)
    space, t, (b_r, b_p) = problem.space, problem.horizon, problem.budget()
    chosen = formulas.tuned(space, t, 0.0, 0.0, "oblivious")
    agent = SWUCRL2CW.for_problem(problem, window=chosen.window, widening=chosen.widening, scale=0.001)
    regret = _final_regret(agent, problem, 3)
    for scale in (1.0, 0.001):
        right = bounds.theorem_1(space, t, b_r, b_p, 1.0, agent.window, agent.widening, explicit=True, scale=scale)
        name = f"turns, T = 1,000,000, radii times {scale:g}"
        evidence.both(name, regret, right, trivial=t, scaled=scale < 1)
    evidence.correction = "eta = sqrt(W/T) = S^(1/3) A^(1/4) T^(-1/4)"
    return "The second form of eta is a slip. Orders and a run agree with the first"


@checks("regret-growth", "regret grows like T^(3/4)", "Theorem 1, measured (thm:main1)", 120, Caveat.LOOSE)
def regret_growth(context: CheckContext, evidence: Evidence) -> str:
    """For fixed budgets, tuned by Theorem 1, dynamic regret grows no faster than T^(3/4) times logarithms.

    The slope of log(mean regret) on log(T) is at most that of T^(3/4) sqrt(ln(SAT^2)) on the same horizons. With
    theory's radii nothing is learned at these horizons, and regret is linear. An instance is vacuous if the regret
    at the largest T is at least 90% of random play's.
    """
    horizons = [8000, 16_000, 32_000, 64_000] + ([128_000, 256_000] if context.thorough else [])
    logs = np.log(horizons)  # the radii grow like sqrt(ln(SAT^2)), SA = 4, which adds to the exponent at finite T
    claimed = float(np.polyfit(logs, 0.75 * logs + 0.5 * np.log(math.log(4) + 2 * logs), 1)[0])
    seeds = context.by_effort(8, 20)
    two_state = [problems.two_state(horizon=t, v_r=1.0, v_p=1.0) for t in horizons]
    garnet = [problems.garnet(n_states=4, n_actions=2, branching=3, horizon=t) for t in horizons]
    found = [
        _try_growth(evidence, f"{name}, radii times {scale:g}", cases, scale, claimed, seeds)
        for name, cases, scales in [("two-state", two_state, (1.0, 0.1)), ("Garnet, S = 4", garnet, (1.0, 0.03))]
        for scale in scales
    ]
    evidence.test = f"Bootstrap over {seeds} seeds. Rejected if the 99% interval lies above, error rate 0.005"
    slope = f"On T = {horizons[0]:,} .. {horizons[-1]:,} the slope of T^(3/4) with its logarithm is {claimed:.2f}"
    return f"{slope}. Measured slopes, and shares of random play's regret: {', '.join(found)}"


def _try_growth(
    evidence: Evidence, name: str, cases: list[Problem], scale: float, claimed: float, seeds: int
) -> str:
    """Try the claim on one kind of problem at growing horizons, and return the measured slope in words."""

    def regrets(kind: type[BuiltinAgent], problem: Problem, **parameters: float) -> list[float]:
        agent = kind.for_problem(problem, **parameters)
        return [_final_regret(agent, problem, seed) for seed in range(seeds)]

    samples = [regrets(SWUCRL2CW, problem, scale=scale) for problem in cases]
    slope = log_log_slope([problem.horizon for problem in cases], samples, level=CONFIDENCE_LEVEL)
    share = float(np.mean(samples[-1]) / np.mean(regrets(Random, cases[-1])))
    if scale == 1.0 and share >= 0.9:
        evidence.printed.at_most(f"{name}: nothing is learned", slope.low, 1.1, trivial=1.1)
    else:
        evidence.printed.at_most(f"{name}, low end of the slope", slope.low, claimed, scaled=scale < 1)
        evidence.printed.step(f"{name}, share of random play's regret", share, 0.7)
    return f"{name} ({slope.estimate:.2f} [{slope.low:.2f}, {slope.high:.2f}], {share:.0%})"

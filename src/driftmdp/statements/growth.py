"""How measured regret grows with T: the exponent 3/4 of Theorem 1, with theory's radii and with scaled ones."""

from __future__ import annotations

import math

import numpy as np

from driftmdp import problems
from driftmdp.agents import SWUCRL2CW, BuiltinAgent, Random
from driftmdp.mdp import Problem
from driftmdp.simulation import simulate
from driftmdp.statements.context import CheckContext
from driftmdp.statements.registry import statement
from driftmdp.statements.verdict import Caveat, Evidence
from driftmdp.statistics import log_log_slope

LEVEL = 0.99
LOG = math.log(4)  # ln(SA): the radii grow like sqrt(ln(SAT^2)), which adds to the exponent at finite T


@statement("regret-growth", "regret grows like T^(3/4)", "Theorem 1, measured (thm:main1)", 120)
def regret_growth(context: CheckContext) -> Evidence:
    """For fixed budgets, tuned by Theorem 1, dynamic regret grows no faster than T^(3/4) times logarithms.

    The slope of log(mean regret) on log(T) is at most that of T^(3/4) sqrt(ln(SAT^2)) on the same horizons. With
    theory's radii nothing is learned at these horizons, regret is linear, and the claim says nothing: an instance
    is vacuous if the regret at the largest T is at least 90% of random play's.
    """
    evidence = Evidence(Caveat.LOOSE)
    horizons = [8000, 16_000, 32_000, 64_000] + ([128_000, 256_000] if context.thorough else [])
    claimed = _slope_of_claim(horizons)
    seeds = context.many(8, 20)
    found: list[str] = []
    for name, make, scales in [("two-state", _two_state, (1.0, 0.1)), ("Garnet, S = 4", _garnet, (1.0, 0.03))]:
        worlds = [make(horizon) for horizon in horizons]
        found += [_try_growth(evidence, name, worlds, scale, claimed, seeds) for scale in scales]
    evidence.test = (
        f"bootstrap over {seeds} seeds; rejected if the {LEVEL:.0%} interval lies above, error rate 0.005"
    )
    evidence.why = (
        f"slopes on T = {horizons[0]:,} .. {horizons[-1]:,}, where T^(3/4) with its logarithm has {claimed:.2f}: "
        f"{'; '.join(found)}"
    )
    return evidence


def _try_growth(
    evidence: Evidence, name: str, worlds: list[Problem], scale: float, claimed: float, seeds: int
) -> str:
    """Try the claim on one kind of world, and return what was found, in words."""
    samples = [_regrets(SWUCRL2CW.for_problem(problem, scale=scale), problem, seeds) for problem in worlds]
    slope = log_log_slope([problem.horizon for problem in worlds], samples, level=LEVEL)
    largest = worlds[-1]
    share = float(np.mean(samples[-1]) / np.mean(_regrets(Random.for_problem(largest), largest, seeds)))
    instance = f"{name}, radii times {scale:g}"
    if scale == 1.0 and share >= 0.9:
        evidence.printed.at_most(f"{instance}: nothing is learned", slope.low, 1.1, trivial=1.1)
    else:
        evidence.printed.at_most(f"{instance}, low end of the slope", slope.low, claimed, scaled=scale < 1)
        evidence.printed.step(f"{instance}, share of random play's regret", share, 0.7)
    return f"{instance}: {slope.estimate:.2f} [{slope.low:.2f}, {slope.high:.2f}], {share:.0%} of random play's"


def _regrets(agent: BuiltinAgent, problem: Problem, seeds: int) -> list[float]:
    return [float(simulate(agent, problem, seed).dynamic_regret(problem)[-1]) for seed in range(seeds)]


def _slope_of_claim(horizons: list[int]) -> float:
    logs = np.log(horizons)
    claim = 0.75 * logs + 0.5 * np.log(LOG + 2 * logs)
    return float(np.polyfit(logs, claim, 1)[0])


def _two_state(horizon: int) -> Problem:
    return problems.two_state(horizon=horizon, v_r=1.0, v_p=1.0)


def _garnet(horizon: int) -> Problem:
    return problems.garnet(n_states=4, n_actions=2, branching=3, horizon=horizon)

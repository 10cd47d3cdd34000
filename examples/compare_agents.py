"""Compare the agents on the paper's two-state problem by dynamic regret, over seeds, with 95% intervals.

Theory's radii (scale 1) are vacuous at this horizon: most plans tie all actions, and the tie-break decides. Radii
of a tenth of theory are not.
"""

import warnings

import numpy as np

import driftmdp as dm

SEEDS = range(20)
STUDENT = 2.093  # 97.5% quantile, 19 degrees of freedom

problem = dm.problems.two_state(horizon=5000)
oracle = dm.planning.optimal_gains(problem.drifting).sum()
print(f"{problem.name}, T = {problem.horizon}: the sum of rho*_t is {oracle:.0f}\n")
print(f"{'agent':22}{'scale':>6}{'dynamic regret':>20}{'plans':>8}{'vacuous':>9}")


def compare(agent: dm.agents.BuiltinAgent, scale: str) -> None:
    """Print a row."""
    runs = [dm.simulate(agent, problem, seed) for seed in SEEDS]
    regrets = np.array([run.dynamic_regret(problem)[-1] for run in runs])
    half = STUDENT * regrets.std(ddof=1) / np.sqrt(len(regrets))
    plans, vacuous = np.mean([run.plans for run in runs]), np.mean([run.vacuous_share for run in runs])
    planned = f"{plans:>8.0f}{vacuous:>9.0%}" if plans else f"{'-':>8}{'-':>9}"
    print(f"{agent.name:22}{scale:>6}{regrets.mean():>13.0f} ± {half:<4.0f}{planned}")


compare(dm.agents.Random.for_problem(problem), "-")
compare(dm.agents.Oracle.for_problem(problem), "-")
LEARNERS = "SWUCRL2CW", "BORL", "SlidingWindowUCRL2", "UCRL2", "UCRL2S", "SWUCRL", "VariationAwareUCRL", "UCRL2B"
warnings.simplefilter("ignore", dm.errors.ClippedGammaWarning)  # BORL's arms are drawn uniformly at this horizon
warnings.simplefilter("ignore", dm.errors.VacuousPlansWarning)  # the last column shows it
for scale in (1.0, 0.1):
    for name in LEARNERS:
        compare(dm.agents.builtin()[name].for_problem(problem, scale=scale), f"{scale:g}")

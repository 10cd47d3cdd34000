"""Tables 1 and 2 of the paper, measured: four settings, and four ideas in each.

The ideas are optimism on everything seen (OFU), forgetting, extra optimism (widened confidence regions), and both.
Radii are 0.03 of theory's where there are several states, the same for all ideas. Theory's own are vacuous at this
horizon (docs/agents.md). The tables show dynamic regret with 95% intervals over 60 seeds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.agents import BOB, BORL, SWUCB, SWUCRL2CW, UCB1, UCRL2, Random, SlidingWindowUCRL2

HORIZON, WINDOW, WIDENING, SCALE = 20_000, 300, 0.5, 0.03
SEEDS = range(60)
STUDENT = 2.001  # 97.5% quantile, 59 degrees of freedom


def wavering_arm() -> dm.Problem:
    """One arm always pays 0.5 on average, the other pays 0.8 and 0.2 in turn, with five changes."""
    space = dm.Space.uniform(1, 2)
    phases = [dm.Mdp(space, [0.5, mean], [[1.0], [1.0]]) for mean in (0.8, 0.2)] * 3
    changes = [1 + k * HORIZON // 6 for k in range(1, 6)]
    drifting = dm.DriftingMdp.piecewise(phases, changes, HORIZON)
    return dm.Problem(drifting, noise="bernoulli", reward_range=(0.0, 1.0), name="wavering arm")


def regrets(agent: dm.agents.BuiltinAgent, problem: dm.Problem) -> NDArray[np.float64]:
    """Return the dynamic regret of each seed."""
    return np.array([dm.simulate(agent, problem, seed).dynamic_regret(problem)[-1] for seed in SEEDS])


def interval(values: NDArray[np.float64]) -> str:
    """Return mean and 95% interval."""
    return f"{values.mean():7.0f} ± {STUDENT * values.std(ddof=1) / np.sqrt(values.size):<4.0f}"


def bandits(problem: dm.Problem) -> dict[str, dm.agents.BuiltinAgent]:
    """Return the ideas for one state, where a wider transition region changes nothing."""
    return {
        "OFU (UCB1)": UCB1.for_problem(problem),
        f"forgetting (SW-UCB, W={WINDOW})": SWUCB.for_problem(problem, window=WINDOW),
        "forgetting, window learned (BOB)": BOB.for_problem(problem),
        "random play": Random.for_problem(problem),
    }


def learners(problem: dm.Problem) -> dict[str, dm.agents.BuiltinAgent]:
    """Return the ideas for several states."""
    narrow: dict[str, Any] = {"scale": SCALE}
    wide = narrow | {"widening": WIDENING}
    return {
        "OFU (UCRL2)": UCRL2.for_problem(problem, radii="paper", **narrow),
        f"forgetting only (W={WINDOW})": SlidingWindowUCRL2.for_problem(problem, window=WINDOW, **narrow),
        f"extra optimism only (eta={WIDENING})": SWUCRL2CW.for_problem(problem, window=HORIZON + 1, **wide),
        "both (SWUCRL2-CW)": SWUCRL2CW.for_problem(problem, window=WINDOW, **wide),
        "both, parameters learned (BORL)": BORL.for_problem(problem, mode="bounded", **narrow),
        "random play": Random.for_problem(problem),
    }


SETTINGS = {
    "stationary bandit": (dm.problems.bandit(drift="stationary", horizon=HORIZON), bandits),
    "drifting bandit, one arm wavers": (wavering_arm(), bandits),
    "drifting bandit, arms take turns": (dm.problems.bandit(n_arms=3, drift="abrupt", horizon=HORIZON), bandits),
    "stationary MDP": (dm.problems.river_swim(horizon=HORIZON), learners),
    "drifting MDP": (dm.problems.garnet(n_states=5, horizon=HORIZON), learners),
    "drifting MDP of the paper": (dm.problems.two_state(horizon=HORIZON), learners),
}
for setting, (problem, ideas) in SETTINGS.items():
    print(f"\n{setting} ({problem.name}), T = {HORIZON}")
    found = {idea: regrets(agent, problem) for idea, agent in ideas(problem).items()}
    for idea, regret in found.items():
        print(f"  {idea:36}{interval(regret)}")
    if ideas is learners:
        ofu, forgetting, optimism, both, *_ = found.values()
        print(f"  {'extra optimism less OFU, by seed':36}{interval(optimism - ofu)}")
        print(f"  {'both less forgetting, by seed':36}{interval(both - forgetting)}")

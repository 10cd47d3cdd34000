"""Why BORL's master is EXP3.P: against a world that changes, a single run of EXP3 can be far from its mean.

Two arms. The first pays 1 until a tenth of the time has passed and nothing after, the second the other way round.
EXP3 estimates gains without a bonus, so it is random how soon it switches. This world does not react to the agent.
One that does could exploit that randomness. The world of BORL's master does react: the state in which a block
begins depends on the blocks before. The first table shows the regret against the better arm.

The second table shows BORL with each master and in each mode, on two drifting MDPs. With so few blocks no
difference shows.
"""

import warnings

import numpy as np

import driftmdp as dm

HORIZON = 300_000
SEEDS = range(40)
STUDENT = 2.023  # 97.5% quantile, 39 degrees of freedom

space = dm.Space.uniform(1, 2)
before, after = dm.Mdp(space, [1.0, 0.0], [[1.0], [1.0]]), dm.Mdp(space, [0.0, 1.0], [[1.0], [1.0]])
drifting = dm.DriftingMdp.piecewise([before, after], [HORIZON // 10 + 1], HORIZON)
problem = dm.Problem(drifting, reward_range=(0.0, 1.0), name="one turn")
best_arm = 0.9 * HORIZON

print(f"T = {HORIZON:,}, {len(SEEDS)} seeds\n{'agent':8}{'mean regret':>22}{'spread (sd)':>13}{'worst run':>11}")
for name in ("EXP3", "EXP3P"):
    agent = dm.agents.builtin()[name].for_problem(problem)
    regret = np.array([best_arm - dm.simulate(agent, problem, seed).total_reward for seed in SEEDS])
    half = STUDENT * regret.std(ddof=1) / np.sqrt(regret.size)
    print(f"{name:8}{regret.mean():>14.0f} ± {half:<5.0f}{regret.std(ddof=1):>13.0f}{regret.max():>11.0f}")

warnings.simplefilter(
    "ignore", dm.errors.ClippedGammaWarning
)  # mode="paper" draws arms uniformly at these horizons
worlds = dm.problems.garnet(n_states=5, horizon=20_000), dm.problems.two_state(horizon=20_000)
print(f"\nBORL, T = 20,000, radii 0.03 of theory's\n{'problem':14}{'master':8}{'mode':9}{'dynamic regret':>18}")
for world in worlds:
    for master in ("exp3p", "exp3"):
        for mode in ("paper", "bounded"):
            borl = dm.agents.BORL.for_problem(world, master=master, mode=mode, scale=0.03)
            found = np.array([dm.simulate(borl, world, seed).dynamic_regret(world)[-1] for seed in SEEDS])
            half = STUDENT * found.std(ddof=1) / np.sqrt(found.size)
            print(f"{world.name:14}{master:8}{mode:9}{found.mean():>11.0f} ± {half:<4.0f}")

"""Learn in a frozen lake of NS-Gym whose actions change their effect. Needs the optional package ns-gym."""

import itertools
import sys
from typing import Any

import gymnasium
from gymnasium.wrappers import TransformObservation

import driftmdp as dm
from driftmdp.gymnasium import Reachable, learn

try:
    from ns_gym.schedulers import CustomScheduler
    from ns_gym.update_functions import DistributionCyclicUpdate
    from ns_gym.wrappers import NSFrozenLakeWrapper
except (ImportError, RuntimeError) as error:  # it asks for MuJoCo with a RuntimeError
    print(f"This example needs NS-Gym ({error}). Run: pip install ns-gym. docs/gymnasium.md has a smaller way.")
    sys.exit(0)

STEPS, PHASE = 40_000, 10_000


def drifting_lake() -> gymnasium.Env[Any, Any]:
    """Return the lake on which, by phase, an action has its own effect or that of the next action."""
    clock = itertools.count(1)  # NS-Gym's own clock restarts with each episode
    change = CustomScheduler(lambda t: next(clock) % PHASE == 0)
    update = DistributionCyclicUpdate(change, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    drifting = NSFrozenLakeWrapper(lake, {"P": update}, initial_prob_dist=[1.0, 0.0, 0.0], persistent_params=True)
    shown = TransformObservation(drifting, lambda seen: seen["state"], lake.observation_space)
    return Reachable(shown, Reachable(lake).states)


agents: dict[str, Any] = {
    "Adaptive": dm.agents.Adaptive,
    "PSRL": dm.agents.PSRL,
    "SlidingWindowPSRL": lambda space: dm.agents.SlidingWindowPSRL(space, horizon=STEPS, window=2000),
    "UCRL2, scale 0.1": lambda space: dm.agents.UCRL2(space, horizon=STEPS, scale=0.1),
}
print("mean reward per step, by phase (the best is 1/6 = 0.167 in each)")
for name, make in agents.items():
    learning = learn(drifting_lake(), make, STEPS, progress=False, seed=0)
    print(f"{name:18}", *(f"{mean:.3f}" for mean in learning.learning_curve(PHASE)))

"""Learn in three of gymnasium's toy-text environments, and compare with the best average reward of each."""

from typing import Any

import gymnasium
import numpy as np

import driftmdp as dm
from driftmdp.gymnasium import Reachable, learn
from driftmdp.interchange import from_toy_text

# The range of the rewards. On the cliff a step costs 1 and a fall 100, so the best is never to fall: -1 per step.
WORLDS = {"FrozenLake-v1": (0.0, 1.0), "CliffWalking-v1": (-100.0, -1.0), "Taxi-v4": (-10.0, 20.0)}
STEPS = 6_000


def best_average_reward(lake: gymnasium.Env[Any, Any], states: Any) -> float:
    """Return the optimal gain of the world in which the end of an episode leads to a start."""
    inside: Any = lake.unwrapped
    nowhere = set(inside.P) - set(map(int, states))  # states in which no action is ever taken
    table = inside.P | {s: {a: [(1.0, s, 0.0, True)] for a in inside.P[s]} for s in nowhere}
    mdp = from_toy_text(table, start=inside.initial_state_distrib)
    return dm.planning.optimal_gain(mdp, allow_transient=True).gain


print(f"{'environment':16} {'agent':9} first 2,000  last 2,000   best")
for name, reward_range in WORLDS.items():
    env = Reachable(gymnasium.make(name))
    best = best_average_reward(env, env.states)
    agents: dict[str, Any] = {
        "Adaptive": dm.agents.Adaptive(dm.gymnasium.space_of(env), reward_range=reward_range),
        "Random": dm.agents.Random,
    }
    for agent, made in agents.items():
        curve = np.round(learn(env, made, STEPS, progress=False, seed=0).learning_curve(2000), 4)
        print(f"{name:16} {agent:9} {curve[0]:11.4f} {curve[-1]:11.4f} {best:9.4f}")

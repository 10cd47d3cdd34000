"""Write a compiled agent of your own with numba, check that it equals its step-by-step run, and time both."""

import time
from typing import NamedTuple

import numba
import numpy as np

import driftmdp as dm
from driftmdp.compiled_agents import RunContext, take_step

DISCOUNT = 0.9


class Learner(NamedTuple):
    """The arrays of the agent."""

    offsets: np.ndarray  # the pairs of state s are offsets[s] .. offsets[s + 1] - 1
    values: np.ndarray  # Q of each pair
    pairs: np.ndarray  # the ring: the pair of each remembered step,
    rewards: np.ndarray  # its reward
    next_states: np.ndarray  # and its next state
    n_steps: np.ndarray  # steps so far, shape (1,)


@numba.njit
def choose(learner: Learner, epsilon: float, state: int, uniforms: np.ndarray) -> int:
    """Return the best action, or with probability epsilon a random one."""
    first, last = learner.offsets[state], learner.offsets[state + 1]
    if uniforms[0] < epsilon:
        return int(uniforms[1] * (last - first))
    return int(np.argmax(learner.values[first:last]))


@numba.njit
def learn(
    learner: Learner, rate: float, state: int, action: int, reward: float, next_state: int, uniforms: np.ndarray
) -> None:
    """Remember a step; then learn from it and from a random remembered one."""
    window = learner.pairs.size
    newest = learner.n_steps[0] % window
    learner.pairs[newest] = learner.offsets[state] + action
    learner.rewards[newest], learner.next_states[newest] = reward, next_state
    learner.n_steps[0] += 1
    replayed = int(uniforms[2] * min(learner.n_steps[0], window))
    for i in (newest, replayed):
        following = learner.next_states[i]
        best = learner.values[learner.offsets[following] : learner.offsets[following + 1]].max()
        error = learner.rewards[i] + DISCOUNT * best - learner.values[learner.pairs[i]]
        learner.values[learner.pairs[i]] += rate * error


@numba.njit
def play(world, draws, noise, record, learner, epsilon, rate, uniforms):  # type: ignore[no-untyped-def]
    """Play a whole run."""
    for step in range(record.actions.size):
        state = record.states[step]
        action = choose(learner, epsilon, state, uniforms[step])
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(learner, rate, state, action, reward, next_state, uniforms[step])


class ReplayQ:
    """Epsilon-greedy Q-learning that replays the last steps."""

    def __init__(self, problem: dm.Problem, window: int = 200, epsilon: float = 0.1, rate: float = 0.1) -> None:
        self.space, self.window, self.epsilon, self.rate = problem.space, window, epsilon, rate

    def reset(self, rng: np.random.Generator) -> None:
        """Start from scratch."""
        n = self.window
        ring = np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int64)
        offsets = np.array(self.space.offsets)
        self.learner = Learner(offsets, np.zeros(self.space.n_pairs), *ring, np.zeros(1, np.int64))
        self.rng = rng
        self.uniforms: np.ndarray | None = None

    def act(self, state: int) -> int:
        """Choose; asked twice before an observation, answer the same."""
        if self.uniforms is None:
            self.uniforms = self.rng.random(3)
        self.state, self.action = state, int(choose(self.learner, self.epsilon, state, self.uniforms))
        return self.action

    def observe(self, reward: float, next_state: int, action: int | None = None) -> None:
        """Learn from what was really done."""
        done = self.action if action is None else action
        learn(self.learner, self.rate, self.state, done, reward, next_state, self.uniforms)
        self.uniforms = None

    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code, with the random numbers that ``act`` would have drawn."""
        uniforms = self.rng.random((context.record.actions.size, 3))
        play(*context.inputs, context.record, self.learner, self.epsilon, self.rate, uniforms)


def seconds(compiled: bool) -> float:
    """Return how long a run takes."""
    began = time.perf_counter()
    dm.simulate(mine, problem, seed=1, compiled=compiled)
    return time.perf_counter() - began


problem = dm.problems.two_state(horizon=5000)
mine = ReplayQ(problem)
print(dm.testing.check_agent(mine, problem))
print(f"compiled, it is {seconds(False) / seconds(True):.0f} times as fast")
for agent in (mine, dm.agents.Adaptive.for_problem(problem), dm.agents.Random(problem.space)):
    regret = [dm.simulate(agent, problem, seed).dynamic_regret(problem)[-1] for seed in range(5)]
    print(f"{type(agent).__name__:10} regret {np.mean(regret):.0f}, from {min(regret):.0f} to {max(regret):.0f}")

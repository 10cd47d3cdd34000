"""The learners of another package, and a minimal loop to run them.

``statisticalrl-learners`` has the fastest pip-installable UCRL2 known to us, and the only UCRL3 and IMED-RL. It
pins numpy 1.24 and packages that its learners do not use, so it is installed without dependencies
(``benchmarks/without-dependencies.txt``).
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import driftmdp as dm
from benchmarks.peer_learners import PeerFactory, peer_learner

__all__ = ["PeerRun", "Played", "sharp_run", "statisticalrl_runs"]


@dataclass(frozen=True)
class Played:
    """The time of a run, the mean of its rewards mapped to [0, 1], and the number of plans."""

    seconds: float
    mean_reward: float
    plans: int = 0


PeerRun = Callable[[], Played]


def statisticalrl_runs(problem: dm.Problem, delta: float) -> dict[str, PeerRun]:
    """Return its UCRL2 as published, and with the precision of [JOA10]. Raises ImportError.

    As published it plans to a precision of 1/t. UCRL2 asks only for 1/sqrt(t). The problem must be stationary, with
    the same actions everywhere.
    """
    from statisticalrl_learners.MDPs_discrete.UCRL2 import UCRL2

    class Counting(UCRL2):  # type: ignore[misc]
        """As published, counting plans."""

        plans = 0

        def EVI(self, rewards: Any, transitions: Any, epsilon: float) -> None:  # noqa: N802, its own name
            self.plans += 1
            super().EVI(rewards, transitions, epsilon=self.asked(epsilon))

        def asked(self, epsilon: float) -> float:
            return epsilon

    class AsAsked(Counting):
        """With UCRL2's own precision."""

        def asked(self, epsilon: float) -> float:
            return float(epsilon**0.5)

    kinds = {"precision 1/t, as published": Counting, "precision 1/sqrt(t)": AsAsked}
    return {name: _run(_with_delta(kind, delta), problem) for name, kind in kinds.items()}


def sharp_run(learner: str, problem: dm.Problem, delta: float) -> PeerRun:
    """Return its UCRL3, KL-UCRL or IMED-RL as published. Raises ImportError."""
    return _run(peer_learner(learner, delta), problem)


def _with_delta(kind: Callable[..., Any], delta: float) -> PeerFactory:
    return lambda n_states, n_actions: kind(n_states, n_actions, delta)


def _run(make: PeerFactory, problem: dm.Problem) -> PeerRun:
    """Return a whole run in which a step of the world is one search in a list. Making the lists does not count."""
    mdp = problem.drifting.at(1)
    n_states, n_actions = mdp.space.n_states, int(mdp.space.n_actions[0])
    low, high = problem.reward_range
    shape = (n_states, n_actions)
    rewards = ((np.array(mdp.rewards) - low) / (high - low)).reshape(shape).tolist()
    cumulative = np.cumsum(mdp.transitions.toarray(), axis=1)[:, :-1].reshape(*shape, -1).tolist()
    draws = np.random.default_rng(0).random(problem.horizon).tolist()

    def run() -> Played:
        np.random.seed(0)  # noqa: NPY002, what it draws from
        start = time.perf_counter()
        agent = make(n_states, n_actions)
        state, total = problem.start, 0.0
        agent.reset(state)
        for uniform in draws:
            action = agent.play(state)
            reward, following = rewards[state][action], bisect_right(cumulative[state][action], uniform)
            agent.update(state, action, reward, following)
            state = following
            total += reward
        return Played(time.perf_counter() - start, total / len(draws), getattr(agent, "plans", 0))

    def quiet() -> Played:
        # it prints plans that did not converge, and divides by zero visits at the start
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()

    return quiet

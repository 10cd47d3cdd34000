"""The bandits of another package, and a minimal loop to run them.

``SMPyBandits`` is the largest pip-installable collection of bandits known to us. Importing the package fails: its
posteriors use a function that SciPy has removed (``btdtri``). So the files of its policies are imported unchanged,
without the package's own import. For the posteriors, SciPy gets ``btdtri`` again: it is an old name for
``betaincinv``. The policies are written for research and not for speed: its SWUCB scans the whole window for each
arm, and every choice calls ``numpy.random``.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

import driftmdp as dm
from benchmarks.learners import Played

__all__ = ["BanditRun", "import_policy", "means_of", "quiet", "runs_of", "smpybandits_runs"]

PACKAGE = "smpybandits_policies"

BanditRun = Callable[[int], Played]
"""A whole run with a seed."""


def smpybandits_runs(problem: dm.Problem, window: int, xi: float, gamma: float) -> dict[str, BanditRun]:
    """Return its UCB, SWUCB and Exp3 under the names of this package. Raises ImportError.

    Rewards must be drawn as ``bernoulli``.
    """
    n_arms = problem.space.n_pairs
    ucb, windowed, exp3 = (import_policy(file) for file in ("UCB", "SlidingWindowUCB", "Exp3"))
    makers: dict[str, Callable[[], Any]] = {
        "UCB1": lambda: ucb.UCB(n_arms),
        "SWUCB": lambda: windowed.SWUCB(n_arms, tau=window, alpha=xi),
        "EXP3": lambda: exp3.Exp3(n_arms, gamma=gamma),
    }
    return runs_of(makers, problem)


def runs_of(makers: Mapping[str, Callable[[], Any]], problem: dm.Problem) -> dict[str, BanditRun]:
    """Return whole runs of policies, whose makers are given."""
    means = means_of(problem)
    return {name: _run(make, means) for name, make in makers.items()}


def means_of(problem: dm.Problem) -> NDArray[np.float64]:
    """Return the means of the arms at each step, (T, K)."""
    return np.array([problem.drifting.rewards_at(t) for t in range(1, problem.horizon + 1)])


def import_policy(file: str) -> Any:
    """Import one file of its policies. Raises ImportError."""
    package = find_spec("SMPyBandits")
    if package is None or package.origin is None:
        raise ImportError("No module named 'SMPyBandits'")
    hollow = sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE))
    hollow.__path__ = [str(Path(package.origin).parent / "Policies")]
    if not hasattr(scipy.special, "btdtri"):
        scipy.special.btdtri = scipy.special.betaincinv  # type: ignore[attr-defined]
    # It prints that numba has moved, which affects only its KL-UCB, and switches numpy's warnings off globally.
    with quiet():
        return importlib.import_module(f"{PACKAGE}.{file}")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Throw away what it prints, and numpy's warnings: it divides by the plays of arms not yet played."""
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        np.errstate(divide="ignore", invalid="ignore"),
    ):
        yield


def _run(make: Callable[[], Any], means: NDArray[np.float64]) -> BanditRun:
    """Return a whole run in which a step of the world is one list lookup. Making the list does not count."""

    def run(seed: int) -> Played:
        draws = np.random.default_rng(seed).random((len(means), 1))
        outcomes = (draws < means).astype(float).tolist()
        np.random.seed(seed)  # noqa: NPY002, what it draws from
        random.seed(seed)
        with quiet():
            start = time.perf_counter()
            policy, total = make(), 0.0
            policy.startGame()
            for rewards in outcomes:
                arm = policy.choice()
                reward = rewards[arm]
                policy.getReward(arm, reward)
                total += reward
            return Played(time.perf_counter() - start, total / len(outcomes))

    return run

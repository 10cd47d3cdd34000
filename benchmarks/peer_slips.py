"""The slips of the bandits of ``SMPyBandits`` that watch for changes, shown by calling its own code."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import driftmdp as dm
from benchmarks.bandit_peers import import_policy, quiet
from benchmarks.mended_peers import make_mended, make_published

__all__ = ["slips"]

N_ARMS, HORIZON, CHANGES = 4, 5000, 3


def slips() -> list[str]:
    """Return one line per slip, with its number and ours. Raises ImportError."""
    return [_window(), _delta(), _alarms(), _explored(), _fading(), _checks()]


def _window() -> str:
    with quiet():
        policy = import_policy("Monitored_UCB").Monitored_IndexPolicy(N_ARMS, horizon=HORIZON, delta=0.1)
    roots = np.sqrt(np.log(2 * N_ARMS * HORIZON**2)) + np.sqrt(np.log(2 * HORIZON))
    problem = dm.problems.bandit(N_ARMS, HORIZON)
    try:
        dm.agents.MUCB.for_problem(problem, least_change=0.1)
        ours = "is accepted"
    except ValueError as error:
        ours = f'is refused: "{error}"'
    return (
        f"M-UCB, K = {N_ARMS}, T = {HORIZON:,}, least change 0.1: the window by the paper's rule is "
        f"{4 / 0.01 * roots**2:,.0f}. SMPyBandits prints a line and uses {policy.window_size:,}. In ours it {ours}"
    )


def _delta() -> str:
    with quiet():
        delta = import_policy("GLR_UCB").smart_delta_from_T_UpsilonT(HORIZON, CHANGES, nbArms=N_ARMS)
    wanted = 1 / np.sqrt(N_ARMS * CHANGES * HORIZON)
    return (
        f"GLR-klUCB, `smart_delta_from_T_UpsilonT`, K = {N_ARMS}, T = {HORIZON:,}, {CHANGES} changes: its formula "
        f"gives {wanted:.2g}, its code {delta:.2f}, which is no probability. Ours is "
        f"1 / sqrt(T) = {1 / np.sqrt(HORIZON):.2g}"
    )


def _alarms() -> str:
    given = {"window": 200, "threshold": 43.0, "gamma": 0.125}
    counts = [_restarts(make("MUCB", N_ARMS, HORIZON, given)) for make in (make_published, make_mended)]
    return (
        f"M-UCB, w = 200, on {N_ARMS} arms that never change, T = {HORIZON:,}: {counts[0]} restarts as published, "
        f"{counts[1]} mended"
    )


def _restarts(policy: Any) -> int:
    np.random.seed(0)  # noqa: NPY002, what it draws from
    draws, restarts = np.random.default_rng(0).random(HORIZON), 0
    with quiet():
        policy.startGame()
        for draw in draws:
            inner, arm = policy.policy, policy.choice()
            policy.getReward(arm, float(draw < 0.8 - 0.2 * arm))
            restarts += policy.policy is not inner
    return restarts


def _explored() -> str:
    given = {"changes": CHANGES, "warmup": 50, "epsilon": 0.1}
    policy = make_published("CUSUMUCB", N_ARMS, HORIZON, given)
    policy.proba_random_exploration = 1.0
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    with quiet():
        policy.startGame()
        counts = np.bincount([policy.choice() for _ in range(3000)], minlength=N_ARMS)
    return f"CUSUM-UCB, 3,000 arms explored of {N_ARMS}: {', '.join(map(str, counts))} times each"


def _fading() -> str:
    policy = make_published("DiscountedThompson", N_ARMS, HORIZON, {"discount": 0.9})
    with quiet():
        policy.startGame()
        policy.getReward(0, 1.0)
        policy.getReward(1, 1.0)
    first, second = (policy.posterior[arm].N[1] for arm in (0, 1))
    return (
        f"Discounted Thompson sampling, discount 0.9, K = {N_ARMS}, after a success of arm 0, then one of arm 1: "
        f"{first:.3f} and {second:.3f} successes in its memory. They should be 0.9 and 1"
    )


def _checks() -> str:
    given = {"c1": 2.0, "test_every": 50}
    found = [make("AdSwitch", N_ARMS, HORIZON, given).find_max_i(0.3) for make in (make_published, make_mended)]
    return (
        f"AdSwitch, gap 0.3: sizes of checks 2^-1 to 2^-{found[0]} as published, to 2^-{found[1]} by the condition"
    )

"""The learners of ``statisticalrl-learners``: as published, and with a slip mended.

A mended learner is the peer's own class with the one piece replaced that departs from its paper. Where the published
one disagrees with ours and the mended one agrees, the slip is the reason.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from benchmarks.peer_worlds import PeerWorld, prepare_peer

__all__ = ["MENDS", "PeerFactory", "peer_learners", "peer_regret"]

PeerFactory = Callable[[int, int], Any]
"""A learner for a number of states and a number of actions."""

MENDS = {
    "KL-UCRL": "the inner maximum is solved: it searched nu upwards and found 1e7, so that q = p_hat",
    "IMED-RL": "log M is subtracted from the divergence that the index multiplies by the visits",
}


def peer_learners(delta: float) -> dict[str, dict[str, PeerFactory]]:
    """Return by name the published learner and, where there is a slip, the mended one. Raises ImportError."""
    prepare_peer()
    from statisticalrl_learners.MDPs_discrete.IMED_RL import IMEDRL
    from statisticalrl_learners.MDPs_discrete.KLUCRL import KLUCRL
    from statisticalrl_learners.MDPs_discrete.UCRL3 import UCRL3

    return {
        "UCRL3": {"peer": partial(UCRL3, delta=delta)},
        "KL-UCRL": {"peer": partial(KLUCRL, delta=delta), "mended": partial(_mended_kl_ucrl(KLUCRL), delta=delta)},
        "IMED-RL": {"peer": IMEDRL, "mended": _mended_imed_rl(IMEDRL)},
    }


def _mended_kl_ucrl(published: Any) -> Any:
    """Return its KL-UCRL with the root that [FCG10] asks for.

    f falls, and the root of f(nu) = C is the least nu with f(nu) <= C. Its ``search_up`` looks for the greatest,
    which is always the end of the interval.
    """
    maximise = published.MaxKL
    names = {**maximise.__globals__, "search_up": maximise.__globals__["search_down"]}
    mended = FunctionType(maximise.__code__, names, "MaxKL", maximise.__defaults__)
    return type("MendedKLUCRL", (published,), {"MaxKL": mended})


def _mended_imed_rl(published: Any) -> Any:
    """Return its IMED-RL with the divergence of [PM22].

    With M the largest value, it maximises E log(M - (X - mu) x), which is log M plus the divergence.
    """

    class MendedIMEDRL(published):  # type: ignore[misc]
        """As published, without log M."""

        def multinomial_imed(self, state: int) -> None:
            super().multinomial_imed(state)
            values = self.rewards[state] + self.transitions[state] @ self.phi
            largest = self.max_reward + np.max(self.phi)
            worse = values < np.max(values)
            self.index[worse] -= self.state_action_pulls[state][worse] * np.log(largest)

    return MendedIMEDRL


def peer_regret(make: PeerFactory, world: PeerWorld, seed: int) -> float:
    """Return the regret of one run in the peer's own world: T gain minus the mean rewards of the pairs played."""
    environment, horizon = world.environment, world.problem.horizon
    learner = make(environment.nS, environment.nA)
    np.random.seed(seed)  # noqa: NPY002, what it draws from
    state, _ = environment.reset(seed=seed)
    earned = 0.0
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it divides by zero visits at the start, on purpose
        learner.reset(state)
        for _ in range(horizon):
            action = learner.play(state)
            following, reward, _, _, facts = environment.step(action)
            learner.update(state, action, reward, following)
            state = following
            earned += facts["mean"]
    return horizon * world.gain - earned

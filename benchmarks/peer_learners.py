"""The learners of ``statisticalrl-learners``: as published, and with a slip mended.

A mended learner is the peer's own class with the one piece replaced that departs from its paper. Where the
published one disagrees with ours and the mended one agrees, the slip is the reason.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from benchmarks.peer_worlds import PeerWorld, prepare_peer

__all__ = ["MENDS", "PEERS", "PeerFactory", "peer_learner", "peer_regret"]

PeerFactory = Callable[[int, int], Any]
"""A learner for a number of states and a number of actions."""

MENDS = {
    "UCRL3": "supports can grow: it summed numbers of states for chances. No bound of its own for p = 1",
    "KL-UCRL": "the inner maximum is solved: it searched nu upwards and found 1e7, so that q = p_hat",
    "IMED-RL": "log M is subtracted from the divergence that the index multiplies by the visits",
}


PEERS = ("UCRL3", "UCRL3, mended", "KL-UCRL", "KL-UCRL, mended", "IMED-RL", "IMED-RL, mended")


def peer_learner(name: str, delta: float) -> PeerFactory:
    """Return a learner by its name in ``PEERS``. Raises ImportError."""
    prepare_peer()
    learner, _, mended = name.partition(", ")
    module, kind, mend = {
        "UCRL3": ("UCRL3", "UCRL3", _mended_ucrl3),
        "KL-UCRL": ("KLUCRL", "KLUCRL", _mended_kl_ucrl),
        "IMED-RL": ("IMED_RL", "IMEDRL", _mended_imed_rl),
    }[learner]
    published = getattr(importlib.import_module(f"statisticalrl_learners.MDPs_discrete.{module}"), kind)
    chosen = mend(published) if mended else published
    return chosen if learner == "IMED-RL" else partial(chosen, delta=delta)  # IMED-RL has no delta


def _mended_ucrl3(published: Any) -> Any:
    """Return its UCRL3 with supports that can grow, and with the confidence bounds that it states.

    Its ``sum(p)`` of a dict by state adds up the numbers of the states, so no state outside a support ever counts.
    A next state that always followed gets the lower bound 0.5^(1/n), marked there as to do: no bound of [BMT20].
    """

    def compute_ranges(self: Any) -> None:
        published.compute_ranges(self)
        for (state, action), seen in np.ndenumerate(self.supports):
            for following in seen:
                chance, n = self.p_estimate[state, action][following], self.Nk[state, action]
                self.p_lower[state, action][following] = self.q_lower(chance, n, self.deltaSA)

    names = ("aux_compute_Fplus_in", "aux_compute_Fplus_out")
    mended = {name: _with_names(getattr(published, name), sum=_sum_of_values) for name in names}
    return type("MendedUCRL3", (published,), {**mended, "compute_ranges": compute_ranges})


def _sum_of_values(chances: dict[int, float]) -> float:
    return sum(chances.values())


def _with_names(function: Any, **names: Any) -> Any:
    """Return a function that finds some global names replaced."""
    replaced = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    replaced.__defaults__ = function.__defaults__
    return replaced


def _mended_kl_ucrl(published: Any) -> Any:
    """Return its KL-UCRL with the root that [FCG10] asks for.

    f falls, and the root of f(nu) = C is the least nu with f(nu) <= C. Its ``search_up`` looks for the greatest,
    which is always the end of the interval.
    """
    least = published.MaxKL.__globals__["search_down"]
    return type("MendedKLUCRL", (published,), {"MaxKL": _with_names(published.MaxKL, search_up=least)})


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

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

PLACES = {"UCRL3": ("UCRL3", "UCRL3"), "KL-UCRL": ("KLUCRL", "KLUCRL"), "IMED-RL": ("IMED_RL", "IMEDRL")}
"""The module and the class of a learner."""

MENDS = {
    "UCRL3, sums mended": "supports can grow: it summed the numbers of states in the place of their chances",
    "UCRL3, mended": "and no bound of its own for p = 1",
    "KL-UCRL, mended": "the inner maximum is solved: it searched nu upwards and found 1e7, so that q = p_hat",
    "IMED-RL, mended": "log M is subtracted from the divergence that the index multiplies by the visits",
}
"""What is replaced in a mended learner, and why."""

PEERS = (*PLACES, *MENDS)


def peer_learner(name: str, delta: float) -> PeerFactory:
    """Return a learner by its name in ``PEERS``. Raises ImportError."""
    prepare_peer()
    learner = name.partition(", ")[0]
    module, kind = PLACES[learner]
    published = getattr(importlib.import_module(f"statisticalrl_learners.MDPs_discrete.{module}"), kind)
    mends: dict[str, Callable[[Any], Any]] = {
        "UCRL3, sums mended": _with_sums,
        "UCRL3, mended": lambda kind: _without_certainty(_with_sums(kind)),
        "KL-UCRL, mended": _with_root,
        "IMED-RL, mended": _with_divergence,
    }
    chosen = mends[name](published) if name in mends else published
    return chosen if learner == "IMED-RL" else partial(chosen, delta=delta)  # IMED-RL has no delta


def _with_sums(published: Any) -> Any:
    """Return its UCRL3 with supports that can grow.

    Its ``sum(p)`` of a dict by state adds up the numbers of the states, so no state outside a support ever counts.
    """
    names = ("aux_compute_Fplus_in", "aux_compute_Fplus_out")
    mended = {name: _with_names(getattr(published, name), sum=_sum_of_values) for name in names}
    return type("SummingUCRL3", (published,), mended)


def _without_certainty(published: Any) -> Any:
    """Return its UCRL3 with no more than the confidence bounds that it states.

    A next state that always followed gets the lower bound 0.5^(1/n), marked there as to do: no bound of [BMT20].
    """

    def compute_ranges(self: Any) -> None:
        published.compute_ranges(self)
        for (state, action), seen in np.ndenumerate(self.supports):
            for following in seen:
                chance, n = self.p_estimate[state, action][following], self.Nk[state, action]
                self.p_lower[state, action][following] = self.q_lower(chance, n, self.deltaSA)

    return type("BoundedUCRL3", (published,), {"compute_ranges": compute_ranges})


def _sum_of_values(chances: dict[int, float]) -> float:
    return sum(chances.values())


def _with_names(function: Any, **names: Any) -> Any:
    """Return a function that finds some global names replaced."""
    replaced = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    replaced.__defaults__ = function.__defaults__
    return replaced


def _with_root(published: Any) -> Any:
    """Return its KL-UCRL with the root that [FCG10] asks for.

    f falls, and the root of f(nu) = C is the least nu with f(nu) <= C. Its ``search_up`` looks for the greatest,
    which is always the end of the interval.
    """
    least = published.MaxKL.__globals__["search_down"]
    return type("MendedKLUCRL", (published,), {"MaxKL": _with_names(published.MaxKL, search_up=least)})


def _with_divergence(published: Any) -> Any:
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

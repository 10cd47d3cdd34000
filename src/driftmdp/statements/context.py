"""What checks share: the effort to make, random numbers, and runs that several of them examine."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from driftmdp import problems
from driftmdp.statements.check_problems import nearly_still, shop, steady_shop, turns
from driftmdp.statements.run_trace import RunTrace, trace_run

Made = TypeVar("Made")


class CheckContext:
    """The effort, the random numbers and the shared runs of one call of ``check``.

    Parameters
    ----------
    thorough
        Whether to try more and larger instances.
    """

    def __init__(self, thorough: bool = False) -> None:
        self.thorough = thorough
        self._locks: dict[str, threading.Lock] = {}
        self._cache: dict[str, object] = {}
        self._lock = threading.Lock()

    def by_effort(self, quick: int, thorough: int) -> int:
        """Return the second number if the check is thorough, the first otherwise."""
        return thorough if self.thorough else quick

    def rng(self, name: str) -> np.random.Generator:
        """Return the random numbers of a check, the same each time."""
        return np.random.default_rng(zlib.crc32(name.encode()))

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """Return the result of ``make``, which is called once for all checks."""
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._cache:
                self._cache[name] = make()
            return cast(Made, self._cache[name])

    def traces(self) -> list[RunTrace]:
        """Return runs of SWUCRL2-CW with widening, with theory's radii and scaled ones, with and without drift."""
        return [*self.once("traces", self._make_traces), self.once("long", self._make_long_trace)]

    def covered_traces(self) -> list[RunTrace]:
        """Return the runs of ``traces`` on which E_r and E_p hold, which most lemmas are conditioned on."""
        return [trace for trace in self.traces() if trace.covered]

    def _make_traces(self) -> list[RunTrace]:
        two_states = problems.two_state(horizon=5000)
        garnet = problems.garnet(n_states=4, n_actions=2, branching=3, horizon=10_000, noise="bernoulli")
        traces = []
        for seed in range(self.by_effort(1, 10)):
            traces += [
                trace_run("two-state, theory's radii", two_states, seed),
                trace_run("two-state, scale 0.4", two_states, seed, window=2000, widening=0.05, scale=0.4),
                trace_run("Garnet, scale 0.4", garnet, seed, window=2500, widening=0.05, scale=0.4),
            ]
        cases = [(2, 1, 1000, 0.04), (3, 1, 1000, 0.04)]
        if self.thorough:
            cases += [(n, changes, 2000, 0.05) for n in (2, 3, 4) for changes in (1, 2)]
        for n_states, changes, window, widening in cases:
            problem = turns(1_000_000, changes, cycles=0.5, n_states=n_states)
            name = f"turns, S = {n_states}, changes: {changes}, W = {window}, scale 0.001"
            traces.append(trace_run(name, problem, 0, window=window, widening=widening, scale=0.001))
        return traces

    def _make_long_trace(self) -> RunTrace:
        """Return a run with theory's own radii on which Theorem 1 is not vacuous."""
        horizon = self.by_effort(2_000_000, 4_000_000)
        problem = nearly_still(horizon, b_r=0.01, b_p=0.002)
        name = f"nearly still, T = {horizon:.0e}, theory's radii"
        return trace_run(name, problem, 0, window=horizon, widening=0.02)

    def long_shop(self) -> problems.InventoryProblem:
        """Return an inventory on which Theorem 4 is not vacuous, with scaled radii."""
        return steady_shop(1_000_000)

    def shop_traces(self) -> list[RunTrace]:
        """Return runs without widening on an inventory with zeta > 0."""
        return self.once("shop", self._make_shop_traces)

    def _make_shop_traces(self) -> list[RunTrace]:
        problem = shop(capacity=3, horizon=20_000, zeta=0.1)
        return [
            trace_run(f"inventory, scale {scale:g}", problem, seed, window=5000, widening=0.0, scale=scale)
            for seed in range(self.by_effort(1, 5))
            for scale in (1.0, 0.4)
        ]

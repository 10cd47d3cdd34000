"""What checks share: how much effort to make, random numbers, and runs that several of them look at."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from driftmdp import problems
from driftmdp.mdp import Problem
from driftmdp.statements.run_trace import RunTrace, keep_trace
from driftmdp.statements.worlds import nearly_still, shop, steady_shop, turns

Kept = TypeVar("Kept")


class CheckContext:
    """One sitting of checks.

    Parameters
    ----------
    thorough
        Whether to try more and larger instances.
    """

    def __init__(self, thorough: bool = False) -> None:
        self.thorough = thorough
        self._locks: dict[str, threading.Lock] = {}
        self._kept: dict[str, object] = {}
        self._lock = threading.Lock()

    def many(self, quick: int, thorough: int) -> int:
        """Return how many instances to try."""
        return thorough if self.thorough else quick

    def rng(self, name: str) -> np.random.Generator:
        """Return the random numbers of a check: the same each time, and its own."""
        return np.random.default_rng(zlib.crc32(name.encode()))

    def once(self, name: str, make: Callable[[], Kept]) -> Kept:
        """Return what ``make`` makes, made once for all checks of this sitting."""
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._kept:
                self._kept[name] = make()
            return cast(Kept, self._kept[name])

    # runs ------------------------------------------------------------------------------------------------

    def traces(self) -> list[RunTrace]:
        """Return runs of SWUCRL2-CW with widening: theory's radii and scaled ones, still worlds and moving ones."""
        return [*self._small_traces(), self.long_ledger()]

    def _small_traces(self) -> list[RunTrace]:
        return self.once("traces", self._make_traces)

    def _make_traces(self) -> list[RunTrace]:
        two_states = problems.two_state(horizon=5000)
        garnet = problems.garnet(n_states=4, n_actions=2, branching=3, horizon=10_000, noise="bernoulli")
        kept = []
        for seed in range(self.many(1, 10)):
            kept += [
                keep_trace("two-state, theory's radii", two_states, seed),
                keep_trace("two-state, scale 0.4", two_states, seed, window=2000, widening=0.05, scale=0.4),
                keep_trace("Garnet, scale 0.4", garnet, seed, window=2500, widening=0.05, scale=0.4),
            ]
        return kept + [self._turning(*case) for case in self._turns()]

    def _turns(self) -> list[tuple[int, int, int, float]]:
        """Return states, changes, window and widening of deterministic worlds."""
        cases = [(2, 1, 1000, 0.04), (3, 1, 1000, 0.04)]
        if self.thorough:
            cases += [(n, changes, 2000, 0.05) for n in (2, 3, 4) for changes in (1, 2)]
        return cases

    def _turning(self, n_states: int, changes: int, window: int, widening: float) -> RunTrace:
        world = turns(1_000_000, changes, cycles=0.5, n_states=n_states)
        name = f"turns, S = {n_states}, changes: {changes}, W = {window}, scale 0.001"
        return keep_trace(name, world, 0, window=window, widening=widening, scale=0.001)

    def long_problem(self) -> Problem:
        """Return a world in which Theorem 1 says something with theory's own radii."""
        horizon = self.many(2_000_000, 4_000_000)
        return self.once("long problem", lambda: nearly_still(horizon, b_r=0.01, b_p=0.002))

    def long_ledger(self) -> RunTrace:
        """Return a run of two million steps with theory's radii."""
        return self.once("long", self._make_long)

    def _make_long(self) -> RunTrace:
        problem = self.long_problem()
        name = f"nearly still, T = {problem.horizon:.0e}, theory's radii"
        return keep_trace(name, problem, 0, window=problem.horizon, widening=0.02)

    def long_shop(self) -> problems.InventoryProblem:
        """Return an inventory in which Theorem 4 says something, with scaled radii."""
        return steady_shop(1_000_000)

    def shop_traces(self) -> list[RunTrace]:
        """Return runs without widening on an inventory with zeta > 0."""
        return self.once("shop", self._make_shops)

    def _make_shops(self) -> list[RunTrace]:
        problem = shop(capacity=3, horizon=20_000, zeta=0.1)
        return [
            keep_trace(f"inventory, scale {scale:g}", problem, seed, window=5000, widening=0.0, scale=scale)
            for seed in range(self.many(1, 5))
            for scale in (1.0, 0.4)
        ]

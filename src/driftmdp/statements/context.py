"""The context of checks: the effort to make, random numbers, problems, and runs that several checks examine."""

import threading
import zlib
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from driftmdp import problems
from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.problems import InventoryProblem
from driftmdp.problems.schedules import blocks, swing
from driftmdp.statements.run_trace import RunTrace, trace_run

REWARD_LEVELS = 200  # few distinct levels, so that few distinct MDPs must be solved
STAY_OR_MOVE = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]  # action 0 stays, action 1 moves
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

    def long_shop(self) -> InventoryProblem:
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


def turns(horizon: int, changes: int, cycles: float, n_states: int = 2) -> Problem:
    """Return a deterministic problem whose actions swap their effects and whose rewards swing, in steps.

    Action a leads a states on, and S - 1 - a after a change, so the diameter is 1. First the last state pays, then
    the first. Nothing is random, so estimates are exact and every run stays within radii of any size. Small radii
    then give bounds that are not vacuous at horizons at which theory's radii are too large.
    """
    space = Space.uniform(n_states, n_states)
    state, action = space.pair_states, np.arange(space.n_pairs) % n_states
    onward, backward = (state + action) % n_states, (state + n_states - 1 - action) % n_states
    anchors = [
        Mdp(space, (state == n_states - 1).astype(float), np.eye(n_states)[onward]),
        Mdp(space, (state == 0).astype(float), np.eye(n_states)[backward]),
    ]
    rewards = swing(REWARD_LEVELS, cycles)[blocks(horizon, REWARD_LEVELS, REWARD_LEVELS - 1)]
    world = DriftingMdp(anchors, blocks(horizon, 2, changes), reward_weights=rewards)
    return Problem(world, reward_range=(0.0, 1.0), name="turns")


def nearly_still(horizon: int, b_r: float, b_p: float, steps: int = 8) -> Problem:
    """Return two states, with actions to stay or to move, that change by B_r and B_p in a few equal steps.

    The drift is so slow that theory's own radii give a bound below T.
    """
    space = Space.uniform(2, 2)
    size_r, size_p = b_r / (steps - 1), b_p / (steps - 1)
    anchors = []
    for i in range(steps):
        slip = 0.01 + i * size_p / 2
        rows = [[1 - slip, slip], [slip, 1 - slip], [slip, 1 - slip], [1 - slip, slip]]
        anchors.append(Mdp(space, [0.2, 0.2, 0.6 + i * size_r, 0.8], rows))
    world = DriftingMdp(anchors, blocks(horizon, steps, steps - 1))
    return Problem(world, reward_range=(0.0, 1.0), name="nearly still")


def one_jump(horizon: int, at: int) -> Problem:
    """Return a bandit of one arm whose reward jumps from 0 to 1 after step ``at``."""
    space = Space.uniform(1, 1)
    anchors = [Mdp(space, [reward], [[1.0]]) for reward in (0.0, 1.0)]
    world = DriftingMdp.piecewise(anchors, [at + 1], horizon)
    return Problem(world, reward_range=(0.0, 1.0), name="one jump")


def ring(n_states: int, horizon: int, tilt: float) -> Problem:
    """Return a deterministic ring whose first half pays 1. The rewards move by ``tilt`` once."""
    space = Space.uniform(n_states, 1)
    pays = (np.arange(n_states) < n_states // 2).astype(float)
    onward = np.eye(n_states)[(np.arange(n_states) + 1) % n_states]
    anchors = [Mdp(space, pays, onward), Mdp(space, np.maximum(0.0, pays - tilt), onward)]
    return Problem(DriftingMdp(anchors, blocks(horizon, 2, 1)), reward_range=(0.0, 1.0), name="ring")


def shop(capacity: int, horizon: int, zeta: float, low: float = 0.5, high: float = 1.5) -> InventoryProblem:
    """Return an inventory whose mean demand jumps three times between two levels."""
    path = problems.Abrupt([low, high, low, high], [horizon * i // 4 + 1 for i in (1, 2, 3)])
    fixed, unit, lost_sale, holding = 0.5, 0.2, 2.0, 0.3
    return problems.inventory(capacity, horizon, problems.Poisson(path), fixed, unit, lost_sale, holding, zeta)


def steady_shop(horizon: int) -> InventoryProblem:
    """Return an inventory of capacity 2 whose demand hardly changes, as zeta is nearly the largest possible."""
    return shop(capacity=2, horizon=horizon, zeta=0.33, low=0.6, high=0.7)


def order_up(space: Space) -> NDArray[np.int32]:
    """Return the pair of each state of an inventory that fills the shelf, a = S - s."""
    return np.asarray(space.offsets[1:] - 1)


def random_mdp(rng: np.random.Generator, n_states: int, n_actions: int, sparse: bool = False) -> Mdp:
    """Return a communicating MDP with random rewards in [0, 1]. Sparse rows are nearly deterministic."""
    space = Space.uniform(n_states, n_actions)
    rows = rng.dirichlet(np.full(n_states, 0.2 if sparse else 1.0), size=space.n_pairs)
    onward = np.eye(n_states)[(space.pair_states + 1) % n_states]
    rows[::n_actions] = 0.5 * (rows + onward)[::n_actions]  # the first action makes it communicate
    rows[rows < 1e-6] = 0.0  # HiGHS takes smaller probabilities for 0
    return Mdp(space, rng.random(space.n_pairs), rows / rows.sum(axis=1, keepdims=True))

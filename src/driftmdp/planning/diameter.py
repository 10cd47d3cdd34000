"""How far apart states are: [CSZ20] Definition 1, D = max_{s != s'} min_pi E[time from s to s' under pi].

The paper's maximum includes s = s'. As in [JOA10] it is taken over s != s' here, so that S = 1 gives 0.
Times carry a certified relative error, see :mod:`driftmdp.kernels.hitting_times`. A target is left out once its
times are proved to be no longer than those found.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.errors import InvalidInputError, NotConvergedError
from driftmdp.kernels.arrays import Model
from driftmdp.mdp import DriftingMdp, Mdp
from driftmdp.planning.inputs import as_drifting, as_mdp
from driftmdp.planning.policy import reaching
from driftmdp.planning.sparse import solve_sparse
from driftmdp.validation import as_integer, as_list

TOLERANCE = 1e-9
SWEEPS_PER_TARGET = 500
PROOF_SWEEPS = 3  # that try to show that a target is not the worst
MAX_STATES_ELIMINATED = 64  # up to here elimination for every target is cheaper than sweeping


class Diameter(float):
    """A diameter: a number with its worst pair of states.

    Attributes
    ----------
    source, target
        The states that are farthest apart. An infinite diameter has a pair without a path, and S = 1 has -1.
    residual
        Certified relative error.
    """

    source: int
    target: int
    residual: float

    def __new__(cls, value: float, source: int = -1, target: int = -1, residual: float = 0.0) -> Diameter:
        """Return the number with its attributes."""
        self = super().__new__(cls, value)
        self.source, self.target, self.residual = source, target, residual
        return self

    def __repr__(self) -> str:
        return f"Diameter({float(self)!r}, source={self.source}, target={self.target})"

    def __reduce__(self) -> tuple[type[Diameter], tuple[float, int, int, float]]:
        return Diameter, (float(self), self.source, self.target, self.residual)


def diameter(mdp: Mdp, targets: Iterable[int] | None = None) -> Diameter:
    """Return the diameter of an MDP, infinite if it is not communicating.

    Parameters
    ----------
    mdp
        Any MDP.
    targets
        Look only at paths to these states, for large S. The result is then a lower bound on the diameter.

    Examples
    --------
    >>> import driftmdp as dm
    >>> dm.planning.diameter(dm.problems.perils(tau=9).drifting.at(1))
    Diameter(1.0, source=1, target=0)
    """
    n_states = as_mdp(mdp).space.n_states
    if targets is None and n_states <= MAX_STATES_ELIMINATED:
        return _by_elimination(mdp.arrays)
    chosen = range(n_states) if targets is None else _checked_targets(targets, n_states)
    return _by_target(mdp.arrays, chosen)


def diameters(drifting: DriftingMdp) -> NDArray[np.float64]:
    """Return D_t, the diameter of the MDP of every step, shape (T,). Equal transitions are solved once.

    Examples
    --------
    >>> import driftmdp as dm
    >>> dm.planning.diameters(dm.problems.perils(tau=5).drifting).tolist() == [1.0] * 20
    True
    """
    steps, group = as_drifting(drifting).distinct_steps(rewards=False)
    return np.array([float(diameter(drifting.at(step + 1))) for step in steps.tolist()])[group]


def max_diameter(drifting: DriftingMdp) -> float:
    """Return D_max, the largest diameter of any step ([CSZ20] Assumption 1).

    Examples
    --------
    >>> from driftmdp.planning import max_diameter
    >>> import driftmdp as dm
    >>> round(max_diameter(dm.problems.two_state(horizon=5000).drifting), 3)  # 1 / beta_t, beta_t >= 0.2
    5.0
    """
    return float(diameters(drifting).max())


def _checked_targets(targets: Iterable[int], n_states: int) -> list[int]:
    listed = as_list(targets, "targets", "a list of states")
    chosen = [as_integer(target, "targets", 0, n_states - 1) for target in listed]
    if not chosen:
        raise InvalidInputError("targets must name at least one state; got none.")
    return chosen


def _by_elimination(model: Model) -> Diameter:
    value, source, target, residual = kernels.hitting_times.solve_all_targets(model, TOLERANCE)
    if model.offsets.size == 2:  # a single state
        return Diameter(0.0)
    if source < 0:
        return Diameter(np.inf, _unconnected(model, target), target)
    return _certified(value, source, target, residual)


def _certified(value: float, source: int, target: int, residual: float) -> Diameter:
    if not residual <= 1e-6:
        raise NotConvergedError(
            f"The diameter must be certified to a relative error of 1e-6; got {residual:.3g} at a time of "
            f"{value:.3g} steps from state {source} to state {target}, the least that double precision allows.",
            Diameter(value, source, target, residual),
        )
    return Diameter(value, source, target, residual)


def _unconnected(model: Model, target: int) -> int:
    """Return a state that cannot reach the target."""
    return int(np.setdiff1d(np.arange(model.offsets.size - 1), reaching(model, np.array([target])))[0])


def _by_target(model: Model, targets: Iterable[int]) -> Diameter:
    """Sweep towards each target, nearest states first, and eliminate where sweeps stall."""
    n_states = model.offsets.size - 1
    pointer, pairs = kernels.graph.reverse(model)
    order, policy = np.empty(n_states, np.int32), np.zeros(n_states, np.int32)
    longest, residual, stalls = Diameter(0.0), 0.0, 0
    # States that little leads to are far from others. Once the worst is known, most are soon seen to be nearer.
    led_to = np.bincount(model.indices, weights=model.data, minlength=n_states)
    for target in sorted(targets, key=led_to.__getitem__):
        order[0] = target
        reached = kernels.graph.reach(model.offsets, pointer, pairs, order, 1, policy)
        if reached < n_states:
            return Diameter(np.inf, _unconnected(model, target), target)
        if _is_within(model, order, float(longest)):
            continue
        times = np.zeros(n_states)
        sweeps = SWEEPS_PER_TARGET if stalls < 3 else SWEEPS_PER_TARGET // 5
        kernels.hitting_times.sweep(model, order, times, sweeps, TOLERANCE / 10, 0.0)
        error, _ = kernels.hitting_times.improve(model, target, times, policy)
        stalls = stalls + 1 if error > TOLERANCE else 0
        if error > TOLERANCE:  # the policy that the sweeps found is near the best, but may never arrive
            error = _eliminate(model, target, policy, times)
        if error == np.inf:
            kernels.hitting_times.approach_target(model, order, policy)
            error = _eliminate(model, target, policy, times)
        residual = max(residual, error)
        source = int(times.argmax())
        if times[source] > longest:
            longest = Diameter(times[source], source, target, error)
    return _certified(float(longest), longest.source, longest.target, residual)


def _is_within(model: Model, order: NDArray[np.int32], longest: float) -> bool:
    """Return whether a few sweeps prove that no state is farther from ``order[0]`` than ``longest``."""
    # Times that are guessed a little below the limit fall quickly if the true ones are well below.
    times = np.full(order.size, 0.9 * longest)
    times[order[0]] = 0.0
    return bool(kernels.hitting_times.sweep(model, order, times, PROOF_SWEEPS, 0.0, longest) <= longest)


def _eliminate(model: Model, target: int, policy: NDArray[np.int32], times: NDArray[np.float64]) -> float:
    """Policy iteration with sparse elimination. Return the residual, infinite if the policy never arrives."""
    n_states = policy.size
    ones = np.ones(n_states)
    ones[target] = 0.0
    error = np.inf
    for _ in range(1000):
        indptr, indices, data = kernels.hitting_times.build_sparse_system(model, target, policy)
        system = sp.csr_array((data, indices, indptr), shape=(n_states, n_states))
        try:
            times[:] = solve_sparse(system, ones)
        except RuntimeError:  # SuperLU: exactly singular, as good as never arriving
            return np.inf
        if not (times[ones > 0] > 0.5).all():  # no times at all: the policy never arrives
            return np.inf
        error, changed = kernels.hitting_times.improve(model, target, times, policy)
        if error <= TOLERANCE or not changed:
            break
    return float(error)

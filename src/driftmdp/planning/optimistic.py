"""The best plausible MDP: extended value iteration over balls or intervals of transitions.

=========  ============  ============================================================================
symbol     name here     where
=========  ============  ============================================================================
H_r        reward_upper  [CSZ20] eq:Hr: only its top matters
p^, rad_p  p_hat,radius  [CSZ20] eq:Hp: { p : |p - p^|_1 <= radius }, widening included
rho~       gain          [CSZ20] alg:evi: max(T u - u)
gamma~     bias          [CSZ20] alg:evi: u - min u
r~, p~     rewards,      the optimistic MDP in which ``policy`` is best
           transitions
epsilon    precision     of the certificate: span(T u - u) <= precision
=========  ============  ============================================================================

T is the extended Bellman operator. For *any* u the two properties of [CSZ20] app:evi hold (the first with the
maximum outside the sum, see docs/paper-notes.md, item 18):

1. rho~ + gamma~(s) >= r~(s, a) + max over plausible p of p' gamma~, for every pair.
2. r~(s, pi(s)) >= rho~ + gamma~(s) - p~(. | s, pi(s))' gamma~ - residual, for every state.

So a warm start, or any other way to a good u, is as safe as the plain sweeps of the paper, if it ends with one true
step.
"""

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from driftmdp import kernels
from driftmdp.errors import InvalidInputError, NotConvergedError
from driftmdp.kernels.arrays import Bools, Floats
from driftmdp.kernels.plan_arrays import PlanWorkspace, SetRows, new_workspace, with_transitions
from driftmdp.mdp import Space
from driftmdp.planning.gain import sparse_policy_iteration
from driftmdp.planning.optimistic_inputs import (
    SUM_TOLERANCE,
    Inputs,
    aligned,
    as_rows,
    check_entries,
    check_rows,
    checked_elsewhere,
    checked_inputs,
    row_sums,
)
from driftmdp.planning.reward_scale import finite, scaled, unit_exponent
from driftmdp.validation import LARGEST, as_vector

MAX_PREALLOCATED = 4096  # stored entries up to which the optimistic transitions are allocated at once


@dataclass(frozen=True, eq=False)
class Optimistic:
    """An optimistic plan and its certificate.

    Attributes
    ----------
    policy
        The action within each state, shape (S,): the first within 1e-9 of the best, in a unit in which the largest
        reward is near 1.
    gain
        rho~ = max(T u - u), an upper bound on the gain of every plausible MDP.
    bias
        The u that certifies gain and residual, least entry 0, shape (S,).
    rewards
        The optimistic reward of each pair, shape (n_pairs,).
    iterations
        Sweeps, plus those and the policy evaluations of the acceleration.
    residual
        span(T u - u): the policy's gain in the optimistic MDP is at least ``gain - residual``.
    method
        ``"fast"``, ``"paper"``, or ``"paper, then accelerated"`` after 1,000 sweeps.
    """

    policy: NDArray[np.int32] = field(repr=False)
    gain: float
    bias: NDArray[np.float64] = field(repr=False)
    rewards: NDArray[np.float64] = field(repr=False)
    iterations: int
    residual: float
    method: str
    _workspace: PlanWorkspace = field(repr=False)
    _row_of: NDArray[np.int32] = field(repr=False)

    @functools.cached_property
    def transitions(self) -> sp.csr_array:
        """The optimistic transitions p~ of every pair, CSR of shape (n_pairs, S), computed on first access."""
        workspace, n = with_transitions(self._workspace), self.bias.size
        workspace.u[:n] = self.bias
        workspace.order[:n] = np.arange(n)
        sort = kernels.extended_value_iteration.needs_sorting(workspace.sets, n)
        kernels.extended_value_iteration.sweep(workspace, n, sort, True)
        starts, ends = workspace.sets.indptr[self._row_of], workspace.sets.indptr[self._row_of + 1]
        whole = self._row_of < 0
        counts = np.where(whole, 1, ends - starts)
        rows = np.repeat(np.arange(counts.size), counts)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(indptr[-1]) - np.repeat(indptr[:-1] - np.where(whole, 0, starts), counts)
        columns = np.where(whole[rows], int(np.argmax(self.bias)), workspace.indices[places])
        masses = np.where(whole[rows], 1.0, workspace.data[places])
        kept = masses > 0
        return sp.csr_array((masses[kept], (rows[kept], columns[kept])), shape=(counts.size, n))


def extended_value_iteration(
    space: Space,
    reward_upper: ArrayLike,
    p_hat: Any,
    radius: ArrayLike,
    precision: float,
    start: ArrayLike | None = None,
    method: str = "fast",
) -> Optimistic:
    """Return the optimistic plan over L1 balls of transitions.

    Parameters
    ----------
    space
        States and actions.
    reward_upper
        The largest plausible reward of each pair, shape (n_pairs,).
    p_hat
        Centres of the balls, shape (n_pairs, S), dense or scipy sparse. An all-zero row means never seen: the whole
        simplex.
    radius
        L1 radius of each ball. From 2 on it is the whole simplex.
    precision
        The residual to reach.
    start
        A u to start from, shape (S,), such as the ``bias`` of an earlier plan; zeros by default.
    method
        ``"fast"``, or ``"paper"`` for [CSZ20] alg:evi verbatim, which is accelerated after 1,000 sweeps.

    Returns
    -------
    Optimistic
        ``policy``, ``gain``, ``bias``, ``rewards``, ``transitions``, ``iterations``, ``residual`` and ``method``.

    Raises
    ------
    NotConvergedError
        If the precision is out of reach because no plausible MDP communicates. Its ``best`` is the best plan
        found, with its certificate.

    Examples
    --------
    >>> import driftmdp as dm
    >>> space = dm.Space.uniform(2, 1)
    >>> plan = dm.planning.extended_value_iteration(space, [0.0, 1.0], [[0.9, 0.1], [0.5, 0.5]], [0.2, 0.2], 1e-6)
    >>> round(plan.gain, 5), plan.transitions.toarray().round(3).tolist()
    (0.33333, [[0.8, 0.2], [0.4, 0.6]])
    """
    inputs = checked_inputs(space, reward_upper, precision, start, method)
    balls = as_vector(radius, "radius", space.n_pairs)
    if (balls < 0).any():
        pair = int(np.argmax(balls < 0))
        raise InvalidInputError(f"radius[{space.where(pair)}] must not be negative; got {balls[pair]:g}.")
    indptr, indices, data = as_rows(space, p_hat, "p_hat")
    sums, whole = np.empty(space.n_pairs), np.empty(space.n_pairs, np.bool_)
    places = kernels.given_sets.measure_rows(indptr, data, balls, space.n_states, sums, whole)
    if not np.isfinite(sums).all():
        check_entries(space, indptr, indices, data, "p_hat")
    right = (abs(sums - 1.0) <= SUM_TOLERANCE) | (sums == 0.0)
    check_rows(space, right, "p_hat", "sum to 1 within 1e-9, or to 0 if never seen", sums)
    rows = indptr, indices, data, np.empty(0)
    return _solve(space, inputs, rows, balls, whole, places + space.n_states, False)


def extended_value_iteration_over_intervals(
    space: Space,
    reward_upper: ArrayLike,
    lower: Any,
    upper: Any,
    precision: float,
    start: ArrayLike | None = None,
    method: str = "fast",
    upper_elsewhere: ArrayLike = 0.0,
) -> Optimistic:
    """Return the optimistic plan over intervals of each transition probability, as Bernstein sets are.

    Parameters
    ----------
    space, reward_upper, precision, start, method
        As for ``extended_value_iteration``.
    lower, upper
        Bounds on each p(s' | s, a), shape (n_pairs, S), dense or scipy sparse. An all-zero row of ``upper`` means
        never seen: the whole simplex.
    upper_elsewhere
        The upper bound of next states that ``upper`` does not store (or stores as 0), for all pairs or one per
        pair. So a sparse ``upper`` stays sparse where every next state has a small upper bound.

    Examples
    --------
    >>> import driftmdp as dm
    >>> space = dm.Space.uniform(2, 1)
    >>> plan = dm.planning.extended_value_iteration_over_intervals(
    ...     space, [0.0, 1.0], [[0.8, 0.0], [0.4, 0.4]], [[1.0, 0.2], [0.6, 0.6]], 1e-6
    ... )
    >>> round(plan.gain, 5)
    0.33333
    """
    inputs = checked_inputs(space, reward_upper, precision, start, method)
    elsewhere = checked_elsewhere(space, upper_elsewhere)
    indptr, indices, highs = as_rows(space, upper, "upper", keep_zeros=False)
    check_entries(space, indptr, indices, highs, "upper")
    lows = aligned(space, lower, indptr, indices, highs)
    low_sums, high_sums, support = row_sums(indptr, lows), row_sums(indptr, highs), np.diff(indptr)
    whole = (support == 0) & (elsewhere == 0.0)
    check_rows(space, whole | (low_sums <= 1 + SUM_TOLERANCE), "lower", "sum to at most 1", low_sums)
    tops = high_sums + elsewhere * (space.n_states - support)
    right = whole | (tops >= 1 - SUM_TOLERANCE)
    check_rows(space, right, "upper", "sum to at least 1, or to 0 if never seen", tops)
    rows = indptr, indices, lows, highs - lows
    places = [
        kernels.extended_value_iteration.count_extra_places(space.n_states, *row)
        for row in zip(support.tolist(), elsewhere, strict=True)
    ]
    stored = int(highs.size + sum(places) + space.n_states)
    return _solve(space, inputs, rows, elsewhere, whole, stored, True)


def finish_sparsely(workspace: PlanWorkspace, n: int, precision: float) -> tuple[float, float, int]:
    """Continue where compiled acceleration stopped, with sparse elimination. Return low, high, rounds."""
    sort = kernels.extended_value_iteration.needs_sorting(workspace.sets, n)
    low, high = kernels.extended_value_iteration.sweep(workspace, n, sort, True)
    for i in range(kernels.acceleration.SPARSE_ROUNDS):
        if high - low <= precision:
            return low, high, i
        solve_sparsely(workspace, n, precision)
        low, high = kernels.extended_value_iteration.sweep(workspace, n, sort, True)
    return low, high, kernels.acceleration.SPARSE_ROUNDS


def solve_sparsely(workspace: PlanWorkspace, n: int, precision: float) -> None:
    """Make u the bias of the ordinary MDP that the last filled sweep found, by sparse elimination."""
    model = kernels.acceleration.optimistic_model(workspace, n)
    sparse_policy_iteration(model, workspace.actions[:n], workspace.u[:n], 0.1 * precision)
    workspace.u[:n] -= workspace.u[:n].min()


def _solve(
    space: Space, inputs: Inputs, rows: SetRows, radius: Floats, whole: Bools, stored: int, intervals: bool
) -> Optimistic:
    rewards, precision, u, method = inputs
    n, unit = space.n_states, unit_exponent(rewards)
    sized, epsilon = scaled(rewards, unit), scaled(precision, unit)
    u = np.clip(scaled(u, unit), -LARGEST, LARGEST)  # any u is a valid start
    complete = rows[1].size == 0 and rows[2].size > 0
    workspace = new_workspace(
        n, space.n_pairs + n, stored, intervals, complete=complete, found=stored <= MAX_PREALLOCATED
    )
    row_of = np.empty(space.n_pairs, np.int32)
    offsets = np.array(space.offsets)
    kernels.given_sets.build_sets(offsets, sized, rows, radius, whole, workspace.sets, row_of)
    workspace.u[:], workspace.order[:] = u - u.min(), np.arange(n)
    iterations, status = 0, kernels.bellman.OUT_OF_BUDGET
    if method == "paper":
        low, high, iterations, status = kernels.extended_value_iteration.iterate(workspace, n, epsilon)
    accelerated = status != kernels.bellman.CONVERGED
    if accelerated:
        low, high, more, status = kernels.acceleration.accelerate(workspace, n, epsilon, True)
        iterations += more
    if status == kernels.bellman.BUFFER_FULL:
        workspace = with_transitions(workspace)
        workspace.order[:] = np.arange(n)
        low, high, more, status = kernels.acceleration.accelerate(workspace, n, epsilon, True)
        iterations += more
    if status == kernels.bellman.SOLVE_SPARSELY:
        low, high, more = finish_sparsely(workspace, n, epsilon)
        iterations += more
    bias = workspace.u[:n] - workspace.u[:n].min()
    policy = np.empty(n, np.int32)
    kernels.given_sets.pick_first_best(offsets, sized, row_of, workspace, n, policy)
    plan = Optimistic(
        policy=policy,
        gain=scaled(high, -unit),
        bias=finite(scaled(bias, -unit), "the bias"),
        rewards=rewards,
        iterations=iterations,
        residual=scaled(high - low, -unit),
        method=method if method == "fast" or not accelerated else "paper, then accelerated",
        _workspace=workspace,
        _row_of=row_of,
    )
    if not high - low <= epsilon:
        rounding = high - low <= 1e-9 * (1.0 + np.abs(sized).max() + bias.max())
        apart = "Most likely no plausible MDP communicates: give larger radii"
        why = "Rounding keeps it there: ask for a larger precision" if rounding else apart
        raise NotConvergedError(
            f"The optimistic plan must have a residual of at most {precision:g}; got {plan.residual:.3g} after "
            f"{plan.iterations} iterations. {why}, or accept this error's .best.",
            plan,
        )
    return plan

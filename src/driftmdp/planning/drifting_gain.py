"""The oracle of dynamic regret: rho*_t, the optimal gain of the MDP of each step, [CSZ20] eq:dyn_reg.

Steps with equal weights are solved once. Each other step starts from the bias and policy of the one before.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.display import brief
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.mdp import DriftingMdp
from driftmdp.mdp.problem import mean_reward_range
from driftmdp.mdp.weights import Weights
from driftmdp.planning.communication import check_model
from driftmdp.planning.gain import MAX_EVALUATIONS, not_converged, residuals_for, solve
from driftmdp.planning.inputs import as_drifting
from driftmdp.planning.reward_scale import finite, scaled, unit_exponent
from driftmdp.validation import as_integer

KEPT_SHARE = 8.0  # with a tolerance, a bias is solved to this share of it and kept until the rest is used up


@dataclass(frozen=True, eq=False)
class GainPath:
    """Optimal gains along a drifting MDP and their certificates.

    Attributes
    ----------
    gains
        rho*_t, shape (T,), each off by at most ``residuals[t - 1] / 2``.
    residuals
        Width of the certified interval of each gain, shape (T,).
    policies
        The distinct consecutive optimal policies, shape (n, S).
    policy_index
        Which of them step t has, shape (T,).
    solved
        How many steps were solved. The others have equal weights.
    """

    gains: NDArray[np.float64]
    residuals: NDArray[np.float64] = field(repr=False)
    policies: NDArray[np.int32] = field(repr=False)
    policy_index: NDArray[np.int32] = field(repr=False)
    solved: int

    __repr__ = brief

    def policy(self, t: int) -> NDArray[np.int32]:
        """Return an optimal policy of the MDP of step t."""
        t = as_integer(t, "t", 1, self.gains.size)
        return np.array(self.policies[self.policy_index[t - 1]])


def optimal_gains(
    drifting: DriftingMdp, tolerance: float | None = None, allow_transient: bool = False
) -> NDArray[np.float64]:
    """Return rho*_t for every step, shape (T,).

    Parameters
    ----------
    drifting
        A drifting MDP that is communicating at every step. Its anchors need not be.
    tolerance
        The largest certified error of any gain to accept. By default gains are exact to 1e-9, or as near as
        rounding allows: to 1e-8 of the spread of the rewards. A larger one is faster, because the bias of the
        step before then often suffices.
    allow_transient
        Accept states that are transient under every policy.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> gains = dm.planning.optimal_gains(problem.drifting)
    >>> gains.shape, round(float(gains.max()), 3)
    ((1000,), 3.2)
    """
    return gain_path(drifting, tolerance, allow_transient).gains


def gain_path(drifting: DriftingMdp, tolerance: float | None = None, allow_transient: bool = False) -> GainPath:
    """Return rho*_t for every step with its certificate and an optimal policy. See ``optimal_gains``.

    Examples
    --------
    >>> from driftmdp.planning import gain_path
    >>> import driftmdp as dm
    >>> path = gain_path(dm.problems.perils(tau=4).drifting)
    >>> path.solved, path.policy(1).tolist(), path.policy(5).tolist()  # two MDPs take turns
    (2, [1, 0], [0, 1])
    """
    _check_every_support(as_drifting(drifting), allow_transient)
    low, high = mean_reward_range(drifting)
    unit = unit_exponent((low, high))
    aim, accept = residuals_for(tolerance, scaled(low, unit), scaled(high, unit), unit)
    steps, group = drifting.distinct_steps()
    if drifting.space.n_states <= kernels.gain.DENSE_LIMIT:
        exact, _ = residuals_for(None, scaled(low, unit), scaled(high, unit), unit)
        # Solved more exactly than asked, a bias suffices for more of the next steps.
        closer = min(aim, max(exact, aim / KEPT_SHARE))
        lower, upper, policies, policy_of = _solve_compiled(drifting, steps, (aim, closer), accept, unit)
    else:
        lower, upper, policies, policy_of = _solve_each(drifting, steps, aim, accept, unit)
    return GainPath(
        gains=finite(scaled(0.5 * (lower + upper), -unit), "a gain")[group],
        residuals=scaled(np.maximum(0.0, upper - lower), -unit)[group],
        policies=policies,
        policy_index=policy_of[group],
        solved=steps.size,
    )


def _check_every_support(drifting: DriftingMdp, allow_transient: bool) -> None:
    """Check communication once per distinct set of anchors with positive weight, which decides where p_t > 0."""
    seen = set()
    for step in _support_changes(drifting.weights).tolist():
        support = drifting.weights.row(step)[0].tobytes()
        if support not in seen:
            seen.add(support)
            check_model(drifting.at(step + 1).arrays, allow_transient, f"the MDP of t={step + 1}")


def _support_changes(weights: Weights) -> Longs:
    """Return the 0-based steps whose anchors differ from those of the step before, and the first step."""
    indptr, indices = weights.arrays.indptr, weights.arrays.indices
    sizes = np.diff(indptr)
    # Compared with the anchors of a step before of the same size, which stand that many places before.
    differs = indices != indices[np.maximum(np.arange(indices.size) - np.repeat(sizes, sizes), 0)]
    changed = np.logical_or.reduceat(differs, indptr[:-1])
    changed[1:] |= sizes[1:] != sizes[:-1]
    changed[0] = True
    return np.flatnonzero(changed)


_Solved = tuple[Floats, Floats, Ints, Ints]


def _solve_compiled(
    drifting: DriftingMdp, steps: Ints, aims: tuple[float, float], accept: float, unit: int
) -> _Solved:
    world = drifting.world._replace(reward_weight_data=scaled(drifting.world.reward_weight_data, unit))
    lower, upper = np.empty(steps.size), np.empty(steps.size)
    policy_of = np.empty(steps.size, np.int32)
    failed, policies = kernels.gain.solve_along(world, steps, aims, MAX_EVALUATIONS, lower, upper, policy_of)
    if failed >= 0:
        return _solve_each(drifting, steps, aims[0], accept, unit)
    return lower, upper, policies, policy_of


def _solve_each(drifting: DriftingMdp, steps: Ints, aim: float, accept: float, unit: int) -> _Solved:
    """Solve step after step, cold where a warm start fails. Raise where rounding prevents the tolerance."""
    n_states = drifting.space.n_states
    policy, bias = np.zeros(n_states, np.int32), np.zeros(n_states)
    solved = []
    for step in steps.tolist():
        model = drifting.at(step + 1).arrays
        model = model._replace(rewards=scaled(model.rewards, unit))
        result = solve(model, policy, bias, aim, is_stored=True)
        if result.residual > accept:
            policy, bias = np.zeros(n_states, np.int32), np.zeros(n_states)
            result = solve(model, policy, bias, aim, is_stored=True)
        if result.residual > accept:
            raise not_converged(f"the MDP of t={step + 1}", result, accept, unit)
        solved.append(result)
    return (
        np.array([result.lower for result in solved]),
        np.array([result.upper for result in solved]),
        np.array([result.policy for result in solved]),
        np.arange(steps.size, dtype=np.int32),
    )

"""The true optimum over non-anticipatory policies in T steps, by backward induction.

V_t(s) = max_a r_t(s, a) + sum_s' p_t(s' | s, a) V_{t+1}(s'), V_{T+1} = 0. [CSZ20] Proposition 1 compares
V_1(start) with the oracle, the sum of rho*_t.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp import kernels
from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import DriftingMdp
from driftmdp.mdp.problem import mean_reward_range
from driftmdp.planning.inputs import as_drifting
from driftmdp.planning.reward_scale import finite, unit_exponent
from driftmdp.validation import as_integer, as_table


@dataclass(frozen=True, eq=False)
class FiniteHorizon:
    """The optimal T-step plan.

    Attributes
    ----------
    values
        V_1(s), the best expected total reward from each start, shape (S,).
    policy
        An optimal action by step and state, shape (T, S).
    """

    values: NDArray[np.float64]
    policy: NDArray[np.int32] = field(repr=False)

    __repr__ = brief


def plan_finite_horizon(drifting: DriftingMdp) -> FiniteHorizon:
    """Return the best plan when every r_t and p_t is given in advance.

    Examples
    --------
    >>> from driftmdp.planning import plan_finite_horizon
    >>> import driftmdp as dm
    >>> plan_finite_horizon(dm.problems.perils(tau=5).drifting).values
    array([19., 20.])
    """
    values = np.empty(as_drifting(drifting).space.n_states)
    policy = np.zeros((drifting.horizon, drifting.space.n_states), np.int32)
    unit_exponent(mean_reward_range(drifting))
    kernels.bellman.induce_backward(drifting.world, values, policy, True)
    return FiniteHorizon(finite(values, "the total reward"), policy)


def best_total_reward(drifting: DriftingMdp, start: int = 0) -> float:
    """Return the largest expected total reward of any non-anticipatory policy.

    Examples
    --------
    >>> import driftmdp as dm
    >>> peril = dm.problems.perils(tau=5)
    >>> dm.planning.best_total_reward(peril.drifting, peril.start)  # one step to get to state 2, then stay
    19.0
    """
    state = as_integer(start, "start", 0, as_drifting(drifting).space.n_states - 1)
    return float(plan_finite_horizon(drifting).values[state])


def total_reward(drifting: DriftingMdp, policy: ArrayLike, start: int = 0) -> float:
    """Return the expected total reward of a policy.

    Parameters
    ----------
    drifting
        The world.
    policy
        Actions by state, shape (S,), or by step and state, shape (T, S).
    start
        The state at t = 1.

    Examples
    --------
    >>> from driftmdp.planning import total_reward
    >>> import driftmdp as dm
    >>> total_reward(dm.problems.perils(tau=5).drifting, [1, 0])  # pi2 of the paper's proof, throughout
    10.0
    """
    state = as_integer(start, "start", 0, as_drifting(drifting).space.n_states - 1)
    shape = (drifting.horizon, drifting.space.n_states)
    actions = as_table(policy, "policy")
    if actions.shape not in (shape, shape[1:]) or actions.dtype.kind not in "iu":
        raise InvalidInputError(
            f"policy must be whole numbers of shape (S,) = {shape[1:]} or (T, S) = {shape}; "
            f"got {actions.dtype} of shape {actions.shape}."
        )
    table = np.broadcast_to(actions, shape).astype(np.int32, order="C")
    if (table < 0).any() or (table >= drifting.space.n_actions).any():
        step, s = np.argwhere((table < 0) | (table >= drifting.space.n_actions))[0]
        raise InvalidInputError(
            f"policy[t={step + 1}, s={s}] must be an action in 0 .. {drifting.space.n_actions[s] - 1}; "
            f"got {table[step, s]}."
        )
    values = np.empty(shape[1])
    unit_exponent(mean_reward_range(drifting))
    kernels.bellman.induce_backward(drifting.world, values, table, False)
    return float(finite(values, "the total reward")[state])

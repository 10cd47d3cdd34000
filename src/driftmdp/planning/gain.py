"""The optimal average reward of one MDP, certified.

======  =========  ====================================================================================
symbol  name here  meaning
======  =========  ====================================================================================
rho*    gain       the best long-term average reward, [CSZ20] eq:dyn_reg, one number if communicating
gamma   bias       h with T h = h + rho*: the value of a start state beyond the gain, least entry 0
pi*     policy     an action per state that attains it
======  =========  ====================================================================================

The certificate: for *any* h, min(T h - h) <= rho* <= max(T h - h) [P94, Theorem 8.5.5]. ``residual`` is
that interval's width on the returned bias, and ``gain`` its middle.

Small MDPs are solved by policy iteration with dense elimination. Large ones are solved by sweeps over the non-zeros
and, where those stall (almost separate parts), by policy iteration with sparse elimination. Long chains are
eliminated in their own order.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.errors import NotConvergedError
from driftmdp.kernels.arrays import Floats, Ints, Longs, Model, StateOrder
from driftmdp.mdp import Mdp
from driftmdp.planning.communication import check_model
from driftmdp.planning.inputs import as_mdp
from driftmdp.planning.reward_scale import finite, scaled, unit_exponent
from driftmdp.planning.sparse import leaving_rates, solve_sparse
from driftmdp.validation import as_number

MAX_EVALUATIONS = 1000
CHAIN_WIDTH = 4  # a world whose states lead at most so far in their own order is a chain
MAX_WIDTH = 64  # of a band in which elimination costs less than a general sparse one


@dataclass(frozen=True, eq=False)
class Gain:
    """An optimal gain and its certificate.

    Attributes
    ----------
    gain
        The middle of the certified interval, off by at most ``residual / 2``.
    bias
        The h whose Bellman step certifies the interval, least entry 0, shape (S,).
    policy
        An optimal action per state, shape (S,).
    residual
        Width of the certified interval, max(T h - h) - min(T h - h).
    iterations
        Bellman sweeps plus policy evaluations.
    method
        How it was obtained.
    """

    gain: float
    bias: NDArray[np.float64] = field(repr=False)
    policy: NDArray[np.int32] = field(repr=False)
    residual: float
    iterations: int
    method: str

    @property
    def lower(self) -> float:
        """A certified lower bound on the optimal gain."""
        return self.gain - self.residual / 2

    @property
    def upper(self) -> float:
        """A certified upper bound on the optimal gain."""
        return self.gain + self.residual / 2


def optimal_gain(mdp: Mdp, tolerance: float | None = None, allow_transient: bool = False) -> Gain:
    """Return the optimal gain of a communicating MDP, with bias and policy.

    Parameters
    ----------
    mdp
        A communicating MDP. Periodic ones are accepted.
    tolerance
        The largest certified error of the gain to accept, half the residual. By default the gain is exact to
        1e-9, or as near as rounding allows: to 1e-8 of the spread of the rewards.
    allow_transient
        Accept states that are transient under every policy (weakly communicating).

    Raises
    ------
    NotCommunicatingError
        If no policy leads from some state to another.
    NotConvergedError
        If rounding keeps the residual above the tolerance. Its ``best`` is the result with its
        certificate.

    Examples
    --------
    Howard's toy maker: advertise when successful, do research when not [H60].

    >>> import driftmdp as dm
    >>> mdp = dm.Mdp.from_dense([[6, 4], [-3, -5]], [[[0.5, 0.5], [0.8, 0.2]], [[0.4, 0.6], [0.7, 0.3]]])
    >>> best = dm.planning.optimal_gain(mdp)
    >>> round(best.gain, 9), best.policy.tolist(), best.residual < 1e-9
    (2.0, [1, 1], True)
    """
    return find_gain(mdp, tolerance, allow_transient)


def find_gain(mdp: Mdp, tolerance: float | None, allow_transient: bool, is_stored: bool = False) -> Gain:
    """Like :func:`optimal_gain`. ``is_stored`` as for :func:`solve`."""
    model = as_mdp(mdp).arrays
    check_model(model, allow_transient)
    unit = unit_exponent(model.rewards)
    model = model._replace(rewards=scaled(model.rewards, unit))
    aim, accept = residuals_for(tolerance, float(model.rewards.min()), float(model.rewards.max()), unit)
    n_states = mdp.space.n_states
    result = solve(model, np.zeros(n_states, np.int32), np.zeros(n_states), aim, is_stored)
    if result.residual > accept:
        raise not_converged("mdp", result, accept, unit)
    return _scaled_back(result, unit)


def residuals_for(tolerance: float | None, low: float, high: float, unit: int) -> tuple[float, float]:
    """Return the residual to aim at and the one to accept, of rewards ``low`` to ``high``, times 2^unit."""
    if tolerance is not None:
        residual = scaled(2.0 * as_number(tolerance, "tolerance", minimum=0.0), unit)
        return residual, residual
    spread, rounding = high - low, 64 * np.finfo(np.float64).eps * max(abs(low), abs(high))
    return max(1e-9 * min(scaled(1.0, unit), spread), rounding), max(1e-8 * spread, rounding)


def _scaled_back(result: Gain, unit: int) -> Gain:
    """Return a result for rewards times 2^unit in the unit of the rewards."""
    gain, residual = scaled(result.gain, -unit), scaled(result.residual, -unit)
    return replace(result, gain=gain, bias=finite(scaled(result.bias, -unit), "the bias"), residual=residual)


def not_converged(where: str, found: Gain, residual: float, unit: int) -> NotConvergedError:
    """Return the error for a gain whose residual is too large, both for rewards times 2^unit."""
    best, accepted = _scaled_back(found, unit), scaled(residual, -unit)
    return NotConvergedError(
        f"The optimal gain of {where} must be certain to {accepted / 2:.3g}; got {best.residual / 2:.3g} by "
        f"{best.method}, with a bias that spans {np.ptp(best.bias):.3g}. "
        f"Pass tolerance={best.residual:.1g} to accept that.",
        best,
    )


def solve(model: Model, policy: Ints, bias: Floats, tolerance: float, is_stored: bool = False) -> Gain:
    """Solve from a warm start, which is overwritten. The caller checks the residual.

    If regrets that were stored rest on the result, every digit is found in the same way as it was then.
    """
    start, n = (model, policy, bias, tolerance), policy.size
    if n > kernels.gain.ELIMINATE_UP_TO and not is_stored:
        # Sweeps carry news by one transition each: a chain in its own order is eliminated without them.
        found = _solve_in_band(*start, np.arange(n, dtype=np.int32), CHAIN_WIDTH, 0)
        if found is not None:
            return found
    low, high, sweeps, evaluations, status = kernels.gain.solve(*start, MAX_EVALUATIONS, not is_stored)
    if status == kernels.bellman.CONVERGED or n <= kernels.gain.DENSE_LIMIT:
        method = "policy iteration" if sweeps == 0 or evaluations > 0 else "modified policy iteration"
        return _result(low, high, policy, bias, sweeps + evaluations, method)
    if not is_stored:
        order = np.empty(n, np.int32)
        kernels.band.order_by_distance(model, order)
        found = _solve_in_band(*start, order, MAX_WIDTH, sweeps)
        if found is not None:
            return found
    low, high, evaluations = sparse_policy_iteration(*start)
    return _result(low, high, policy, bias, sweeps + evaluations, "sparse policy iteration")


def _result(low: float, high: float, policy: Ints, bias: Floats, iterations: int, method: str) -> Gain:
    bias -= bias.min()
    return Gain(0.5 * (low + high), bias.copy(), policy.copy(), max(0.0, high - low), iterations, method)


def _solve_in_band(
    model: Model, policy: Ints, bias: Floats, tolerance: float, order: Ints, max_width: int, sweeps: int
) -> Gain | None:
    """Solve by elimination in an order of the states. Return None if a state leads far, or if that fails."""
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    width = kernels.band.find_width(model, place, max_width)
    if width > max_width:
        return None
    low, high, evaluations, status = kernels.policy_iteration.policy_iteration(
        model, policy, bias, tolerance, MAX_EVALUATIONS, StateOrder(order, place, width)
    )
    if status == kernels.bellman.CONVERGED:
        return _result(low, high, policy, bias, sweeps + evaluations, "banded policy iteration")
    policy[:], bias[:] = 0, 0.0
    return None


def sparse_policy_iteration(model: Model, policy: Ints, bias: Floats, tolerance: float) -> tuple[float, float, int]:
    """Howard's policy iteration as in the kernel, with sparse elimination. Return low, high, evaluations."""
    low, high = -np.inf, np.inf
    labels = np.empty(policy.size, np.int32)
    lookahead = kernels.policy_iteration.FIRST_LOOKAHEAD
    for evaluation in range(1, MAX_EVALUATIONS + 1):
        n_classes = kernels.graph.recurrent_classes(model, policy, labels)
        if n_classes > 1:
            chains = (policy_chain(model, policy, np.flatnonzero(labels == c)) for c in range(n_classes))
            gains = [_gain_and_bias(*chain)[0] for chain in chains]
            kernels.policy_iteration.steer_to(model, policy, labels, int(np.argmax(gains)))
        bias[:], discounted = _evaluate(model, policy, lookahead)
        size = float(np.abs(model.rewards).max() + (np.abs(bias).max() if discounted else 0.0))
        margin = kernels.policy_iteration.MARGIN * (1.0 + size)
        low, high, changed = kernels.bellman.bellman_step(model, bias, policy, margin)
        if high - low <= tolerance:
            return low, high, evaluation
        if changed:
            kernels.bellman.improve_in_place(model, low, bias, policy, margin)
        elif discounted and lookahead <= kernels.policy_iteration.LAST_LOOKAHEAD:
            lookahead *= 100.0
        else:
            return low, high, evaluation
    return low, high, MAX_EVALUATIONS


def _evaluate(model: Model, policy: Ints, lookahead: float) -> tuple[Floats, bool]:
    """Return the bias of a policy with one recurrent class, and whether a discount had to decide, as the kernel."""
    chain, rewards = policy_chain(model, policy, np.arange(policy.size))
    try:
        gain, bias = _gain_and_bias(chain, rewards)
        if kernels.policy_iteration.solves_poisson(model, policy, gain, bias):
            return bias, False
    except RuntimeError:  # SuperLU: exactly singular, as good as several recurrent classes
        pass
    system = sp.eye_array(policy.size) / lookahead + (1.0 - 1.0 / lookahead) * leaving_rates(chain)
    return solve_sparse(system, rewards), True


def _gain_and_bias(chain: sp.csr_array, rewards: Floats) -> tuple[float, Floats]:
    """Return gain g and bias h of a chain with one recurrent class: (I - P) h + g = r, h(first state) = 0."""
    n = rewards.size
    everyone, first = sp.csr_array(np.ones((n, 1))), sp.csr_array(([1.0], ([0], [0])), shape=(1, n))
    blocks: Any = [[leaving_rates(chain), everyone], [first, None]]
    solution = solve_sparse(sp.block_array(blocks), np.append(rewards, 0.0))
    return float(solution[-1]), solution[:-1]


def policy_chain(model: Model, policy: Ints, members: Longs) -> tuple[sp.csr_array, Floats]:
    """Return the transition matrix and the rewards of a policy on a closed set of states."""
    pairs = model.offsets[members] + policy[members]
    counts = model.indptr[pairs + 1] - model.indptr[pairs]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    entries = np.repeat(model.indptr[pairs] - indptr[:-1], counts) + np.arange(indptr[-1])
    place = np.full(model.offsets.size - 1, -1)
    place[members] = np.arange(members.size)
    kept = model.data[entries] > 0
    rows = np.repeat(np.arange(members.size), counts)[kept]
    columns, shape = place[model.indices[entries][kept]], (members.size, members.size)
    return sp.csr_array((model.data[entries][kept], (rows, columns)), shape=shape), model.rewards[pairs]

"""The optimal gain by the linear programs of [CSZ20] Appendix A.1 (eq:primal, eq:dual), solved by HiGHS.

    P(r, p):  max  sum r(s,a) x(s,a)
              s.t. sum_a x(s,a) = sum_{s',a'} p(s|s',a') x(s',a')   for all s,   sum x = 1,   x >= 0
    D(r, p):  min  rho
              s.t. rho + gamma(s) >= r(s,a) + sum_s' p(s'|s,a) gamma(s')   for all s, a

Slower than :func:`driftmdp.planning.optimal_gain` and independent of it, so it serves as a cross-check.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError, NotConvergedError
from driftmdp.mdp import Mdp
from driftmdp.planning.communication import check_communicating
from driftmdp.planning.reward_scale import finite, scaled, unit_exponent
from driftmdp.validation import one_of


@dataclass(frozen=True, eq=False)
class LinearProgramGain:
    """The optimum of a linear program.

    Attributes
    ----------
    gain
        The optimal value.
    occupancy
        x(s, a), how often each pair occurs, shape (n_pairs,): the primal's solution or the dual's multipliers.
    bias
        gamma(s), least entry 0, shape (S,): the dual's solution or the primal's multipliers.
    form
        ``"primal"`` or ``"dual"``.
    iterations
        The solver's iterations.
    """

    gain: float
    occupancy: NDArray[np.float64] = field(repr=False)
    bias: NDArray[np.float64] = field(repr=False)
    form: str
    iterations: int


def gain_by_linear_program(mdp: Mdp, form: str = "primal", allow_transient: bool = False) -> LinearProgramGain:
    """Return the optimal gain of a communicating MDP by a linear program.

    Parameters
    ----------
    mdp
        A communicating MDP.
    form
        ``"primal"`` for P(r, p), ``"dual"`` for D(r, p).
    allow_transient
        Accept states that are transient under every policy.

    Examples
    --------
    >>> from driftmdp.planning import gain_by_linear_program
    >>> import driftmdp as dm
    >>> mdp = dm.problems.river_swim().drifting.at(1)
    >>> round(gain_by_linear_program(mdp).gain, 6), round(gain_by_linear_program(mdp, "dual").gain, 6)
    (0.428622, 0.428622)
    """
    form = one_of(form, "form", ("primal", "dual"))
    check_communicating(mdp, allow_transient)
    least = mdp.transitions.data.min()
    if least <= 1e-9:
        raise InvalidInputError(
            f"mdp must have no successor with a probability of 1e-9 or less, because HiGHS takes those for 0; got "
            f"{least:.3g}. planning.optimal_gain has no such limit."
        )
    unit = unit_exponent(mdp.rewards)
    sized = Mdp._trusted(mdp.space, scaled(mdp.rewards, unit), mdp.transitions)
    found = _primal(sized) if form == "primal" else _dual(sized)
    bias = finite(scaled(found.bias, -unit), "the bias")
    return replace(found, gain=scaled(found.gain, -unit), bias=bias)


def _state_indicator(mdp: Mdp) -> sp.csr_array:
    """Return the (n_pairs, S) matrix with a one where a pair belongs to a state."""
    n_pairs, n_states = mdp.space.n_pairs, mdp.space.n_states
    return sp.csr_array(
        (np.ones(n_pairs), mdp.space.pair_states, np.arange(n_pairs + 1)), shape=(n_pairs, n_states)
    )


def _primal(mdp: Mdp) -> LinearProgramGain:
    balance = (_state_indicator(mdp) - mdp.transitions).T
    constraints = sp.vstack([balance, sp.csr_array(np.ones((1, mdp.space.n_pairs)))])
    right = np.append(np.zeros(mdp.space.n_states), 1.0)
    result = _solved(-mdp.rewards, A_eq=constraints, b_eq=right, bounds=(0, None))
    bias = -result.eqlin.marginals[:-1]
    return LinearProgramGain(-result.fun, result.x, bias - bias.min(), "primal", int(result.nit))


def _dual(mdp: Mdp) -> LinearProgramGain:
    costs = np.append(np.zeros(mdp.space.n_states), 1.0)
    constraints = sp.hstack(
        [mdp.transitions - _state_indicator(mdp), sp.csr_array(-np.ones((mdp.space.n_pairs, 1)))]
    )
    result = _solved(costs, A_ub=constraints, b_ub=-mdp.rewards, bounds=(None, None))
    bias = result.x[:-1]
    return LinearProgramGain(result.fun, -result.ineqlin.marginals, bias - bias.min(), "dual", int(result.nit))


def _solved(costs: NDArray[np.float64], **program: Any) -> Any:
    from scipy.optimize import linprog  # a third of the package's import time, for a cross-check only

    # HiGHS' tightest tolerances: its own 1e-7 cannot tell a rare transition from none.
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    result: Any = linprog(costs, method="highs", options=tight, **program)  # type: ignore[call-overload]
    if not result.success:
        raise NotConvergedError(f"The linear program must be solved; HiGHS says: {result.message}", result)
    return result

"""MDPs as matrices of other libraries: scipy's sparse ones, pymdptoolbox's arrays, quantecon's ``DiscreteDP``.

scipy and pymdptoolbox take one S x S matrix per action. quantecon takes state-action pairs, or a product with
reward minus infinity for actions that a state does not offer.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Floats
from driftmdp.mdp import Mdp, Space
from driftmdp.mdp.mdp import as_mask
from driftmdp.mdp.sparse import check_distributions, sound_csr
from driftmdp.planning.inputs import as_mdp
from driftmdp.validation import as_list, as_number, as_numbers, as_table, one_of, shown


def from_scipy(matrices: Sequence[Any], rewards: ArrayLike) -> Mdp:
    """Return the MDP of one S x S matrix per action.

    Parameters
    ----------
    matrices
        For each action, ``matrices[a][s, next]``, sparse or dense. A row without entries is an action that the
        state does not offer. The actions on offer are numbered from 0.
    rewards
        [S, A], or (S,) if they do not depend on the action. Rewards of actions not on offer are ignored.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from driftmdp.interchange import from_scipy
    >>> stay, move = sp.eye_array(2), sp.csr_array([[0, 1], [0, 0]])
    >>> from_scipy([stay, move], [0, 1]).space.n_actions
    array([2, 1], dtype=int32)
    """
    _refuse_swapped(matrices, rewards, "from_scipy(matrices, rewards)")
    found = _as_matrices(matrices, "matrices")
    available = np.stack([np.diff(_without_zeros(matrix).indptr) > 0 for matrix in found], axis=1)
    return _mdp_of_actions(found, _reward_table(rewards, *available.shape), available, "matrices")


def to_scipy(mdp: Mdp) -> tuple[list[sp.csr_array], Floats]:
    """Return one CSR matrix per action and rewards [S, A]. ``from_scipy`` returns the same MDP, without names.

    An action that a state does not offer has a row without entries and reward minus infinity.

    Examples
    --------
    >>> from driftmdp import Mdp, Space
    >>> from driftmdp.interchange import to_scipy
    >>> matrices, rewards = to_scipy(Mdp(Space([1, 2]), [0, 1, 2], [[0, 1], [1, 0], [0, 1]]))
    >>> len(matrices), rewards
    (2, array([[  0., -inf],
           [  1.,   2.]]))
    """
    pairs, available = _pairs(as_mdp(mdp))
    return _by_action(mdp, np.where(available, pairs, -1)), np.where(available, mdp.rewards[pairs], -np.inf)


def from_mdptoolbox(transitions: Any, rewards: Any, available: ArrayLike | None = None) -> Mdp:
    """Return the MDP of pymdptoolbox's arrays.

    Parameters
    ----------
    transitions
        An array (A, S, S), or a list with a dense or sparse S x S matrix for each action.
    rewards
        (S,), (S, A), or like the transitions, by action, state and next state. The latter are averaged.
    available
        Which actions each state offers, boolean [S, A]. All by default, as the arrays do not say.

    Examples
    --------
    >>> from driftmdp.interchange import from_mdptoolbox
    >>> from_mdptoolbox([[[0, 1], [1, 0]]], [[[9, 3], [4, 9]]]).rewards
    array([3., 4.])
    """
    _refuse_swapped(transitions, rewards, "from_mdptoolbox(transitions, rewards)")
    found = _as_matrices(transitions, "transitions")
    shape = found[0].shape[0], len(found)
    table = _mean_rewards(found, rewards) if _is_per_action(rewards) else _reward_table(rewards, *shape)
    return _mdp_of_actions(found, table, as_mask(available, shape), "transitions")


def to_mdptoolbox(mdp: Mdp) -> tuple[Floats, Floats]:
    """Return transitions (A, S, S) and rewards (S, A), as pymdptoolbox takes them.

    These arrays cannot leave out an action that a state does not offer. They repeat the state's last action there,
    so gains and values stay the same. ``from_mdptoolbox`` returns the same MDP if it is given ``available``:
    ``np.arange(A) < mdp.space.n_actions[:, None]``.

    Examples
    --------
    >>> from driftmdp import Mdp, Space
    >>> from driftmdp.interchange import to_mdptoolbox
    >>> transitions, rewards = to_mdptoolbox(Mdp(Space([1, 2]), [0, 1, 2], [[0, 1], [1, 0], [0, 1]]))
    >>> transitions.shape, rewards
    ((2, 2, 2), array([[0., 0.],
           [1., 2.]]))
    """
    pairs, _ = _pairs(as_mdp(mdp))
    return np.stack([matrix.toarray() for matrix in _by_action(mdp, pairs)]), mdp.rewards[pairs]


def from_quantecon(ddp: Any) -> Mdp:
    """Return the MDP of a ``quantecon.markov.DiscreteDP``, in any of its forms, without its discount factor.

    Infeasible actions, whose reward is minus infinity, are not on offer. The others are numbered from 0.

    Parameters
    ----------
    ddp
        A ``DiscreteDP``, or any object with ``R``, ``Q``, ``s_indices`` and ``a_indices``.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.interchange import from_quantecon
    >>> from quantecon.markov import DiscreteDP
    >>> from_quantecon(DiscreteDP([[0, -np.inf], [1, 2]], [[[0, 1], [0, 0]], [[1, 0], [0, 1]]], 0.9))
    <Mdp: 2 states, 3 pairs, 3 successors, rewards in [0, 2]>
    """
    for name in ("R", "Q", "s_indices", "a_indices"):
        if not hasattr(ddp, name):
            raise InvalidInputError(f"ddp must be a quantecon DiscreteDP; got {shown(ddp)}, which has no {name}.")
    rewards = as_numbers(ddp.R, "ddp.R")
    if ddp.s_indices is None:
        return Mdp.from_dense(np.where(rewards == -np.inf, 0.0, rewards), ddp.Q, rewards > -np.inf)
    rows = sound_csr(ddp.Q, "ddp.Q")
    states, actions = (as_table(getattr(ddp, name), f"ddp.{name}") for name in ("s_indices", "a_indices"))
    if not rewards.shape == states.shape == actions.shape == rows.shape[:1] or states.dtype.kind not in "iu":
        rule = f"ddp must have a reward, a state and an action for each of its {rows.shape[0]} pairs"
        raise InvalidInputError(f"{rule}; got {rewards.shape}, {states.shape} and {actions.shape}.")
    if not ((states >= 0) & (states < rows.shape[1])).all():
        raise InvalidInputError(f"ddp.s_indices must be states in 0 .. {rows.shape[1] - 1}.")
    order = np.lexsort((actions, states))
    order = order[rewards[order] > -np.inf]
    counts = np.bincount(states[order], minlength=rows.shape[1])
    return Mdp(Space(counts), rewards[order], rows[order])


def to_quantecon(mdp: Mdp, beta: float, form: str = "pairs") -> Any:
    """Return a ``quantecon.markov.DiscreteDP``. ``from_quantecon`` returns the same MDP, without names.

    Parameters
    ----------
    mdp
        The MDP.
    beta
        The discount factor, in [0, 1): quantecon has no average reward.
    form
        ``"pairs"``, sparse, or ``"product"``, dense arrays (S, A) and (S, A, S).

    Raises
    ------
    InvalidInputError
        If an argument is wrong.
    ModuleNotFoundError
        If quantecon is not installed.

    Examples
    --------
    >>> from driftmdp import Mdp, Space
    >>> from driftmdp.interchange import to_quantecon
    >>> ddp = to_quantecon(Mdp(Space.uniform(1, 2), [0, 1], [[1], [1]]), beta=0.5)
    >>> ddp.solve(method="policy_iteration").v
    array([2.])
    """
    one_of(form, "form", ("pairs", "product"))
    discount = as_number(beta, "beta", 0.0, 1.0)
    if discount == 1.0:
        raise InvalidInputError("beta must be below 1, as quantecon has no average reward; got 1.")
    try:
        from quantecon.markov import DiscreteDP
    except ModuleNotFoundError:
        message = "to_quantecon needs the package 'quantecon'. Run: pip install quantecon"
        raise ModuleNotFoundError(message) from None
    if form == "product":
        rewards, transitions, _ = as_mdp(mdp).to_dense()
        return DiscreteDP(rewards, transitions, discount)
    states = as_mdp(mdp).space.pair_states
    actions = np.arange(mdp.space.n_pairs) - mdp.space.offsets[states]
    return DiscreteDP(mdp.rewards.copy(), sp.csr_matrix(mdp.transitions.copy()), discount, states, actions)


def _as_matrices(matrices: Any, name: str) -> list[sp.csr_array]:
    """Validate one square matrix per action, all of one size."""
    if isinstance(matrices, np.ndarray) and matrices.dtype != object and matrices.ndim != 3:
        raise InvalidInputError(f"{name} must have shape (A, S, S); got {matrices.shape}.")
    rule = "a list with a matrix for each action"
    found = [sound_csr(matrix, f"{name}[{a}]") for a, matrix in enumerate(as_list(matrices, name, rule))]
    if not found:
        raise InvalidInputError(f"{name} must have at least one action; got none.")
    n_states = found[0].shape[0]
    for a, matrix in enumerate(found):
        if matrix.shape != (n_states, n_states) or not n_states:
            raise InvalidInputError(f"{name}[{a}] must be {n_states} x {n_states}; got shape {matrix.shape}.")
    return found


def _reward_table(rewards: Any, n_states: int, n_actions: int) -> Floats:
    """Return rewards [S, A] from those, or from one reward per state."""
    table = sound_csr(rewards, "rewards").toarray() if sp.issparse(rewards) else as_numbers(rewards, "rewards")
    if table.shape == (n_states,):
        table = np.repeat(table[:, None], n_actions, axis=1)
    if table.shape != (n_states, n_actions):
        rule = f"rewards must have shape (S, A) = ({n_states}, {n_actions}), or (S,)"
        raise InvalidInputError(f"{rule}; got {table.shape}.")
    return table


def _mdp_of_actions(matrices: list[sp.csr_array], rewards: Floats, available: NDArray[np.bool_], name: str) -> Mdp:
    """Return the MDP of the available actions. Errors name the matrix and the row that the user gave."""
    if not available.any(axis=1).all():
        s = int(np.flatnonzero(~available.any(axis=1))[0])
        raise InvalidInputError(f"State {s} must have at least one action; got none.")
    states, actions = np.nonzero(available)
    stacked = sp.csr_array(sp.vstack(matrices, format="csr"))
    rows = sp.csr_array(stacked[actions * matrices[0].shape[0] + states])
    rows.sum_duplicates()
    check_distributions(rows, lambda pair: f"{name}[{actions[pair]}], row {states[pair]},", "state")
    wrong = np.argwhere(available & ~np.isfinite(rewards))
    if wrong.size:
        s, a = wrong[0]
        raise InvalidInputError(f"rewards[{s}, {a}] must be finite; got {rewards[s, a]}.")
    return Mdp(Space(available.sum(axis=1)), rewards[available], rows)


def _pairs(mdp: Mdp) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the pair of each [S, A], past the last action the last one's, and which are on offer."""
    counts, first = mdp.space.n_actions[:, None], mdp.space.offsets[:-1, None]
    actions = np.arange(counts.max())
    return (first + np.minimum(actions, counts - 1)).astype(np.int64), actions < counts


def _by_action(mdp: Mdp, pairs: NDArray[np.int64]) -> list[sp.csr_array]:
    """Return one matrix per action from the pair of each [S, A]. Pair -1 leaves a row empty."""
    padded = sp.csr_array(sp.vstack([mdp.transitions, sp.csr_array((1, mdp.space.n_states))], format="csr"))
    return [sp.csr_array(padded[column]) for column in pairs.T]


def _without_zeros(matrix: sp.csr_array) -> sp.csr_array:
    copy = matrix.copy()
    copy.eliminate_zeros()
    return copy


def _refuse_swapped(transitions: Any, rewards: Any, call: str) -> None:
    """Raise if only the rewards have a matrix per action: the arguments look swapped."""
    is_list = isinstance(transitions, Sequence | np.ndarray)
    if is_list and not _is_per_action(transitions) and _is_per_action(rewards):
        rule = f"{call} must be given transitions with a matrix for each action"
        raise InvalidInputError(f"{rule}; got such rewards instead. The arguments look swapped.")


def _is_per_action(rewards: Any) -> bool:
    """Whether rewards are one matrix per action: three axes, or a list of matrices."""
    if sp.issparse(rewards):
        return False
    if isinstance(rewards, np.ndarray) and (rewards.dtype != object or rewards.ndim == 0):
        return rewards.ndim == 3
    is_list = isinstance(rewards, Sequence | np.ndarray)
    return is_list and all(sp.issparse(row) or np.ndim(row) == 2 for row in rewards)


def _mean_rewards(transitions: list[sp.csr_array], rewards: Any) -> Floats:
    """Return rewards [S, A] from those by next state, read at successors only: others may be infinite."""
    given = _as_matrices(rewards, "rewards")
    if [p.shape for p in transitions] != [r.shape for r in given]:
        rule = f"rewards must have the transitions' {len(transitions)} matrices of shape {transitions[0].shape}"
        raise InvalidInputError(f"{rule}; got {len(given)} of shape {given[0].shape}.")
    columns = []
    for p, r in zip(map(_without_zeros, transitions), given, strict=True):
        rows = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr))
        at_successors = sp.coo_array(r[rows, p.indices]).toarray().ravel()
        columns.append(np.bincount(rows, weights=p.data * at_successors, minlength=p.shape[0]))
    return np.stack(columns, axis=1).astype(np.float64)

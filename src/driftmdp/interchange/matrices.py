"""One S x S matrix an action: scipy's sparse ones, and pymdptoolbox's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.interchange.tables import as_matrices, by_pair, mdp_of_actions, reward_table
from driftmdp.mdp import Mdp
from driftmdp.planning.inputs import as_mdp
from driftmdp.validation import as_table


def from_scipy(matrices: Sequence[Any], rewards: ArrayLike) -> Mdp:
    """Return the MDP of one S x S matrix an action.

    Parameters
    ----------
    matrices
        For each action, ``matrices[a][s, next]``, sparse or dense. A row without entries is an action that the
        state does not offer; those on offer are numbered anew from 0.
    rewards
        [S, A], or (S,) if they do not depend on the action; those of actions that are not on offer are ignored.

    Examples
    --------
    >>> stay, move = sp.eye_array(2), sp.csr_array([[0, 1], [0, 0]])
    >>> from_scipy([stay, move], [0, 1]).space.n_actions
    array([2, 1], dtype=int32)
    """
    _refuse_swapped(matrices, rewards, "from_scipy(matrices, rewards)")
    found = as_matrices(matrices, "matrices")
    available = np.stack([np.diff(_without_zeros(matrix).indptr) > 0 for matrix in found], axis=1)
    return mdp_of_actions(found, reward_table(rewards, *available.shape), available, "matrices")


def to_scipy(mdp: Mdp) -> tuple[list[sp.csr_array], NDArray[np.float64]]:
    """Return one CSR matrix an action and rewards [S, A]; ``from_scipy`` gives the same MDP back, without names.

    An action that a state does not offer has a row without entries and reward minus infinity.

    Examples
    --------
    >>> from driftmdp import Space
    >>> matrices, rewards = to_scipy(Mdp(Space([1, 2]), [0, 1, 2], [[0, 1], [1, 0], [0, 1]]))
    >>> len(matrices), rewards
    (2, array([[  0., -inf],
           [  1.,   2.]]))
    """
    pairs, available = _pairs(as_mdp(mdp))
    pairs = np.where(available, pairs, -1)
    return by_pair(mdp, pairs), np.where(available, mdp.rewards[pairs], -np.inf)


def from_mdptoolbox(transitions: Any, rewards: Any, available: ArrayLike | None = None) -> Mdp:
    """Return the MDP of pymdptoolbox's arrays.

    Parameters
    ----------
    transitions
        An array (A, S, S), or a list with a dense or sparse S x S matrix for each action.
    rewards
        (S,), (S, A), or like the transitions, by action, state and next state; those become means.
    available
        Which actions each state offers, boolean [S, A]; all by default, as the form cannot say it.

    Examples
    --------
    >>> from_mdptoolbox([[[0, 1], [1, 0]]], [[[9, 3], [4, 9]]]).rewards
    array([3., 4.])
    """
    _refuse_swapped(transitions, rewards, "from_mdptoolbox(transitions, rewards)")
    found = as_matrices(transitions, "transitions")
    shape = found[0].shape[0], len(found)
    mask = np.ones(shape, bool) if available is None else as_table(available, "available")
    if mask.shape != shape or mask.dtype != bool:
        raise InvalidInputError(
            f"available must be a boolean table of shape {shape}; got {mask.dtype} of shape {mask.shape}."
        )
    by_next_state = _by_next_state(rewards)
    table = _means(found, as_matrices(rewards, "rewards")) if by_next_state else reward_table(rewards, *shape)
    return mdp_of_actions(found, table, mask, "transitions")


def to_mdptoolbox(mdp: Mdp) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return transitions (A, S, S) and rewards (S, A), as pymdptoolbox takes them.

    The form has no place for actions that a state does not offer. There, the state's last action stands once more:
    gains and values stay what they are. ``from_mdptoolbox`` gives the same MDP back if it is told which are
    ``available``: ``np.arange(A) < mdp.space.n_actions[:, None]``.

    Examples
    --------
    >>> from driftmdp import Space
    >>> transitions, rewards = to_mdptoolbox(Mdp(Space([1, 2]), [0, 1, 2], [[0, 1], [1, 0], [0, 1]]))
    >>> transitions.shape, rewards
    ((2, 2, 2), array([[0., 0.],
           [1., 2.]]))
    """
    pairs, _ = _pairs(as_mdp(mdp))
    return np.stack([matrix.toarray() for matrix in by_pair(mdp, pairs)]), mdp.rewards[pairs]


def _pairs(mdp: Mdp) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the pair of each [S, A], past the last action the last one's, and which are on offer."""
    counts, first = mdp.space.n_actions[:, None], mdp.space.offsets[:-1, None]
    actions = np.arange(counts.max())
    return (first + np.minimum(actions, counts - 1)).astype(np.int64), actions < counts


def _without_zeros(matrix: sp.csr_array) -> sp.csr_array:
    copy = matrix.copy()
    copy.eliminate_zeros()
    return copy


def _refuse_swapped(transitions: Any, rewards: Any, call: str) -> None:
    """Refuse rewards with a matrix for each action beside transitions without."""
    if (
        isinstance(transitions, Sequence | np.ndarray)
        and not _by_next_state(transitions)
        and _by_next_state(rewards)
    ):
        raise InvalidInputError(
            f"{call} must be given transitions with a matrix for each action; got none, but such rewards. The "
            "arguments look swapped."
        )


def _by_next_state(rewards: Any) -> bool:
    """Whether rewards are one matrix an action: three axes, or a list of matrices."""
    if sp.issparse(rewards):
        return False
    if isinstance(rewards, np.ndarray) and (rewards.dtype != object or rewards.ndim == 0):
        return rewards.ndim == 3
    return isinstance(rewards, Sequence | np.ndarray) and all(
        sp.issparse(row) or np.ndim(row) == 2 for row in rewards
    )


def _means(transitions: list[sp.csr_array], rewards: list[sp.csr_array]) -> NDArray[np.float64]:
    if [p.shape for p in transitions] != [r.shape for r in rewards]:
        raise InvalidInputError(
            f"rewards must have the transitions' {len(transitions)} matrices of shape {transitions[0].shape}; got "
            f"{len(rewards)} of shape {rewards[0].shape}."
        )
    return np.stack([_mean(_without_zeros(p), r) for p, r in zip(transitions, rewards, strict=True)], axis=1)


def _mean(p: sp.csr_array, r: sp.csr_array) -> NDArray[np.float64]:
    """Return the mean reward of each row, from its successors only: others may have minus infinity."""
    rows = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr))
    there = sp.coo_array(r[rows, p.indices]).toarray().ravel()
    return np.asarray(np.bincount(rows, weights=p.data * there, minlength=p.shape[0]), dtype=np.float64)

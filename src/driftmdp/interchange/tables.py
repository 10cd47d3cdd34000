"""From one S x S matrix an action to rows by pair, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Mdp, Space
from driftmdp.mdp.mdp import SUM_TOLERANCE
from driftmdp.mdp.sparse import sound_csr
from driftmdp.validation import as_list, as_numbers


def as_matrices(matrices: Any, name: str) -> list[sp.csr_array]:
    """Return one square CSR matrix an action, all of one size, or say what is wrong."""
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


def reward_table(rewards: Any, n_states: int, n_actions: int) -> NDArray[np.float64]:
    """Return rewards [S, A] from those, or from one reward a state."""
    table = sound_csr(rewards, "rewards").toarray() if sp.issparse(rewards) else as_numbers(rewards, "rewards")
    if table.shape == (n_states,):
        table = np.repeat(table[:, None], n_actions, axis=1)
    if table.shape != (n_states, n_actions):
        raise InvalidInputError(
            f"rewards must have shape (S, A) = ({n_states}, {n_actions}), or (S,); got {table.shape}."
        )
    return table


def mdp_of_actions(
    matrices: list[sp.csr_array], rewards: NDArray[np.float64], available: NDArray[np.bool_], name: str
) -> Mdp:
    """Return the MDP of the available actions, which are numbered anew from 0 in each state.

    What is wrong is named by its old number: ``name[a]``, row s.
    """
    n_states = matrices[0].shape[0]
    if not available.any(axis=1).all():
        s = int(np.flatnonzero(~available.any(axis=1))[0])
        raise InvalidInputError(f"State {s} must have at least one action; got none.")
    states, actions = np.nonzero(available)
    stacked = sp.csr_array(sp.vstack(matrices, format="csr"))
    rows = sp.csr_array(stacked[actions * n_states + states])
    _check_rows(rows, lambda pair: f"{name}[{actions[pair]}], row {states[pair]},")
    wrong = np.argwhere(available & ~np.isfinite(rewards))
    if wrong.size:
        s, a = wrong[0]
        raise InvalidInputError(f"rewards[{s}, {a}] must be finite; got {rewards[s, a]}.")
    return Mdp(Space(available.sum(axis=1)), rewards[available], rows)


def _check_rows(rows: sp.csr_array, where: Callable[[int], str]) -> None:
    """Refuse rows that are no distributions."""
    rows.sum_duplicates()
    wrong = np.flatnonzero(~((rows.data >= 0.0) & np.isfinite(rows.data)))
    if wrong.size:
        pair = int(np.searchsorted(rows.indptr, wrong[0], side="right")) - 1
        raise InvalidInputError(f"{where(pair)} must be finite and not negative; got {rows.data[wrong[0]]}.")
    sums = np.asarray(rows.sum(axis=1))
    wrong = np.flatnonzero(np.abs(sums - 1.0) > SUM_TOLERANCE)
    if wrong.size:
        raise InvalidInputError(f"{where(int(wrong[0]))} must sum to 1; got {sums[wrong[0]]:.12g}.")


def by_pair(mdp: Mdp, pairs: NDArray[np.int64]) -> list[sp.csr_array]:
    """Return one matrix an action from the pair that fills each [S, A]; -1 leaves a row empty."""
    padded = sp.csr_array(sp.vstack([mdp.transitions, sp.csr_array((1, mdp.space.n_states))], format="csr"))
    return [sp.csr_array(padded[np.where(column < 0, mdp.space.n_pairs, column)]) for column in pairs.T]

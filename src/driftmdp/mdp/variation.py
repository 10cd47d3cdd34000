"""How much a world moves: the variation budgets of [CSZ20] eq:variation_budgets, and remark:norm for other norms.

==========  =================  ==========  ==========================================================
symbol      name here          shape       meaning
==========  =================  ==========  ==========================================================
B_{r,t}     reward_steps       (T - 1,)    max over pairs of |r_{t+1}(s,a) - r_t(s,a)|
B_{p,t}     transition_steps   (T - 1,)    max over pairs of ||p_{t+1}(.|s,a) - p_t(.|s,a)||_1
B_r, B_p    reward, transition  float      their sums
==========  =================  ==========  ==========================================================
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Csr
from driftmdp.mdp.weights import Weights
from driftmdp.validation import readonly, shown

if TYPE_CHECKING:
    from driftmdp.mdp.drifting import DriftingMdp


@dataclass(frozen=True, eq=False)
class Variation:
    """The budgets B_r and B_p and the steps they sum.

    Attributes
    ----------
    reward, transition
        B_r and B_p.
    reward_steps, transition_steps
        What each step from t to t + 1 adds to them, shape (T - 1,).
    reward_norm, transition_norm
        The norms over pairs and over next states: 1, 2 or inf.
    """

    reward: float
    transition: float
    reward_steps: NDArray[np.float64] = field(repr=False)
    transition_steps: NDArray[np.float64] = field(repr=False)
    reward_norm: float = np.inf
    transition_norm: float = 1.0


def as_norm(norm: Any, name: str) -> float:
    """Validate the order of a norm: 1, 2 or inf."""
    if not isinstance(norm, numbers.Real) or norm not in (1, 2, np.inf):
        raise InvalidInputError(f"{name} must be 1, 2 or inf; got {shown(norm)}.")
    return float(norm)


def variation(drifting: DriftingMdp, reward_norm: float, transition_norm: float) -> Variation:
    """Return the exact variation of a world in the given norms."""
    rewards = _reward_steps(drifting, reward_norm)
    transitions = _transition_steps(drifting, transition_norm)
    with np.errstate(over="ignore"):
        budgets = float(rewards.sum()), float(transitions.sum())
    _check_variation(budgets[0])
    return Variation(*budgets, readonly(rewards), readonly(transitions), reward_norm, transition_norm)


def _check_variation(size: float) -> None:
    if not np.isfinite(size):
        raise InvalidInputError("rewards must be smaller: their variation would be infinite. Use a larger unit.")


def _differences(weights: Weights) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return the distinct rows of w_{t+1} - w_t, and for each step which row it is."""
    if weights.index is None:
        return _explicit(weights.arrays[1:] - weights.arrays[:-1]), np.arange(weights.horizon - 1)
    n_anchors = weights.shape[1]
    codes = weights.index[:-1].astype(np.int64) * n_anchors + weights.index[1:]
    moves, place = np.unique(codes, return_inverse=True)
    return _explicit(_whole_moves(moves // n_anchors, moves % n_anchors, n_anchors)), place


def _whole_moves(start: NDArray[Any], to: NDArray[Any], n_anchors: int) -> sp.csr_array:
    """Return rows that move all weight from one anchor to another."""
    rows, ones, shape = np.arange(start.size), np.ones(start.size), (start.size, n_anchors)
    gained, lost = (sp.csr_array((ones, (rows, anchors)), shape=shape) for anchors in (to, start))
    return sp.csr_array(gained - lost)


def _explicit(matrix: sp.csr_array) -> sp.csr_array:
    """Drop stored zeros, so that a step without change has an empty row."""
    matrix = sp.csr_array(matrix)
    matrix.eliminate_zeros()
    return matrix


def _reward_steps(drifting: DriftingMdp, norm: float) -> NDArray[np.float64]:
    moves, place = _differences(drifting.reward_weights)
    rewards = drifting.world.anchor_rewards
    with np.errstate(over="ignore", invalid="ignore"):
        _check_variation(np.abs(moves.data).max(initial=0.0) * np.abs(rewards).max())
    # All rewards of an anchor are one row, so that the norm is taken over pairs.
    n_anchors, n_pairs = rewards.shape
    starts = np.arange(n_anchors + 1, dtype=np.int32) * np.int32(n_pairs)
    columns = np.tile(np.arange(n_pairs, dtype=np.int32), n_anchors)
    return _combination_norms(moves, (starts, columns, rewards.ravel()), 1, n_pairs, norm)[place]


def _transition_steps(drifting: DriftingMdp, norm: float) -> NDArray[np.float64]:
    moves, place = _differences(drifting.weights)
    world, shape = drifting.world, (drifting.space.n_pairs, drifting.space.n_states)
    anchors = world.anchor_indptr, world.anchor_indices, world.anchor_data
    counts = np.diff(moves.indptr)
    sizes = np.zeros(moves.shape[0])
    # A move between two anchors lies on the line that joins them. So its size is the change of weight times one
    # distance, however many steps move along that line.
    straight = counts == 2
    if straight.any():
        first = moves.indptr[:-1][straight]
        ends = np.column_stack([moves.indices[first], moves.indices[first + 1]])
        lines, line = np.unique(ends, axis=0, return_inverse=True)
        whole_lines = _whole_moves(lines[:, 0], lines[:, 1], drifting.n_anchors)
        distances = _combination_norms(whole_lines, anchors, *shape, norm)
        sizes[straight] = np.abs(moves.data[first]) * distances[line.ravel()]
    if (counts > 2).any():
        sizes[counts > 2] = _combination_norms(moves[counts > 2], anchors, *shape, norm)
    return np.asarray(sizes[place])


def _combination_norms(
    combinations: sp.csr_array, anchors: Csr, n_pairs: int, n_columns: int, norm: float
) -> NDArray[np.float64]:
    """Return the norm of each combination of anchors, the largest over pairs."""
    sizes = np.zeros(combinations.shape[0])
    if combinations.nnz:  # a world that does not change has nothing to compile
        # Those of the same anchors side by side: the kernel sums them together.
        marks = np.random.default_rng(0).random(combinations.shape[1])
        order = np.argsort(abs(combinations.sign()) @ marks, kind="stable")
        grouped, found = combinations[order], np.empty(sizes.size)
        rows = grouped.indptr.astype(np.int32), grouped.indices.astype(np.int32), grouped.data
        kernels.world.combination_norms(rows, anchors, n_pairs, n_columns, norm, found)
        sizes[order] = found
    return sizes

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
from driftmdp.mdp.sparse import blocks_of_product
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
    if not np.isfinite(budgets[0]):
        raise InvalidInputError("rewards must be smaller: their variation would be infinite. Use a larger unit.")
    return Variation(*budgets, readonly(rewards), readonly(transitions), reward_norm, transition_norm)


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
    with np.errstate(over="ignore", invalid="ignore"):
        changes = blocks_of_product(moves, drifting.anchor_rewards)
        sizes = [np.linalg.norm(change, ord=norm, axis=1) for change in changes]
    return np.asarray(np.concatenate([*sizes, np.empty(0)])[place])


def _transition_steps(drifting: DriftingMdp, norm: float) -> NDArray[np.float64]:
    moves, place = _differences(drifting.weights)
    counts = np.diff(moves.indptr)
    sizes = np.zeros(moves.shape[0])
    # A move between two anchors lies on the line that joins them. So its size is the change of weight times one
    # distance, however many steps move along that line.
    straight = counts == 2
    if straight.any():
        first = moves.indptr[:-1][straight]
        ends = np.column_stack([moves.indices[first], moves.indices[first + 1]])
        lines, line = np.unique(ends, axis=0, return_inverse=True)
        distances = _combination_norms(drifting, _whole_moves(lines[:, 0], lines[:, 1], drifting.n_anchors), norm)
        sizes[straight] = np.abs(moves.data[first]) * distances[line.ravel()]
    if (counts > 2).any():
        sizes[counts > 2] = _combination_norms(drifting, moves[counts > 2], norm)
    return np.asarray(sizes[place])


def _combination_norms(drifting: DriftingMdp, combinations: sp.csr_array, norm: float) -> NDArray[np.float64]:
    """Return the norm of each combination of anchors, the largest over pairs."""
    world, space, sizes = drifting.world, drifting.space, np.empty(combinations.shape[0])
    rows = combinations.indptr.astype(np.int32), combinations.indices.astype(np.int32), combinations.data
    anchors = world.anchor_indptr, world.anchor_indices, world.anchor_data
    kernels.world.combination_norms(rows, anchors, space.n_pairs, space.n_states, norm, sizes)
    return sizes

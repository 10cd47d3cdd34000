"""The arrays that kernels share, by name. Nothing here needs the compiler.

Kernels never write to the arrays of a :class:`Model` or a :class:`World`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Ints", "Model", "World"]

Ints: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]


class Model(NamedTuple):
    """One MDP.

    ========  ============  =======================================================================
    offsets   (S + 1,)      the pair index of (s, a) is offsets[s] + a
    rewards   (pairs,)      r(s, a)
    indptr    (pairs + 1,)  row p is ``indptr[p] .. indptr[p + 1] - 1``; need not start at 0
    indices   (stored,)     next states
    data      (stored,)     probabilities; a stored zero is no successor
    ========  ============  =======================================================================
    """

    offsets: Ints
    rewards: Floats
    indptr: Ints
    indices: Ints
    data: Floats


class World(NamedTuple):
    """A moving mixture of K MDPs over T steps.

    =================  ==================  ==========================================================
    offsets            (S + 1,)            the pair index of (s, a) is offsets[s] + a
    anchor_rewards     (K, pairs)          rewards of each anchor
    anchor_indptr      (K pairs + 1,)      rows k * pairs + pair: the anchors' transitions, stacked
    anchor_indices     (stored,)           next states
    anchor_data        (stored,)           probabilities
    anchor_position    (stored,) or (0,)   where an entry lies in the union of all anchors' patterns
    union_indptr       (pairs + 1,)        rows of the union
    union_indices      (union,)            its next states
    weight_*           CSR of (T, K)       weights of the transitions
    reward_weight_*    CSR of (T, K)       weights of the rewards
    =================  ==================  ==========================================================

    The union is empty when every step names one anchor: then that anchor's rows *are* p_t. In kernels
    a step is a 0-based row; the public t is 1-based.
    """

    offsets: Ints
    anchor_rewards: Floats
    anchor_indptr: Ints
    anchor_indices: Ints
    anchor_data: Floats
    anchor_position: Ints
    union_indptr: Ints
    union_indices: Ints
    weight_indptr: Ints
    weight_indices: Ints
    weight_data: Floats
    reward_weight_indptr: Ints
    reward_weight_indices: Ints
    reward_weight_data: Floats

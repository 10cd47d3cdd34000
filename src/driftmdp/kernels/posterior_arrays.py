"""The arrays of posterior sampling, by name, and the functions that make them. Nothing here needs the compiler."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from driftmdp.kernels.arrays import Bools, Ints, Longs, Model, TransitionCounts
from driftmdp.kernels.plan_arrays import PlanState

Bits: TypeAlias = NDArray[np.uint64]  # the four numbers of a random generator, see kernels/posterior.py


class PosteriorParams(NamedTuple):
    """Parameters of an agent that samples its model: numbers only.

    ============  =====================================================================================
    prior         weight of every next state in the Dirichlet prior
    discount      factor of everything remembered at every step, 1 for none
    every         draw a model when the time is a multiple of this, 0 for never
    tolerance     of the gain of the model drawn
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  =====================================================================================
    """

    prior: float
    discount: float
    every: int
    tolerance: float
    bottom: float
    span: float


class SampledModel(NamedTuple):
    """A model drawn from a posterior.

    =====  =====  ==================================================================
    model  Model  its arrays, longer than the successors of any draw so far
    seen   (S,)   False, but for the seen successors of the pair that is being drawn
    =====  =====  ==================================================================
    """

    model: Model
    seen: Bools


class PosteriorArrays(NamedTuple):
    """Everything that the kernels of posterior sampling read and write.

    =========  ========  ===========================================================
    faded_at   (pairs,)  the time up to which what is remembered of a pair has faded
    generator  (4,)      state of the random generator, see kernels/posterior.py
    =========  ========  ===========================================================
    """

    params: PosteriorParams
    counts: TransitionCounts
    plan_state: PlanState
    faded_at: Longs
    generator: Bits
    sample: SampledModel


def new_sampled_model(offsets: Ints, stored: int) -> SampledModel:
    """Return the arrays for a model with so many places in all rows."""
    n_pairs = int(offsets[-1])
    model = Model(
        offsets, np.zeros(n_pairs), np.zeros(n_pairs + 1, np.int32), np.zeros(stored, np.int32), np.zeros(stored)
    )
    return SampledModel(model, np.zeros(offsets.size - 1, np.bool_))

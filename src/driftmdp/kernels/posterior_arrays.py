"""The arrays of posterior sampling, by name. Nothing here needs the compiler."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from driftmdp.kernels.arrays import Bools, Model

Bits: TypeAlias = NDArray[np.uint64]


class PosteriorParams(NamedTuple):
    """How an agent that samples its model thinks: numbers only.

    ============  =====================================================================================
    prior         weight of every next state in the Dirichlet prior
    discount      factor of everything remembered at every step; 1 for none
    every         draw a model when the time is a multiple of this; 0 for never
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
    """Room for a model drawn from a posterior.

    =====  =====  ==================================================================
    model  Model  its arrays, with room for more successors than it may have
    seen   (S,)   False, but for the seen successors of the pair that is being drawn
    =====  =====  ==================================================================
    """

    model: Model
    seen: Bools

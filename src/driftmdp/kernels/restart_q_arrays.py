"""The arrays of RestartQ, by name, and the function that makes them. Nothing here needs the compiler."""

from typing import NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Floats, Ints, Longs, Records, record_type

# Field names are keys of saved snapshots: never rename them.
CELL = record_type("f8 q reward_sum value_sum", "i4 visits stage_visits stage", align=True)


class RestartQParams(NamedTuple):
    """Parameters of RestartQ: numbers only.

    ============  ===============================================================
    episode       H, steps per episode
    epoch         steps per epoch, H K
    horizon       T: after it there is no restart, so that what was learned can be looked at
    iota          ln(2/delta)
    scale         factor of the bonus
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span
    ============  ===============================================================
    """

    episode: int
    epoch: int
    horizon: int
    iota: float
    scale: float
    bottom: float
    span: float


class RestartQArrays(NamedTuple):
    """Everything that the kernels of RestartQ read and write.

    =======  =================  =====================================================
    offsets  (S + 1,)           the pair index of (s, a) is offsets[s] + a
    cells    (H * pairs,) CELL  cell ``h * pairs + pair`` is that of step h, from 0
    values   (H + 1, S)         V, 0 in its last row
    clock    (2,)               the time of the step that comes next, updates so far
    =======  =================  =====================================================
    """

    params: RestartQParams
    offsets: Ints
    cells: Records
    values: Floats
    clock: Longs


def new_restart_q(params: RestartQParams, offsets: Ints) -> RestartQArrays:
    """Return the arrays at t = 1, to be filled by ``begin_epoch``."""
    cells = np.zeros(params.episode * int(offsets[-1]), CELL)
    values = np.zeros((params.episode + 1, offsets.size - 1))
    return RestartQArrays(params, offsets, cells, values, np.array([1, 0], np.int64))

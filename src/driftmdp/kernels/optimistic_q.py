"""Optimistic Q-learning: choosing, learning, and a whole run of such steps.

One definition serves the live agent, which calls ``choose`` and ``learn``, and ``play``.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Ints, Longs, Record, RunInputs, Step
from driftmdp.kernels.bellman import CONVERGED
from driftmdp.kernels.detection import forced_action, watch_step
from driftmdp.kernels.detection_arrays import QUIET, Watch
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.world import take_step


class QParams(NamedTuple):
    """Parameters of optimistic Q-learning: numbers only.

    ============  =====================================================================
    horizon       H of [WJLSJ20]: how many steps the discount looks ahead
    discount      gamma
    bonus         that of the first visit. The bonus of the n-th is this over sqrt(n)
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  =====================================================================
    """

    horizon: float
    discount: float
    bonus: float
    bottom: float
    span: float


class QTables(NamedTuple):
    """What optimistic Q-learning learns.

    =======  ========  ============================================
    offsets  (S + 1,)  the pair index of (s, a) is offsets[s] + a
    values   (pairs,)  Q
    bounds   (pairs,)  Q^, the least that Q has been
    best     (S,)      V^, the largest Q^ of a state
    visits   (pairs,)  n
    =======  ========  ============================================
    """

    offsets: Ints
    values: Floats
    bounds: Floats
    best: Floats
    visits: Longs


def new_tables(offsets: Ints, horizon: float) -> QTables:
    """Return the tables of an agent that has learned nothing: everything is worth H, the most there is."""
    n_states, n_pairs = offsets.size - 1, int(offsets[-1])
    values, bounds = np.full((2, n_pairs), horizon)
    return QTables(offsets, values, bounds, np.full(n_states, horizon), np.zeros(n_pairs, np.int64))


@kernel
def choose(tables: QTables, state: int) -> int:
    """Return the action of the largest Q^. Ties go to the least visited, then to the lowest."""
    first, action = tables.offsets[state], 0
    for pair in range(first, tables.offsets[state + 1]):
        # best is the largest of them: Q^ stays at H for many visits, and so do ties
        if tables.bounds[pair] >= tables.best[state] - TIE:
            chosen = first + action
            if tables.bounds[chosen] < tables.best[state] - TIE or tables.visits[pair] < tables.visits[chosen]:
                action = pair - first
    return action


@kernel
def learn(params: QParams, tables: QTables, step: Step) -> None:
    """Move Q of a pair towards what it gave, [WJLSJ20] Algorithm 1."""
    offsets, values, bounds, best, visits = tables
    state, pair, reward, next_state = step
    reward = min(max((reward - params.bottom) / params.span, 0.0), 1.0)
    visits[pair] += 1
    n = float(visits[pair])
    rate = (params.horizon + 1.0) / (params.horizon + n)
    target = reward + params.discount * best[next_state] + params.bonus / np.sqrt(n)
    values[pair] = (1.0 - rate) * values[pair] + rate * target
    bounds[pair] = min(bounds[pair], values[pair])
    top = -np.inf
    for other in range(offsets[state], offsets[state + 1]):
        top = max(top, bounds[other])
    best[state] = top


@kernel
def play(
    inputs: RunInputs,
    params: QParams,
    tables: QTables,
    record: Record,
    first: int,
    last: int,
    watch: Watch | None = None,
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``. Return the row reached and a status."""
    world, draws, noise = inputs
    for step in range(first, last):
        state = record.states[step]
        action = choose(tables, state)
        if watch is not None:
            action = forced_action(watch, tables.offsets, state, action)
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(params, tables, (state, tables.offsets[state] + action, reward, next_state))
        if watch is not None:
            signal = watch_step(watch, state, tables.offsets[state] + action, reward, next_state)
            if signal != QUIET:
                return step + 1, signal
    return last, CONVERGED

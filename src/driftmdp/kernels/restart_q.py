"""RestartQ-UCB's step: the action with the largest optimistic value, stages of visits, restarts, and a whole run.

One definition serves the live agent, which calls ``choose`` and ``learn``, and ``play``. For [MZZSB22] Algorithm 1,
with Hoeffding bonuses and the update rule (1):

====================  ===========================================  ===============================================
symbol                the paper                                    here
====================  ===========================================  ===============================================
Q_h(s, a), V_h(s)     optimistic values of the rest of an episode  ``cells["q"]``, ``values``
N, N check            visits in the epoch, and in the stage        ``cells["visits"]``, ``cells["stage_visits"]``
r check, v check      sums over the stage                          ``cells["reward_sum"]``, ``cells["value_sum"]``
e_i                   length of the stage                          ``cells["stage"]``
====================  ===========================================  ===============================================
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Record, RunInputs, Step
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.restart_q_arrays import RestartQArrays
from driftmdp.kernels.world import take_step


@kernel
def begin_epoch(arrays: RestartQArrays) -> None:
    """Forget everything: every value is the largest possible, [MZZSB22] Algorithm 1, line 3."""
    n_pairs, n_states, length = arrays.offsets[-1], arrays.offsets.size - 1, arrays.params.episode
    for h in range(length):
        for pair in range(n_pairs):
            cell = arrays.cells[h * n_pairs + pair]
            cell["q"], cell["reward_sum"], cell["value_sum"] = length - h, 0.0, 0.0
            cell["visits"], cell["stage_visits"], cell["stage"] = 0, 0, length
        for state in range(n_states):
            arrays.values[h, state] = length - h


@kernel
def choose(arrays: RestartQArrays, state: int) -> int:
    """Return the action with the largest Q_h, of ties the least visited, then the lowest."""
    offsets, cells = arrays.offsets, arrays.cells
    h = (arrays.clock[0] - 1) % arrays.params.episode
    first = h * offsets[-1] + offsets[state]
    n_actions = offsets[state + 1] - offsets[state]
    best = -np.inf
    for a in range(n_actions):
        best = max(best, cells[first + a]["q"])
    action, least = -1, 0
    for a in range(n_actions):
        if cells[first + a]["q"] >= best - TIE and (action < 0 or cells[first + a]["visits"] < least):
            action, least = a, cells[first + a]["visits"]
    return action


@kernel
def learn(arrays: RestartQArrays, step: Step) -> None:
    """Add a step to its stage. At the stage's end update Q and V, at the epoch's end restart."""
    params, offsets, cells, values, clock = arrays
    state, pair, reward, next_state = step
    h = (clock[0] - 1) % params.episode
    cell = cells[h * offsets[-1] + pair]
    cell["reward_sum"] += (reward - params.bottom) / params.span
    cell["value_sum"] += values[h + 1, next_state]
    cell["visits"] += 1
    cell["stage_visits"] += 1
    if cell["stage_visits"] == cell["stage"]:
        update(arrays, h, state, pair)
    clock[0] += 1
    if (clock[0] - 1) % params.epoch == 0 and clock[0] <= params.horizon:
        begin_epoch(arrays)


@kernel
def update(arrays: RestartQArrays, h: int, state: int, pair: int) -> None:
    """End a stage: only its visits enter the new value, so that older ones are forgotten."""
    params, offsets, cells, values, clock = arrays
    cell = cells[h * offsets[-1] + pair]
    n = float(cell["stage_visits"])
    # Azuma-Hoeffding for values in [0, H], and Hoeffding for rewards: [MZZSB22] inequalities (11) and (13).
    bonus = params.scale * (np.sqrt(params.episode * params.episode * params.iota / n) + np.sqrt(params.iota / n))
    cell["q"] = min(cell["q"], cell["reward_sum"] / n + cell["value_sum"] / n + bonus)
    best = -np.inf
    for other in range(h * offsets[-1] + offsets[state], h * offsets[-1] + offsets[state + 1]):
        best = max(best, cells[other]["q"])
    values[h, state] = best
    cell["reward_sum"], cell["value_sum"], cell["stage_visits"] = 0.0, 0.0, 0
    cell["stage"] += cell["stage"] // params.episode  # floor((1 + 1/H) e)
    clock[1] += 1


@kernel
def play(inputs: RunInputs, arrays: RestartQArrays, record: Record, first: int, last: int) -> None:
    """Take the steps of the rows ``first .. last - 1``."""
    world, draws, noise = inputs
    for step in range(first, last):
        state = record.states[step]
        action = choose(arrays, state)
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(arrays, (state, arrays.offsets[state] + action, reward, next_state))

"""The public parts for a compiled agent: one step of a problem, and the arrays that it reads and fills.

``simulate`` calls ``agent.play(context)`` once per run, if the agent has that method, with a :class:`RunContext`.
Inside, a function compiled with ``numba.njit`` decides, calls :func:`take_step`, and learns, for every step::

    @numba.njit
    def play(world, draws, noise, record, policy):
        for step in range(record.actions.size):
            state = record.states[step]
            reward, next_state = take_step(world, draws, noise, record, step, policy[state])

``take_step`` plays an action in the state ``record.states[step]`` and writes the row ``step`` of the record. It
returns the reward and the next state. Like all compiled code here it does not check its arguments: the action must
exist in the state. docs/howto-compiled-agent.md has a complete agent.
"""

import functools
from typing import Any

import numba

from driftmdp.agents.base import RunContext
from driftmdp.compiler import Kernel
from driftmdp.kernels.arrays import Draws, Record, WorldArrays
from driftmdp.kernels.world import take_step

__all__ = ["Draws", "Record", "RunContext", "WorldArrays", "take_step"]


@numba.extending.typeof_impl.register(Kernel)
def _typeof_kernel(kernel: Kernel, context: Any) -> Any:
    """Let functions that numba compiles call our kernels: there each is a function of numba."""
    return numba.typeof(_by_numba(kernel))  # type: ignore[no-untyped-call]


@functools.cache
def _by_numba(kernel: Kernel) -> Any:
    return numba.njit(nogil=True, error_model="numpy")(kernel.py_func)

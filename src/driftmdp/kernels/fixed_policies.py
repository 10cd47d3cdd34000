"""Runs of agents that do not learn: following given policies, or choosing at random."""

from __future__ import annotations

from driftmdp.kernels._compile import lean_kernel
from driftmdp.kernels.arrays import Draws, Floats, Ints, Record, WorldArrays
from driftmdp.kernels.world import take_step


@lean_kernel
def follow(
    world: WorldArrays,
    draws: Draws,
    noise: tuple[int, float, float, float],
    policies: Ints,
    policy_of: Ints,
    record: Record,
) -> None:
    """Play row ``policy_of[step]`` of the policies at each step."""
    for step in range(record.actions.size):
        take_step(world, draws, noise, record, step, policies[policy_of[step], record.states[step]])


@lean_kernel
def wander(
    world: WorldArrays, draws: Draws, noise: tuple[int, float, float, float], uniforms: Floats, record: Record
) -> None:
    """Play an action drawn uniformly at each step."""
    for step in range(record.actions.size):
        state = record.states[step]
        count = world.offsets[state + 1] - world.offsets[state]
        take_step(world, draws, noise, record, step, int(uniforms[step] * count))

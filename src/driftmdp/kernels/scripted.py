"""Runs of agents that do not learn: following given policies, or choosing at random."""

from __future__ import annotations

from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import Floats, Ints, Luck, Record, World
from driftmdp.kernels.world import mean_reward, sample_step


@inlined_kernel
def take_step(
    world: World, luck: Luck, noise: tuple[int, float, float, float], record: Record, step: int, action: int
) -> None:
    """Write down one step with a given action."""
    pair = world.offsets[record.states[step]] + action
    reward, next_state, _ = sample_step(
        world, step, pair, (luck.anchor[step], luck.successor[step], luck.noise[step]), noise
    )
    record.actions[step], record.rewards[step] = action, reward
    record.mean_rewards[step] = mean_reward(world, step, pair)
    record.states[step + 1] = next_state


@lean_kernel
def follow(
    world: World,
    luck: Luck,
    noise: tuple[int, float, float, float],
    policies: Ints,
    policy_of: Ints,
    record: Record,
) -> None:
    """Play row ``policy_of[step]`` of the policies at each step."""
    for step in range(record.actions.size):
        take_step(world, luck, noise, record, step, policies[policy_of[step], record.states[step]])


@lean_kernel
def wander(
    world: World, luck: Luck, noise: tuple[int, float, float, float], uniforms: Floats, record: Record
) -> None:
    """Play an action drawn uniformly at each step."""
    for step in range(record.actions.size):
        state = record.states[step]
        count = world.offsets[state + 1] - world.offsets[state]
        take_step(world, luck, noise, record, step, int(uniforms[step] * count))

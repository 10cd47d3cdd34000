"""A composition of parts as the numbers that compiled code works with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.parts import Confidence, Doubling, Everything, Memory, SinceRestart
from driftmdp.agents.reward_range import span_of
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.plan_arrays import OptimistParams, Phases
from driftmdp.mdp import Space


class Composition(Protocol):
    """What an optimist is made of."""

    space: Space
    horizon: int | None
    memory: Memory
    confidence: Confidence
    reward_range: tuple[float, float] | None
    planner: str
    ties: str


def horizon_of(agent: Composition) -> int:
    """Return T, which every optimist has."""
    assert agent.horizon is not None
    return agent.horizon


def rules_of(agent: Composition) -> OptimistParams:
    """Return how an agent thinks."""
    constants = agent.confidence.constants(agent.space, horizon_of(agent))
    return OptimistParams(
        scale=agent.confidence.scale,
        reward_factor=constants.reward_factor,
        reward_log=constants.reward_log,
        transition_factor=constants.transition_factor,
        transition_log=constants.transition_log,
        power=constants.power,
        bernstein=constants.bernstein,
        ranged=int(agent.reward_range is not None),
        bottom=0.0 if agent.reward_range is None else agent.reward_range[0],
        span=span_of(agent.reward_range),
        first_tie=int(agent.ties == "first"),
        fast=int(agent.planner == "fast"),
    )


def phases_of(agent: Composition, schedule: Doubling) -> Phases:
    """Return an agent's restarts and what changes with each."""
    memory, horizon = agent.memory, horizon_of(agent)
    starts = memory.starts if isinstance(memory, SinceRestart) else np.ones(1, np.int64)
    window = 0 if isinstance(memory, Everything) else memory.window or 0
    lengths = np.diff(starts, append=max(horizon, starts[-1]) + 1)
    spread: Callable[[Any], NDArray[np.float64]] = lambda value: np.broadcast_to(value, starts.shape).astype(float)  # noqa: E731
    try:
        return Phases(
            starts.astype(np.int64),
            np.where(window < lengths, window, 0),  # nothing leaves a window longer than its phase
            np.full(starts.size, schedule.every or 0),
            spread(agent.confidence.log_delta(horizon)),
            spread(agent.confidence.reward_widening),
            spread(agent.confidence.widening),
        )
    except ValueError:
        raise InvalidInputError(
            f"delta, widening and reward_widening must be one number each, or one for each of the {starts.size} "
            "phases."
        ) from None

"""Variation-aware UCRL with restarts [OGA19]: it is given how much the world moves in each phase.

The paper compares itself with it as an algorithm that "crucially requires the access" to local variations. Here it
gets them.
"""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import BY_DOUBLING, SinceRestart, VariationRadii
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.reward_range import Range, checked_range, span_of
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Problem, Space
from driftmdp.validation import LARGEST, as_integer, as_vector


class VariationAwareUCRL(Optimist):
    """Variation-aware UCRL with restarts, of Ortner, Gajane and Auer [OGA19].

    Phase i has ceil(i^2 / V^2) steps, V the total variation; within it the radii are widened by the phase's own
    variation, V_r for rewards and V_p for transitions.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps.
    reward_steps, transition_steps
        B_{r,t} and B_{p,t} between consecutive steps, shape (T - 1,), as ``drifting.variation()`` has them; rewards
        in their own units.
    delta
        The probability of error, 1/T by default.
    reward_range
        Bounds (lo, hi) on the mean rewards; None: rewards are used as they are, without a cap.
    scale
        A factor on every radius; 1 is theory, which is vacuous at horizons of thousands of steps (docs/agents.md).
    planner
        ``"paper"``, [CSZ20] alg:evi verbatim, or ``"fast"``.
    ties
        ``"least-visited"`` or ``"first"``.
    seed
        Not used: this agent draws nothing.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=5000)
    >>> agent = dm.agents.VariationAwareUCRL.for_problem(problem)
    >>> agent.memory.starts[:4].tolist()
    [1, 2, 3, 4]
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        reward_steps: ArrayLike,
        transition_steps: ArrayLike,
        delta: float | None = None,
        reward_range: Range | None = (0.0, 1.0),
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
    ) -> None:
        steps = as_integer(horizon, "horizon", minimum=1)
        self.reward_steps = _checked_steps(reward_steps, "reward_steps", steps)
        self.transition_steps = _checked_steps(transition_steps, "transition_steps", steps)
        b_r = self.reward_steps / span_of(checked_range(reward_range))
        starts = phase_starts(steps, math.fsum(b_r) + math.fsum(self.transition_steps))
        within_phases = [_within_phases(steps_of, starts, steps) for steps_of in (self.transition_steps, b_r)]
        memory, confidence = SinceRestart(starts), VariationRadii(delta, scale, *within_phases)
        super().__init__(space, horizon, memory, confidence, BY_DOUBLING, reward_range, planner, ties, seed)
        self.delta, self.scale = delta, scale

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem, fed its exact local variations where none are given."""
        if not {"reward_steps", "transition_steps"} <= parameters.keys():
            variation = checked_problem(problem).drifting.variation()
            exact = {name: getattr(variation, name) for name in ("reward_steps", "transition_steps")}
            parameters = exact | parameters
        return super().for_problem(problem, **parameters)


def phase_starts(horizon: int, variation: float) -> NDArray[np.int64]:
    """Return the first steps of phases of ceil(i^2 / V^2) steps; one phase where nothing varies."""
    starts, following, i = [], 1, 1
    squared = min(variation, LARGEST) ** 2
    while following <= horizon:
        starts.append(following)
        length = i**2 / squared if squared > 0 else math.inf
        following += math.ceil(min(length, float(horizon)))
        i += 1
    return np.array(starts)


def _within_phases(steps: NDArray[np.float64], starts: NDArray[np.int64], horizon: int) -> NDArray[np.float64]:
    """Return the variation between the first and the last step of each phase."""
    ends = np.append(starts[1:] - 1, horizon)
    return np.array([math.fsum(steps[first - 1 : last - 1]) for first, last in zip(starts, ends, strict=True)])


def _checked_steps(steps: ArrayLike, name: str, horizon: int) -> NDArray[np.float64]:
    vector = as_vector(steps, name, horizon - 1)
    if (vector < 0).any():
        raise InvalidInputError(f"{name}[{int(np.argmax(vector < 0))}] must not be negative.")
    return vector

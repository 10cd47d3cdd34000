"""FixedPolicy: always the same action in a state."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftmdp import kernels
from driftmdp.agents.base import RunContext
from driftmdp.agents.oracle import checked_policies
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.step_counter import StepCountingAgent
from driftmdp.mdp import Problem, Space
from driftmdp.planning.gain import find_gain
from driftmdp.validation import as_table


class FixedPolicy(StepCountingAgent):
    """Play a given policy for ever.

    Parameters
    ----------
    space
        States and actions.
    policy
        An action per state, shape (S,).
    seed
        Not used.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=100)
    >>> run = dm.simulate(dm.agents.FixedPolicy(problem.space, [1, 1]), problem, seed=7)
    >>> int(run.actions.min())
    1
    """

    def __init__(self, space: Space, policy: ArrayLike, seed: int | None = None) -> None:
        super().__init__(space, None, seed)
        self.policy = checked_policies(space, as_table(policy, "policy")[None], "policy")[0]

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem; without a policy, the one that is optimal at t = 1."""
        if "policy" not in parameters:
            first = checked_problem(problem).drifting.at(1)
            parameters["policy"] = find_gain(first, None, allow_transient=True, is_stored=True).policy
        return super().for_problem(problem, **parameters)

    def _decide(self, state: int) -> int:
        return int(self.policy[state])

    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code and fill its record."""
        policy_of = np.zeros(context.record.actions.size, np.int32)
        kernels.world.follow_policies(*context.inputs, self.policy[None], policy_of, context.record)
        self._t += context.record.actions.size

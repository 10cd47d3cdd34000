"""Oracle: given the true world, plays the optimal policy of each t as if the world stood still there."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp import kernels
from driftmdp.agents.base import RunContext
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.step_counter import StepCountingAgent
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Problem, Space
from driftmdp.planning import gain_path
from driftmdp.validation import as_table


class Oracle(StepCountingAgent):
    """Play the optimal policy of the MDP of each t.

    Dynamic regret compares with it. It is not an upper bound: a policy that looks ahead may earn more, and one step
    of the right MDP does not earn its long-run average.

    Parameters
    ----------
    space
        States and actions.
    policies
        Policies, shape (n, S).
    policy_index
        Which of them to play at each step, shape (T,).
    seed
        Not used.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=5000)
    >>> run = dm.simulate(dm.agents.Oracle.for_problem(problem), problem, seed=7)
    >>> bool(abs(run.dynamic_regret(problem)[-1]) < 300)
    True
    """

    def __init__(self, space: Space, policies: ArrayLike, policy_index: ArrayLike, seed: int | None = None) -> None:
        index = as_table(policy_index, "policy_index")
        super().__init__(space, index.size, seed)
        self.policies = checked_policies(space, policies, "policies")
        is_list = index.ndim == 1 and index.dtype.kind in "iu"
        if not is_list or not ((index >= 0) & (index < len(self.policies))).all():
            rule = f"policy_index must list one of the {len(self.policies)} policies for each step"
            raise InvalidInputError(f"{rule}, counted from 0.")
        self.policy_index = index.astype(np.int32)

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return the oracle of a problem."""
        path = gain_path(checked_problem(problem).drifting, allow_transient=True)
        return cls(problem.space, path.policies, path.policy_index, **parameters)

    def _decide(self, state: int) -> int:
        return int(self.policies[self.policy_index[self._t - 1], state])

    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code and fill its record."""
        n = context.record.actions.size
        index = self.policy_index[self._t - 1 :][:n]
        kernels.world.follow_policies(*context.inputs, self.policies, index, context.record)
        self._t += n


def checked_policies(space: Space, policies: ArrayLike, name: str) -> NDArray[np.int32]:
    """Return policies of shape (n, S) whose actions exist."""
    table = as_table(policies, name)
    if table.ndim != 2 or table.shape[1] != space.n_states or table.dtype.kind not in "iu":
        rule = f"{name} must have a whole number, the action"
        raise InvalidInputError(f"{rule}, for each of the {space.n_states} states.")
    wrong = (table < 0) | (table >= space.n_actions)
    if wrong.any():
        row, s = (int(i) for i in np.argwhere(wrong)[0])
        rule = f"{name}[s={s}] must be one of the actions 0 .. {space.n_actions[s] - 1}"
        raise InvalidInputError(f"{rule}; got {table[row, s]}.")
    return np.array(table, dtype=np.int32)

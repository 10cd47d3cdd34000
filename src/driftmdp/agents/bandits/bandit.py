"""The base class of all bandits: one state, and a range that the rewards are compared with."""

from typing import ClassVar

from driftmdp.agents.reward_range import Range, required_range
from driftmdp.agents.step_counter import StepCountingAgent
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Space
from driftmdp.mdp.space import as_space


class Bandit(StepCountingAgent):
    """An agent for one state, whose actions are arms."""

    only_for: ClassVar[str] = "bandits"
    reward_range: Range

    def __init__(self, space: Space, horizon: int | None, reward_range: Range, seed: int | None) -> None:
        n_arms_of(space, self.name)
        super().__init__(space, horizon, seed)
        self.reward_range = required_range(reward_range)

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        super()._learn(state, action, reward, next_state)
        self._range_monitor.check_reward(reward, self.reward_range, f"{self.name} cannot weigh them")


def n_arms_of(space: Space, name: str) -> int:
    """Return the number of arms of a space with one state."""
    if as_space(space).n_states != 1:
        rule = f"{name} must have a space of one state, a bandit"
        hint = "For several states use SWUCRL2CW, BORL or another agent for MDPs."
        raise InvalidInputError(f"{rule}; got {space.n_states} states. {hint}")
    return space.n_pairs

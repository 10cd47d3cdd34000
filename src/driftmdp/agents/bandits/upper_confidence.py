"""The common base class of UCB1, SW-UCB and D-UCB: play the arm with the largest upper confidence bound."""

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.bandits.bandit import Bandit
from driftmdp.agents.base import RunContext
from driftmdp.agents.reward_range import Range, span_of
from driftmdp.agents.snapshot_checks import memory_arrays, require, restored_memory
from driftmdp.agents.watchable import WatchableAgent
from driftmdp.kernels.arrays import UcbParams, mean_rewards_by_pair, new_counts, visits_by_pair
from driftmdp.kernels.detection_arrays import Watch
from driftmdp.mdp import Space
from driftmdp.npz import Arrays

LARGEST_XI = 1e50  # so that no index overflows


class UpperConfidence(Bandit, WatchableAgent):
    """The base class of this family. A subclass gives the factor and the memory."""

    can_be_watched = True

    def __init__(
        self,
        space: Space,
        horizon: int | None,
        reward_range: Range,
        seed: int | None,
        factor: float,
        window: int = 0,
        discount: float = 1.0,
    ) -> None:
        super().__init__(space, horizon, reward_range, seed)
        self._params = UcbParams(float(factor), float(discount), self.reward_range[0], span_of(self.reward_range))
        self._window = window
        self.reset()

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch."""
        super().reset(rng)
        n_arms = self.space.n_pairs
        self._memory = new_counts(n_arms, self._window, pairs=n_arms, successors=n_arms)

    def counts(self) -> NDArray[np.float64]:
        """Return N of every arm: its plays in memory, discounted ones for D-UCB; shape (arms,)."""
        return visits_by_pair(self._memory)

    def mean_rewards(self) -> NDArray[np.float64]:
        """Return the mean reward of every arm in memory, NaN where there is none; shape (arms,)."""
        return self._params.bottom + self._params.span * mean_rewards_by_pair(self._memory)

    def indices(self) -> NDArray[np.float64]:
        """Return the upper confidence bound of every arm's mean reward; infinite where nothing is remembered."""
        counts = self.counts()
        log = max(0.0, np.log(max(1.0, counts.sum())))
        with np.errstate(divide="ignore", invalid="ignore"):
            radii = np.sqrt(self._params.factor * log / counts)
        return np.where(counts > 0, self.mean_rewards() + self._params.span * radii, np.inf)

    def _decide(self, state: int) -> int:
        return int(kernels.bandits.choose_ucb(self._params, self._memory))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        kernels.bandits.learn_ucb(self._params, self._memory, action, reward)
        super()._learn(state, action, reward, next_state)

    def _play_some(self, context: RunContext, first: int, last: int, watch: Watch | None = None) -> tuple[int, int]:
        rows = context.record, first, last
        reached, status = kernels.bandits.play_ucb(context.inputs, self._params, self._memory, *rows, watch)
        self._t += reached - first
        return reached, status

    def _state_arrays(self) -> Arrays:
        return super()._state_arrays() | memory_arrays(self._memory)

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        expected = int(self._memory.tally["window"][0])
        self._memory = restored_memory(self.space, self._memory, arrays)
        require(self._memory.tally["window"][0] == expected, "the window is wrong")

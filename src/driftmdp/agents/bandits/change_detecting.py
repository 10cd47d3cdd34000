"""The common base class of GLR-klUCB, M-UCB and CUSUM-UCB: an index policy that restarts when a detector fires."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.bandits.bandit import Bandit
from driftmdp.agents.bandits.bandit_arrays import alarms_of, restored_array, with_space
from driftmdp.agents.base import ResumableAgent, RunContext
from driftmdp.agents.reward_range import Range, span_of
from driftmdp.agents.snapshot_checks import require, restored_bits
from driftmdp.display import brief
from driftmdp.mdp import Space
from driftmdp.npz import Arrays
from driftmdp.system import require_memory

if TYPE_CHECKING:
    from driftmdp.kernels.changing_bandits import ArmWatchArrays, ArmWatchParams


@dataclass(frozen=True, eq=False)
class BanditAlarms:
    """What a bandit detected, and the parameters in force.

    Attributes
    ----------
    alarms
        Time and arm of each change that was detected.
    alpha
        The share of steps that explore: alpha, or gamma of M-UCB.
    threshold
        ln(1 / delta) of GLR-klUCB, b of M-UCB, h of CUSUM-UCB.
    window
        w of M-UCB, M of CUSUM-UCB, 0 for GLR-klUCB.
    """

    alarms: tuple[tuple[int, int], ...]
    alpha: float
    threshold: float
    window: int

    __repr__ = brief


class ChangeDetecting(Bandit, ResumableAgent):
    """The base class of this family. A subclass gives the parameters of the kernel."""

    _params: "ArmWatchParams"
    _arrays: "ArmWatchArrays"

    def __init__(
        self,
        space: Space,
        horizon: int,
        reward_range: Range,
        seed: int | None,
        detector: str,
        alpha: float,
        xi: float,
        threshold: float,
        window: int = 0,
        epsilon: float = 0.0,
        is_local: bool = False,
        is_growing: bool = False,
        test_every: int = 1,
        split_every: int = 1,
    ) -> None:
        super().__init__(space, horizon, reward_range, seed)
        kinds = kernels.changing_bandits
        kind = {"glr": kinds.GLR, "halves": kinds.HALVES, "cusum": kinds.CUSUM}[detector]
        self._params = kinds.ArmWatchParams(
            kind,
            detector == "glr",
            detector == "cusum",
            is_local,
            is_growing,
            float(alpha),
            float(xi),
            float(threshold),
            int(window),
            float(epsilon),
            int(test_every),
            int(split_every),
            self.reward_range[0],
            span_of(self.reward_range),
        )
        if detector == "halves":
            n_arms = self.space.n_pairs
            require_memory(8 * n_arms * (window + 1), f"A window of {window:,} rewards for each of {n_arms:,} arms")
        self.reset()

    @classmethod
    def tuned(cls, space: Space, horizon: int, changes: int, **parameters: Any) -> Self:
        """Return an agent with the parameters of its paper for a known number of changes."""
        return cls(space, horizon, **{"changes": changes} | parameters)

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch."""
        super().reset(rng)
        bits = self._generator(rng).integers(0, 2**64, 4, dtype=np.uint64)
        self._arrays = kernels.changing_bandits.new_watch_arrays(self._params, self.space.n_pairs, bits)

    def counts(self) -> NDArray[np.int64]:
        """Return N of every arm, its plays since its last restart, shape (arms,)."""
        plays: NDArray[np.int64] = self._arrays.arms["plays"].copy()
        return plays

    def mean_rewards(self) -> NDArray[np.float64]:
        """Return the mean reward of every arm since its last restart, NaN where there is none, shape (arms,)."""
        arms = self._arrays.arms
        with np.errstate(invalid="ignore"):
            means: NDArray[np.float64] = arms["total"] / arms["plays"]
        return self._params.bottom + self._params.span * means

    def indices(self) -> NDArray[np.float64]:
        """Return the upper confidence bound of every arm's mean reward, infinite where nothing is remembered."""
        kernels.changing_bandits.update_indices(self._params, self._arrays, self._t)
        return self._params.bottom + self._params.span * self._arrays.indices

    def summary(self) -> BanditAlarms:
        """Return the alarms so far and the parameters in force."""
        alarms, params = alarms_of(self._arrays.alarms, self._arrays.watch), self._params
        alpha = params.alpha * math.sqrt(1 + len(alarms)) if params.is_growing else params.alpha
        return BanditAlarms(alarms, min(1.0, alpha), params.threshold, params.window)

    def _decide(self, state: int) -> int:
        return int(kernels.changing_bandits.choose(self._params, self._arrays, self._t))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        if not kernels.changing_bandits.has_space(self._arrays):
            self._enlarge()
        kernels.changing_bandits.learn(self._params, self._arrays, self._t, action, reward)
        super()._learn(state, action, reward, next_state)

    def _enlarge(self) -> None:
        self._arrays = kernels.changing_bandits.enlarge_watch_arrays(self._arrays)

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        while first < last:
            rows = context.record, first, last, self._t
            reached = kernels.changing_bandits.play(context.inputs, self._params, self._arrays, *rows)
            self._t += reached - first
            first = reached
            if first < last:
                self._enlarge()

    def _state_arrays(self) -> Arrays:
        arrays, watch = self._arrays, self._arrays.watch[0]
        return super()._state_arrays() | {
            "arms": arrays.arms,
            "recent": arrays.recent,
            "sums": arrays.sums[: watch["n_sums"]],
            "alarms": arrays.alarms[: watch["n_alarms"]],
            "watch": arrays.watch,
            "luck": arrays.generator,
        }

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        new, n_arms = self._arrays, self.space.n_pairs
        arms, watch = restored_array(arrays, "arms", new.arms), restored_array(arrays, "watch", new.watch)
        recent = restored_array(arrays, "recent", new.recent)
        sums, alarms = (restored_array(arrays, name, getattr(new, name), None) for name in ("sums", "alarms"))
        facts, places = watch[0], np.arange(sums.size)
        require(facts["n_sums"] == sums.size and facts["n_alarms"] == alarms.size, "the sizes are wrong")
        require(-1 <= facts["advised"] < n_arms and 0 <= facts["restart"] < self._t, "the watch is wrong")
        require(bool(((arms["newest"] >= -1) & (arms["newest"] < sums.size)).all()), "a sum does not exist")
        # Each sum leads to an older one, so that a walk from sum to sum ends.
        require(bool(((sums["before"] >= -1) & (sums["before"] < places)).all()), "a sum does not exist")
        require(bool((sums["plays"] > 0).all()), "a sum is empty")
        require(bool(((arms["plays"] >= 0) & (arms["plays"] < self._t)).all()), "the plays are wrong")
        require(bool(((arms["restart"] >= 0) & (arms["restart"] < self._t)).all()), "a restart is wrong")
        lists = {"sums": with_space(sums, new.sums), "alarms": with_space(alarms, new.alarms)}
        bits = restored_bits(arrays["luck"])
        self._arrays = new._replace(arms=arms, recent=recent, watch=watch, generator=bits, **lists)

"""AdSwitch: successive elimination that checks eliminated arms at random and starts again on a change [AGO19].

episode l: all arms are good
    at each step, for each bad arm and each eps = 1/2, 1/4, ... >= gap / 16,
        with probability eps sqrt(l / (K T ln T)) the arm must get 2 ln T / eps^2 plays
    play the least recently played arm of those that are good or must get plays
    if two intervals show different means of a good arm, or one a mean of a bad arm far from the one that it was
        evicted with, start a new episode
    evict each good arm whose mean over some interval [s, t] is below the best by sqrt(C_1 ln T / (n - 1)), and keep
        that mean and gap
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.bandits.bandit import Bandit
from driftmdp.agents.bandits.bandit_arrays import alarms_of, restored_array, with_space
from driftmdp.agents.base import ResumableAgent, RunContext
from driftmdp.agents.reward_range import Range, span_of
from driftmdp.agents.snapshot_checks import require, restored_bits
from driftmdp.display import brief
from driftmdp.formulas.changing_bandits import ad_switch_interval
from driftmdp.mdp import Space
from driftmdp.npz import Arrays
from driftmdp.validation import as_integer, as_number

if TYPE_CHECKING:
    from driftmdp.kernels.ad_switch import SwitchArrays

LARGEST_SCALE = 1e6


@dataclass(frozen=True, eq=False)
class AdSwitchSummary:
    """What AdSwitch detected, and where it stands.

    Attributes
    ----------
    alarms
        Time and arm of each change that was detected. Each began an episode.
    good
        The arms that are good now.
    c1
        C_1 of the evictions.
    test_every
        Steps between tests.
    """

    alarms: tuple[tuple[int, int], ...]
    good: tuple[int, ...]
    c1: float
    test_every: int

    __repr__ = brief


class AdSwitch(Bandit, ResumableAgent):
    """Elimination of arms that adapts to an unknown number of changes.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    horizon
        T, the number of steps.
    c1
        C_1, which evictions depend on. Theory asks for more than 16.
    test_every
        Steps between tests, by default ceil(T / 1000). At 1 it is the paper's algorithm to the letter. A test takes
        time in proportion to the length of the episode and to the number of arms.
    scale
        Factor of all radii, 1 in theory.
    reward_range
        Bounds (lo, hi) on the rewards, which are mapped to [0, 1] and clipped.
    seed
        Of the generator used until ``reset(rng)`` gives another. None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="stationary", horizon=5000)
    >>> run = dm.simulate(dm.agents.AdSwitch.for_problem(problem, scale=0.5), problem, seed=7)
    >>> run.summary
    AdSwitchSummary(alarms=(), good=(0,), c1=16.1, test_every=5)
    """

    _arrays: "SwitchArrays"

    def __init__(
        self,
        space: Space,
        horizon: int,
        c1: float = 16.1,
        test_every: int | None = None,
        scale: float = 1.0,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(space, horizon, reward_range, seed)
        self.c1 = as_number(c1, "c1", 0.0, LARGEST_SCALE)
        self.test_every = None if test_every is None else as_integer(test_every, "test_every", minimum=1)
        self.scale = as_number(scale, "scale", 0.0, LARGEST_SCALE)
        every = ad_switch_interval(horizon) if self.test_every is None else self.test_every
        log = math.log(max(2, horizon))
        widths = 2.0 * log * self.scale**2, self.c1 * log * self.scale**2
        mapping = self.reward_range[0], span_of(self.reward_range)
        self._params = kernels.ad_switch.SwitchParams(int(horizon), log, *widths, every, *mapping)
        self.reset()

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. Draws come from ``rng``, by default from ``seed``."""
        super().reset(rng)
        bits = self._generator(rng).integers(0, 2**64, 4, dtype=np.uint64)
        self._arrays = kernels.ad_switch.new_switch_arrays(self.space.n_pairs, bits)

    def counts(self) -> NDArray[np.int64]:
        """Return the plays of every arm in this episode, shape (arms,)."""
        plays = self._arrays.plays[: self._arrays.clock["n_plays"][0]]
        return np.bincount(plays["arm"], minlength=self.space.n_pairs)

    def mean_rewards(self) -> NDArray[np.float64]:
        """Return the mean reward of every arm in this episode, NaN where there is none, shape (arms,)."""
        plays = self._arrays.plays[: self._arrays.clock["n_plays"][0]]
        totals = np.bincount(plays["arm"], weights=plays["gain"], minlength=self.space.n_pairs)
        with np.errstate(invalid="ignore"):
            return self._params.bottom + self._params.span * (totals / self.counts())

    def summary(self) -> AdSwitchSummary:
        """Return the alarms so far, the good arms, and the parameters in force."""
        good = tuple(np.flatnonzero(self._arrays.arms["is_good"]).tolist())
        alarms = alarms_of(self._arrays.alarms, self._arrays.clock)
        return AdSwitchSummary(alarms, good, self.c1, self._params.test_every)

    def _decide(self, state: int) -> int:
        return int(kernels.ad_switch.choose(self._params, self._arrays))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        if not kernels.ad_switch.has_space(self._arrays):
            self._enlarge()
        kernels.ad_switch.learn(self._params, self._arrays, self._t, action, reward)
        super()._learn(state, action, reward, next_state)

    def _enlarge(self) -> None:
        self._arrays = kernels.ad_switch.enlarge_switch_arrays(self._arrays)

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        while first < last:
            rows = context.record, first, last, self._t
            reached = kernels.ad_switch.play(context.inputs, self._params, self._arrays, *rows)
            self._t += reached - first
            first = reached
            if first < last:
                self._enlarge()

    def _state_arrays(self) -> Arrays:
        arrays, clock = self._arrays, self._arrays.clock[0]
        return super()._state_arrays() | {
            "arms": arrays.arms,
            "plays": arrays.plays[: clock["n_plays"]],
            "alarms": arrays.alarms[: clock["n_alarms"]],
            "clock": arrays.clock,
            "luck": arrays.generator,
        }

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        new, n_arms = self._arrays, self.space.n_pairs
        arms = restored_array(arrays, "arms", new.arms, unbounded=("highest", "lowest"))
        clock = restored_array(arrays, "clock", new.clock)
        plays, alarms = (restored_array(arrays, name, getattr(new, name), None) for name in ("plays", "alarms"))
        facts = clock[0]
        require(facts["n_plays"] == plays.size and facts["n_alarms"] == alarms.size, "the sizes are wrong")
        require(-1 <= facts["advised"] < n_arms and facts["episode"] == alarms.size + 1, "the clock is wrong")
        require(bool(((plays["arm"] >= 0) & (plays["arm"] < n_arms)).all()), "an arm does not exist")
        require(bool(((arms["last"] >= 0) & (arms["last"] < self._t)).all()), "a time is wrong")
        require(bool(((arms["need"] >= 0) & (arms["need"] <= self._params.horizon)).all()), "a check is wrong")
        is_good = arms["is_good"] == 1
        require(bool(is_good.any() and (is_good | (arms["is_good"] == 0)).all()), "the good arms are wrong")
        # A bad arm without a gap would be drawn for checks without end.
        require(bool((is_good | (arms["gap"] > 0)).all()), "a gap is wrong")
        lists = {"plays": with_space(plays, new.plays), "alarms": with_space(alarms, new.alarms)}
        self._arrays = new._replace(arms=arms, clock=clock, generator=restored_bits(arrays["luck"]), **lists)

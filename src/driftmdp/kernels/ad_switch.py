"""AdSwitch [AGO19]: play the good arms in turn, evict bad arms, check these at random, and start again on a change.

A test looks at all intervals [s, t] of the episode that end now, in one walk back over its plays. Intervals that
ended at an earlier test are summed up in two numbers per arm: the highest lower bound and the lowest upper bound
that any of them gave. Two intervals differ by more than their radii where the lower bound of one exceeds the upper
bound of the other. So no pairs of intervals need to be compared, and condition (3) costs O(t), not O(t^3).

Rewards are mapped to [0, 1] and clipped. L is ln T.
"""

import math
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Record, Records, RunInputs, record_type
from driftmdp.kernels.changing_bandits import FIRST_CAPACITY, doubled
from driftmdp.kernels.posterior import uniform
from driftmdp.kernels.posterior_arrays import Bits
from driftmdp.kernels.world import take_step

LEAST_CHANGE = 1e-15  # that is looked for: smaller ones are rounding
ROUNDING = 1.0 - 1e-12  # a number of plays that is whole but for rounding is that number

# Field names are keys of saved snapshots: never rename them.
SWITCH_ARM = record_type("i8 is_good last need", "f8 mean gap highest lowest")
SEEN_ARM = record_type("i8 plays is_changed", "f8 total mean lower upper evicted_mean evicted_gap")
PLAY = record_type("i8 arm", "f8 gain")
SWITCH_ALARM = record_type("i8 t arm")
SWITCH_CLOCK = record_type("i8 episode advised n_plays n_alarms")


class SwitchParams(NamedTuple):
    """Parameters of AdSwitch: numbers only.

    ============  =====================================================================================
    horizon       T
    log_horizon   L, at least ln 2
    width         an interval with n plays has the radius sqrt(width / n), width = 2 L scale^2
    eviction      C_1 L scale^2 of condition (1)
    test_every    steps between tests
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  =====================================================================================
    """

    horizon: int
    log_horizon: float
    width: float
    eviction: float
    test_every: int
    bottom: float
    span: float


class SwitchArrays(NamedTuple):
    """What AdSwitch knows.

    =========  ========================  ==========================================================================
    arms       (K,) SWITCH_ARM           whether it is good, time of the last play, plays that it must still get,
                                         mean and gap when it was evicted, the two bounds above
    seen       (K,) SEEN_ARM             of the interval that a test has reached
    plays      (capacity,) PLAY          of the episode, in order
    alarms     (capacity,) SWITCH_ALARM  time and arm
    clock      (1,) SWITCH_CLOCK         the episode, arm advised or -1, plays and alarms in use
    generator  (4,)                      state of the random generator, see kernels/posterior.py
    =========  ========================  ==========================================================================
    """

    arms: Records
    seen: Records
    plays: Records
    alarms: Records
    clock: Records
    generator: Bits


def new_switch_arrays(n_arms: int, generator: Bits) -> SwitchArrays:
    """Return the arrays of an agent that has seen nothing."""
    arms, clock = np.zeros(n_arms, SWITCH_ARM), np.zeros(1, SWITCH_CLOCK)
    clock["advised"] = -1
    plays, alarms = np.zeros(FIRST_CAPACITY, PLAY), np.zeros(FIRST_CAPACITY, SWITCH_ALARM)
    arrays = SwitchArrays(arms, np.zeros(n_arms, SEEN_ARM), plays, alarms, clock, generator)
    start_episode(arrays)
    return arrays


def enlarge_switch_arrays(arrays: SwitchArrays) -> SwitchArrays:
    """Return the same arrays with twice the space for what is full."""
    clock = arrays.clock[0]
    plays, alarms = doubled(arrays.plays, clock["n_plays"]), doubled(arrays.alarms, clock["n_alarms"])
    return arrays._replace(plays=plays, alarms=alarms)


@kernel
def has_space(arrays: SwitchArrays) -> bool:
    """Return whether there is space for one more step."""
    clock = arrays.clock[0]
    return clock["n_plays"] < arrays.plays.size and clock["n_alarms"] < arrays.alarms.size


@kernel
def start_episode(arrays: SwitchArrays) -> None:
    """Make all arms good, and forget all but when each was played last."""
    arrays.clock[0]["episode"] += 1
    arrays.clock[0]["n_plays"] = 0
    for arm in range(arrays.arms.size):
        mine = arrays.arms[arm]
        mine["is_good"], mine["need"] = 1, 0
        mine["mean"], mine["gap"] = 0.0, 0.0
        mine["highest"], mine["lowest"] = -np.inf, np.inf


@kernel
def choose(params: SwitchParams, arrays: SwitchArrays) -> int:
    """Return the arm to play, the same until it is played: of those that may be played, the least recent."""
    clock, arms = arrays.clock[0], arrays.arms
    if clock["advised"] < 0:
        add_checks(params, arrays)
        chosen = -1
        for arm in range(arms.size):
            may_play = arms[arm]["is_good"] == 1 or arms[arm]["need"] > 0
            if may_play and (chosen < 0 or arms[arm]["last"] < arms[chosen]["last"]):
                chosen = arm
        clock["advised"] = chosen
    return clock["advised"]


@kernel
def add_checks(params: SwitchParams, arrays: SwitchArrays) -> None:
    """Draw which bad arms must be played again, and how often: 2 L / eps^2 times to see a change of eps."""
    n_arms = arrays.arms.size
    rate = math.sqrt(arrays.clock[0]["episode"] / (float(n_arms) * params.horizon * params.log_horizon))
    for arm in range(n_arms):
        mine = arrays.arms[arm]
        if mine["is_good"] == 0:
            change = 0.5
            while change >= max(mine["gap"] / 16.0, LEAST_CHANGE):
                if uniform(arrays.generator) < change * rate:
                    plays = 2.0 * params.log_horizon / (change * change) * ROUNDING
                    # All checks of an arm count the same plays, so the longest is all that matters.
                    mine["need"] = max(mine["need"], int(min(math.ceil(plays), float(params.horizon))))
                change *= 0.5


@kernel
def learn(params: SwitchParams, arrays: SwitchArrays, t: int, arm: int, reward: float) -> None:
    """Remember the play of time ``t``. Where a test is due, start an episode or evict arms."""
    clock, mine = arrays.clock[0], arrays.arms[arm]
    clock["advised"] = -1
    mine["last"], mine["need"] = t, max(0, mine["need"] - 1)
    played = arrays.plays[clock["n_plays"]]
    played["arm"], played["gain"] = arm, min(max((reward - params.bottom) / params.span, 0.0), 1.0)
    clock["n_plays"] += 1
    if t % params.test_every == 0:
        look_back(params, arrays)
        changed = changed_arm(arrays)
        if changed < 0:
            changed = evict(arrays)
        if changed >= 0:
            alarm = arrays.alarms[clock["n_alarms"]]
            alarm["t"], alarm["arm"] = t, changed
            clock["n_alarms"] += 1
            start_episode(arrays)


@kernel
def look_back(params: SwitchParams, arrays: SwitchArrays) -> None:
    """Walk back over the episode, and note for every arm what its intervals [s, t] show."""
    arms, seen = arrays.arms, arrays.seen
    for arm in range(seen.size):
        mine = seen[arm]
        mine["plays"], mine["is_changed"], mine["total"], mine["mean"] = 0, 0, 0.0, 0.0
        mine["lower"], mine["upper"], mine["evicted_mean"], mine["evicted_gap"] = -np.inf, np.inf, 0.0, 0.0
    for place in range(arrays.clock[0]["n_plays"] - 1, -1, -1):
        arm = arrays.plays[place]["arm"]
        mine = seen[arm]
        mine["plays"] += 1
        mine["total"] += arrays.plays[place]["gain"]
        mine["mean"] = mine["total"] / mine["plays"]
        radius = math.sqrt(params.width / mine["plays"])
        if arms[arm]["is_good"] == 1:
            mine["lower"] = max(mine["lower"], mine["mean"] - radius)
            mine["upper"] = min(mine["upper"], mine["mean"] + radius)
            compare_good_arms(params, arrays)
        elif abs(mine["mean"] - arms[arm]["mean"]) > 0.25 * arms[arm]["gap"] + radius:  # condition (4)
            mine["is_changed"] = 1


@kernel
def compare_good_arms(params: SwitchParams, arrays: SwitchArrays) -> None:
    """Note mean and gap of the good arms that the interval shows to be bad, condition (1)."""
    arms, seen = arrays.arms, arrays.seen
    best = -np.inf
    for arm in range(seen.size):
        if arms[arm]["is_good"] == 1 and seen[arm]["plays"] > 0:
            best = max(best, seen[arm]["mean"])
    for arm in range(seen.size):
        if arms[arm]["is_good"] == 1 and seen[arm]["plays"] > 1:
            gap = best - seen[arm]["mean"]
            if gap > 0.0 and gap * gap * (seen[arm]["plays"] - 1) > params.eviction:
                # A longer interval, which comes later in the walk, knows better.
                seen[arm]["evicted_mean"], seen[arm]["evicted_gap"] = seen[arm]["mean"], gap


@kernel
def changed_arm(arrays: SwitchArrays) -> int:
    """Return the first good arm that has changed, condition (3), or else the first bad one, or -1."""
    arms, seen = arrays.arms, arrays.seen
    changed = -1
    for arm in range(arms.size - 1, -1, -1):
        if arms[arm]["is_good"] == 0 and seen[arm]["is_changed"] == 1:
            changed = arm
    for arm in range(arms.size - 1, -1, -1):
        mine = arms[arm]
        if mine["is_good"] == 1:
            mine["highest"] = max(mine["highest"], seen[arm]["lower"])
            mine["lowest"] = min(mine["lowest"], seen[arm]["upper"])
            if mine["highest"] > seen[arm]["upper"] or mine["lowest"] < seen[arm]["lower"]:
                changed = arm
    return changed


@kernel
def evict(arrays: SwitchArrays) -> int:
    """Make the arms bad that the test found to be so. Return -1, or the first if no arm is left."""
    arms, first, n_good = arrays.arms, -1, 0
    for arm in range(arms.size - 1, -1, -1):
        if arms[arm]["is_good"] == 1:
            n_good += 1
            if arrays.seen[arm]["evicted_gap"] > 0.0:
                first, n_good = arm, n_good - 1
                arms[arm]["is_good"], arms[arm]["need"] = 0, 0
                arms[arm]["mean"] = arrays.seen[arm]["evicted_mean"]
                arms[arm]["gap"] = arrays.seen[arm]["evicted_gap"]
    # Arms that were each worse in some interval have changed.
    return first if n_good == 0 else -1


@kernel
def play(
    inputs: RunInputs, params: SwitchParams, arrays: SwitchArrays, record: Record, first: int, last: int, t: int
) -> int:
    """Take the steps of the rows ``first .. last - 1``, from time ``t``. Return the row reached: space may end."""
    world, draws, noise = inputs
    for step in range(first, last):
        if not has_space(arrays):
            return step
        arm = choose(params, arrays)
        reward, _ = take_step(world, draws, noise, record, step, arm)
        learn(params, arrays, t + step - first, arm, reward)
    return last

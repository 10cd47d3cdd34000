"""Bandits that watch their arms and restart: GLR-klUCB [BKMS22], M-UCB [CWKX19] and CUSUM-UCB [LLS18].

    for t = 1 .. T
        play the arm whose turn it is to be explored, or else the one with the largest index
        if the detector of the arm fires, forget the arm (local restart) or all arms (global restart)

One step serves all three. They differ in the detector, the index and the way of exploring, which are parameters.

Rewards are mapped to [0, 1] and clipped. N and S are the number and the sum of an arm's rewards since its restart.
"""

import math
from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Record, Records, RunInputs, record_type
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.kl_ucb import bernoulli_kl, kl_upper_bound
from driftmdp.kernels.posterior import uniform
from driftmdp.kernels.posterior_arrays import Bits
from driftmdp.kernels.world import take_step

GLR, HALVES, CUSUM = 0, 1, 2  # detectors
LEAST_EXPLORATION = 1e-12  # below, nothing is explored in 10^12 steps
FIRST_CAPACITY = 64

# Field names are keys of saved snapshots: never rename them.
WATCHED_ARM = record_type("i8 plays restart newest", "f8 total start rise fall")
PART_SUM = record_type("i8 plays before", "f8 total")  # of an arm's first rewards
ALARM = record_type("i8 t arm")
WATCH = record_type("i8 restart advised n_sums n_alarms")


class ArmWatchParams(NamedTuple):
    """Parameters of a bandit that watches its arms: numbers only.

    ===========  ======================================================================================
    detector     GLR, HALVES (M-UCB) or CUSUM
    uses_kl      whether the index is kl-UCB's, otherwise mean + sqrt(xi ln n / N)
    is_random    whether arms are explored at random, otherwise by the clock
    is_local     whether an alarm restarts its arm only
    is_growing   whether alpha is multiplied by sqrt(k) in the k-th episode
    alpha        share of the steps that explore
    xi           factor of the logarithm in the index
    threshold    ln(1 / delta) of GLR, b of M-UCB, h of CUSUM
    window       w of M-UCB, M of CUSUM
    epsilon      drift correction of CUSUM
    test_every   plays of an arm between tests by GLR
    split_every  distance of the splits that are tested by GLR
    bottom, span rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ===========  ======================================================================================
    """

    detector: int
    uses_kl: bool
    is_random: bool
    is_local: bool
    is_growing: bool
    alpha: float
    xi: float
    threshold: float
    window: int
    epsilon: float
    test_every: int
    split_every: int
    bottom: float
    span: float


class ArmWatchArrays(NamedTuple):
    """What such a bandit knows.

    =========  ====================  ============================================================================
    arms       (K,) WATCHED_ARM      N, time of the restart, newest of its part sums, S, u0, g+ and g- of CUSUM
    recent     (K, w + 1)            HALVES: S after the last w + 1 plays, at place N mod (w + 1)
    sums       (capacity,) PART_SUM  GLR: S after s plays of an arm, and the place of the sum before, -1 if none
    alarms     (capacity,) ALARM     time and arm
    watch      (1,) WATCH            time of the last restart, arm advised or -1, part sums and alarms in use
    indices    (K,)                  the indices when they were last asked for
    generator  (4,)                  state of the random generator, see kernels/posterior.py
    =========  ====================  ============================================================================
    """

    arms: Records
    recent: Floats
    sums: Records
    alarms: Records
    watch: Records
    indices: Floats
    generator: Bits


def new_watch_arrays(params: ArmWatchParams, n_arms: int, generator: Bits) -> ArmWatchArrays:
    """Return the arrays of a bandit that has seen nothing."""
    arms, watch = np.zeros(n_arms, WATCHED_ARM), np.zeros(1, WATCH)
    arms["newest"], watch["advised"] = -1, -1
    width = params.window + 1 if params.detector == HALVES else 0
    sums, alarms = np.zeros(FIRST_CAPACITY, PART_SUM), np.zeros(FIRST_CAPACITY, ALARM)
    return ArmWatchArrays(arms, np.zeros((n_arms, width)), sums, alarms, watch, np.zeros(n_arms), generator)


def enlarge_watch_arrays(arrays: ArmWatchArrays) -> ArmWatchArrays:
    """Return the same arrays with twice the space for what is full."""
    watch = arrays.watch[0]
    sums, alarms = doubled(arrays.sums, watch["n_sums"]), doubled(arrays.alarms, watch["n_alarms"])
    return arrays._replace(sums=sums, alarms=alarms)


def doubled(records: Records, n_used: int) -> Records:
    """Return an array with twice the space, or itself if there is space left."""
    return records if n_used < records.size else np.concatenate([records, np.zeros_like(records)])


@kernel
def has_space(arrays: ArmWatchArrays) -> bool:
    """Return whether there is space for one more step."""
    watch = arrays.watch[0]
    return watch["n_sums"] < arrays.sums.size and watch["n_alarms"] < arrays.alarms.size


@kernel
def exploration(params: ArmWatchParams, arrays: ArmWatchArrays) -> float:
    """Return the share of steps that explore, alpha in force."""
    alpha = params.alpha
    if params.is_growing:
        alpha *= math.sqrt(1.0 + arrays.watch[0]["n_alarms"])
    return min(1.0, alpha)


@kernel
def explored_arm(params: ArmWatchParams, arrays: ArmWatchArrays, t: int) -> int:
    """Return the arm that is to be explored at time ``t``, or -1."""
    n_arms, alpha = arrays.arms.size, exploration(params, arrays)
    if alpha < LEAST_EXPLORATION:
        return -1
    if params.is_random:
        drawn = uniform(arrays.generator)
        return min(int(drawn / alpha * n_arms), n_arms - 1) if drawn < alpha else -1
    # M-UCB's clock begins with the restart. That of GLR-klUCB never stops.
    began = arrays.watch[0]["restart"] if params.detector == HALVES else 0
    turn = (t - 1 - began) % int(n_arms / alpha)
    return turn if turn < n_arms else -1


@kernel
def update_indices(params: ArmWatchParams, arrays: ArmWatchArrays, t: int) -> None:
    """Compute the index of every arm, infinite for one without a play since its restart."""
    arms, plays = arrays.arms, 0
    for arm in range(arms.size):
        plays += arms[arm]["plays"]
    for arm in range(arms.size):
        mine = arms[arm]
        if mine["plays"] == 0:
            arrays.indices[arm] = np.inf
            continue
        mean = mine["total"] / mine["plays"]
        if params.uses_kl:  # an arm that was restarted alone is as uncertain as its own clock says
            level = params.xi * math.log(max(1, t - 1 - mine["restart"])) / mine["plays"]
            arrays.indices[arm] = kl_upper_bound(mean, level)
        else:
            arrays.indices[arm] = mean + math.sqrt(params.xi * math.log(plays) / mine["plays"])


@kernel
def choose(params: ArmWatchParams, arrays: ArmWatchArrays, t: int) -> int:
    """Return the arm to play at time ``t``, the same until it is played."""
    watch = arrays.watch[0]
    if watch["advised"] < 0:
        chosen = explored_arm(params, arrays, t)
        if chosen < 0:
            update_indices(params, arrays, t)
            chosen = first_largest(arrays.indices)
        watch["advised"] = chosen
    return watch["advised"]


@kernel
def first_largest(indices: Floats) -> int:
    """Return the first arm within 1e-9 of the largest index."""
    best = -np.inf
    for arm in range(indices.size):
        best = max(best, indices[arm])
    chosen = 0
    while indices[chosen] < best - TIE:
        chosen += 1
    return chosen


@kernel
def learn(params: ArmWatchParams, arrays: ArmWatchArrays, t: int, arm: int, reward: float) -> None:
    """Count the play of time ``t``, test its arm, and restart on an alarm."""
    watch, mine = arrays.watch[0], arrays.arms[arm]
    gain = min(max((reward - params.bottom) / params.span, 0.0), 1.0)
    watch["advised"] = -1
    mine["plays"] += 1
    mine["total"] += gain
    if params.detector == GLR:
        is_changed = test_splits(params, arrays, arm)
    elif params.detector == HALVES:
        is_changed = test_halves(params, arrays, arm)
    else:
        is_changed = test_walks(params, arrays, arm, gain)
    if is_changed:
        alarm = arrays.alarms[watch["n_alarms"]]
        alarm["t"], alarm["arm"] = t, arm
        watch["n_alarms"] += 1
        restart(params, arrays, t, arm)


@kernel
def test_splits(params: ArmWatchParams, arrays: ArmWatchArrays, arm: int) -> bool:
    """Return whether the likelihood ratio of some split exceeds ln(n^(3/2) / delta), the Bernoulli GLR test."""
    watch, mine = arrays.watch[0], arrays.arms[arm]
    n, total = mine["plays"], mine["total"]
    found = mine["newest"]
    is_changed = False
    if n % params.test_every == 0:
        mean, threshold = total / n, 1.5 * math.log(n) + params.threshold
        while found >= 0 and not is_changed:
            part = arrays.sums[found]
            first, last = part["plays"], n - part["plays"]
            before = min(max(part["total"] / first, 0.0), 1.0)
            after = min(max((total - part["total"]) / last, 0.0), 1.0)
            ratio = first * bernoulli_kl(before, mean) + last * bernoulli_kl(after, mean)
            is_changed = ratio > threshold
            found = part["before"]
    if (n - 1) % params.split_every == 0:  # a split for the tests to come
        part = arrays.sums[watch["n_sums"]]
        part["plays"], part["before"], part["total"] = n, mine["newest"], total
        mine["newest"] = watch["n_sums"]
        watch["n_sums"] += 1
    return is_changed


@kernel
def test_halves(params: ArmWatchParams, arrays: ArmWatchArrays, arm: int) -> bool:
    """Return whether the two halves of the last w rewards differ by more than b, [CWKX19] Algorithm 2."""
    mine, sums = arrays.arms[arm], arrays.recent
    n, half, size = mine["plays"], params.window // 2, params.window + 1
    sums[arm, n % size] = mine["total"]
    if n < params.window:
        return False
    middle = sums[arm, (n - half) % size]
    last, before = mine["total"] - middle, middle - sums[arm, (n - params.window) % size]
    return abs(last - before) > params.threshold


@kernel
def test_walks(params: ArmWatchParams, arrays: ArmWatchArrays, arm: int, gain: float) -> bool:
    """Return whether a walk away from the mean of the first M rewards exceeds h, the two-sided CUSUM test."""
    mine = arrays.arms[arm]
    if mine["plays"] == params.window:
        mine["start"] = mine["total"] / mine["plays"]
    elif mine["plays"] > params.window:
        mine["rise"] = max(0.0, mine["rise"] + gain - mine["start"] - params.epsilon)
        mine["fall"] = max(0.0, mine["fall"] + mine["start"] - gain - params.epsilon)
    return max(mine["rise"], mine["fall"]) > params.threshold


@kernel
def restart(params: ArmWatchParams, arrays: ArmWatchArrays, t: int, changed: int) -> None:
    """Forget the arm that changed, or all arms."""
    watch = arrays.watch[0]
    watch["restart"] = t
    if not params.is_local:
        watch["n_sums"] = 0
    for arm in range(arrays.arms.size):
        if arm == changed or not params.is_local:
            mine = arrays.arms[arm]
            mine["plays"], mine["restart"], mine["newest"] = 0, t, -1
            mine["total"], mine["start"], mine["rise"], mine["fall"] = 0.0, 0.0, 0.0, 0.0
            if params.detector == HALVES:
                arrays.recent[arm, 0] = 0.0


@kernel
def play(
    inputs: RunInputs, params: ArmWatchParams, arrays: ArmWatchArrays, record: Record, first: int, last: int, t: int
) -> int:
    """Take the steps of the rows ``first .. last - 1``, from time ``t``. Return the row reached: space may end."""
    world, draws, noise = inputs
    for step in range(first, last):
        if not has_space(arrays):
            return step
        arm = choose(params, arrays, t + step - first)
        reward, _ = take_step(world, draws, noise, record, step, arm)
        learn(params, arrays, t + step - first, arm, reward)
    return last

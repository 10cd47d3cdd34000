"""IMED-RL's step: iterate values on the skeleton, compare indices, learn, and a whole run of such steps.

One definition serves the live agent, which calls ``choose`` and ``learn``, and ``play``.

===========  ========================================================================================
n, c(s')     visits of a pair, and of its next states
r, p         (1/2 + sum of rewards) / (n + 1) and (1/S + c(s')) / (n + 1)
w_v          weight of the value v in the law of a pair's rewards, the prior's 1/2 included: n + 1 in all
phi          ``plan.bias``: the values of the states on the skeleton, the least of which is 0
M            1 + max phi, the most that a step can be worth
q, mu        r + p phi of a pair, and its maximum over the actions of a state
K            max over 0 <= x <= 1 / (M - mu) of sum_s' p(s') sum_v w_v / (n + 1) ln (1 - (v + phi(s') - mu) x)
===========  ========================================================================================

K is how many nats a visit tells against the best action's value being the pair's own [HT15]. The index of an action
is n K + ln n [PM22], and the smallest is played.

States that were never met are alike and share one value, so a step costs what was met and not S.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.arrays import Ints, Record, RunInputs, Step, TransitionCounts
from driftmdp.kernels.bellman import CONVERGED, COUNTS_FULL
from driftmdp.kernels.detection import forced_action, watch_step
from driftmdp.kernels.detection_arrays import QUIET, Watch
from driftmdp.kernels.extended_value_iteration import TIE
from driftmdp.kernels.imed_rl_arrays import ImedArrays, ImedParams, ImedPlan, RewardLaws
from driftmdp.kernels.reward_laws import add_reward, dual_at, largest_reward, slope_at
from driftmdp.kernels.world import take_step

PRIOR_REWARD = 0.5  # the one reward that every pair is given before its first visit
MAX_STEPS = 100  # of the search for x: bisection alone needs 40
STEP_PRECISION = 1e-12  # of the interval of x


@kernel
def summarize_values(plan: ImedPlan) -> None:
    """Note the largest value and the mean over all states."""
    facts = plan.facts[0]
    n, n_states = facts["n_touched"], plan.bias.size
    top = facts["elsewhere"] if n < n_states else -np.inf
    total = (n_states - n) * facts["elsewhere"]
    for i in range(n):
        value = plan.bias[plan.touched[i]]
        top = max(top, value)
        total += value
    facts["top"], facts["mean"] = top, total / n_states


@kernel
def evaluate_pair(counts: TransitionCounts, plan: ImedPlan, index: int) -> float:
    """Return q = r + p phi of a pair that was tried."""
    slot = counts.slots[index]
    # The prior's uniform next state is worth the mean of all values.
    total, found = PRIOR_REWARD + slot["total"] + plan.facts[0]["mean"], slot["head"]
    while found >= 0:
        entry = counts.entries[found]
        total += entry["count"] * plan.bias[entry["next_state"]]
        found = entry["link"]
    return total / (slot["count"] + 1.0)


@kernel
def sweep(offsets: Ints, counts: TransitionCounts, plan: ImedPlan) -> float:
    """Replace all values by those of the best pairs of the skeleton, less the least. Return the largest change."""
    facts, bias, swept, touched = plan.facts[0], plan.bias, plan.swept, plan.touched
    n = facts["n_touched"]
    untried = PRIOR_REWARD + facts["mean"]
    for i in range(n):
        s = touched[i]
        has_untried = plan.tried[s] < offsets[s + 1] - offsets[s] and plan.enough[s] == 0.0
        swept[s] = untried if has_untried else -np.inf
    for index in range(counts.tally[0]["n_slots"]):
        slot = counts.slots[index]
        s = slot["state"]
        if slot["count"] >= plan.enough[s]:
            swept[s] = max(swept[s], evaluate_pair(counts, plan, index))
    low, high, least, largest = np.inf, -np.inf, np.inf, 0.0
    if n < bias.size:
        low = high = untried - facts["elsewhere"]
        least = untried
    for i in range(n):
        s = touched[i]
        low, high = min(low, swept[s] - bias[s]), max(high, swept[s] - bias[s])
        least = min(least, swept[s])
    if n < bias.size:
        largest = abs(untried - least - facts["elsewhere"])
        facts["elsewhere"] = untried - least
    for i in range(n):
        s = touched[i]
        largest = max(largest, abs(swept[s] - least - bias[s]))
        bias[s] = swept[s] - least
    # [P94, Theorem 8.5.5]: the gain of the skeleton's model lies between low and high.
    facts["gain"], facts["residual"] = 0.5 * (low + high), high - low
    summarize_values(plan)
    return largest


@kernel
def improve_plan(arrays: ImedArrays) -> None:
    """Iterate values from where they are, once per step: a step changes little."""
    params, offsets, counts, _, plan = arrays
    facts = plan.facts[0]
    if facts["planned"] == facts["t"]:  # ``act`` may be called again before ``observe``
        return
    facts["planned"], facts["sweeps"] = facts["t"], 0
    facts["plans"] += 1
    summarize_values(plan)
    change = np.inf
    while change >= params.precision and facts["sweeps"] < params.max_sweeps:
        change = sweep(offsets, counts, plan)
        facts["sweeps"] += 1
    facts["total_sweeps"] += facts["sweeps"]


@kernel
def spread_mass(counts: TransitionCounts, plan: ImedPlan, index: int) -> None:
    """Put the weight of each next state of a pair, 1/S + c(s'), into ``plan.swept``: it is free between sweeps."""
    for i in range(plan.facts[0]["n_touched"]):
        plan.swept[plan.touched[i]] = 1.0 / plan.bias.size
    found = counts.slots[index]["head"]
    while found >= 0:
        entry = counts.entries[found]
        plan.swept[entry["next_state"]] += entry["count"]
        found = entry["link"]


@kernel
def dual_slope(laws: RewardLaws, plan: ImedPlan, index: int, mu: float, x: float) -> tuple[float, float]:
    """Return first and second derivative of the dual at x, negated, times (n + 1)^2."""
    facts = plan.facts[0]
    n, n_states = facts["n_touched"], plan.bias.size
    slope, bend = 0.0, 0.0
    if n < n_states:
        slope, bend = slope_at(laws, index, facts["elsewhere"] - mu, x)
        mass = float(n_states - n) / n_states
        slope, bend = mass * slope, mass * bend
    for i in range(n):
        s = plan.touched[i]
        more, sharper = slope_at(laws, index, plan.bias[s] - mu, x)
        slope += plan.swept[s] * more
        bend += plan.swept[s] * sharper
    return slope, bend


@kernel
def find_multiplier(laws: RewardLaws, plan: ImedPlan, index: int, mu: float) -> float:
    """Return where the dual is largest: Newton's steps, halving the interval where one would leave it."""
    low, high = 0.0, 1.0 / (1.0 + plan.facts[0]["top"] - mu)
    # With a reward of 1 the dual falls to minus infinity at the right end. Without, it may be largest there.
    if largest_reward(laws, index) < 1.0 and dual_slope(laws, plan, index, mu, high)[0] <= 0.0:
        return high
    width, x = high, 0.0
    for _ in range(MAX_STEPS):
        slope, bend = dual_slope(laws, plan, index, mu, x)
        if slope < 0.0:
            low = x
        else:
            high = x
        following = x - slope / bend
        if not low < following < high:
            following = 0.5 * (low + high)
        moved, x = abs(following - x), following
        if moved <= STEP_PRECISION * width:
            break
    return x


@kernel
def divergence(
    params: ImedParams, counts: TransitionCounts, laws: RewardLaws, plan: ImedPlan, index: int, mu: float
) -> float:
    """Return K of a pair, 0 where its value is mu. Its authors' code has ln M more elsewhere."""
    facts = plan.facts[0]
    if evaluate_pair(counts, plan, index) >= mu:
        return 0.0
    spread_mass(counts, plan, index)
    x = find_multiplier(laws, plan, index, mu)
    n, n_states, total = facts["n_touched"], plan.bias.size, 0.0
    if n < n_states:
        total = (n_states - n) * dual_at(laws, index, facts["elsewhere"] - mu, x) / n_states
    for i in range(n):
        s = plan.touched[i]
        total += plan.swept[s] * dual_at(laws, index, plan.bias[s] - mu, x)
    mass = counts.slots[index]["count"] + 1.0
    more = math.log(1.0 + facts["top"]) if params.by_authors else 0.0
    return max(0.0, total / (mass * mass)) + more


@kernel
def best_value(offsets: Ints, counts: TransitionCounts, plan: ImedPlan, state: int) -> float:
    """Return mu: the largest value of the actions of a state that were tried."""
    mu = -np.inf
    for pair in range(offsets[state], offsets[state + 1]):
        if counts.slot_of[pair] >= 0:
            mu = max(mu, evaluate_pair(counts, plan, counts.slot_of[pair]))
    return mu


@kernel
def choose(arrays: ImedArrays, state: int) -> int:
    """Return the first action that was never tried, or else that of the smallest index n K + ln n, [PM22]."""
    params, offsets, counts, laws, plan = arrays
    if plan.tried[state] < offsets[state + 1] - offsets[state]:
        for pair in range(offsets[state], offsets[state + 1]):
            if counts.slot_of[pair] < 0:
                return pair - offsets[state]
    improve_plan(arrays)
    mu = best_value(offsets, counts, plan, state)
    action, best, least = 0, np.inf, np.inf
    for pair in range(offsets[state], offsets[state + 1]):
        index = counts.slot_of[pair]
        count = counts.slots[index]["count"]
        value = math.log(count)
        if value <= best + TIE:  # otherwise it cannot win, whatever K is
            value += count * divergence(params, counts, laws, plan, index, mu)
        # Ties within rounding go to the pair that would teach more.
        if value < best - TIE or (value <= best + TIE and count < least):
            action, best, least = pair - offsets[state], value, count
    return action


@kernel
def add_state(plan: ImedPlan, state: int) -> None:
    """Add a state that is met for the first time. Its value is that of the states never met."""
    if not plan.is_met[state]:
        facts = plan.facts[0]
        plan.is_met[state] = True
        plan.touched[facts["n_touched"]] = state
        plan.bias[state] = facts["elsewhere"]
        facts["n_touched"] += 1


@kernel
def note_visits(plan: ImedPlan, state: int, count: float) -> None:
    """Note that an action of a state has so many visits, and how many one needs to be in the skeleton, [PM22]."""
    if count > plan.most[state]:
        log = math.log(count)
        plan.most[state], plan.enough[state] = count, log * log


@kernel
def learn(arrays: ImedArrays, step: Step) -> None:
    """Remember a step, its reward clipped to the range, and advance the clock."""
    params, _, counts, laws, plan = arrays
    state, pair, reward, next_state = step
    reward = min(max((reward - params.bottom) / params.span, 0.0), 1.0)
    is_new = counts.slot_of[pair] < 0
    transition_counts.remember(counts, state, pair, next_state, reward)
    index = counts.slot_of[pair]
    if is_new:
        plan.tried[state] += 1
        add_reward(laws, index, PRIOR_REWARD, 1.0)
    add_reward(laws, index, reward, 1.0)
    add_state(plan, state)
    add_state(plan, next_state)
    note_visits(plan, state, counts.slots[index]["count"])
    plan.facts[0]["t"] += 1


@kernel
def play(
    inputs: RunInputs, arrays: ImedArrays, record: Record, first: int, last: int, watch: Watch | None = None
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``. Return the row reached and a status."""
    world, draws, noise = inputs
    facts = arrays.plan.facts[0]
    for step in range(first, last):
        # Arrays cannot grow in compiled code: the caller enlarges them and comes back to the same step.
        if not transition_counts.has_space(arrays.counts):
            return step, COUNTS_FULL
        state = record.states[step]
        action = choose(arrays, state)
        record.sweeps[step] = facts["sweeps"] if facts["planned"] == facts["t"] else 0
        if watch is not None:
            action = forced_action(watch, arrays.offsets, state, action)
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(arrays, (state, arrays.offsets[state] + action, reward, next_state))
        if watch is not None:
            signal = watch_step(watch, state, arrays.offsets[state] + action, reward, next_state)
            if signal != QUIET:
                return step + 1, signal
    return last, CONVERGED

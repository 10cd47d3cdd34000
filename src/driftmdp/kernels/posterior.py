"""Posterior sampling: drawing and solving a model, learning, and a whole run of such steps.

One definition serves the live agent, which calls these one by one, and ``play``.

The row of a pair is Dirichlet(prior + count of each next state): gamma generator over their sum. A gamma draw of
shape a < 1 is G exp(-w) with w exponential of rate a, and G a draw of shape a + 1: most next states that were
never seen have a large w, and a weight far below 1e-13 of the whole. Those with w > cut are left out: as each is
so with the same probability, the places of the others are found by geometric jumps. So where the prior's weights
have the sum 1, a row costs some 40 draws and those of its seen successors, whatever S is.

Random numbers are drawn in compiled code by xoshiro256++ [BV21]. The state of the generator is four uint64, seeded
from numpy's generator and changed in place by every draw.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import transition_counts
from driftmdp.kernels.arrays import Longs, Record, RunInputs, Step, TransitionCounts
from driftmdp.kernels.bellman import BUFFER_FULL, CONVERGED, COUNTS_FULL
from driftmdp.kernels.detection import forced_action, watch_step
from driftmdp.kernels.detection_arrays import QUIET, Watch
from driftmdp.kernels.gain import solve
from driftmdp.kernels.optimist import count_visit, should_end_episode
from driftmdp.kernels.posterior_arrays import Bits, PosteriorArrays, PosteriorParams, SampledModel
from driftmdp.kernels.world import take_step

FORGOTTEN_BELOW = 1e-9  # of a step: what has faded further is dropped
SOLVER_BUDGET = 100  # evaluations for a plan, then the best policy found is used
UNIT = 2.0**-53  # doubles in [0, 1) have 53 random bits
ELEVEN, SEVENTEEN, NINETEEN = np.uint64(11), np.uint64(17), np.uint64(19)  # np.uint64 goes only with np.uint64
TWENTY_THREE, FORTY_FIVE, FORTY_ONE = np.uint64(23), np.uint64(45), np.uint64(41)


@kernel
def learn(arrays: PosteriorArrays, step: Step) -> None:
    """Remember a step, its reward clipped to the range, and advance the clock."""
    params, counts, plan_state, faded_at = arrays.params, arrays.counts, arrays.plan_state, arrays.faded_at
    state, pair, reward, next_state = step
    clock = plan_state.clock[0]
    # Only the pair at hand fades now. The others do when a plan or a visit needs them.
    if params.discount < 1.0 and counts.slot_of[pair] >= 0:
        fade(params, counts, faded_at, counts.slot_of[pair], clock["t"])
    reward = min(max((reward - params.bottom) / params.span, 0.0), 1.0)
    transition_counts.remember(counts, state, pair, next_state, reward)
    if params.discount < 1.0:
        faded_at[pair] = clock["t"]
        recount(counts, counts.slot_of[pair])
    count_visit(plan_state, pair)


@kernel
def fade(params: PosteriorParams, counts: TransitionCounts, faded_at: Longs, index: int, t: int) -> None:
    """Discount what is remembered of a pair to time ``t``, and drop what has nearly vanished."""
    slot = counts.slots[index]
    kept = params.discount ** (t - faded_at[slot["pair"]])
    faded_at[slot["pair"]] = t
    slot["total"] *= kept
    slot["squares"] *= kept
    found = slot["head"]
    while found >= 0:
        entry = counts.entries[found]
        following = entry["link"]  # dropping the entry overwrites its link
        entry["count"] *= kept
        if entry["count"] < FORGOTTEN_BELOW:
            transition_counts.drop_entry(counts, index, found)
        found = following
    if slot["head"] < 0:
        transition_counts.drop_slot(counts, index)
    else:
        recount(counts, index)


@kernel
def recount(counts: TransitionCounts, index: int) -> None:
    """Make a pair's count the sum of its successors'."""
    # To the last bit: snapshots are checked for it, and probabilities sum to 1.
    slot = counts.slots[index]
    total, found = 0.0, slot["head"]
    while found >= 0:
        total += counts.entries[found]["count"]
        found = counts.entries[found]["link"]
    slot["count"] = total


@kernel
def plan(arrays: PosteriorArrays) -> int:
    """Begin an episode: draw a model and solve it. Return CONVERGED, or BUFFER_FULL with nothing drawn."""
    params, counts, plan_state, faded_at, generator, sample = arrays
    clock, in_force = plan_state.clock[0], plan_state.in_force[0]
    if params.discount < 1.0:
        # Backwards, because the last slot takes the place of one that is dropped.
        for index in range(counts.tally[0]["n_slots"] - 1, -1, -1):
            fade(params, counts, faded_at, index, clock["t"] - 1)
    # The generator is put back if the model does not fit: the larger arrays must get the same draws.
    a, b, c, d = generator[0], generator[1], generator[2], generator[3]
    if not draw_model(params, counts, generator, sample):
        generator[0], generator[1], generator[2], generator[3] = a, b, c, d
        return BUFFER_FULL
    low, high, sweeps, evaluations, _ = solve(
        sample.model, plan_state.policy, plan_state.bias, params.tolerance, SOLVER_BUDGET, False
    )
    is_finite = True
    for s in range(plan_state.bias.size):
        is_finite &= np.isfinite(plan_state.bias[s])
    for s in range(0 if is_finite else plan_state.bias.size):
        plan_state.bias[s] = 0.0  # elimination failed: the next plan begins without it
    clock["episode"] += 1
    clock["tau"] = in_force["t"] = clock["t"]
    in_force["gain"], in_force["sweeps"] = high, max(1, sweeps + evaluations)
    in_force["residual"] = high - low if high >= low else np.inf  # not so where one is no number
    clock["worst_residual"] = max(clock["worst_residual"], in_force["residual"])
    for index in range(counts.tally[0]["n_slots"]):
        visits = plan_state.visits[counts.slots[index]["pair"]]
        visits["episode"], visits["left"] = clock["episode"], max(1, math.ceil(counts.slots[index]["count"]))
    return CONVERGED


@kernel
def draw_model(params: PosteriorParams, counts: TransitionCounts, generator: Bits, sample: SampledModel) -> bool:
    """Draw the mean reward and the next states of every pair. Return whether they fit."""
    model, n = sample.model, sample.seen.size
    z = 0
    for pair in range(model.rewards.size):
        if z + n > model.data.size:  # a row may have every state
            return False
        model.indptr[pair] = z
        index = counts.slot_of[pair]
        count, total = 0.0, 0.0
        if index >= 0:
            count, total = counts.slots[index]["count"], counts.slots[index]["total"]
        # A reward counts as so much of a success: its Beta(1, 1) prior is uniform.
        model.rewards[pair] = beta(generator, 1.0 + max(total, 0.0), 1.0 + max(count - total, 0.0))
        z = draw_row(params, counts, generator, sample, index, z)
    model.indptr[model.rewards.size] = z
    return True


@kernel
def draw_row(
    params: PosteriorParams, counts: TransitionCounts, generator: Bits, sample: SampledModel, index: int, first: int
) -> int:
    """Draw the next states of a pair from place ``first`` on. Return the place after them."""
    data, indices, seen = sample.model.data, sample.model.indices, sample.seen
    count, head = 0.0, -1
    if index >= 0:
        count, head = counts.slots[index]["count"], counts.slots[index]["head"]
    cut = 30.0 + 15.0 / (params.prior * seen.size + count)  # e^-30 of a total that is less than e^-15 once in 10^6
    total, z = 0.0, first
    # Where all are beyond the cut, they are drawn again: w is memoryless, so their ratios have the same law.
    while total == 0.0:
        z, found = first, head
        while found >= 0:
            entry = counts.entries[found]
            seen[entry["next_state"]] = True
            indices[z], data[z] = entry["next_state"], draw_weight(generator, params.prior + entry["count"], cut)
            total += data[z]
            z += 1
            found = entry["link"]
        z, more = draw_unseen(params, generator, sample, cut, z)
        total += more
    while head >= 0:
        seen[counts.entries[head]["next_state"]] = False
        head = counts.entries[head]["link"]
    for i in range(first, z):
        data[i] /= total
    return z


@kernel
def draw_unseen(
    params: PosteriorParams, generator: Bits, sample: SampledModel, cut: float, z: int
) -> tuple[int, float]:
    """Draw the weights of next states that were not seen. Return the place after them, and their sum."""
    prior, n, total = params.prior, sample.seen.size, 0.0
    kept = -math.expm1(-cut * prior)  # the probability that w <= cut
    state = -1
    while True:
        # An exponential jump, rounded down, is geometric: to the next state that is within the cut.
        state += 1 if prior >= 1.0 else 1 + int(exponential(generator) / (cut * prior))
        if state >= n:
            return z, total
        if not sample.seen[state]:
            if prior >= 1.0:
                weight = gamma(generator, prior)
            else:
                # w given that it is within the cut, by inversion.
                weight = gamma(generator, prior + 1.0) * math.exp(math.log1p(-uniform(generator) * kept) / prior)
            sample.model.indices[z], sample.model.data[z] = state, weight
            total += weight
            z += 1


@kernel
def draw_weight(generator: Bits, shape: float, cut: float) -> float:
    """Return a gamma draw, 0 where it is beyond the cut."""
    if shape >= 1.0:
        return gamma(generator, shape)
    w = exponential(generator) / shape
    return 0.0 if w > cut else gamma(generator, shape + 1.0) * math.exp(-w)


@kernel
def play(
    inputs: RunInputs, arrays: PosteriorArrays, record: Record, first: int, last: int, watch: Watch | None = None
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``. Return the row reached and a status.

    A watch may force actions, and stops the run by its own status after the step that it fires on.
    """
    world, draws, noise = inputs
    clock, plan_state, offsets = arrays.plan_state.clock[0], arrays.plan_state, world.offsets
    for step in range(first, last):
        state = record.states[step]
        if not transition_counts.has_space(arrays.counts):
            return step, COUNTS_FULL
        if should_end_episode(arrays.params.every, offsets, plan_state, state):
            status = plan(arrays)
            if status != CONVERGED:
                return step, status
        if clock["tau"] == clock["t"]:
            record.sweeps[step] = plan_state.in_force[0]["sweeps"]
        action = plan_state.policy[state]
        if watch is not None:
            action = forced_action(watch, offsets, state, action)
        reward, next_state = take_step(world, draws, noise, record, step, action)
        learn(arrays, (state, offsets[state] + action, reward, next_state))
        if watch is not None:
            signal = watch_step(watch, state, offsets[state] + action, reward, next_state)
            if signal != QUIET:
                return step + 1, signal
    return last, CONVERGED


@kernel
def next_bits(generator: Bits) -> np.uint64:
    """Return 64 random bits of xoshiro256++."""
    a, b, c, d = generator[0], generator[1], generator[2], generator[3]
    mixed = a + d
    found = ((mixed << TWENTY_THREE) | (mixed >> FORTY_ONE)) + a
    c ^= a
    d ^= b
    generator[1] = b ^ c
    generator[0] = a ^ d
    generator[2] = c ^ (b << SEVENTEEN)
    generator[3] = (d << FORTY_FIVE) | (d >> NINETEEN)
    return found


@kernel
def uniform(generator: Bits) -> float:
    """Return a number between 0 and 1, never one of them."""
    # The middle of one of 2^53 cells, so that its logarithm is finite.
    return (float(next_bits(generator) >> ELEVEN) + 0.5) * UNIT


@kernel
def exponential(generator: Bits) -> float:
    """Return a number with the exponential law of mean 1."""
    return -math.log(uniform(generator))


@kernel
def normal(generator: Bits) -> float:
    """Return a standard normal number: Marsaglia's polar method, of which one of the two is used."""
    while True:
        x, y = 2.0 * uniform(generator) - 1.0, 2.0 * uniform(generator) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


@kernel
def gamma(generator: Bits, shape: float) -> float:
    """Return a number with the gamma law of a shape of at least 1, scale 1 [MT00]."""
    if shape == 1.0:
        return exponential(generator)
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(generator)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v  # a cube of a normal is nearly gamma. What is left is corrected by rejection
            u = uniform(generator)
            # The first bound spares most of the logarithms.
            if u < 1.0 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v


@kernel
def beta(generator: Bits, a: float, b: float) -> float:
    """Return a number with the beta law of shapes of at least 1."""
    x = gamma(generator, a)
    return x / (x + gamma(generator, b))

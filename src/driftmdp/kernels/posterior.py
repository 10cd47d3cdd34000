"""Posterior sampling: when to draw a model, drawing and solving it, learning; and a whole run of such steps.

One definition serves the live agent, which calls these one by one, and ``play``.

The row of a pair is Dirichlet(prior + count of each next state): gamma draws over their sum. A gamma draw of
shape a < 1 is G exp(-w) with w exponential of rate a, and G a draw of shape a + 1: most next states that were
never seen have a large w, and a weight far below 1e-13 of the whole. Those with w > cut are left out: as each is
so with the same probability, the places of the others are found by geometric jumps. So where the prior's weights
have the sum 1, a row costs some 40 draws and those of its seen successors, whatever S is.
"""

from __future__ import annotations

import math

import numpy as np

from driftmdp.kernels import transition_counts
from driftmdp.kernels._compile import inlined_kernel, lean_kernel
from driftmdp.kernels.arrays import Draws, Ints, Longs, PlanState, Record, TransitionCounts, WorldArrays
from driftmdp.kernels.bellman import CONVERGED, NO_ROOM
from driftmdp.kernels.gain import solve
from driftmdp.kernels.posterior_arrays import Bits, PosteriorParams, SampledModel
from driftmdp.kernels.rng import beta, exponential, gamma, uniform
from driftmdp.kernels.world import take_step

FAINTEST = 1e-9  # of a step: what has faded below is forgotten
ROUNDS = 100  # the budget of a plan; then the best policy found is used


@inlined_kernel
def should_replan(law: PosteriorParams, offsets: Ints, plan_state: PlanState, state: int) -> bool:
    """Return whether the episode ends before a step in ``state``; it has at least one step."""
    clock = plan_state.clock[0]
    if clock["tau"] == clock["t"]:
        return False
    if clock["tau"] == 0 or (law.every > 0 and clock["t"] % law.every == 0):
        return True
    visits = plan_state.visits[offsets[state] + plan_state.policy[state]]
    return visits["episode"] == clock["episode"] and visits["left"] <= 0


@inlined_kernel
def learn(
    law: PosteriorParams,
    known: TransitionCounts,
    plan_state: PlanState,
    faded: Longs,
    state: int,
    pair: int,
    reward: float,
    next_state: int,
) -> None:
    """Remember a step, its reward clipped to the range, and let time pass."""
    clock = plan_state.clock[0]
    if law.discount < 1.0 and known.slot_of[pair] >= 0:
        fade(law, known, faded, known.slot_of[pair], clock["t"])
    transition_counts.remember(known, state, pair, next_state, min(max((reward - law.bottom) / law.span, 0.0), 1.0))
    if law.discount < 1.0:
        faded[pair] = clock["t"]
        count_again(known, known.slot_of[pair])
    visits = plan_state.visits[pair]
    if visits["episode"] != clock["episode"]:
        visits["episode"], visits["left"] = clock["episode"], 1
    visits["left"] -= 1
    clock["t"] += 1


@lean_kernel
def fade(law: PosteriorParams, known: TransitionCounts, faded: Longs, index: int, t: int) -> None:
    """Let what is remembered of a pair fade to time ``t``, and forget what is too faint."""
    slot = known.slots[index]
    kept = law.discount ** (t - faded[slot["pair"]])
    faded[slot["pair"]] = t
    slot["total"] *= kept
    slot["squares"] *= kept
    found = slot["head"]
    while found >= 0:
        entry = known.entries[found]
        following = entry["link"]
        entry["count"] *= kept
        if entry["count"] < FAINTEST:
            transition_counts.drop_entry(known, index, found)
        found = following
    if slot["head"] < 0:
        transition_counts.drop_slot(known, index)
    else:
        count_again(known, index)


@inlined_kernel
def count_again(known: TransitionCounts, index: int) -> None:
    """Let a pair's count be the sum of its successors', to the last bit."""
    slot = known.slots[index]
    total, found = 0.0, slot["head"]
    while found >= 0:
        total += known.entries[found]["count"]
        found = known.entries[found]["link"]
    slot["count"] = total


@lean_kernel
def plan(
    law: PosteriorParams,
    known: TransitionCounts,
    plan_state: PlanState,
    faded: Longs,
    draws: Bits,
    sample: SampledModel,
) -> int:
    """Begin an episode: draw a model and solve it; return CONVERGED, or NO_ROOM with nothing drawn."""
    clock = plan_state.clock[0]
    if law.discount < 1.0:
        for index in range(known.tally[0]["n_slots"] - 1, -1, -1):  # the last takes the place of one that goes
            fade(law, known, faded, index, clock["t"] - 1)
    a, b, c, d = draws[0], draws[1], draws[2], draws[3]
    if not draw_model(law, known, draws, sample):
        draws[0], draws[1], draws[2], draws[3] = a, b, c, d
        return NO_ROOM
    low, high, sweeps, evaluations, _ = solve(
        sample.model, plan_state.policy, plan_state.bias, law.tolerance, ROUNDS
    )
    for s in range(plan_state.bias.size):
        if not np.isfinite(plan_state.bias[s]):
            plan_state.bias[:] = 0.0  # the next plan begins without it
            break
    clock["episode"] += 1
    clock["tau"] = clock["planned"] = clock["t"]
    clock["gain"], clock["sweeps"] = high, max(1, sweeps + evaluations)
    clock["residual"] = high - low if high >= low else np.inf  # not so where one is no number
    clock["tried_residual"] = max(clock["tried_residual"], clock["residual"])  # of all plans so far
    for index in range(known.tally[0]["n_slots"]):
        visits = plan_state.visits[known.slots[index]["pair"]]
        visits["episode"], visits["left"] = clock["episode"], max(1, math.ceil(known.slots[index]["count"]))
    return CONVERGED


@lean_kernel
def draw_model(law: PosteriorParams, known: TransitionCounts, draws: Bits, sample: SampledModel) -> bool:
    """Draw the mean reward and the next states of every pair; return whether there was room."""
    model, n = sample.model, sample.seen.size
    z = 0
    for pair in range(model.rewards.size):
        if z + n > model.data.size:
            return False
        model.indptr[pair] = z
        index = known.slot_of[pair]
        count, total, head = 0.0, 0.0, -1
        if index >= 0:
            slot = known.slots[index]
            count, total, head = slot["count"], slot["total"], slot["head"]
        model.rewards[pair] = beta(draws, 1.0 + max(total, 0.0), 1.0 + max(count - total, 0.0))
        z = draw_row(law, known, draws, sample, head, count, z)
    model.indptr[model.rewards.size] = z
    return True


@lean_kernel
def draw_row(
    law: PosteriorParams,
    known: TransitionCounts,
    draws: Bits,
    sample: SampledModel,
    head: int,
    count: float,
    first: int,
) -> int:
    """Draw the next states of a pair from place ``first`` on; return the place after them."""
    data, indices, seen = sample.model.data, sample.model.indices, sample.seen
    cut = 30.0 + 15.0 / (law.prior * seen.size + count)  # e^-30 of a total that is less than e^-15 once in 10^6
    total, z = 0.0, first
    while total == 0.0:  # where all of them are beyond the cut, they are as if drawn anew: w is memoryless
        z, found = first, head
        while found >= 0:
            entry = known.entries[found]
            seen[entry["next_state"]] = True
            indices[z], data[z] = entry["next_state"], weigh(draws, law.prior + entry["count"], cut)
            total += data[z]
            z += 1
            found = entry["link"]
        z, more = draw_unseen(law, draws, sample, cut, z)
        total += more
    while head >= 0:
        seen[known.entries[head]["next_state"]] = False
        head = known.entries[head]["link"]
    for i in range(first, z):
        data[i] /= total
    return z


@inlined_kernel
def draw_unseen(law: PosteriorParams, draws: Bits, sample: SampledModel, cut: float, z: int) -> tuple[int, float]:
    """Draw the weights of next states that were not seen; return the place after them, and their sum."""
    prior, n, total = law.prior, sample.seen.size, 0.0
    kept = -math.expm1(-cut * prior)  # the probability that w <= cut
    state = -1
    while True:
        state += 1 if prior >= 1.0 else 1 + int(exponential(draws) / (cut * prior))
        if state >= n:
            return z, total
        if not sample.seen[state]:
            if prior >= 1.0:
                weight = gamma(draws, prior)
            else:
                weight = gamma(draws, prior + 1.0) * math.exp(math.log1p(-uniform(draws) * kept) / prior)
            sample.model.indices[z], sample.model.data[z] = state, weight
            total += weight
            z += 1


@inlined_kernel
def weigh(draws: Bits, shape: float, cut: float) -> float:
    """Return a gamma draw; 0 where it is beyond the cut."""
    if shape >= 1.0:
        return gamma(draws, shape)
    w = exponential(draws) / shape
    return 0.0 if w > cut else gamma(draws, shape + 1.0) * math.exp(-w)


@lean_kernel
def play(
    world: WorldArrays,
    fate: Draws,
    noise: tuple[int, float, float, float],
    law: PosteriorParams,
    known: TransitionCounts,
    plan_state: PlanState,
    faded: Longs,
    draws: Bits,
    sample: SampledModel,
    record: Record,
    first: int,
    last: int,
) -> tuple[int, int]:
    """Take the steps of the rows ``first .. last - 1``; return the row reached and a status."""
    offsets = world.offsets
    for step in range(first, last):
        state = record.states[step]
        if not transition_counts.has_room(known):
            return step, NO_ROOM
        if (
            should_replan(law, offsets, plan_state, state)
            and plan(law, known, plan_state, faded, draws, sample) != CONVERGED
        ):
            return step, NO_ROOM
        if plan_state.clock[0]["tau"] == plan_state.clock[0]["t"]:
            record.sweeps[step] = plan_state.clock[0]["sweeps"]
        action = plan_state.policy[state]
        reward, next_state = take_step(world, fate, noise, record, step, action)
        learn(law, known, plan_state, faded, state, offsets[state] + action, reward, next_state)
    return last, CONVERGED

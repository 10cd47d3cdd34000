"""A drifting MDP at a step: p_t, r_t, draws from them, and runs of agents that do not learn."""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import (
    ANCHOR_NOISE,
    BERNOULLI_NOISE,
    BINOMIAL_NOISE,
    GAUSSIAN_NOISE,
    NO_NOISE,
    Csr,
    Draws,
    Floats,
    Ints,
    Model,
    NoiseModel,
    Record,
    WorldArrays,
)

SPREAD_LIMIT = 4  # spread anchors may hold this many numbers for each that is stored
ROWS_AT_ONCE = 64  # of combinations
NUMBERS_AT_ONCE = 1 << 15  # that they fill: as many as stay in the nearer caches


class ModelBuffers(NamedTuple):
    """Where the MDP of a step is put together.

    =======  ==================  ================================================================
    rewards  (pairs,)            r_t
    data     (union,)            p_t on the union of the anchors' patterns, if it is a mixture
    spread   (K, union), (0, 0)  the anchors' transitions on the union, unless most would be zeros
    =======  ==================  ================================================================
    """

    rewards: Floats
    data: Floats
    spread: Floats


@kernel
def model_buffers(world: WorldArrays) -> ModelBuffers:
    """Return buffers for ``model_at``."""
    n_anchors, n_pairs = world.anchor_rewards.shape[0], world.anchor_rewards.shape[1]
    union = world.union_indices.size
    # Rows that lie alike are mixed several numbers at a time, without looking up where each belongs.
    is_full = union > 0 and n_anchors * union <= SPREAD_LIMIT * world.anchor_data.size
    spread = np.zeros((n_anchors if is_full else 0, union if is_full else 0))
    for anchor in range(spread.shape[0]):
        row = anchor * n_pairs
        for z in range(world.anchor_indptr[row], world.anchor_indptr[row + n_pairs]):
            spread[anchor, world.anchor_position[z]] += world.anchor_data[z]
    return ModelBuffers(np.empty(n_pairs), np.empty(union), spread)


@kernel
def model_at(world: WorldArrays, step: int, buffers: ModelBuffers) -> Model:
    """Return the MDP of a step, in ``buffers``."""
    rewards, mixed, spread = buffers
    for pair in range(rewards.size):
        rewards[pair] = 0.0
    reward_weights = world.reward_weight_indptr, world.reward_weight_indices, world.reward_weight_data
    add_mixture(reward_weights, step, world.anchor_rewards, rewards)
    first, last = world.weight_indptr[step], world.weight_indptr[step + 1]
    n_pairs = world.anchor_rewards.shape[1]
    if last - first == 1:  # one anchor's rows are p_t: nothing is copied
        row = world.weight_indices[first] * n_pairs
        rows = world.anchor_indptr[row : row + n_pairs + 1]
        return Model(world.offsets, rewards, rows, world.anchor_indices, world.anchor_data)
    for z in range(mixed.size):
        mixed[z] = 0.0
    if spread.shape[0] > 0:
        add_mixture((world.weight_indptr, world.weight_indices, world.weight_data), step, spread, mixed)
    else:
        for w in range(first, last):
            row = world.weight_indices[w] * n_pairs
            for z in range(world.anchor_indptr[row], world.anchor_indptr[row + n_pairs]):
                mixed[world.anchor_position[z]] += world.weight_data[w] * world.anchor_data[z]
    return Model(world.offsets, rewards, world.union_indptr, world.union_indices, mixed)


@kernel
def add_mixture(weights: Csr, step: int, rows: Floats, total: Floats) -> None:
    """Add the rows, each times its weight at a step, to ``total``."""
    indptr, indices, data = weights
    for w in range(indptr[step], indptr[step + 1]):
        row, weight = indices[w], data[w]
        for i in range(total.size):
            total[i] += weight * rows[row, i]


@kernel
def mean_reward(world: WorldArrays, step: int, pair: int) -> float:
    """Return r_t of one pair."""
    total = 0.0
    for w in range(world.reward_weight_indptr[step], world.reward_weight_indptr[step + 1]):
        total += world.reward_weight_data[w] * world.anchor_rewards[world.reward_weight_indices[w], pair]
    return total


@kernel
def draw_index(data: Floats, first: int, last: int, uniform: float) -> int:
    """Return the entry in ``first .. last - 1`` that a uniform number in [0, 1) falls on."""
    total = 0.0
    chosen = first
    for z in range(first, last):
        if data[z] > 0.0:
            chosen = z  # rounding may leave the total just under 1: then the last positive entry
            total += data[z]
            if uniform < total:
                break
    return chosen


@kernel
def sample_anchor(world: WorldArrays, step: int, uniform: float) -> int:
    """Draw the anchor of a step. In inventory, the day's censored demand."""
    first, last = world.weight_indptr[step], world.weight_indptr[step + 1]
    return world.weight_indices[draw_index(world.weight_data, first, last, uniform)]


@kernel
def sample_successor(world: WorldArrays, anchor: int, pair: int, uniform: float) -> int:
    """Draw a next state from an anchor's row."""
    row = anchor * world.anchor_rewards.shape[1] + pair
    first, last = world.anchor_indptr[row], world.anchor_indptr[row + 1]
    return world.anchor_indices[draw_index(world.anchor_data, first, last, uniform)]


@kernel
def combination_norms(rows: Csr, anchors: Csr, n_pairs: int, n_states: int, order: float, norms: Floats) -> None:
    """Fill ``norms[i]`` with max over pairs of || sum_k c_ik P_k(. | pair) ||_order.

    ``rows`` is the CSR of c, ``anchors`` the stacked CSR of the P_k. With c_i = w_{t+1} - w_t this is
    B_{p,t} of [CSZ20] eq:variation_budgets.
    """
    indptr, indices, data = rows
    anchor_indptr, anchor_indices, anchor_data = anchors
    n_anchors = (anchor_indptr.size - 1) // n_pairs
    widest = 1
    for pair in range(n_pairs):
        entries = 0
        for k in range(n_anchors):
            entries += anchor_indptr[k * n_pairs + pair + 1] - anchor_indptr[k * n_pairs + pair]
        widest = max(widest, min(entries, n_states))
    # Rows that combine the same anchors are summed together: their numbers lie side by side, which processors add
    # several at once, and an anchor's entry is looked up once for all of them.
    at_once = max(1, min(ROWS_AT_ONCE, NUMBERS_AT_ONCE // widest))
    most = 0
    for i in range(norms.size):
        most = max(most, indptr[i + 1] - indptr[i])
    weights, total = np.empty(most * at_once), np.empty(widest * at_once)  # each (..., size), row by row
    norm, largest = np.empty(at_once), np.empty(at_once)
    # Only the states that a pair leads to are summed and cleared: the cost does not depend on S.
    place, touched = np.empty(n_states, np.int32), np.empty(widest, np.int32)
    for s in range(n_states):
        place[s] = -1
    start = 0
    while start < norms.size:
        first, count = indptr[start], indptr[start + 1] - indptr[start]
        size = _count_alike(indptr, indices, start, min(at_once, norms.size - start))
        for i in range(size):
            largest[i] = 0.0
            for k in range(count):
                weights[k * size + i] = data[indptr[start + i] + k]
        for pair in range(n_pairs if count > 0 else 0):
            n_touched = 0
            for k in range(count):
                row = indices[first + k] * n_pairs + pair
                for z in range(anchor_indptr[row], anchor_indptr[row + 1]):
                    s, mass = anchor_indices[z], anchor_data[z]
                    j = place[s]
                    if j < 0:
                        place[s], touched[n_touched] = n_touched, s
                        for i in range(size):
                            total[n_touched * size + i] = weights[k * size + i] * mass
                        n_touched += 1
                    else:
                        for i in range(size):
                            total[j * size + i] += weights[k * size + i] * mass
            _sum_sizes(total, n_touched, size, order, norm)
            for i in range(size):
                largest[i] = max(largest[i], norm[i])
            for j in range(n_touched):
                place[touched[j]] = -1
        for i in range(size):
            norms[start + i] = np.sqrt(largest[i]) if order == 2.0 else largest[i]
        start += size


@kernel
def _count_alike(indptr: Ints, indices: Ints, start: int, most: int) -> int:
    """Return how many rows from ``start`` on, at most ``most``, have the columns of that row."""
    first, count = indptr[start], indptr[start + 1] - indptr[start]
    for i in range(1, most):
        here = indptr[start + i]
        alike = indptr[start + i + 1] - here == count
        for k in range(count if alike else 0):
            alike &= indices[here + k] == indices[first + k]
        if not alike:
            return i
    return most


@kernel
def _sum_sizes(total: Floats, n_touched: int, size: int, order: float, norm: Floats) -> None:
    """Fill ``norm`` with the norm of each column of ``total``, (n_touched, size), for order 2 its square."""
    for i in range(size):
        norm[i] = 0.0
    for j in range(n_touched):
        if order == 1.0:
            for i in range(size):
                norm[i] += abs(total[j * size + i])
        elif order == 2.0:
            for i in range(size):
                norm[i] += total[j * size + i] * total[j * size + i]
        else:
            for i in range(size):
                norm[i] = max(norm[i], abs(total[j * size + i]))


@kernel
def take_step(
    world: WorldArrays, draws: Draws, noise: NoiseModel, record: Record, step: int, action: int
) -> tuple[float, int]:
    """Take an action in the state of a step and write down what happens. Return the reward and the next state."""
    pair = world.offsets[record.states[step]] + action
    reward, next_state, _ = sample_step(
        world, step, pair, (draws.anchor[step], draws.successor[step], draws.noise[step]), noise
    )
    record.actions[step], record.rewards[step], record.states[step + 1] = action, reward, next_state
    # Without noise the reward is the mean: computed once.
    record.mean_rewards[step] = reward if noise[0] == NO_NOISE else mean_reward(world, step, pair)
    return reward, next_state


@kernel
def sample_step(
    world: WorldArrays, step: int, pair: int, draws: tuple[float, float, float], noise: NoiseModel
) -> tuple[float, int, int]:
    """Return a step's reward, next state and anchor.

    ``draws`` is (uniform for the anchor, uniform for the successor, uniform or normal for the noise).
    """
    anchor = sample_anchor(world, step, draws[0])
    next_state = sample_successor(world, anchor, pair, draws[1])
    kind, spread, bottom, top = noise
    # The reward belongs to what was drawn, as inventory's pseudo-reward to the day's demand.
    if kind == ANCHOR_NOISE:
        return world.anchor_rewards[anchor, pair], next_state, anchor
    mean = mean_reward(world, step, pair)
    if kind == BERNOULLI_NOISE:  # top with the probability that makes the mean right
        return (top if draws[2] * (top - bottom) < mean - bottom else bottom), next_state, anchor
    if kind == GAUSSIAN_NOISE:
        return mean + spread * draws[2], next_state, anchor
    if kind == BINOMIAL_NOISE and top > bottom:
        share = binomial_count(draws[2], spread, (mean - bottom) / (top - bottom)) / spread
        return min(bottom + share * (top - bottom), top), next_state, anchor  # rounding may exceed the top
    return mean, next_state, anchor


@kernel
def binomial_count(uniform: float, trials: float, chance: float) -> float:
    """Return how many of some trials succeed: the inverse of the Binomial distribution function at a uniform.

    It counts the rarer outcome. So the mass of 0 is at least 2^-trials, which floats hold for 1,000 trials.
    """
    rare = max(0.0, min(chance, 1.0 - chance))
    mass = 1.0
    for _ in range(int(trials)):
        mass *= 1.0 - rare
    count, below = 0.0, mass  # below: the chance of at most `count`
    while uniform >= below and count < trials:
        mass *= (trials - count) / (count + 1.0) * (rare / (1.0 - rare))
        count += 1.0
        below += mass
    return count if chance <= 0.5 else trials - count


@kernel
def follow_policies(
    world: WorldArrays, draws: Draws, noise: NoiseModel, policies: Ints, policy_of: Ints, record: Record
) -> None:
    """Play row ``policy_of[step]`` of the policies at each step."""
    for step in range(record.actions.size):
        take_step(world, draws, noise, record, step, policies[policy_of[step], record.states[step]])


@kernel
def play_randomly(world: WorldArrays, draws: Draws, noise: NoiseModel, uniforms: Floats, record: Record) -> None:
    """Play an action drawn uniformly at each step."""
    for step in range(record.actions.size):
        state = record.states[step]
        count = world.offsets[state + 1] - world.offsets[state]
        take_step(world, draws, noise, record, step, int(uniforms[step] * count))

"""The optimal gain of one MDP, or of a drifting one step after step: sweep or eliminate, whichever is cheaper.

Sweeps are those of modified policy iteration, for large sparse MDPs that mix fast. Elimination is Howard's policy
iteration, for small MDPs and for those that mix slowly.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Chain, Floats, Ints, Model, WorldArrays
from driftmdp.kernels.bellman import CONVERGED, OUT_OF_BUDGET, expectation, subtract_least
from driftmdp.kernels.policy_iteration import policy_iteration
from driftmdp.kernels.world import add_mixture, model_at, model_buffers

KAPPA = 0.95  # the lazy chain moves with this probability
SWEEPS_PER_CHECK = 400  # sweeps between checks of their rate of convergence
MAX_POLICY_SWEEPS = 20  # of one policy between two full sweeps
MAX_SETTLED_SWEEPS = 100  # the same, once the policy has settled
UNSETTLED_SHARE = 1000  # it has if a full sweep changes fewer than one action in so many
ELIMINATE_UP_TO = 32  # states: elimination is cheaper than sweeping
DENSE_LIMIT = 300  # up to here a dense elimination is worth its cube. Beyond, the caller uses a sparse one


@kernel
def modified_policy_iteration(
    model: Model, policy: Ints, bias: Floats, tolerance: float, budget: int, may_settle: bool
) -> tuple[float, float, int, int]:
    """Like ``policy_iteration``, in sweeps over the non-zeros. ``budget`` counts full and policy sweeps.

    Sweeps the lazy chain, T'u = max (r + kappa P u) + (1 - kappa) u, which is aperiodic: h = kappa u has
    T h - h = T'u - u exactly, so the certificate is that of the MDP itself.
    """
    n = model.offsets.size - 1
    u, new = np.empty(n), np.empty(n)
    for s in range(n):
        u[s] = bias[s] / KAPPA
    chain = new_chain(model)
    sweeps, checked, before = 0, 0, np.inf
    while True:
        low, high, n_changed = improving_sweep(model, u, new, policy)
        sweeps += 1
        if high - low <= tolerance or sweeps >= budget:
            break
        if sweeps - checked >= SWEEPS_PER_CHECK:
            # Stop early if the budget does not suffice at this pace: the caller has other methods.
            pace = np.log(before / (high - low)) / (sweeps - checked)
            if np.isfinite(before) and sweeps + np.log((high - low) / tolerance) / max(pace, 1e-9) > budget:
                break
            checked, before = sweeps, high - low
        # The policy alone is cheaper to sweep. Beyond a tenth of the full residual it would gain little.
        # Where the policy has settled, all that is left is its bias.
        settled = may_settle and n_changed < n // UNSETTLED_SHARE
        enough = 0.5 * tolerance if settled else max(0.1 * (high - low), 0.5 * tolerance)
        pack_chain(model, policy, chain)
        for _ in range(MAX_SETTLED_SWEEPS if settled else MAX_POLICY_SWEEPS):
            u, new = new, u
            low, high = chain_sweep(chain, u, new)
            sweeps += 1
            if high - low <= enough:
                break
        u, new = new, u
        subtract_least(u, n)
    for s in range(n):
        bias[s] = KAPPA * u[s]
    return low, high, sweeps, CONVERGED if high - low <= tolerance else OUT_OF_BUDGET


@kernel
def improving_sweep(model: Model, u: Floats, new: Floats, policy: Ints) -> tuple[float, float, int]:
    """Set ``new`` to T'u and ``policy`` to the actions that attain it.

    Return min and max of T'u - u, and how many actions changed.
    """
    low, high, n_changed = np.inf, -np.inf, 0
    for s in range(u.size):
        first = model.offsets[s]
        best_value, best = -np.inf, first
        for pair in range(first, model.offsets[s + 1]):
            value = model.rewards[pair] + KAPPA * expectation(model, u, pair)
            if value > best_value:
                best_value, best = value, pair
        n_changed += policy[s] != best - first
        policy[s] = best - first
        new[s] = best_value + (1.0 - KAPPA) * u[s]
        low, high = min(low, new[s] - u[s]), max(high, new[s] - u[s])
    return low, high, n_changed


@kernel
def chain_sweep(chain: Chain, u: Floats, new: Floats) -> tuple[float, float]:
    """Set ``new`` to T'u for the chain of one policy. Return min and max of T'u - u."""
    rewards, indptr, indices, data = chain
    low, high = np.inf, -np.inf
    for s in range(u.size):
        total = 0.0
        for z in range(indptr[s], indptr[s + 1]):
            total += data[z] * u[indices[z]]
        value = rewards[s] + KAPPA * total + (1.0 - KAPPA) * u[s]
        new[s] = value
        low, high = min(low, value - u[s]), max(high, value - u[s])
    return low, high


@kernel
def new_chain(model: Model) -> Chain:
    """Return arrays for the chain of any policy."""
    n = model.offsets.size - 1
    stored = 0
    for s in range(n):
        longest = 0
        for pair in range(model.offsets[s], model.offsets[s + 1]):
            longest = max(longest, model.indptr[pair + 1] - model.indptr[pair])
        stored += longest
    return np.empty(n), np.empty(n + 1, np.int32), np.empty(stored, np.int32), np.empty(stored)


@kernel
def pack_chain(model: Model, policy: Ints, chain: Chain) -> None:
    """Copy the rows of a policy next to each other: many sweeps read them."""
    rewards, indptr, indices, data = chain
    count = 0
    for s in range(policy.size):
        pair = model.offsets[s] + policy[s]
        rewards[s], indptr[s] = model.rewards[pair], count
        for z in range(model.indptr[pair], model.indptr[pair + 1]):
            indices[count], data[count] = model.indices[z], model.data[z]
            count += 1
    indptr[policy.size] = count


@kernel
def solve(
    model: Model, policy: Ints, bias: Floats, tolerance: float, limit: int, may_settle: bool
) -> tuple[float, float, int, int, int]:
    """Sweep if that is cheap, eliminate if it is not. Return lower, upper, sweeps, evaluations, status.

    To settle is faster and changes the last digits: where trajectories or stored regrets rest on them, it may not.
    """
    n = model.offsets.size - 1
    sweeps = 0
    if n > ELIMINATE_UP_TO:
        # Where elimination is no way out, sweeps may take longer.
        low, high, sweeps, status = modified_policy_iteration(
            model, policy, bias, tolerance, 2 * limit if n <= DENSE_LIMIT else 30 * limit, may_settle
        )
        if status == CONVERGED or n > DENSE_LIMIT:
            return low, high, sweeps, 0, status
    low, high, evaluations, status = policy_iteration(model, policy, bias, tolerance, limit, None)
    return low, high, sweeps, evaluations, status


@kernel
def solve_along(
    world: WorldArrays,
    steps: Ints,
    tolerances: tuple[float, float],
    limit: int,
    lower: Floats,
    upper: Floats,
    policy_of: Ints,
) -> tuple[int, Ints]:
    """Solve each of ``steps``, warm from the last. Return the index of a failure or -1, and the policies.

    Fills certified ``lower`` and ``upper`` gains. The policy of step i is row ``policy_of[i]``. ``tolerances`` are
    the residual that suffices and the one to solve for. If the second is smaller, a bias is kept while it suffices.
    """
    n = world.offsets.size - 1
    tolerance, aim = tolerances
    buffers = model_buffers(world)
    bias, policy = np.zeros(n), np.zeros(n, np.int32)
    keeps = aim < tolerance
    changes = np.empty((world.anchor_rewards.shape[0] if keeps else 0, world.anchor_rewards.shape[1]))
    policies = np.empty((16, n), np.int32)
    n_policies = 0
    kept = 0  # steps since the bias was solved
    for i in range(steps.size):
        low, high = -np.inf, np.inf
        if keeps and i > 0:
            low, high = certify_mixture(world, steps[i], changes, buffers.rewards, policy)
        if keeps and kept > 1 and not high - low <= tolerance:
            # The bias of a step in the middle certifies on both sides: nearly twice as many steps.
            middle = steps[min(i + kept // 2, steps.size - 1)]
            solve(model_at(world, middle, buffers), policy, bias, aim, limit, False)
            fill_changes(world, bias, changes)
            low, high = certify_mixture(world, steps[i], changes, buffers.rewards, policy)
            kept = 0
        if not high - low <= tolerance:
            low, high, _, _, _ = solve(model_at(world, steps[i], buffers), policy, bias, aim, limit, False)
            if not high - low <= tolerance:
                return i, policies[:n_policies]
            kept = 0
            if keeps:
                fill_changes(world, bias, changes)
        kept += 1
        lower[i], upper[i] = low, high
        # Under slow drift the policy stays for many steps: only changes are stored.
        is_new = n_policies == 0
        for s in range(n):
            is_new |= n_policies > 0 and policies[n_policies - 1, s] != policy[s]
        if is_new:
            if n_policies == len(policies):
                policies = _twice_as_long(policies)
            for s in range(n):
                policies[n_policies, s] = policy[s]
            n_policies += 1
        policy_of[i] = n_policies - 1
    return -1, policies[:n_policies]


@kernel
def _twice_as_long(policies: Ints) -> Ints:
    """Return a copy with space for as many rows again."""
    longer = np.empty((2 * len(policies), policies.shape[1]), np.int32)
    for i in range(len(policies)):
        for s in range(policies.shape[1]):
            longer[i, s] = policies[i, s]
    return longer


@kernel
def fill_changes(world: WorldArrays, bias: Floats, changes: Floats) -> None:
    """Fill ``changes[k, pair]`` with sum_j P_k(j | pair) (bias(j) - bias(s)), for ``certify_mixture``."""
    n_pairs = changes.shape[1]
    for s in range(bias.size):
        for pair in range(world.offsets[s], world.offsets[s + 1]):
            for k in range(changes.shape[0]):
                total = 0.0
                row = k * n_pairs + pair
                for z in range(world.anchor_indptr[row], world.anchor_indptr[row + 1]):
                    total += world.anchor_data[z] * (bias[world.anchor_indices[z]] - bias[s])
                changes[k, pair] = total


@kernel
def certify_mixture(
    world: WorldArrays, step: int, changes: Floats, values: Floats, policy: Ints
) -> tuple[float, float]:
    """Make ``policy`` greedy for a bias h at a step, given the ``changes`` of h. Return min and max of T h - h.

    T h - h is linear in the weights up to the maximum: p_t needs not be mixed. ``values`` is scratch.
    """
    for pair in range(values.size):
        values[pair] = 0.0
    reward_weights = world.reward_weight_indptr, world.reward_weight_indices, world.reward_weight_data
    add_mixture(reward_weights, step, world.anchor_rewards, values)
    add_mixture((world.weight_indptr, world.weight_indices, world.weight_data), step, changes, values)
    low, high = np.inf, -np.inf
    for s in range(policy.size):
        first = world.offsets[s]
        best_value = values[first + policy[s]]
        for pair in range(first, world.offsets[s + 1]):
            if values[pair] > best_value:
                best_value = values[pair]
                policy[s] = pair - first
        low, high = min(low, best_value), max(high, best_value)
    return low, high

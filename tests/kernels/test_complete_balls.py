"""Rows with a place for every state: the bits of the plain loop, and the maximum itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftmdp import kernels
from driftmdp.kernels.plan_arrays import new_workspace


def plain_loop(p_hat, radius, u, order):
    """[JOA10, Fig. 2]: mass min(radius / 2, 1) goes to the best state, from the worst states upwards."""
    n, moved = u.size, min(0.5 * radius, 1.0)
    sums = [0.0] * 4
    for s in range(n - n % 4):
        sums[s % 4] += p_hat[s] * u[s]
    for s in range(n - n % 4, n):
        sums[0] += p_hat[s] * u[s]
    value, left, found = moved * u[order[-1]] + ((sums[0] + sums[1]) + (sums[2] + sums[3])), moved, p_hat.copy()
    for s in order:
        taken = min(left, p_hat[s])
        value -= taken * u[s]
        found[s] -= taken
        left -= taken
    return value, [*found, moved]


@given(st.integers(0, 2**32 - 1), st.integers(17, 60), st.sampled_from([0.0, 1e-17, 0.3, 1.0, 1.99, 2.0]))
def test_it_has_the_bits_of_the_plain_loop(seed, n, radius):
    rng = np.random.default_rng(seed)
    p_hat = rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.7)
    p_hat /= max(p_hat.sum(), 1e-9)
    u = rng.integers(0, 5, n) + rng.random(n) * rng.integers(0, 2)
    workspace = new_workspace(n, 1, n + 1, False)
    sets = workspace.sets
    sets.indptr[:], sets.support[0], sets.radius[0], sets.data[:n] = (0, n + 1), n, radius, p_hat
    order = np.argsort(u, kind="stable").astype(np.int32)
    value, found = plain_loop(p_hat, radius, u, order)
    maximize = kernels.extended_value_iteration.maximize_complete_ball
    assert maximize(sets, 0, n, u, order, False, workspace.indices, workspace.data) == value
    assert maximize(sets, 0, n, u, order, True, workspace.indices, workspace.data) == value
    assert workspace.indices.tolist() == [*range(n), order[-1]]
    assert workspace.data.tolist() == found

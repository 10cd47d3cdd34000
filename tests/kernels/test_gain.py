import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.kernels import gain
from driftmdp.kernels.world import model_at, model_buffers
from tests.strategies import drifting_mdps


def random_policy(world: dm.DriftingMdp, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, world.space.n_actions).astype(np.int32)


@given(drifting_mdps(), st.integers(0, 2**32 - 1))
def test_the_parts_of_the_anchors_certify_what_a_bellman_step_does(world, seed):
    rng = np.random.default_rng(seed)
    bias, policy = rng.normal(size=world.space.n_states), random_policy(world, rng)
    changes, values = np.empty((world.n_anchors, world.space.n_pairs)), np.empty(world.space.n_pairs)
    gain.fill_changes(world.world, bias, changes)
    for t in range(1, world.horizon + 1):
        mdp, first = world.at(t), world.space.offsets[:-1]
        low, high = gain.certify_mixture(world.world, t - 1, changes, values, policy)
        backups = mdp.rewards + mdp.transitions @ bias
        difference = np.maximum.reduceat(backups, first) - bias
        np.testing.assert_allclose((low, high), (difference.min(), difference.max()), atol=1e-12)
        np.testing.assert_allclose(backups[first + policy] - bias, difference, atol=1e-12)


@given(drifting_mdps())
def test_spread_anchors_mix_to_the_same_bits(world):
    spread, plain = model_buffers(world.world), model_buffers(world.world)._replace(spread=np.empty((0, 0)))
    for step in range(world.horizon):
        one, two = model_at(world.world, step, spread), model_at(world.world, step, plain)
        assert one.data.tobytes() == two.data.tobytes()
        assert one.rewards.tobytes() == two.rewards.tobytes()

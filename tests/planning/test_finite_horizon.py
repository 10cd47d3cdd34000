import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from driftmdp.planning import best_total_reward, plan_finite_horizon, total_reward
from tests.strategies import drifting_mdps


def by_recursion(world: dm.DriftingMdp, t: int, state: int) -> float:
    """Return V_t(state) straight from its definition."""
    if t > world.horizon:
        return 0.0
    mdp = world.at(t)
    return max(
        mdp.reward(state, a)
        + sum(p * by_recursion(world, t + 1, s) for s, p in enumerate(mdp.successors(state, a)) if p > 0)
        for a in range(mdp.space.n_actions[state])
    )


@given(drifting_mdps(max_horizon=4))
def test_backward_induction_is_the_recursion(world):
    for start in range(world.space.n_states):
        assert best_total_reward(world, start) == pytest.approx(by_recursion(world, 1, start), abs=1e-10)


@given(drifting_mdps(), st.integers(0, 2**32 - 1))
def test_no_policy_does_better(world, seed):
    rng = np.random.default_rng(seed)
    shape = (world.horizon, world.space.n_states)
    policy = rng.integers(0, world.space.n_actions, shape)
    for start in range(world.space.n_states):
        assert best_total_reward(world, start) >= total_reward(world, policy, start) - 1e-10


@given(drifting_mdps())
def test_its_own_policy_attains_it(world):
    plan = plan_finite_horizon(world)
    for start in range(world.space.n_states):
        assert total_reward(world, plan.policy, start) == pytest.approx(plan.values[start], abs=1e-10)


def test_the_oracle_is_at_least_the_optimum_up_to_the_papers_gap():
    problem = dm.problems.two_state(horizon=200)
    world, budgets = problem.drifting, problem.drifting.variation()
    gap = dm.formulas.bounds.benchmark_gap(
        dm.planning.max_diameter(world), world.horizon, budgets.reward, budgets.transition
    )
    oracle = dm.planning.optimal_gains(world).sum()
    assert oracle >= best_total_reward(world, 0) - gap


def test_a_stationary_policy_is_a_row():
    world = dm.problems.perils(tau=2).drifting
    assert total_reward(world, [1, 0]) == total_reward(world, np.tile([1, 0], (8, 1)))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0], "policy must be whole numbers of shape"),
        ([0.5, 0.5], "policy must be whole numbers of shape"),
        ([0, 2], r"policy\[t=1, s=1\] must be an action in 0 .. 1; got 2"),
    ],
)
def test_a_wrong_policy_is_named(policy, message):
    with pytest.raises(InvalidInputError, match=message):
        total_reward(dm.problems.perils(tau=1).drifting, policy)


def test_a_wrong_start_is_named():
    with pytest.raises(InvalidInputError, match="start must be at most 1; got 2"):
        best_total_reward(dm.problems.perils(tau=1).drifting, 2)

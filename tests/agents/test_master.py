"""MASTER: its schedule, tests, widening and restarts. tests/reference has its steps."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.agents import MASTER
from driftmdp.agents.master_parts import largest_diameter
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.master_arrays import part_of
from driftmdp.validation import quietly
from tests.agents.worlds import random_problem

SPACE = dm.Space.uniform(2, 2)


@quietly()
def summary_of(problem, seed=1, **given):
    return dm.simulate(MASTER.for_problem(problem, **given), problem, seed).summary


def test_blocks_double_and_each_has_one_instance_of_its_own_order():
    summary = summary_of(dm.problems.bandit(horizon=2**9 - 1))
    assert summary.blocks == 10  # 1 + 2 + ... + 256 steps, and the next one
    assert summary.instances[8] == 1
    assert summary.restarts == ()


def test_where_theory_promises_nothing_every_step_is_a_new_instance():
    """S^2 A > T: rho is D for every order, so that all begin with probability 1."""
    summary = summary_of(dm.problems.garnet(n_states=30, n_actions=3, horizon=255))
    assert summary.instances[:4] == (255, 127, 63, 31)


def test_instances_begin_with_their_probability():
    """A last block of 2^12 steps: order 0 begins with probability rho(2^12) / rho(1), which is 1 / 64 here.

    A defect once: at so small a scale the first widening, 1/T, used the allowance up, and every step restarted.
    """
    problem = dm.problems.bandit(n_arms=1, horizon=2**13 - 1)
    started = [summary_of(problem, seed, scale=1e-6).instances[0] for seed in range(40)]
    expected = sum(2**n * 2 ** (-n / 2) for n in range(13))
    deviation = np.sqrt(sum(2**n * 2 ** (-n / 2) * (1 - 2 ** (-n / 2)) for n in range(13)))
    assert abs(np.mean(started) - expected) < 4 * deviation / np.sqrt(40)


def test_with_the_constants_of_theory_no_test_can_fire():
    """g and R are in [0, 1]: the statistics are at most 1, and the thresholds far above."""
    problem = dm.problems.bandit(horizon=2000, drift="abrupt")
    summary = summary_of(problem, scale=0.01)
    assert summary.test_1 == summary.test_2 == 0
    least = 54 * (np.log2(2000) + 1) * 2 * np.log(2000) / np.sqrt(2000)  # 3 rho^(T) for the least rho
    assert summary.closest_2 <= 1 / least < 0.1


def test_smaller_thresholds_find_changes_and_restart():
    problem = dm.problems.bandit(horizon=4000, drift="abrupt")
    summary = summary_of(problem, scale=0.01, test_scale=2e-4)
    assert summary.test_1 + summary.test_2 + summary.widening == len(summary.restarts) == len(summary.causes) > 0
    assert summary.causes.count("test 2") == summary.test_2
    assert max(summary.closest_1, summary.closest_2) >= 1
    assert (np.diff(summary.restarts) > 0).all()


def test_plans_are_widened_until_their_bias_is_within_twice_the_diameter():
    problem = dm.problems.river_swim(horizon=3000)
    agent = MASTER.for_problem(problem, diameter=1.0, scale=1e-3)
    rng, state, widened = np.random.default_rng(1), problem.start, 0
    agent.reset(rng)
    for t in range(600):
        action = agent.act(state)
        order = int(agent._arrays.block["active"][0])
        plan = part_of(agent._arrays.plan_state, order, agent._params.orders)
        seen = agent.counts().reshape(6, 2).any(axis=1)
        bias = plan.bias if seen.all() else np.append(plan.bias[seen], 0.0)
        assert np.ptp(bias) <= 2.0 + 1e-9
        widened += plan.in_force["widening"][0] > 2 / 3000
        state = int(rng.integers(6)) if t % 50 == 0 else min(5, state + 1) if action == 1 else max(0, state - 1)
        agent.observe(float(state == 5), state)
    assert widened > 0


@quietly()
@pytest.mark.parametrize("given", [{}, {"scale": 0.003, "test_scale": 1e-3, "diameter": 1.0, "planner": "fast"}])
def test_it_keeps_the_rules_with_ragged_actions_and_many_restarts(given):
    problem = random_problem(7, 300, n_states=4, noise="gaussian(0.1)")
    dm.testing.check_agent(MASTER.for_problem(problem, **given), problem)


@quietly()
def test_it_is_saved_and_loaded_with_all_its_instances(tmp_path):
    problem = dm.problems.garnet(n_states=60, horizon=3000)  # the counts of instances grow
    agent, rng = MASTER.for_problem(problem, scale=1e-3, seed=3), np.random.default_rng(3)
    for t in range(1500):
        agent.act(t % 60)
        agent.observe(float(rng.random()), (t * 7) % 60)
    agent.save(tmp_path / "a.npz")
    twin = dm.agents.load(tmp_path / "a.npz")
    for t in range(700):
        assert twin.act(t % 60) == agent.act(t % 60)
        reward = float(rng.random())
        for one in (agent, twin):
            one.observe(reward, (t * 7) % 60)
    assert twin.summary() == agent.summary()
    assert twin.last_plan == agent.last_plan


def test_the_diameter_of_a_problem():
    assert largest_diameter(dm.problems.bandit(horizon=50)) == 1.0
    assert largest_diameter(dm.problems.two_state(horizon=5000)) == pytest.approx(5.0, abs=0.05)
    still = dm.problems.river_swim(horizon=50)
    assert largest_diameter(still) == pytest.approx(float(dm.planning.diameter(still.drifting.at(1))))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"diameter": 0.5}, "diameter must be at least 1; got 0.5"),
        ({"diameter": np.inf}, "diameter must be"),
        ({"delta": 0.0}, "delta must be at least 1e-300; got 0"),
        ({"delta": 2}, "delta must be at most 1; got 2"),
        ({"scale": 0.0}, "scale must be at least 1e-09; got 0"),
        ({"test_scale": 0.0}, "test_scale must be at least 1e-09; got 0"),
        ({"planner": "quick"}, "planner must be"),
        ({"ties": "last"}, "ties must be"),
        ({"reward_range": None}, "reward_range must be two finite numbers"),
    ],
)
def test_bad_parameters_get_a_sentence(given, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        MASTER(SPACE, 100, **given)

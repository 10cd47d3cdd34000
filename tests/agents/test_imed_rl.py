"""IMEDRL: its index against closed forms and brute force, its laws of rewards, and its cost in large spaces."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.agents import IMEDRL
from driftmdp.kernels.imed_rl_arrays import LAW_SIZE


def taught(space, steps, **parameters):
    """Return an agent that was made to take (state, action, reward, next state)."""
    agent = IMEDRL(space, **parameters)
    for state, action, reward, next_state in steps:
        agent.act(state)
        agent.observe(reward, next_state, action=action)
    return agent


def brute_force(values, weights, mu, top):
    """Return the largest mean of ln (1 - (v - mu) x), on a fine grid of x."""
    x = np.linspace(0.0, (1.0 - 1e-12) / (top - mu), 200_001)[:, None]
    return float((np.log(1.0 - (values - mu) * x) @ (weights / weights.sum())).max())


def test_one_sure_reward_has_the_divergence_of_the_right_end():
    """All of a law at 1/2: ln (1/2 / (1 - mu)), the price of moving mass to 1."""
    agent = taught(dm.Space.uniform(1, 2), [(0, 0, 0.5, 0)] * 3 + [(0, 1, 1.0, 0)] * 3)
    mu = (0.5 + 3) / 4
    worse, best = agent.explain(0)
    assert worse.divergence == pytest.approx(np.log(0.5 / (1 - mu)), rel=1e-9)
    assert (best.divergence, best.index) == (0.0, pytest.approx(np.log(3)))


@pytest.mark.parametrize("rewards", [(0.0, 1.0, 0.0), (0.2, 0.3), tuple(np.linspace(0, 0.7, 40))])
def test_divergence_in_a_bandit_is_that_of_brute_force(rewards):
    agent = taught(dm.Space.uniform(1, 2), [(0, 0, r, 0) for r in rewards] + [(0, 1, 1.0, 0)] * 4)
    law = agent._laws
    n = min(int(law.sizes[0]), LAW_SIZE)
    expected = brute_force(law.values[0, :n], law.weights[0, :n], 4.5 / 5, 1.0)
    assert agent.explain(0)[0].divergence == pytest.approx(expected, rel=1e-6)


def test_divergence_has_next_state_and_reward_as_independent():
    problem = dm.problems.garnet(4, 2, branching=3, drift="stationary", noise="bernoulli", horizon=300)
    run = dm.simulate(IMEDRL.for_problem(problem), problem, seed=2)
    agent = taught(problem.space, zip(run.states, run.actions, run.rewards, run.states[1:], strict=False))
    agent.act(0)
    plan, law = agent._plan, agent._laws
    phi = plan.bias
    counts = np.full((8, 4), 0.25)
    entries = agent._memory.entries[: int(agent._memory.tally["n_entries"][0])]
    np.add.at(counts, (entries["pair"], entries["next_state"]), entries["count"])
    for state in range(4):
        slots = agent._memory.slot_of[[2 * state, 2 * state + 1]]
        rewards = [(law.weights[i] * law.values[i]).sum() / law.weights[i].sum() for i in slots]
        rows = counts[[2 * state, 2 * state + 1]] / counts[[2 * state, 2 * state + 1]].sum(1, keepdims=True)
        q = rewards + rows @ phi
        a = int(q.argmin())
        i = slots[a]
        values = (phi[:, None] + law.values[i]).ravel()
        weights = (rows[a][:, None] * law.weights[i]).ravel()
        found = agent.explain(state)[a]
        expected = brute_force(values[weights > 0], weights[weights > 0], q.max(), 1.0 + phi.max())
        assert found.divergence == pytest.approx(expected, rel=1e-5, abs=1e-9)
        assert found.index == pytest.approx(found.count * found.divergence + np.log(found.count))


def test_it_plays_the_smallest_index():
    problem = dm.problems.garnet(n_states=5, drift="stationary", noise="bernoulli", horizon=400)
    agent, rng, state = IMEDRL.for_problem(problem), np.random.default_rng(1), 0
    for _ in range(300):
        action = agent.act(state)
        reasons = agent.explain(state)
        assert reasons[action].index <= min(reason.index for reason in reasons) + 2e-9
        assert agent.act(state) == action
        state = int(rng.integers(5))
        agent.observe(float(rng.random() < 0.5), state)


def test_a_law_on_the_grid_keeps_weight_and_mean():
    rewards = np.random.default_rng(0).random(200)
    agent = taught(dm.Space.uniform(1, 1), [(0, 0, r, 0) for r in rewards])
    law = agent._laws
    assert law.weights[0].sum() == pytest.approx(201)
    assert law.weights[0] @ law.values[0] == pytest.approx(rewards.sum() + 0.5)
    assert agent.summary().rounded_pairs == 1


def test_the_unit_of_rewards_does_not_matter():
    steps = [(0, a, r, 0) for a, r in ((0, 0.0), (1, 1.0), (0, 1.0), (1, 1.0), (0, 0.25))]
    scaled = [(s, a, 8.0 * r - 4.0, s2) for s, a, r, s2 in steps]
    one = taught(dm.Space.uniform(1, 2), steps)
    other = taught(dm.Space.uniform(1, 2), scaled, reward_range=(-4.0, 4.0))
    assert [r.index for r in one.explain(0)] == [r.index for r in other.explain(0)]
    assert [8.0 * r.value - 4.0 for r in one.explain(0)] == pytest.approx([r.value for r in other.explain(0)])


def test_a_step_does_not_cost_what_was_never_met():
    agent = taught(dm.Space.uniform(1_000_000, 2), [(i % 3, i % 2, 0.5, (i + 1) % 3) for i in range(60)])
    assert agent.n_plans > 40
    assert int(agent._plan.facts["n_touched"][0]) == 3

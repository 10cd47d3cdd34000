"""Posterior sampling: models are drawn from the right laws, at the right times, and solved."""

import numpy as np
import pytest
from scipy import stats

import driftmdp as dm
from driftmdp import kernels
from driftmdp.errors import InvalidInputError
from tests.agents.test_snapshot import go_on
from tests.agents.worlds import random_problem, world_draws
from tests.reference import posterior
from tests.reference.gain import gain_by_enumeration, policy_gain

SPACE = dm.Space.uniform(12, 2)
GRID = np.geomspace(1e-12, 1 - 1e-12, 200)


def drawn_rows(agent, pair, draws):
    """Rows of one pair from many models, dense."""
    rows = np.zeros((draws, agent.space.n_states))
    rewards = np.zeros(draws)
    for i in range(draws):
        kernels.posterior.draw_model(agent._params, agent._memory, agent._draws, agent._sample)
        model = agent._sample.model
        stored = slice(model.indptr[pair], model.indptr[pair + 1])
        assert np.unique(model.indices[stored]).size == model.indices[stored].size
        rows[i, model.indices[stored]] = model.data[stored]
        rewards[i] = model.rewards[pair]
    return rows, rewards


def is_of_law(sample, law):
    """Kolmogorov and Smirnov's test above 1e-12: what is smaller may be left out."""
    empirical = np.searchsorted(np.sort(sample), GRID, side="right") / sample.size
    return np.abs(empirical - law.cdf(GRID)).max() < 1.95 / sample.size**0.5


@pytest.mark.parametrize("prior", [0.05 / 12, 1 / 12, 0.4, 1.0, 2.5])
@pytest.mark.parametrize("seen", [(), (3,), (3, 3, 3, 7, 11)])
def test_rows_are_dirichlet_and_rewards_beta(prior, seen):
    agent = dm.agents.PSRL(SPACE, prior=prior, seed=5)
    for next_state in seen:
        agent.act(1)
        agent.observe(0.75, next_state, action=0)
    rows, rewards = drawn_rows(agent, SPACE.pair(1, 0), 2500)
    shapes = prior + np.bincount(seen, minlength=12) if seen else np.full(12, prior)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    for state in (0, 3, 7):
        assert is_of_law(rows[:, state], stats.beta(shapes[state], shapes.sum() - shapes[state]))
    half = slice(0, 6)  # a sum is of the beta law only if its terms depend on each other rightly
    assert is_of_law(rows[:, half].sum(axis=1), stats.beta(shapes[half].sum(), shapes[6:].sum()))
    assert is_of_law(rewards, stats.beta(1 + 0.75 * len(seen), 1 + 0.25 * len(seen)))


AGENTS = {
    "PSRL": ({}, {}),
    "SlidingWindowPSRL": ({"window": 37}, {"window": 37, "every": 37}),
    "DiscountedPSRL": ({"discount": 0.96}, {"discount": 0.96, "every": 25}),
}


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("seed", [3, 4])
def test_models_are_drawn_when_they_should_be_and_counts_are_right(name, seed):
    given, rules = AGENTS[name]
    problem = random_problem(seed, 400, n_states=4)
    agent = getattr(dm.agents, name).for_problem(problem, seed=seed, **given)
    (player,) = dm.simulation.simulate_until(agent, problem, seed, [400])
    run = dm.simulate(agent, problem, seed)
    assert run.episode_starts.tolist() == posterior.episode_starts(
        run.states.tolist(), run.actions.tolist(), **rules
    )
    player.plan()  # what has faded is brought up to date
    low, high = problem.reward_range
    pairs = [problem.space.pair(s, a) for s, a in zip(run.states, run.actions, strict=True)]
    units = ((run.rewards - low) / (high - low)).tolist()
    memory = {key: value for key, value in rules.items() if key != "every"}
    n, totals = posterior.counts(pairs, units, 401, **memory)
    for pair in range(problem.space.n_pairs):
        assert player.counts()[pair] == pytest.approx(n.get(pair, 0.0), abs=1e-7)
        if n.get(pair, 0.0) > 1e-3:
            mean = (player.mean_rewards()[pair] - low) / (high - low)
            assert mean == pytest.approx(totals[pair] / n[pair], abs=1e-5)


def test_the_plan_is_the_best_for_the_model_that_was_drawn():
    problem = random_problem(6, 200, n_states=3)
    agent = dm.agents.SlidingWindowPSRL.for_problem(problem, window=20, seed=1)
    luck, state, space = world_draws(problem, 1), problem.start, problem.space
    for t in range(1, 60, 4):
        _, state = go_on(agent, problem, luck, t, state, 4)
        plan, model = agent.plan(), agent._sample.model
        rewards, transitions = [], []
        for s in range(3):
            own = range(space.pair(s, 0), space.pair(s, 0) + int(space.n_actions[s]))
            rewards.append([model.rewards[pair] for pair in own])
            table = np.zeros((len(own), 3))
            for row, pair in zip(table, own, strict=True):
                stored = slice(model.indptr[pair], model.indptr[pair + 1])
                row[model.indices[stored]] = model.data[stored]
            transitions.append(table.tolist())
        policy = [agent._plan_state.policy[s] for s in range(3)]
        best = gain_by_enumeration(rewards, transitions)
        assert policy_gain(rewards, transitions, policy).min() >= best.min() - 1e-3
        assert plan.method == "sampled"
        low, high = problem.reward_range
        assert (plan.gain - low) / (high - low) == pytest.approx(best.max(), abs=1e-3)


def test_it_finds_its_way_where_theory_does_not():
    """Public implementations have a mean regret of about 230 and 220, and UCRL2 of about 2,130 and 1,700."""
    river = dm.problems.river_swim(horizon=5000)
    garnet = dm.problems.garnet(n_states=25, n_actions=4, drift="stationary", horizon=5000)
    for problem in (river, garnet):
        agent = dm.agents.PSRL.for_problem(problem)
        regrets = [dm.simulate(agent, problem, seed).dynamic_regret(problem)[-1] for seed in range(10)]
        assert np.mean(regrets) < 260


@pytest.mark.parametrize("name", AGENTS)
def test_many_states_need_more_room_and_change_nothing_else(name):
    problem = random_problem(8, 70, n_states=90)
    agent = getattr(dm.agents, name).for_problem(problem, prior=1.0, **AGENTS[name][0])
    assert not dm.testing.check_agent(agent, problem).skipped


def test_a_pair_that_has_faded_is_forgotten():
    agent = dm.agents.DiscountedPSRL(dm.Space.uniform(2, 1), 1000, discount=0.5, seed=1)
    for state in [0] + 40 * [1]:
        agent.act(state)
        agent.observe(1.0, 1)
    agent.plan()
    assert agent.counts()[0] == 0
    assert agent.counts()[1] == pytest.approx(2.0)


def test_rewards_outside_the_range_are_clipped():
    agent = dm.agents.PSRL(dm.Space.uniform(1, 2), reward_range=(-1.0, 1.0), seed=1)
    for reward in (5.0, -3.0, 0.0, 1.0):
        agent.act(0)
        agent.observe(reward, 0, action=1)
    assert np.isnan(agent.mean_rewards()[0])
    assert agent.mean_rewards()[1] == pytest.approx(0.25)


def test_rewards_far_outside_the_range_are_named_once():
    agent = dm.agents.PSRL(dm.Space.uniform(1, 1), seed=1)
    for _ in range(19):
        agent.act(0)
        agent.observe(105.0, 0)
    agent.act(0)
    with pytest.warns(UserWarning, match="The mean of 20 rewards is 105, far outside reward_range"):
        agent.observe(105.0, 0)
    agent.act(0)
    agent.observe(105.0, 0)


def test_a_world_without_ways_is_planned_for_all_the_same():
    """A chain of 40 states that hardly moves: the plan is bounded in time, and says how good it is."""
    problem = dm.problems.river_swim(n_states=40, horizon=300)
    run = dm.simulate(dm.agents.PSRL.for_problem(problem, prior=0.05 / 40), problem, 1)
    assert run.summary.plans == run.plans
    assert run.summary.residual >= 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dm.agents.PSRL(SPACE, prior=0.0), "prior must be at least 0.00416667; got 0"),
        (lambda: dm.agents.PSRL(SPACE, reward_range=None), "reward_range must be two finite numbers"),
        (lambda: dm.agents.SlidingWindowPSRL(SPACE, 10, window=0), "window must be at least 1; got 0"),
        (lambda: dm.agents.SlidingWindowPSRL(3, 10), "space must be a Space; got 3"),
        (lambda: dm.agents.SlidingWindowPSRL(SPACE, 0), "horizon must be at least 1"),
        (lambda: dm.agents.DiscountedPSRL(SPACE, 10, discount=0.0), "discount must be at least 1e-09; got 0"),
        (lambda: dm.agents.DiscountedPSRL(SPACE, 10, discount=1.5), "discount must be at most 1"),
        (lambda: dm.agents.RestartedUCRL2B(SPACE, 10, period=0), "period must be at least 1"),
        (lambda: dm.agents.PSRL(SPACE).last_plan, "There is no plan yet"),
    ],
)
def test_wrong_parameters_get_a_sentence(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("luck", lambda a: a * np.uint64(0)),
        ("luck", lambda a: a[:3]),
        ("luck", lambda a: a.astype(float)),
        ("faded", lambda a: a + 10**6),
        ("faded", lambda a: a[:-1]),
        ("bias", lambda a: a * np.nan),
        ("policy", lambda a: a + 99),
    ],
)
def test_a_damaged_snapshot_is_refused(tmp_path, name, damage):
    problem = random_problem(3, 60, n_states=3)
    agent = dm.agents.DiscountedPSRL.for_problem(problem, discount=0.9)
    go_on(agent, problem, world_draws(problem, 1), 1, problem.start, 30)
    agent.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    arrays[f"state/{name}"] = damage(arrays[f"state/{name}"])
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(tmp_path / "a.npz")


def test_restarts_with_bernstein_radii_are_ucrl2b_begun_anew():
    problem = random_problem(5, 200, n_states=3)
    restarted = dm.simulate(dm.agents.RestartedUCRL2B.for_problem(problem, period=70, scale=0.1), problem, 1)
    once = dm.simulate(dm.agents.UCRL2B.for_problem(problem, scale=0.1), problem, 1)
    assert restarted.actions[:70].tolist() == once.actions[:70].tolist()
    assert {71, 141} <= set(restarted.episode_starts.tolist())
    never = dm.simulate(dm.agents.RestartedUCRL2B.for_problem(problem, period=200, scale=0.1), problem, 1)
    assert never.actions.tolist() == once.actions.tolist()

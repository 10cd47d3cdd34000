"""An agent's plan is the optimistic plan of what it remembers, and costs only that."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import driftmdp as dm
from driftmdp.agents import optimist
from driftmdp.errors import InvalidInputError, NotConvergedError
from driftmdp.formulas import paper_radii
from tests.agents.worlds import random_problem, world_draws


def live(agent, problem, seed, steps):
    """Play some steps and return the state reached."""
    draws, state = world_draws(problem, seed), problem.start
    for t in range(1, steps + 1):
        sample = problem.sample(t, state, agent.act(state), draws)
        agent.observe(sample.reward, sample.next_state)
        state = sample.next_state
    return state


def planned_from_outside(agent, widening, method):
    """Return the plan that planning makes of what the agent remembers, in unit rewards."""
    space, counts = agent.space, agent.counts()
    low, high = agent.reward_range
    radii = paper_radii(counts, space, agent.horizon)
    means = (agent.mean_rewards() - low) / (high - low)
    upper = np.where(counts > 0, np.clip(np.nan_to_num(means) + agent.scale * radii.reward, 0, 1), 1.0)
    p_hat = agent.successor_counts().multiply(1 / np.maximum(counts, 1)[:, None])
    radius = agent.scale * radii.transition + widening
    return dm.planning.extended_value_iteration(
        space, upper, sp.csr_array(p_hat), radius, 1 / np.sqrt(agent.t), method=method
    )


@pytest.mark.parametrize("n_states", [2, 6, 40, 150])
@pytest.mark.parametrize("window", [30, 1000])
def test_paper_plans_as_planning_does(n_states, window):
    problem = random_problem(n_states, 600, n_states=n_states)
    agent = dm.agents.SWUCRL2CW.for_problem(problem, window=window, widening=0.02, scale=0.01, ties="first")
    live(agent, problem, 1, 500)
    plan, outside = agent.plan(), planned_from_outside(agent, 0.02, "paper")
    low, high = agent.reward_range
    assert plan.gain == pytest.approx(low + (high - low) * outside.gain, abs=1e-9)
    assert plan.sweeps == outside.iterations
    assert [agent.act(s) for s in range(n_states)] == outside.policy.tolist()
    touched = agent.counts() > 0
    assert not plan.vacuous
    assert touched.sum() > 0


@pytest.mark.parametrize("n_states", [2, 6, 40, 150])
def test_fast_plans_are_certified(n_states):
    problem = random_problem(n_states, 600, n_states=n_states)
    agent = dm.agents.SWUCRL2CW.for_problem(problem, window=400, widening=0.02, scale=0.01, planner="fast")
    live(agent, problem, 1, 500)
    plan, exact = agent.plan(), planned_from_outside(agent, 0.02, "fast")
    low, high = agent.reward_range
    precision = 1 / np.sqrt(agent.t)
    assert plan.residual <= precision * (high - low)
    assert plan.gain == pytest.approx(low + (high - low) * exact.gain, abs=precision * (high - low))
    model = dm.Mdp(problem.space, exact.rewards, exact.transitions)
    policy = [agent.act(s) for s in range(n_states)]
    worth = dm.planning.policy_gain(model, policy).min()
    assert worth >= exact.gain - 2 * precision - 1e-9


def test_ten_successors_or_all_of_them_make_no_difference():
    rng = np.random.default_rng(0)
    n = 60
    space = dm.Space.uniform(n, 2)
    agent = dm.agents.UCRL2(space, 20_000, scale=0.05, ties="first", radii="paper")
    state = 0
    for _ in range(6000):  # some rows are complete, some short, some states are never seen
        agent.act(state)
        following = int(rng.integers(n - 5) if state % 2 else state // 2)
        agent.observe(float(state == 7), following, action=int(rng.integers(2)))
        state = following
    outside = planned_from_outside(agent, 0.0, "paper")
    plan = agent.plan()
    assert plan.gain == pytest.approx(outside.gain, abs=1e-9)
    assert [agent.act(s) for s in range(n)] == outside.policy.tolist()


def test_intervals_of_many_successors_fit():
    rng = np.random.default_rng(0)
    n = 50
    space = dm.Space.uniform(n, 1)
    agent = dm.agents.UCRL2B(space, 60_000, scale=0.001)
    state = 0
    for _ in range(10_000):
        agent.act(state)
        following = int(rng.integers(n))
        agent.observe(float(following == 3), following)
        state = following
    plan = agent.plan()
    assert 1 / n < plan.gain < 0.2
    assert plan.residual <= 1 / np.sqrt(agent.t)


def test_what_is_not_remembered_costs_nothing():
    space = dm.Space.uniform(1_000_000, 3)
    agent = dm.agents.SWUCRL2CW(space, 1000, window=5, widening=0.0, scale=1e-6)
    for t in range(50):
        agent.act(t * 1000)
        agent.observe(0.5, (t + 1) * 1000)
    plan = agent.plan()
    assert plan.gain == pytest.approx(1.0)
    assert agent._workspace.u.size < 100


def long_agent(planner, n=330):
    """Return an agent that remembers a long chain with tiny radii, which sweeps alone cannot plan on."""
    space = dm.Space.uniform(n, 1)
    agent = dm.agents.UCRL2(space, 10**7, scale=1e-7, planner=planner)
    agent._plan_state.clock["t"] = 10**6 - 2 * n  # late, so that the precision is high
    for state in range(n):
        for following in (state - 1, state + 1):
            agent.act(state)
            agent.observe(1.0 if state == n - 1 else 0.0, min(max(following, 0), n - 1))
    return agent


@pytest.mark.parametrize("planner", ["paper", pytest.param("fast", marks=pytest.mark.slow)])
def test_long_chains_are_solved_sparsely(planner, monkeypatch):
    agent = long_agent(planner)
    used = []
    real = optimist.solve_sparsely
    monkeypatch.setattr(optimist, "solve_sparsely", lambda *arrays: used.append(1) or real(*arrays))
    plan = agent.plan()
    assert used or planner == "fast"
    assert plan.residual <= 1.01e-3
    assert 1 / 330 < plan.gain < 0.01
    assert plan.method == ("fast" if planner == "fast" else "paper, then accelerated")


def test_a_plan_that_was_interrupted_outside_goes_on_or_begins_again(monkeypatch):
    expected, agent, real = long_agent("paper"), long_agent("paper"), optimist.solve_sparsely
    plan = expected.plan()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(optimist, "solve_sparsely", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            agent.plan()
    assert agent._workspace.progress["t"][0] == agent.t
    later = copy.deepcopy(agent)
    monkeypatch.setattr(optimist, "solve_sparsely", real)
    assert agent.plan().gain == pytest.approx(plan.gain, abs=1e-3)
    assert (agent._workspace.local_of == -1).all()
    for either in (expected, later):  # what was begun is of no use a step later
        either._pending_step = 0, 0
        either.observe(0.0, 1)
        either.plan()
    assert later.last_plan == expected.last_plan
    np.testing.assert_array_equal(later.beliefs().bias, expected.beliefs().bias)


def test_plausible_worlds_that_do_not_communicate_raise_and_leave_the_agent_usable():
    space = dm.Space.uniform(2, 1)
    agent = dm.agents.UCRL2(space, 10**6, scale=1e-300)
    agent.act(0)
    agent.observe(0.0, 0)
    agent.act(1)
    agent.observe(1.0, 1)
    with pytest.raises(NotConvergedError, match="use a larger scale or widening"):
        agent.act(1)
    assert agent.counts().sum() == 2
    assert (agent._workspace.local_of == -1).all()


def test_many_successors_that_were_never_acted_in():
    space = dm.Space.uniform(60, 2)
    agent = dm.agents.UCRL2(space, 10**5, scale=1e-4, ties="first", radii="paper")
    for k in range(600):  # jumps back to 0: one remembered state, 40 successors
        agent.act(0)
        agent.observe(0.1 * (k % 2), 1 + k % 40, action=k % 2)
    plan, outside = agent.plan(), planned_from_outside(agent, 0.0, "paper")
    assert plan.gain == pytest.approx(outside.gain, abs=1e-9)
    assert plan.sweeps == outside.iterations
    assert [agent.act(s) for s in range(60)] == outside.policy.tolist()


def test_the_plan_in_force_is_still_explained_after_a_restart():
    agent = dm.agents.UCRL2S(dm.Space.uniform(2, 2), 50, period=3)
    for _ in range(3):
        agent.act(0)
        agent.observe(0.5, 0)
    assert agent.counts().sum() == 0
    assert 1 <= agent.last_plan.t == agent.explain(0).planned_at <= 3


@pytest.mark.parametrize(("bottom", "span"), [(0.0, 1e6), (1e6, 1e-3), (-5.0, 1e-9)])
def test_explanations_do_not_depend_on_units(bottom, span):
    texts = []
    for low, width in ((0.0, 1.0), (bottom, span)):
        agent = dm.agents.UCRL2(dm.Space.uniform(1, 2), 10**6, reward_range=(low, low + width), scale=1e-3)
        for k in range(200):
            agent.act(0)
            agent.observe(low + width * (0.6 if k % 2 else 0.2), 0, action=k % 2)
        agent.plan()
        texts.append((agent.explain(0).reason, agent.explain(0).tied, agent.explain(0).vacuous))
    assert texts[0] == texts[1] == ("Action 1 promises most.", 1, False)


def test_rewards_that_would_overflow_are_refused():
    space = dm.Space.uniform(2, 2)
    mdp = dm.Mdp(space, np.array([1.7e308, 1e308, 1.7e308, 0]), np.full((4, 2), 0.5))
    problem = dm.Problem(dm.DriftingMdp.stationary(mdp, 30), reward_range=(0.0, 1.7e308))
    with pytest.raises(InvalidInputError, match="rewards must be at most 1e\\+150 in size"):
        dm.simulate(dm.agents.UCRL2(space, 30, reward_range=None), problem, 1)
    with pytest.raises(InvalidInputError, match="reward_range must be two finite numbers"):
        dm.agents.UCRL2(space, 30, reward_range=(-1e308, 1e308))
    agent = dm.agents.UCRL2(space, 30, reward_range=None)
    agent.act(0)
    with pytest.raises(InvalidInputError, match="reward must be at most 1e\\+150"):
        agent.observe(1e200, 0)


def test_the_raw_reading_is_vacuous_only_before_anything_is_known():
    problem = random_problem(3, 200)
    run = dm.simulate(dm.agents.UCRL2.for_problem(problem, reward_range=None), problem, 1)
    assert run.vacuous.tolist() == [True] + [False] * (run.plans - 1)


@pytest.mark.parametrize("kind", ["UCRL2", "UCRL2S", "UCRL2B"])
def test_a_plan_that_needs_acceleration_is_the_same_live_and_compiled(kind):
    problem = dm.problems.river_swim(horizon=600)
    agent = dm.agents.builtin()[kind].for_problem(problem, scale=1e-6)
    compiled, live = (dm.simulate(agent, problem, seed=3, compiled=compiled) for compiled in (True, False))
    assert compiled.sweeps.max() > 1000
    np.testing.assert_array_equal(compiled.actions, live.actions)
    np.testing.assert_array_equal(compiled.sweeps, live.sweeps)
    np.testing.assert_array_equal(compiled.episode_starts, live.episode_starts)

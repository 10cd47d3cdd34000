import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.worlds import random_problem

PROBLEM = random_problem(2, 200, n_states=3)


class Alternating:
    """A user's agent: nothing but the protocol."""

    def reset(self, rng):
        self.t = 0

    def act(self, state):
        return self.t % int(PROBLEM.space.n_actions[state])

    def observe(self, reward, next_state, action=None):
        self.t += 1


class Wrong(Alternating):
    def act(self, state):
        return 99 if self.t == 5 else 0


def test_a_users_agent_runs():
    run = dm.simulate(Alternating(), PROBLEM, 3)
    assert run.agent == "Alternating"
    assert run.plans == 0
    assert np.isnan(run.vacuous_share)
    assert run.actions.tolist() == [t % PROBLEM.space.n_actions[s] for t, s in enumerate(run.states)]


def test_an_action_that_does_not_exist_is_named_with_its_time():
    with pytest.raises(InvalidInputError, match="Wrong chose an action that does not exist at t=6"):
        dm.simulate(Wrong(), PROBLEM, 3)


def test_the_world_draws_the_same_luck_whatever_the_agent_does():
    space = dm.Space.uniform(1, 2)
    mdp = dm.Mdp(space, [0.4, 0.4], np.ones((2, 1)))
    problem = dm.Problem(dm.DriftingMdp.stationary(mdp, 500), noise="bernoulli", reward_range=(0, 1))
    one, two = (dm.simulate(dm.agents.FixedPolicy(space, [a]), problem, 5).rewards for a in (0, 1))
    assert one.tolist() == two.tolist()


def test_the_agent_is_not_changed():
    agent = dm.agents.UCRL2.for_problem(PROBLEM)
    agent.act(0)
    agent.observe(0.0, 1)
    dm.simulate(agent, PROBLEM, 1)
    assert agent.t == 2
    assert agent.counts().sum() == 1


def test_dynamic_regret_is_the_sum_of_gains_minus_mean_rewards():
    run = dm.simulate(dm.agents.Random(PROBLEM.space), PROBLEM, 1)
    gains = dm.planning.optimal_gains(PROBLEM.drifting)
    means = [
        PROBLEM.drifting.at(t + 1).reward(s, a)
        for t, (s, a) in enumerate(zip(run.states, run.actions, strict=True))
    ]
    np.testing.assert_allclose(run.mean_rewards, means, atol=1e-12)
    np.testing.assert_allclose(run.dynamic_regret(PROBLEM), np.cumsum(gains - means), atol=1e-9)
    np.testing.assert_allclose(run.dynamic_regret(PROBLEM, gains), run.dynamic_regret(PROBLEM))
    with pytest.raises(InvalidInputError, match="with 200 steps; got 'random 2' with 10"):
        run.dynamic_regret(random_problem(2, 10))


def test_dynamic_regret_refuses_another_problem_of_the_same_name():
    problem, other = dm.problems.two_state(500), dm.problems.two_state(500, v_r="T^0.5", v_p="T^0.5")
    run = dm.simulate(dm.agents.Random(problem.space), problem, 1)
    match = r"must be the one of the run; its mean rewards differ at t=\d+, where the run has .* and it has .*\."
    with pytest.raises(InvalidInputError, match=match):
        run.dynamic_regret(other)
    with pytest.raises(InvalidInputError, match=match):
        run.dynamic_regret(other, gains=np.ones(500))
    one_state = dm.Problem(dm.DriftingMdp.stationary(dm.Mdp(dm.Space([1]), [0.0], [[1.0]]), 500), name=problem.name)
    with pytest.raises(InvalidInputError, match=match):
        run.dynamic_regret(one_state)
    assert "parameters={" in repr(problem)
    assert repr(problem) != repr(other)
    assert "capacity=3, " in repr(dm.problems.inventory(horizon=5, capacity=3))


def test_what_is_recorded():
    agent = dm.agents.SWUCRL2CW.for_problem(PROBLEM, window=20, widening=0.1, scale=0.2)
    run = dm.simulate(agent, PROBLEM, 1)
    assert run.parameters["scale"] == 0.2
    assert run.parameters["window"] == 20
    assert run.episode_starts[0] == 1
    assert set(range(20, 201, 20)) <= set(run.episode_starts.tolist())
    assert run.sweeps.shape == run.vacuous.shape == run.episode_starts.shape
    assert run.total_reward == pytest.approx(run.rewards.sum())
    assert repr(run) == "Run(agent='SWUCRL2CW', problem='random 2', seed=1)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dm.simulate(3, PROBLEM, 1), "agent must have reset, act and observe; got 3"),
        (
            lambda: dm.simulate(dm.agents.Random, PROBLEM, 1),
            "agent must be made from its class first; got the class Random",
        ),
        (lambda: dm.simulate(Alternating(), 3, 1), "problem must be a Problem; got 3"),
        (lambda: dm.simulate(Alternating(), PROBLEM, -1), "seed must be at least 0"),
        (lambda: dm.simulate(Alternating(), PROBLEM, 1.5), "seed must be a whole number"),
        (lambda: dm.simulate(Alternating(), PROBLEM, 1, compiled=True), "compiled must be False for Alternating"),
        (lambda: dm.simulate(dm.agents.Random(dm.Space.uniform(9, 9)), PROBLEM, 1), "states and actions"),
        (
            lambda: dm.simulate(dm.agents.UCRL2.for_problem(PROBLEM, horizon=10), PROBLEM, 1),
            "horizon must be at least the problem's, 200; got 10",
        ),
        (
            lambda: dm.simulate(dm.agents.UCRL2.for_problem(PROBLEM, reward_range=(0, 0.1)), PROBLEM, 1),
            "reward_range must contain the problem's",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_a_longer_horizon_and_a_wider_range_are_fine():
    agent = dm.agents.UCRL2.for_problem(PROBLEM, horizon=1000, reward_range=(-100, 100))
    assert dm.simulate(agent, PROBLEM, 1).horizon == 200


def test_what_a_users_agent_calls_its_own_things_is_its_own_affair():
    class Odd(Alternating):
        horizon, space, reward_range, n_plans, last_plan = 5, "discrete", "wide", 3, None

        def parameters(self):
            return None

    assert dm.simulate(Odd(), PROBLEM, 1).parameters == {}


def test_an_agent_that_cannot_be_copied_gets_a_sentence():
    class Locked(Alternating):
        def __init__(self):
            self.lock = threading.Lock()

    with pytest.raises(InvalidInputError, match="agent must be copyable"):
        dm.simulate(Locked(), PROBLEM, 1)


def test_one_agent_in_many_threads_runs_as_alone():
    agent = dm.agents.SWUCRL2CW.for_problem(PROBLEM, window=20, widening=0.1, scale=0.2)
    alone = [dm.simulate(agent, PROBLEM, seed).actions.tolist() for seed in range(16)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: dm.simulate(agent, PROBLEM, seed).actions.tolist(), range(16)))
    assert together == alone


class Talker:
    """A user's agent with something to say."""

    summary: object = "not a method"

    def reset(self, rng):
        self.count = 0

    def act(self, state):
        return 0

    def observe(self, reward, next_state, action=None):
        self.count += 1


class Teller(Talker):
    def summary(self):
        return {"steps": self.count}


class Asker(Talker):
    def summary(self, what):
        return what


def test_an_agents_own_summary_comes_with_the_run():
    problem = dm.problems.two_state(horizon=30)
    assert dm.simulate(Teller(), problem, 1).summary == {"steps": 30}
    assert dm.simulate(Talker(), problem, 1).summary is None
    assert dm.simulate(dm.agents.Random(problem.space), problem, 1).summary is None
    with pytest.warns(UserWarning, match=r"summary\(\) of Asker must work without arguments; it failed"):
        run = dm.simulate(Asker(), problem, 1)
    assert run.summary is None
    assert run.horizon == 30

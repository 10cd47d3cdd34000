"""Problems as environments: the same world and random draws, and what gymnasium's checker asks."""

import importlib

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from driftmdp.gymnasium import ProblemEnv, env_id, register_all
from driftmdp.problems import registry


def small(entry):
    return {"horizon": 30} if "horizon" in entry.parameters else {}


@pytest.mark.parametrize("entry", dm.problems.list(), ids=lambda entry: entry.name)
def test_gymnasiums_checker_passes_with_warnings_as_errors(entry):
    check_env(gymnasium.make(env_id(entry.name), **small(entry)).unwrapped)


@pytest.mark.parametrize("name", ["two-state-v1", "inventory-v1", "bandit-v1"])  # no, anchor and bernoulli noise
def test_a_loop_over_the_environment_is_the_run_of_simulate(name):
    problem = dm.problems.make(name, horizon=300)
    run = dm.simulate(dm.agents.Random(problem.space), problem, seed=7)
    agent = dm.agents.Random(problem.space)
    agent.reset(np.random.default_rng(np.random.SeedSequence(7).spawn(2)[1]))
    env = ProblemEnv(problem, strict=True)
    state, info = env.reset(seed=7)
    assert info["t"] == 0
    for t in range(300):
        assert state == run.states[t]
        action = agent.act(state)
        state, reward, terminated, truncated, info = env.step(action)
        agent.observe(reward, state)
        assert (action, reward, info["mean_reward"]) == (run.actions[t], run.rewards[t], run.mean_rewards[t])
        assert (terminated, truncated, info["t"]) == (False, t == 299, t + 1)
    assert state == run.final_state


def test_without_a_seed_the_luck_goes_on_and_with_it_comes_again():
    env = ProblemEnv("bandit-v1", horizon=50)

    def episode(seed):
        env.reset(seed=seed)
        return [env.step(0)[1] for _ in range(50)]

    first, second, third = episode(3), episode(None), episode(None)
    assert first != second != third
    assert [episode(3), episode(None), episode(None)] == [first, second, third]


def test_an_action_that_is_not_on_offer_becomes_the_nearest_or_is_refused():
    problem = dm.problems.inventory(capacity=5, horizon=20, start=5)
    env = ProblemEnv(problem)
    _, info = env.reset(seed=0)
    assert env.action_space.n == 6
    assert info["action_mask"].tolist() == [1, 0, 0, 0, 0, 0]
    assert info["action_mask"].dtype == np.int8
    assert env.action_space.sample(info["action_mask"]) == 0
    wrong = env.step(4)
    env.reset(seed=0)
    right = env.step(0)
    assert wrong[:4] == right[:4]
    assert (wrong[4]["illegal_action"], right[4]["illegal_action"]) == (True, False)
    strict = ProblemEnv(problem, strict=True)
    strict.reset(seed=0)
    with pytest.raises(InvalidInputError, match="action of state 5 must be at most 0; got 4"):
        strict.step(4)


@pytest.mark.parametrize("action", [-1, 6, 0.5, None, np.array(1.0), np.array(True), np.array([1])])
def test_an_action_outside_of_the_space_is_always_refused(action):
    env = ProblemEnv("inventory-v1", capacity=5, horizon=20)
    env.reset(seed=0)
    with pytest.raises(InvalidInputError, match="action of state 0 must be"):
        env.step(action)


def test_a_number_in_an_array_without_axes_is_an_action():  # stable-baselines3's predict returns such
    env = ProblemEnv("two-state-v1", horizon=100)
    env.reset(seed=0)
    expected = env.step(1)[:4]
    env.reset(seed=0)
    *found, info = env.step(np.array(1))
    assert tuple(found) == expected
    assert info["illegal_action"] is False


def test_steps_come_between_reset_and_the_end():
    env = gymnasium.make("driftmdp/TwoState-v1", horizon=100, render_mode="ansi")
    with pytest.raises(InvalidInputError, match="step must follow reset"):
        env.step(0)
    with pytest.raises(InvalidInputError, match="render must follow reset"):
        env.render()
    env.reset(seed=1)
    for _ in range(100):
        *_, truncated, _ = env.step(0)
    assert truncated
    with pytest.raises(InvalidInputError, match="step must not follow the end of the 100 steps"):
        env.step(0)


def test_nothing_of_gymnasiums_own_stands_before_the_environment():
    env = gymnasium.make("driftmdp/TwoState-v1", horizon=1000)
    assert env.unwrapped is env
    assert env.unwrapped.problem.horizon == 1000


def test_small_worlds_are_drawn_and_large_ones_say_so():
    env = ProblemEnv("river-swim-v1", horizon=100, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "river-swim-v1, 0 of 100 steps done\n[0] 1  2  3  4  5\nlast: none"
    large = ProblemEnv("remarketing-v1", horizon=100, render_mode="ansi")
    large.reset(seed=0)
    assert "one of 101; more than 20 are not drawn" in large.render()
    assert ProblemEnv("river-swim-v1").render() is None


def coin(horizon: int = 10, strict: int = 0) -> dm.Problem:
    """One state, two arms."""
    mdp = dm.Mdp(dm.Space.uniform(1, 2), [0, 1], [[1], [1]])
    return dm.Problem(dm.DriftingMdp.stationary(mdp, horizon))


def plain_coin(horizon: int = 10) -> dm.Problem:
    """One state, two arms."""
    return coin(horizon)


@pytest.fixture
def registered(monkeypatch):
    """Registers problems, and takes them out again."""
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    before = set(gymnasium.registry)
    yield lambda name, factory: dm.problems.register(name)(factory)
    for key in set(gymnasium.registry) - before:
        del gymnasium.registry[key]


def test_problems_that_users_register_are_found(registered):
    registered("test-coin-v1", plain_coin)
    assert "driftmdp/TestCoin-v1" in register_all()
    env = gymnasium.make("driftmdp/TestCoin-v1", horizon=3)
    env.reset(seed=0)
    assert env.step(1)[1] == 1.0


@pytest.mark.parametrize(
    ("name", "factory", "sentence"),
    [
        (
            "test2-v1",
            plain_coin,
            "'test2-v1' must have a unique id; got 'driftmdp/Test2-v1', the id of 'test-2-v1'",
        ),
        ("coin-v1", coin, "Parameters of 'coin-v1' must not be called 'strict'"),
    ],
)
def test_a_problem_that_cannot_be_reached_is_refused_alone(registered, name, factory, sentence):
    for one, made in [("test-2-v1", plain_coin), (name, factory), ("test-3-v1", plain_coin)]:
        registered(one, made)
    with pytest.raises(InvalidInputError, match=sentence):
        register_all()
    with pytest.warns(UserWarning, match=sentence):
        importlib.reload(dm.gymnasium)  # an import says it too, and goes on
    assert gymnasium.make("driftmdp/Test2-v1").unwrapped.problem.name == "test-2-v1"
    assert "driftmdp/Test3-v1" in gymnasium.registry
    assert "driftmdp/Coin-v1" not in gymnasium.registry


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"problem": 3}, "problem must be a Problem"),
        ({"problem": "two-stat"}, "Did you mean 'two-state-v1'"),
        ({"problem": "two-state-v1", "render_mode": "human"}, "render_mode must be one of 'ansi'"),
    ],
)
def test_wrong_arguments_get_a_sentence(arguments, sentence):
    with pytest.raises(dm.errors.DriftmdpError, match=sentence):
        ProblemEnv(**arguments)


def test_parameters_belong_to_a_name():
    with pytest.raises(InvalidInputError, match="parameters must come with the name of a problem; got horizon"):
        ProblemEnv(dm.problems.two_state(horizon=100), horizon=3)

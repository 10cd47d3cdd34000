import pickle

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems import registry

SMALL = {
    "bandit-v1": {"horizon": 6, "n_arms": 3},
    "bidding-v1": {"horizon": 6, "budget": 3},
    "bridge-v1": {"horizon": 6},
    "choice-v1": {"horizon": 6, "n_prices": 3},
    "combination-lock-v1": {"horizon": 6, "length": 3},
    "epidemic-v1": {"horizon": 6, "groups": 4, "levels": 3},
    "frozen-lake-v1": {"horizon": 6},
    "garnet-v1": {"horizon": 6, "n_states": 5},
    "healthcare-v1": {"horizon": 6, "levels": 2},
    "inventory-v1": {"horizon": 6, "capacity": 3},
    "maintenance-v1": {"horizon": 6, "levels": 3},
    "perils-v1": {"tau": 2},
    "queue-v1": {"horizon": 6, "capacity": 3},
    "random-mdp-v1": {"horizon": 6, "n_states": 2},
    "remarketing-v1": {"horizon": 6, "capacity": 4},
    "river-swim-v1": {"horizon": 6, "drift": "drifting"},
    "transport-v1": {"horizon": 6, "rows": 2, "columns": 2},
    "two-state-v1": {"horizon": 6},
    "wireless-v1": {"horizon": 6, "battery": 3},
}
NAMES = list(SMALL)


@pytest.fixture
def fresh(monkeypatch):
    """A registry that forgets what a test puts into it."""
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))


def coin(horizon: int = 10) -> dm.Problem:
    """One state, two arms.

    And more to say.
    """
    mdp = dm.Mdp(dm.Space.uniform(1, 2), [0.0, 1.0], [[1.0], [1.0]])
    return dm.Problem(dm.DriftingMdp.stationary(mdp, horizon))


def other_coin(horizon: int = 10) -> dm.Problem:
    """Another."""
    return coin(horizon)


def needs_a_side(side: str, horizon: int = 3) -> dm.Problem:
    """A parameter without a default."""
    return coin(horizon)


def refused(make):
    with pytest.raises(dm.errors.DriftmdpError) as caught:
        make()
    return caught.value


def test_the_list_names_every_problem_in_order():
    names = [entry.name for entry in dm.problems.list()]
    assert [name for name in names if name in NAMES] == NAMES
    assert names == sorted(names)


@pytest.mark.parametrize("name", NAMES)
def test_every_problem_says_what_it_is(name):
    entry = dm.problems.describe(name)
    assert entry.summary.endswith(".")
    assert repr(entry) == f"{name}: {entry.summary}"
    assert all(parameter in entry.documentation for parameter in entry.parameters)


@pytest.mark.parametrize("name", NAMES)
def test_make_gives_what_the_function_gives(name):
    function = getattr(dm.problems, name.removesuffix("-v1").replace("-", "_"))
    made, called = dm.problems.make(name, **SMALL[name]), function(**SMALL[name])
    assert (made.name, made.parameters) == (called.name, called.parameters)
    for t in range(1, made.horizon + 1):
        assert (made.drifting.rewards_at(t) == called.drifting.rewards_at(t)).all()
        assert (made.drifting.at(t).transitions != called.drifting.at(t).transitions).nnz == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_records_its_name_summary_and_all_parameters(name):
    problem = dm.problems.make(name, **SMALL[name])
    entry = dm.problems.describe(name)
    assert problem.name == name
    assert problem.description == entry.summary
    assert problem.parameters == {**entry.parameters, **SMALL[name]}


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_can_be_made_again_from_its_record(name):
    problem = dm.problems.make(name, **SMALL[name])
    again = dm.problems.make(problem.name, **problem.parameters)
    assert (again.drifting.anchor_rewards == problem.drifting.anchor_rewards).all()
    assert (again.drifting.weights.matrix != problem.drifting.weights.matrix).nnz == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_survives_pickling(name):
    problem = dm.problems.make(name, **SMALL[name])
    again = pickle.loads(pickle.dumps(problem))
    assert type(again) is type(problem)
    assert again.parameters == problem.parameters
    draws = problem.draw_noise(np.random.default_rng(1))
    for t in range(1, problem.horizon + 1):
        assert again.sample(t, 0, 0, draws) == problem.sample(t, 0, 0, draws)


@pytest.mark.parametrize("name", NAMES)
def test_every_mean_reward_lies_in_the_reward_range(name):
    problem = dm.problems.make(name, **SMALL[name])
    low, high = problem.reward_range
    means = [problem.drifting.rewards_at(t) for t in range(1, problem.horizon + 1)]
    assert low - 1e-12 <= np.min(means) <= np.max(means) <= high + 1e-12


def test_positional_parameters_are_recorded_by_name():
    assert dm.problems.perils(3, 2).parameters == {"tau": 3, "cycles": 2, "noise": "none"}


def test_a_name_without_a_version_is_the_newest(fresh):
    for version in (1, 2, 10):
        dm.problems.register(f"coin-v{version}")(coin)
    assert dm.problems.describe("coin").name == "coin-v10"
    assert dm.problems.make("coin").name == "coin-v10"
    assert dm.problems.make("coin-v2").name == "coin-v2"


def test_a_registered_function_is_listed_and_makes_named_problems(fresh):
    made = dm.problems.register("my-coin-v1")(coin)(horizon=4)
    assert "my-coin-v1" in [entry.name for entry in dm.problems.list()]
    assert (made.name, made.description, made.parameters) == ("my-coin-v1", "One state, two arms.", {"horizon": 4})


def test_a_taken_name_is_refused(fresh):
    dm.problems.register("coin-v1")(coin)
    error = refused(lambda: dm.problems.register("coin-v1")(other_coin))
    assert str(error) == "name must be new; 'coin-v1' is taken. Raise the version."
    assert dm.problems.describe("coin-v1").summary == "One state, two arms."


def test_the_same_function_may_be_registered_again_as_on_a_reload(fresh):
    dm.problems.register("coin-v1")(coin)
    dm.problems.register("coin-v1")(coin)
    assert dm.problems.make("coin-v1").horizon == 10


@pytest.mark.parametrize("name", ["coin", "Coin-v1", "coin-v0", "coin v1", "coin-v1.2", "-v1", "coin-v01"])
def test_a_name_without_words_and_a_version_is_refused(name):
    error = refused(lambda: dm.problems.register(name))
    assert str(error) == (f"name must be lower-case words and a version, such as 'my-shop-v1'; got {name!r}.")


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("two-stat-v1", "two-state-v1"),
        ("twostate", "two-state-v1"),
        ("riverswim", "river-swim-v1"),
        ("inventroy-v1", "inventory-v1"),
        ("garnet-v2", "garnet-v1"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(wrong, nearest):
    error = refused(lambda: dm.problems.make(wrong))
    assert isinstance(error, LookupError)
    assert str(error) == f"There is no problem {wrong!r}. Did you mean {nearest!r}? problems.list() has them all."


def test_a_name_like_no_other_suggests_nothing():
    error = refused(lambda: dm.problems.describe("zzz"))
    assert str(error) == "There is no problem 'zzz'. problems.list() has them all."


@pytest.mark.parametrize(
    ("name", "wrong", "nearest"),
    [
        ("two-state-v1", "horizn", "horizon"),
        ("two-state", "vr", "v_r"),
        ("inventory-v1", "capasity", "capacity"),
        ("garnet-v1", "n_state", "n_states"),
    ],
)
def test_an_unknown_parameter_suggests_the_nearest(name, wrong, nearest):
    error = refused(lambda: dm.problems.make(name, **{wrong: 3}))
    full = dm.problems.describe(name).name
    assert str(error) == f"Problem {full!r} has no parameter {wrong!r}. Did you mean {nearest!r}?"


def test_a_missing_parameter_is_named(fresh):
    dm.problems.register("side-v1")(needs_a_side)
    error = refused(lambda: dm.problems.make("side-v1"))
    assert str(error) == "Problem 'side-v1' must be given side."
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("two-state-v1", {"horizon": 0}, "horizon must be at least 1; got 0."),
        ("two-state-v1", {"horizon": 10.0}, "horizon must be a whole number; got 10.0."),
        ("two-state-v1", {"horizon": True}, "horizon must be a whole number; got True."),
        ("two-state-v1", {"v_r": -1}, "v_r must be at least 0; got -1."),
        ("two-state-v1", {"v_p": float("nan")}, "v_p must be a finite number; got nan."),
        ("perils-v1", {"tau": 0}, "tau must be at least 1; got 0."),
        ("perils-v1", {"cycles": 0}, "cycles must be at least 1; got 0."),
        ("river-swim-v1", {"n_states": 2}, "n_states must be at least 3; got 2."),
        (
            "river-swim-v1",
            {"drift": "reversed"},
            "drift must be one of 'stationary', 'drifting', 'reversing'; got 'reversed'. Did you mean 'reversing'?",
        ),
        ("garnet-v1", {"branching": 21}, "branching must be at most 20; got 21."),
        ("garnet-v1", {"reward_sparsity": 1.5}, "reward_sparsity must be at most 1; got 1.5."),
        ("garnet-v1", {"n_anchors": 1}, "n_anchors must be at least 2; got 1."),
        ("garnet-v1", {"seed": -1}, "seed must be at least 0; got -1."),
        (
            "bandit-v1",
            {"noise": "bernouli"},
            "noise must be 'none', 'anchor', 'bernoulli', 'binomial(n)' or 'gaussian(sigma)'; got 'bernouli'. "
            "Did you mean 'bernoulli'?",
        ),
        ("bandit-v1", {"n_arms": 0}, "n_arms must be at least 1; got 0."),
        ("bandit-v1", {"cycles": -1}, "cycles must be at least 0; got -1."),
        ("bandit-v1", {"drift": "abrupt", "changes": -1}, "changes must be at least 0; got -1."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(name, parameters, sentence):
    error = refused(lambda: dm.problems.make(name, **parameters))
    assert isinstance(error, ValueError)
    assert str(error) == sentence


def test_anchor_noise_where_rewards_move_on_their_own_says_what_to_use():
    error = refused(lambda: dm.problems.bandit(noise="anchor"))
    assert "Use 'none', 'bernoulli', 'binomial(n)' or 'gaussian(sigma)'." in str(error)

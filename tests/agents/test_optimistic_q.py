"""OptimisticQ: its constants, its first updates by hand, and bad parameters."""

import math

import pytest

import driftmdp as dm
from driftmdp.agents import OptimisticQ
from driftmdp.errors import InvalidInputError

SPACE = dm.Space.uniform(2, 2)


def test_constants_of_the_theory():
    horizon, delta, span = 10_000, 0.05, 2.0
    agent = OptimisticQ(SPACE, horizon, span=span, delta=delta, scale=0.5)
    looks_ahead = (horizon / (4 * math.log(4 * horizon / delta))) ** (1 / 3)
    summary = agent.summary()
    assert summary.effective_horizon == pytest.approx(looks_ahead)
    assert summary.discount == pytest.approx(1 - 1 / looks_ahead)
    assert summary.bonus == pytest.approx(0.5 * 4 * span * math.sqrt(looks_ahead * math.log(2 * horizon / delta)))
    assert OptimisticQ(SPACE, horizon, span=0.0001).effective_horizon == 2
    assert OptimisticQ(SPACE, horizon, discount=0.99).effective_horizon == pytest.approx(100)


def test_the_first_two_updates_by_hand():
    agent = OptimisticQ(SPACE, 100, scale=0.0, discount=0.75)  # H = 4
    assert agent.act(0) == 0
    agent.observe(0.5, 0)  # the first rate is 1
    assert agent.explain(0)[0].value == 0.5 + 0.75 * 4
    assert agent.act(0) == 1  # still worth 4
    agent.observe(0.0, 1, action=0)
    assert agent.explain(0)[0].value == pytest.approx(3.5 + 5 / 6 * (0.0 + 0.75 * 4 - 3.5))


def test_a_bound_never_rises_and_ties_go_to_the_least_visited():
    agent = OptimisticQ(SPACE, 50)
    assert [(agent.act(0), agent.observe(1.0, 0))[0] for _ in range(4)] == [0, 1, 0, 1]
    assert all(reason.value == agent.effective_horizon < reason.estimate for reason in agent.explain(0))


def test_with_a_small_bonus_it_learns():
    problem = dm.problems.garnet(n_states=3, n_actions=2, branching=2, drift="stationary", horizon=20_000)
    lazy, eager = (OptimisticQ.for_problem(problem, scale=scale) for scale in (1.0, 0.001))
    regrets = [dm.simulate(agent, problem, seed=1).dynamic_regret(problem)[-1] for agent in (lazy, eager)]
    assert regrets[1] < 0.5 * regrets[0]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"span": -1.0}, "span must be at least 0; got -1"),
        ({"span": None}, "span must be a finite number"),
        ({"scale": -1.0}, "scale must be at least 0"),
        ({"delta": 0.0}, "delta must be positive; got 0"),
        ({"delta": 2.0}, "delta must be at most 1; got 2"),
        ({"discount": 1.0}, "discount must be below 1, at most 1 - 1e-9; got 1.0"),
        ({"discount": "0.9"}, "discount must be a finite number"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        OptimisticQ(SPACE, 100, **parameters)

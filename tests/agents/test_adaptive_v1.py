"""AdaptiveV1 against its pseudo-code (tests/reference/adaptive_v1.py), and its snapshots, old ones too."""

import json

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.adaptive_v1_play import PROBLEMS, adaptive, assert_same, oracle_of, random_steps, state_of
from tests.agents.worlds import world_draws


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_does_what_the_pseudo_code_says(name):
    """Where the oracle would do otherwise, its values tie, to rounding; it follows the agent."""
    problem = PROBLEMS[name]()
    agent, oracle = adaptive(problem), oracle_of(problem)
    run = dm.simulate(agent, problem, seed=3)
    draws, state = world_draws(problem, 3), problem.start
    for t in range(1, problem.horizon + 1):
        action = agent.act(state)
        oracle.act(state)
        assert oracle.values[action] >= max(oracle.values) - 1e-6
        oracle.doing = state, action
        assert_same(agent, oracle)
        assert (run.states[t - 1], run.actions[t - 1], run.sweeps[t - 1]) == (state, action, oracle.sweeps)
        sample = problem.sample(t, state, action, draws)
        state = int(sample.next_state)
        agent.observe(float(sample.reward), state)
        oracle.observe(float(sample.reward), state)


@pytest.fixture
def saved(tmp_path):
    """A snapshot of one that waits for a reward."""
    agent = dm.agents.AdaptiveV1(dm.Space.uniform(4, 3))
    agent.act(random_steps(agent, 80))
    agent.save(tmp_path / "whole.npz")
    return tmp_path / "whole.npz"


def test_a_snapshot_goes_on_as_if_nothing_had_been(saved, tmp_path):
    one, other = dm.agents.load(saved), dm.agents.load(saved)
    for agent in (one, other):
        agent.observe(0.25, 2)
    one.save(tmp_path / "again.npz")
    one = dm.agents.load(tmp_path / "again.npz")
    assert random_steps(one, 50) == random_steps(other, 50)
    assert state_of(one) == state_of(other)


DAMAGES = {
    "judged_transition_weights": lambda array: -array,
    "touched": lambda array: array + 99,
    "sums": lambda array: 0.0 * array,
    "visits": lambda array: array + 1,
    "counts": lambda array: array[:-1],
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_snapshot_is_refused(name, saved):
    rewritten(saved, **{f"state/{name}": DAMAGES[name]})
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(saved)


def rewritten(path, **changes):
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **arrays | {name: change(arrays[name]) for name, change in changes.items()})


def as_before(header):
    """The header as format version 3 had it, when the first edition was called Adaptive."""
    return np.array(json.dumps(json.loads(str(header)) | {"version": 3}).replace("AdaptiveV1", "Adaptive"))


def inner(problem):
    return dm.agents.Detecting.for_problem(problem, learner=dm.agents.AdaptiveV1.for_problem(problem))


@pytest.mark.parametrize(
    ("make", "held"),
    [
        (dm.agents.AdaptiveV1.for_problem, lambda agent: agent),
        (
            lambda problem: dm.agents.Detecting.for_problem(problem, learner="AdaptiveV1"),
            lambda agent: agent._learner,
        ),
        (inner, lambda agent: agent._learner),
    ],
    ids=["alone", "by name in another", "in another"],
)
def test_a_snapshot_of_before_loads_as_the_first_edition(make, held, tmp_path):
    """Alone and as a learner; names of actions are left alone."""
    names = [["Adaptive", "other"], ["class", "learner"]]
    mdp = dm.Mdp(dm.Space([2, 2], action_names=names), np.linspace(0.0, 1.0, 4), [[0.5, 0.5]] * 4)
    agent = make(dm.Problem(dm.DriftingMdp([mdp], np.ones((100, 1)))))
    state = random_steps(agent, 40)
    agent.save(tmp_path / "agent.npz")
    rewritten(tmp_path / "agent.npz", header=as_before)
    loaded = dm.agents.load(tmp_path / "agent.npz")
    assert type(held(loaded)) is dm.agents.AdaptiveV1
    assert loaded.space.action_names == agent.space.action_names
    for _ in range(20):
        assert loaded.act(state) == agent.act(state)
        for one in (loaded, agent):
            one.observe(0.3, 1 - state)
        state = 1 - state


def test_a_snapshot_of_today_keeps_its_class(tmp_path):
    for kind in (dm.agents.Adaptive, dm.agents.AdaptiveV1):
        kind(dm.Space.uniform(2, 2)).save(tmp_path / "agent.npz")
        assert type(dm.agents.load(tmp_path / "agent.npz")) is kind


def test_it_prints_its_reasons():
    agent = dm.agents.AdaptiveV1(dm.Space.uniform(1, 2))
    agent.act(0)
    agent.observe(0.5, 0)
    agent.act(0)
    assert [reason.count for reason in agent.explain(0)] == [1, 0]
    assert "reward 0.5" in str(agent.explain(0))
    assert "never tried" in str(agent.explain(0))

"""Bad parameters of agents, and of what they are given: one sentence each."""

import inspect

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.worlds import problem_for

SPACE, BANDIT = dm.Space.uniform(2, 2), dm.Space.uniform(1, 3)
AGENTS = dm.agents.builtin()


def kinds_with(name):
    return [kind for kind in AGENTS.values() if name in inspect.signature(kind).parameters]


def needs(kind, name):
    return inspect.signature(kind).parameters[name].default is inspect.Parameter.empty


def make(kind, **parameters):
    if kind is dm.agents.Optimist:
        parameters = {"memory": dm.agents.Everything(), "confidence": dm.agents.PaperRadii()} | parameters
    return kind.for_problem(problem_for(kind, 100), **parameters)


@pytest.mark.parametrize("kind", [kind for kind in kinds_with("horizon") if needs(kind, "horizon")])
@pytest.mark.parametrize("horizon", [None, 0, np.ones(2), 2**63])
def test_a_horizon_is_a_whole_number(kind, horizon):
    with pytest.raises(InvalidInputError, match="horizon must be"):
        make(kind, horizon=horizon)


@pytest.mark.parametrize("kind", [kind for kind in kinds_with("window") if kind is not dm.agents.BORL])
@pytest.mark.parametrize("window", [0, -1, "5", np.ones(2)])
def test_a_window_is_a_positive_whole_number(kind, window):
    with pytest.raises(InvalidInputError, match="window must be"):
        make(kind, window=window)


@pytest.mark.parametrize("kind", AGENTS.values())
@pytest.mark.parametrize("problem", [None, dm.Problem])
def test_for_problem_asks_for_a_problem(kind, problem):
    with pytest.raises(InvalidInputError, match=r"must (be a Problem|have an inventory problem)"):
        kind.for_problem(problem)


@pytest.mark.parametrize("space", [None, dm.Space])
@pytest.mark.parametrize("kind", kinds_with("space"))
def test_a_space_is_a_space(kind, space):
    with pytest.raises(InvalidInputError, match="space must be"):
        kind(**make(kind).parameters | {"space": space})


@pytest.mark.parametrize("kind", AGENTS.values())
@pytest.mark.parametrize("path", [None, 3, b"a.npz", "a\0b", "\ud800", np.ones(2)])
def test_a_path_is_the_path_of_a_file(kind, path):
    agent = make(kind)
    for call in (agent.save, kind.load):
        with pytest.raises(InvalidInputError, match="path must be the path of a file"):
            call(path)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: dm.agents.UCRL2S(SPACE, 2**62, changes=2**40), "must have at most 10,000,000 restarts"),
        (lambda: dm.agents.RestartedUCRL2B(SPACE, 2**40, period=1), "must have at most 10,000,000 restarts"),
        (lambda: dm.agents.BORL(SPACE, 2**62), "must have at most 10,000,000 restarts"),
        (lambda: dm.agents.BOB(BANDIT, 2**62), "must have at most 10,000,000 restarts"),
        (lambda: dm.agents.SinceRestart(3), "starts must be a list of times"),
        (lambda: dm.agents.PaperRadii(delta=[[1], [1, 2]]), "must be a regular table"),
        (lambda: dm.agents.SWUCRL.tuned(3, 100, 1, 1.0), "space must be"),
        (lambda: dm.simulate(dm.agents.UCRL2(SPACE, 9), 3, 1), "problem must be a Problem"),
        (lambda: dm.simulation.check_fit("UCRL2", 3), "agent must be one of"),
    ],
)
def test_other_bad_parameters_get_a_sentence(call, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        call()


@pytest.mark.parametrize("flag", [np.ones(3), "yes", None, 2, [True], np.array([True])])
def test_a_flag_is_true_or_false(flag):
    problem = dm.problems.two_state(horizon=10)
    run = dm.simulate, (dm.agents.Random(problem.space), problem, 1), "compiled"
    bound = dm.formulas.bounds.stationary, (SPACE, 100, 1.0), "explicit"
    lemma = dm.formulas.lemmas.regret, (SPACE, 100, 1.0, 1.0, 10, 0.1, 1.0), "lost"
    for call, arguments, name in (run, bound, lemma):
        if name != "compiled" or flag is not None:
            with pytest.raises(InvalidInputError, match=f"{name} must be True or False"):
                call(*arguments, **{name: flag})


@pytest.mark.parametrize("kind", [dm.agents.UCRL2, dm.agents.PSRL, dm.agents.SWUCRL2CW, dm.agents.Adaptive])
def test_a_space_that_does_not_fit_into_memory_is_refused_before_anything_is_made(kind, monkeypatch):
    monkeypatch.setattr("driftmdp.system.available_memory", lambda: 10**6)
    given = {"horizon": 10} if "horizon" in inspect.signature(kind).parameters else {}
    given |= {"window": 5, "widening": 0.0} if kind is dm.agents.SWUCRL2CW else {}
    with pytest.raises(InvalidInputError, match="An agent for 30,000 pairs must fit into memory"):
        kind(dm.Space([30_000]), **given)

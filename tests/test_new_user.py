"""What someone meets who has never used this before: sentences where the first mistakes are made."""

import warnings

import gymnasium
import numpy as np
import pytest
import scipy.sparse as sp

import driftmdp as dm
from driftmdp import interchange
from driftmdp.errors import InvalidInputError, VacuousPlansWarning
from driftmdp.gymnasium import learn

R, P = np.zeros((3, 2)), np.full((3, 2, 3), 1 / 3)
MDP = dm.Mdp.from_dense(R, P)
PROBLEM = dm.Problem(dm.DriftingMdp.stationary(MDP, 10))
RANDOM = dm.agents.Random(PROBLEM.space)
EYES = [sp.eye_array(3)] * 2

SWAPPED = {
    "from_dense": lambda: dm.Mdp.from_dense(P, R),
    "from_dense, lists": lambda: dm.Mdp.from_dense(P.tolist(), R.tolist()),
    "Mdp": lambda: dm.Mdp(MDP.space, P.reshape(6, 3), R.ravel()),
    "Mdp, sparse": lambda: dm.Mdp(MDP.space, MDP.transitions, MDP.rewards),
    "DriftingMdp": lambda: dm.DriftingMdp([[1.0], [1.0]], [MDP]),
    "piecewise": lambda: dm.DriftingMdp.piecewise([5], [MDP, MDP], 10),
    "stationary": lambda: dm.DriftingMdp.stationary(10, MDP),
    "from_mdptoolbox": lambda: interchange.from_mdptoolbox(R, np.stack([np.eye(3)] * 2)),
    "from_scipy": lambda: interchange.from_scipy(R, EYES),
    "from_scipy, one reward a state": lambda: interchange.from_scipy([0, 1, 2], EYES),
    "simulate": lambda: dm.simulate(PROBLEM, RANDOM, 1),
    "check_agent": lambda: dm.testing.check_agent(PROBLEM, RANDOM),
    "learn": lambda: learn(dm.agents.Adaptive, gymnasium.make("FrozenLake-v1"), 10),
}


@pytest.mark.parametrize("call", SWAPPED.values(), ids=SWAPPED)
def test_swapped_arguments_are_called_swapped(call):
    with pytest.raises(InvalidInputError, match="The arguments look swapped"):
        call()


def test_rewards_by_next_state_are_told_how_to_become_means():
    with pytest.raises(InvalidInputError, match=r"\(transitions \* rewards\).sum\(axis=2\)") as said:
        dm.Mdp.from_dense(P, P)
    assert "from_dense" not in str(said.value)


@pytest.mark.parametrize("given", [PROBLEM, PROBLEM.drifting, MDP, RANDOM], ids=lambda given: type(given).__name__)
def test_what_has_a_space_is_told_to_give_it(given):
    with pytest.raises(
        InvalidInputError, match=rf"space must be a Space; got a {type(given).__name__}. Pass its .space"
    ):
        dm.agents.Adaptive(given)


def test_regret_against_something_else_than_a_problem_is_one_sentence():
    with pytest.raises(InvalidInputError, match="problem must be a Problem"):
        dm.simulate(RANDOM, PROBLEM, 1).dynamic_regret(PROBLEM.drifting)


def test_a_name_or_a_problem_in_place_of_an_object_is_told_what_to_write():
    with pytest.raises(
        InvalidInputError, match=r"got 'Adaptive'. Use driftmdp.agents.Adaptive.for_problem\(problem\)"
    ):
        dm.simulate("Adaptive", PROBLEM, 0)
    with pytest.raises(InvalidInputError, match=r"got 'Adaptive'. Pass the class of driftmdp.agents, not its name"):
        learn(gymnasium.make("FrozenLake-v1"), "Adaptive", 10)
    with pytest.raises(InvalidInputError, match=r"got the problem 'unnamed'. Write ProblemEnv\(problem\)"):
        learn(PROBLEM, dm.agents.Adaptive, 10)


@pytest.fixture(scope="module")
def vacuous():
    problem = dm.problems.two_state(horizon=300)
    return problem, dm.agents.SWUCRL2CW.for_problem(problem)


def test_a_run_whose_plans_are_all_vacuous_says_so_and_what_to_do(vacuous):
    problem, agent = vacuous
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")  # as in a script: once for a line
        runs = [dm.simulate(agent, problem, seed) for seed in range(3)]
    assert [(warning.category, warning.filename) for warning in said] == [(VacuousPlansWarning, __file__)]
    assert str(said[0].message).startswith("Every plan of SWUCRL2CW was vacuous: theory's radii exclude nothing")
    assert str(said[0].message).endswith("Scale the radii (scale=0.1), or take Adaptive.")
    advice = "vacuous: theory's radii exclude nothing at this horizon"
    assert str(runs[0]).count(advice) == 1
    assert repr(runs[0]) == "Run(agent='SWUCRL2CW', problem='two-state-v1', seed=0, vacuous_share=1)"
    assert "theory&#x27;s radii exclude nothing" in runs[0]._repr_html_()


def test_vacuous_radii_that_are_not_theorys_are_called_what_they_are(vacuous):
    problem, _ = vacuous
    with pytest.warns(VacuousPlansWarning, match=r"radii at 0.9 of theory's exclude .* \(scale=0.09\), or") as said:
        run = dm.simulate(dm.agents.SWUCRL2CW.for_problem(problem, scale=0.9), problem, 0)
    assert len(said) == 1
    assert "radii at 0.9 of theory's exclude" in str(run)


@pytest.mark.filterwarnings("error::driftmdp.errors.VacuousPlansWarning")
def test_what_learns_what_plans_nothing_and_what_runs_by_the_thousand_is_silent(vacuous, tmp_path):
    problem, agent = vacuous
    for other in (RANDOM, dm.agents.Adaptive(PROBLEM.space)):
        assert "vacuous" not in str(dm.simulate(other, PROBLEM, 0))
    narrow = dm.simulate(dm.agents.SWUCRL2CW.for_problem(problem, scale=0.1), problem, 0)
    assert not narrow.is_vacuous
    assert "vacuous" not in str(narrow) + narrow._repr_html_()
    dm.testing.check_agent(agent, problem)

    def tries_it(context):
        """It runs."""
        evidence = dm.statements.Evidence()
        evidence.printed.at_most("once", 0, dm.simulate(agent, problem, 0).plans)
        return evidence

    [found] = dm.statements.check([dm.statements.Statement("it-runs", "it runs", "", 1, tries_it)])
    assert found.verdict is dm.statements.Verdict.HOLDS
    spec = dm.experiments.parse_spec("""
        seeds = 2
        problems = [{name = "two-state", parameters = {horizon = 300}}]
        agents = [{name = "SWUCRL2CW"}]
    """)
    assert not dm.experiments.run(spec, tmp_path).failures

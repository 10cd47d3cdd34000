"""What a newcomer passes first: the problem instead of its world, the world instead of one MDP."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp import planning
from driftmdp.errors import InvalidInputError

PROBLEM = dm.problems.perils(tau=1)
WORLD = PROBLEM.drifting
MDP = WORLD.at(1)


@pytest.mark.parametrize(
    "ask",
    [
        planning.optimal_gain,
        planning.gain_by_linear_program,
        planning.diameter,
        planning.is_communicating,
        planning.check_communicating,
        lambda mdp: planning.policy_gain(mdp, [0, 0]),
        lambda mdp: planning.stationary_distributions(mdp, [0, 0]),
        lambda mdp: planning.hitting_times(mdp, [0, 0], 0),
    ],
)
def test_questions_about_one_mdp_say_how_to_get_one(ask):
    for given, hint in ((PROBLEM, "problem.drifting.at(t)."), (WORLD, "drifting.at(t)."), (None, "got NoneType.")):
        with pytest.raises(InvalidInputError, match="mdp must be an Mdp; got") as error:
            ask(given)
        assert str(error.value).endswith(hint)


@pytest.mark.parametrize(
    "ask",
    [
        planning.optimal_gains,
        planning.gain_path,
        planning.diameters,
        planning.max_diameter,
        planning.best_total_reward,
        planning.plan_finite_horizon,
        lambda world: planning.total_reward(world, [0, 0]),
    ],
)
def test_questions_about_a_world_say_how_to_get_one(ask):
    for given, hint in ((PROBLEM, "problem.drifting."), (MDP, "DriftingMdp.stationary(mdp, horizon).")):
        with pytest.raises(InvalidInputError, match="drifting must be a DriftingMdp; got") as error:
            ask(given)
        assert str(error.value).endswith(hint)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: planning.diameter(MDP, targets=0), "targets must be a list of states; got 0."),
        (
            lambda: planning.policy_gain(MDP, [[0], [0, 1]]),
            "policy must be a regular table; its rows differ in length.",
        ),
        (lambda: planning.optimal_gain(MDP, tolerance=-1), "tolerance must be at least 0; got -1."),
        (lambda: planning.gain_path(WORLD).policy(0), "t must be at least 1; got 0."),
        (lambda: planning.gain_path(WORLD).policy(5), "t must be at most 4; got 5."),
        (lambda: PROBLEM.draw_noise(7), "rng must be a numpy Generator; got 7. Use np.random.default_rng(seed)."),
        (lambda: PROBLEM.sample(1, 0, 0, None), "draws must be for 4 steps; use problem.draw_noise(rng)."),
        (lambda: dm.formulas.tuned(4, 10, 1, 1), "space must be a Space; got 4."),
        (lambda: dm.formulas.borl_schedule(None, 10), "space must be a Space; got None."),
        (lambda: dm.problems.inventory(demand=dm.problems.Poisson), "demand must be a law such as Poisson(6)"),
        (lambda: dm.problems.Poisson(dm.problems.Seasonal), "mean must be a finite number; got <class"),
        (lambda: dm.problems.two_state(v_r=10**400), "v_r must be a finite number"),
        (lambda: dm.Space.uniform(10**400, 2), "n_states must be below 2^63 in size; got 1329 bits"),
        (lambda: dm.Space.uniform(10**5000, 2), "n_states must be below 2^63 in size"),
        (lambda: dm.Space([[1], [1, 2]]), "n_actions must be a regular table; its rows differ in length."),
        (lambda: dm.Space([1], state_names=5), "state_names must have 1 name, one per state; got 5."),
        (lambda: dm.problems.make("perils", tau=0), "tau must be at least 1; got 0."),
        (lambda: dm.Mdp(dm.Space([1]), [0], np.array([[1j]])), "transitions must be"),
    ],
)
def test_other_first_mistakes_get_one_sentence(ask, message):
    with pytest.raises(InvalidInputError) as error:
        ask()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)

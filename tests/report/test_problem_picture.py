import numpy as np
import pytest

import driftmdp as dm
from driftmdp.report import write_figures
from driftmdp.report.problem_picture import average_world, draw_problem, problem_path

SMALL = {"budget": 4, "exposures": 1, "n_bids": 2, "horizon": 6}


def test_gains_are_those_of_the_policies_and_best_is_best():
    problem = dm.problems.bidding(**SMALL, cycles=1)
    path = problem_path(problem)
    random = dm.planning.policy_gain(
        problem.drifting.at(3), np.repeat(1 / problem.space.n_actions, problem.space.n_actions)
    )
    assert path.optimal == pytest.approx(dm.planning.optimal_gains(problem.drifting))
    assert path.random[2] == pytest.approx(random[problem.start])
    assert (path.optimal >= path.fixed - 1e-9).all()
    assert path.regimes == {"usual": 0, "quiet": 2, "fierce": 4}


def test_actions_are_known_by_name_where_states_offer_different_ones():
    space = dm.Space([1, 2], ["left", "right"], [["go"], ["stay", "go"]])
    mdp = dm.Mdp(space, [0.0, 1.0, 0.0], [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    path = problem_path(dm.Problem(dm.DriftingMdp.stationary(mdp, 2)))
    assert path.action_names == ("go", "stay")
    assert path.actions.tolist() == [[0, 1], [0, 1]]
    assert path.regimes == {}


def test_the_average_world_has_mean_rewards_and_mean_transitions():
    drifting = dm.problems.garnet(n_states=3, branching=2, horizon=7, drift="reward-only").drifting
    average, steps = average_world(drifting), range(1, 8)
    np.testing.assert_allclose(average.rewards, np.mean([drifting.rewards_at(t) for t in steps], axis=0))
    np.testing.assert_allclose(average.transitions.toarray(), drifting.at(1).transitions.toarray())


def test_any_problem_with_a_horizon_is_drawn_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr("driftmdp.report.problem_picture.STEPS", 3)
    written = write_figures(tmp_path, ["river-swim"])
    assert [path.name for path in written] == ["river-swim.png", "river-swim.svg"]


def test_a_problem_too_large_to_be_seen_is_refused():
    problem = dm.problems.bidding(budget=50, exposures=2, horizon=2)
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        draw_problem(problem)
    assert str(caught.value) == "problem must have at most 150 states to be drawn; got 153."

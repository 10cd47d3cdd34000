"""The frozen lake and the bridge: against Gymnasium's own table, a story in plain Python, and shortest paths."""

import gymnasium
import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems.bridge import MAP
from driftmdp.problems.frozen_lake import MAPS
from driftmdp.problems.grids import SlipperyGrid

ARROWS = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}
ASIDE = {"left": ("down", "up"), "down": ("right", "left"), "right": ("up", "down"), "up": ("left", "right")}


@pytest.mark.parametrize("name", MAPS)
def test_the_lake_is_gymnasiums(name):
    env = gymnasium.make("FrozenLake-v1", map_name=name).unwrapped  # slippery: each turn has a third
    theirs = dm.interchange.from_toy_text(env.P, start=env.initial_state_distrib)
    grid = SlipperyGrid(MAPS[name], {"G": 1.0})
    ours, numbers = grid.world([1 / 3] * 3), [row * env.ncol + column for row, column in grid.cells]
    for state, number in enumerate(numbers):
        for action in range(4):
            expected = theirs.successors(number, action)
            assert ours.successors(state, action) == pytest.approx(expected[numbers], abs=1e-15)
            assert ours.reward(state, action) == pytest.approx(theirs.reward(number, action), abs=1e-15)


def test_every_pair_of_the_bridge_does_what_the_story_tells():
    problem = dm.problems.bridge(calm=0.1, storm=0.4, horizon=2)
    names = problem.space.state_names
    for anchor, slips in zip(problem.drifting.anchors, [(0.4, 0.1), (0.1, 0.4)], strict=True):
        for state, name in enumerate(names):
            row, column = (int(word.split()[1]) for word in name.split(", "))
            slip = slips[0] if column < 4 else slips[1]
            for action, arrow in enumerate(ARROWS):
                chances, reward = dict.fromkeys(names, 0.0), 0.0
                one, other = ASIDE[arrow]
                for way, chance in ((arrow, 1 - slip), (one, slip / 2), (other, slip / 2)):
                    r, c = row + ARROWS[way][0], column + ARROWS[way][1]
                    r, c = (r, c) if 0 <= c < 8 else (row, column)  # no cell borders on the upper or lower edge
                    reward += chance * {"H": -1, "G": 1}.get(MAP[r][c], 0)
                    r, c = (2, 4) if MAP[r][c] in "HG" else (r, c)
                    chances[f"row {r}, column {c}"] += chance
                assert anchor.successors(state, action) == pytest.approx(list(chances.values()))
                assert anchor.reward(state, action) == pytest.approx(reward)


@pytest.mark.parametrize(("name", "steps"), [("4x4", 6), ("8x8", 14)])
def test_without_slip_the_lake_pays_once_per_shortest_path_whatever_the_wind(name, steps):
    lake = dm.problems.frozen_lake(name, slip=0.0, horizon=1)
    for anchor in lake.drifting.anchors:
        assert dm.planning.optimal_gain(anchor).gain == pytest.approx(1 / steps, abs=1e-9)


def test_without_storm_the_bridge_pays_once_in_three_steps_and_the_way_left_once_in_six():
    calm = dm.problems.bridge(calm=0.0, storm=0.0, horizon=1, drift="stationary").drifting.at(1)
    assert dm.planning.optimal_gain(calm).gain == pytest.approx(1 / 3, abs=1e-9)
    one_goal = SlipperyGrid([row.replace("FFG", "FFH") for row in MAP], {"H": -1.0, "G": 1.0}).world(
        [1.0, 0.0, 0.0]
    )
    assert dm.planning.optimal_gain(one_goal).gain == pytest.approx(1 / 6, abs=1e-9)


@pytest.mark.parametrize(("name", "margin"), [("frozen-lake", 0.05), ("bridge", 0.3)])
def test_the_defaults_drift_and_beat_random_play(name, margin):
    problem = dm.problems.make(name)
    variation = problem.drifting.variation()
    assert min(variation.reward, variation.transition) > 1
    policies = {tuple(dm.planning.optimal_gain(anchor).policy) for anchor in problem.drifting.anchors}
    assert len(policies) == problem.drifting.n_anchors
    random = dm.simulate(dm.agents.Random(problem.space), problem, seed=0).mean_rewards.mean()
    assert dm.planning.optimal_gains(problem.drifting).mean() > random + margin


def test_gradual_ends_one_step_before_the_last_regime():
    lake = dm.problems.frozen_lake(slip=0.0, horizon=4, drift="gradual").drifting
    assert lake.weights.matrix.toarray()[:, 2].tolist() == [0.0, 0.25, 0.5, 0.75]
    assert np.ptp([lake.weights.matrix.toarray().sum(axis=1)]) == 0.0


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        (
            "frozen-lake",
            {"map_name": "9x9"},
            "map_name must be one of '4x4', '8x8'; got '9x9'.",
        ),
        ("frozen-lake", {"slip": 0.7}, "slip must be at most 0.6; got 0.7."),
        ("bridge", {"calm": -0.1}, "calm must be at least 0; got -0.1."),
        ("bridge", {"storm": 1}, "storm must be at most 0.6; got 1."),
        ("bridge", {"drift": "gradual", "horizon": 0}, "horizon must be at least 1; got 0."),
    ],
)
def test_a_bad_value_is_answered_with_one_sentence(name, parameters, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.make(name, **parameters)
    assert str(caught.value) == sentence

"""Snapshots of Adaptive: whole ones go on, damaged ones are refused."""

import json
import math

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.adaptive_play import (
    random_steps,
    state_of,
)

problems = dm.problems


# Damaged snapshots. --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    agent = dm.agents.Adaptive(dm.Space.uniform(4, 3))
    agent.act(random_steps(agent, 80))
    path = tmp_path_factory.mktemp("snapshots") / "whole.npz"
    agent.save(path)
    with np.load(path) as file:
        return path, dict(file)


def change(name, value, field=None):
    def damage(arrays):
        array = arrays[f"state/{name}"] = arrays[f"state/{name}"].copy()
        (array if field is None else array[field])[0] = value

    return damage


def replaced(name, by):
    return lambda arrays: arrays.update({f"state/{name}": by(arrays[f"state/{name}"])})


DAMAGES = {
    "weights that do not sum to 1": change("judged_transition_weights", 0.9),
    "a negative weight": change("judged_transition_weights", -0.1),
    "no number": change("judged_drift", math.nan),
    "a negative error": change("judged_reward_errors", -1.0),
    "a state that does not exist": change("touched", 99),
    "a state twice": replaced("touched", lambda array: np.repeat(array[:1], array.size)),
    "a missing state": replaced("touched", lambda array: array[1:]),
    "a cursor outside": change("facts", 10**6, "cursor"),
    "a plan in the future": change("facts", 10**6, "planned"),
    "a visit in the future": change("pairs", 10**6, "last"),
    "a visit before the first": change("pairs", 0, "last"),
    "a negative gap": change("pairs", -1, "gap"),
    "an endless reward": change("pairs", math.inf, "mean"),
    "too few pairs": replaced("pairs", lambda array: array[:-1]),
    "too few counts": replaced("counts", lambda array: array[:-1]),
    "a negative count": change("counts", -1.0),
    "no visits": change("sums", 0.0),
    "other visits": change("visits", 10**6),
    "other trials": change("tried", 0),
    "a short bias": replaced("bias", lambda array: array[:-1]),
    "words": replaced("bias", lambda array: array.astype("U3")),
    "other facts": replaced("facts", lambda array: np.zeros(1)),
    "another window": change("tally", 5, "window"),
    "something missing": lambda arrays: arrays.pop("state/chances"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_snapshot_is_refused(name, saved, tmp_path):
    arrays = dict(saved[1])
    DAMAGES[name](arrays)
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(tmp_path / "damaged.npz")


def test_a_snapshot_that_waits_for_no_action_is_refused(saved, tmp_path):
    arrays = dict(saved[1])
    header = json.loads(str(arrays["header"]))
    header["waiting"] = [0, 7]
    np.savez(tmp_path / "damaged.npz", **arrays | {"header": np.array(json.dumps(header))})
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(tmp_path / "damaged.npz")


def test_a_whole_snapshot_goes_on_as_if_nothing_had_been(saved, tmp_path):
    one, other = dm.agents.load(saved[0]), dm.agents.load(saved[0])
    for agent in (one, other):
        agent.observe(0.25, 2)
    one.save(tmp_path / "again.npz")
    one = dm.agents.load(tmp_path / "again.npz")
    assert random_steps(one, 50) == random_steps(other, 50)
    assert state_of(one) == state_of(other)


@pytest.mark.parametrize("kind", [">f8", "f2"])
@pytest.mark.parametrize("name", ["transition_weights", "reward_errors", "noise"])
def test_a_snapshot_with_numbers_of_another_type_is_converted_or_refused(name, kind, saved, tmp_path):
    arrays = dict(saved[1])
    replaced(f"judged_{name}", lambda array: array.astype(kind))(arrays)
    np.savez(tmp_path / "other.npz", **arrays)
    try:
        agent = dm.agents.load(tmp_path / "other.npz")
    except InvalidInputError:
        return
    assert all(array.dtype == np.float64 for array in agent._judged)


@pytest.mark.parametrize(
    "damage",
    [
        change("facts", 2**63 - 1, "t"),
        change("pairs", 1e308, "reward"),
        change("pairs", -10.0, "rarity"),
        change("rewards", math.nan),
        change("counts", 1e150),
    ],
)
def test_a_snapshot_that_cannot_be_is_refused(damage, saved, tmp_path):
    arrays = dict(saved[1])
    damage(arrays)
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(tmp_path / "damaged.npz")

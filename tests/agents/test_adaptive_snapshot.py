"""Snapshots of Adaptive: whole ones go on, damaged ones are refused. Those of before: test_written_before.py."""

import json
import math

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.adaptive_play import random_steps, state_of


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The path and the arrays of one that waits for a reward."""
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
    "weights that do not sum to 1": change("weights_transitions", 0.9),
    "a negative weight": change("weights_rewards", -0.1),
    "another number of memories": replaced("weights_prior", lambda array: np.full(5, 0.2)),
    "no number": change("weights_drift", math.nan),
    "a negative noise": change("weights_noise", -1.0),
    "a negative alpha": replaced("weights_newness", lambda array: -array),
    "a negative number of errors": change("weights_judged", -1.0),
    "a negative number of errors of values": change("weights_value_judged", -1.0),
    "a negative drift of values": change("weights_value_drift", -1.0),
    "a negative drift of a pair's values": change("pairs", -1.0, "value_drift"),
    "a negative expectation of a state": replaced("weights_by_state", lambda array: array - 1.0),
    "a state that does not exist": change("met", 99),
    "a state twice": replaced("met", lambda array: np.repeat(array[:1], array.size)),
    "a missing state": replaced("met", lambda array: array[1:]),
    "no list of states": replaced("met", lambda array: array.astype(float)),
    "a cursor outside": change("facts", 10**6, "cursor"),
    "a plan in the future": change("facts", 10**6, "planned"),
    "a thought in the future": change("facts", 10**6, "thought"),
    "no time to go on": change("facts", 2**63 - 1, "t"),
    "a novelty that is no chance": change("facts", 1.5, "novelty"),
    "an endless gain": change("facts", math.inf, "gain"),
    "a visit in the future": change("pairs", 10**6, "last"),
    "a visit before the first": change("pairs", 0, "last"),
    "an endless reward": change("pairs", math.inf, "mean"),
    "a reward out of its range": change("pairs", 1e308, "hoped"),
    "a negative variance": change("pairs", -1.0, "variance"),
    "a negative expectation": change("pairs", -1.0, "foreseen"),
    "a negative worth": change("pairs", -1.0, "visits"),
    "a doubt that no visits can give": change("pairs", 99.0, "doubt"),
    "too few pairs": replaced("pairs", lambda array: array[:-1]),
    "too few counts": replaced("counts", lambda array: array[:-1]),
    "a negative count": change("counts", -1.0),
    "a huge count": change("counts", 1e150),
    "a chance above 1": change("chances", 2.0),
    "no visits": change("sums", 0.0),
    "sums that no rewards have": replaced("sums", lambda array: array * [[1.0], [99.0], [1.0]]),
    "other visits": change("visits", 10**6),
    "other trials": change("tried", 0),
    "a short bias": replaced("bias", lambda array: array[:-1]),
    "words": replaced("bias", lambda array: array.astype("U3")),
    "other facts": replaced("facts", lambda array: np.zeros(1)),
    "another window": change("tally", 5, "window"),
    "impossible rewards": change("rewards", math.nan),
    "something missing": lambda arrays: arrays.pop("state/chances"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_snapshot_is_refused(name, saved, tmp_path):
    arrays = dict(saved[1])
    DAMAGES[name](arrays)
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together") as refused:
        dm.agents.load(tmp_path / "damaged.npz")
    assert "\n" not in str(refused.value)


def test_a_snapshot_that_waits_for_no_action_is_refused(saved, tmp_path):
    arrays = dict(saved[1])
    header = json.loads(str(arrays["header"])) | {"waiting": [0, 7]}
    np.savez(tmp_path / "damaged.npz", **arrays | {"header": np.array(json.dumps(header))})
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(tmp_path / "damaged.npz")


def test_a_snapshot_of_the_state_that_was_never_released_is_refused(saved, tmp_path):
    arrays = dict(saved[1])
    header = json.loads(str(arrays["header"])) | {"version": 4}
    np.savez(tmp_path / "unreleased.npz", **arrays | {"header": np.array(json.dumps(header))})
    with pytest.raises(InvalidInputError, match=r"it holds 'Adaptive of version 4'\. Start a new one\."):
        dm.agents.load(tmp_path / "unreleased.npz")


def test_a_whole_snapshot_goes_on_as_if_nothing_had_been(tmp_path):
    """Saved between act and observe, and after, before more next states come than there was space for."""
    agent, paths = dm.agents.Adaptive(dm.Space.uniform(9, 3)), [tmp_path / "waiting.npz", tmp_path / "after.npz"]
    agent.act(random_steps(agent, 20))
    agent.save(paths[0])
    agent.observe(0.25, 2)
    agent.save(paths[1])
    waiting, after = (dm.agents.load(path) for path in paths)
    waiting.observe(0.25, 2)
    ends = [random_steps(one, 150, seed=1) for one in (agent, waiting, after)]
    assert ends == ends[:1] * 3
    assert state_of(agent) == state_of(waiting) == state_of(after)


@pytest.mark.parametrize("kind", [">f8", "f2"])
@pytest.mark.parametrize("name", ["transitions", "judged", "noise"])
def test_a_snapshot_with_numbers_of_another_type_is_converted_or_refused(name, kind, saved, tmp_path):
    arrays = dict(saved[1])
    replaced(f"weights_{name}", lambda array: array.astype(kind))(arrays)
    np.savez(tmp_path / "other.npz", **arrays)
    try:
        agent = dm.agents.load(tmp_path / "other.npz")
    except InvalidInputError:
        return
    assert all(array.dtype == np.float64 for array in agent._weights)

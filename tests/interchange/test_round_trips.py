"""Every form gives back the MDP that it was made from, number for number."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp import interchange, npz
from driftmdp.errors import InvalidInputError
from driftmdp.interchange import world_files
from tests.strategies import communicating_mdps, drifting_mdps

few = settings(max_examples=40, deadline=None)


def assert_same(found, wanted):
    np.testing.assert_array_equal(found.space.n_actions, wanted.space.n_actions)
    np.testing.assert_array_equal(found.rewards, wanted.rewards)
    assert_same_matrix(found.transitions, wanted.transitions)


def assert_same_matrix(found, wanted):
    assert found.shape == wanted.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(wanted, part))


def offered(mdp):
    return np.arange(mdp.space.n_actions.max()) < mdp.space.n_actions[:, None]


@few
@given(communicating_mdps())
def test_toy_text(mdp):
    assert_same(interchange.from_toy_text(interchange.to_toy_text(mdp)), mdp)


@few
@given(communicating_mdps())
def test_scipy(mdp):
    assert_same(interchange.from_scipy(*interchange.to_scipy(mdp)), mdp)


@few
@given(communicating_mdps(), st.booleans())
def test_mdptoolbox(mdp, as_list):
    transitions, rewards = interchange.to_mdptoolbox(mdp)
    np.testing.assert_allclose(transitions.sum(axis=2), 1.0)
    given_as = list(interchange.to_scipy(mdp)[0]) if as_list else transitions
    assert_same(interchange.from_mdptoolbox(given_as, rewards, offered(mdp)), mdp)


@few
@given(communicating_mdps(), st.sampled_from(["pairs", "product"]))
def test_quantecon(mdp, form):
    assert_same(interchange.from_quantecon(interchange.to_quantecon(mdp, 0.9, form)), mdp)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_files(suffix, tmp_path):
    path = tmp_path / f"world{suffix}"

    @few
    @given(communicating_mdps())
    def keep(mdp):
        interchange.save(mdp, path)
        assert_same(interchange.load(path), mdp)

    @few
    @given(drifting_mdps())
    def keep_drifting(world):
        interchange.save(world, path)
        found = interchange.load(path)
        np.testing.assert_array_equal(found.anchor_rewards, world.anchor_rewards)
        assert_same_matrix(found.anchor_transitions, world.anchor_transitions)
        assert_same_matrix(found.weights.matrix, world.weights.matrix)
        assert_same_matrix(found.reward_weights.matrix, world.reward_weights.matrix)
        assert found.rewards_follow_transitions == world.rewards_follow_transitions
        assert (found.weights.index is None) == (world.weights.index is None)

    keep()
    keep_drifting()


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_files_keep_names(suffix, tmp_path):
    space = dm.Space([1, 2], ["empty", "full"], [["wait"], ["wait", "sell"]])
    interchange.save(dm.Mdp(space, [0, 0, 1], [[0, 1], [0, 1], [1, 0]]), tmp_path / f"shop{suffix}")
    assert interchange.load(tmp_path / f"shop{suffix}").space == space


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_files_that_are_foreign_or_damaged_get_a_sentence(suffix, tmp_path):
    path = tmp_path / f"world{suffix}"
    with pytest.raises(InvalidInputError, match="there is no such file"):
        interchange.load(path)
    interchange.save(dm.problems.two_state(horizon=100).drifting, path)
    content = path.read_bytes()
    for damaged in (b"", b"{}", b"hello", content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(InvalidInputError, match=r"it is not one, or it is damaged"):
            interchange.load(path)


def test_a_file_that_was_edited_gets_a_sentence(tmp_path):
    path = tmp_path / "coin.json"
    interchange.save(dm.Mdp(dm.Space.uniform(1, 2), [0, 1], [[1], [1]]), path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"header": document["header"] | {"version": 2}}))
    with pytest.raises(InvalidInputError, match="must have version 1; got 2"):
        interchange.load(path)
    path.write_text(json.dumps(document | {"arrays": document["arrays"] | {"data": [1.0, 0.5]}}))
    with pytest.raises(InvalidInputError, match="does not fit together"):
        interchange.load(path)
    del document["arrays"]["rewards"]
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInputError, match="does not fit together"):
        interchange.load(path)


@pytest.mark.parametrize(
    ("part", "changed", "sentence"),
    [
        ("header", {"kind": "foo"}, "kind must be one of 'mdp', 'drifting'; got 'foo'"),
        ("header", {"version": 1.9}, "must have version 1; got 1.9. It was edited"),
        ("header", {"version": "1"}, "must have version 1; got '1'. It was edited"),
        ("header", {"version": True}, "must have version 1; got True. It was edited"),
        ("header", {"version": 0}, "must have version 1; got 0. It was edited"),
        ("header", {"version": 2}, "must have version 1; got 2. Update driftmdp"),
        ("arrays", {"indices": [1.9, 0.9]}, "indices must be whole numbers; got float64"),
        ("arrays", {"indptr": [0, 1.5, 2]}, "indptr must be 3 whole numbers; got float64"),
    ],
)
def test_edits_are_found(part, changed, sentence, tmp_path):
    path = tmp_path / "switch.json"
    interchange.save(dm.Mdp(dm.Space([1, 1]), [0, 1], [[0, 1], [1, 0]]), path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {part: document[part] | changed}))
    with pytest.raises(InvalidInputError, match=sentence):
        interchange.load(path)


def test_every_changed_digit_of_a_json_file_is_found(tmp_path):
    path = tmp_path / "world.json"
    interchange.save(dm.problems.perils(tau=2).drifting, path)
    text = path.read_text()
    start = text.index('"arrays"')
    for place in (start + match.start() for match in re.finditer(r"\d", text[start:])):
        path.write_text(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :])
        with pytest.raises(InvalidInputError, match=r"does not fit together|its checksum differs|is damaged"):
            interchange.load(path)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_names_and_weights_are_under_the_checksum(suffix, tmp_path):
    path, space = tmp_path / f"shop{suffix}", dm.Space([1, 1], ["empty", "full"])
    interchange.save(dm.Mdp(space, [0, 1], [[0, 1], [1, 0]]), path)
    header, arrays = (
        world_files._of_json(path.read_bytes()) if suffix == ".json" else npz.unpack(path.read_bytes(), path)
    )
    write = world_files._as_json if suffix == ".json" else npz.pack
    path.write_bytes(write(header | {"state_names": ["empty", "fuller"]}, arrays))
    with pytest.raises(InvalidInputError, match="its checksum differs, so it was damaged or edited"):
        interchange.load(path)
    path.write_bytes(write(header, arrays | {"reward_weights_spare": np.zeros(1)}))
    with pytest.raises(InvalidInputError, match="its checksum differs"):
        interchange.load(path)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_files_from_before_the_checksum_still_load(suffix, tmp_path):
    path, mdp = tmp_path / f"old{suffix}", dm.Mdp(dm.Space([1, 1]), [0, 1], [[0, 1], [1, 0]])
    header, arrays = world_files._header(mdp), world_files._arrays(mdp)
    path.write_bytes(world_files._as_json(header, arrays) if suffix == ".json" else npz.pack(header, arrays))
    assert_same(interchange.load(path), mdp)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"rewards": [', '"rewards": [NaN, '),
        ('"data": [1.0', '"data": [Infinity'),
        ('"kind"', '"kind": "mdp", "kind"'),
        ('"rewards": [0.0, 1.0]', '"rewards": [false, true]'),
        ('"rewards": [0.0', '"rewards": ["0"'),
        ('"n_actions": [1, 1]', '"n_actions": [true, true]'),
        ('"kind"', '"colour": 1, "kind"'),
        ("{", "[" * 100_000),
        ("[", "[" * 100),
    ],
)
def test_json_that_only_lenient_parsers_take_is_refused(old, new, tmp_path):
    path = tmp_path / "switch.json"
    interchange.save(dm.Mdp(dm.Space([1, 1]), [0, 1], [[0, 1], [1, 0]]), path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InvalidInputError, match=r"it is not one, or it is damaged|does not fit together"):
        interchange.load(path)


def test_what_cannot_be_kept_gets_a_sentence(tmp_path):
    problem = dm.problems.two_state(horizon=100)
    with pytest.raises(InvalidInputError, match="Of a Problem, save its drifting"):
        interchange.save(problem, tmp_path / "x.npz")
    with pytest.raises(InvalidInputError, match=r"path must end in .npz or .json"):
        interchange.save(problem.drifting, tmp_path / "x.csv")
    for call in (interchange.load, lambda path: interchange.save(problem.drifting, path)):
        for name in ("a\0.npz", "\ud800.npz", None, 5):
            with pytest.raises(InvalidInputError, match="path must be the path of a file; got"):
                call(name)
    with pytest.raises(InvalidInputError, match="nothing was changed"):
        interchange.save(problem.drifting, tmp_path / "nowhere" / "x.npz")

"""Save and load: exactly as if never interrupted; anything else is refused with a sentence."""

import contextlib
import json
import zipfile
from fractions import Fraction

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.agents import snapshot
from driftmdp.errors import InvalidInputError
from tests.agents.worlds import problem_for, random_problem, world_draws

AGENTS = sorted(set(dm.agents.builtin()) - {"Optimist"})


def make(name, problem):
    parameters = {"scale": 0.1} if "scale" in dm.agents.builtin()[name].__init__.__code__.co_varnames else {}
    return dm.agents.builtin()[name].for_problem(problem, **parameters)


def go_on(agent, problem, draws, t, state, steps):
    """Play some steps live and return what was done."""
    done = []
    for now in range(t, t + steps):
        action = agent.act(state)
        sample = problem.sample(now, state, action, draws)
        agent.observe(sample.reward, sample.next_state)
        done.append((state, action))
        state = sample.next_state
    return done, state


@pytest.mark.parametrize("name", AGENTS)
def test_loaded_at_every_step_it_goes_on_the_same(name, tmp_path):
    problem = problem_for(dm.agents.builtin()[name], 60)
    draws = world_draws(problem, 1)
    agent, uninterrupted = make(name, problem), make(name, problem)
    agent.reset(np.random.default_rng(1))
    uninterrupted.reset(np.random.default_rng(1))
    whole, _ = go_on(uninterrupted, problem, draws, 1, problem.start, 60)
    state = problem.start
    for t in range(1, 61):
        agent.save(tmp_path / "a.npz")
        agent = dm.agents.load(tmp_path / "a.npz")
        assert agent.t == t
        done, state = go_on(agent, problem, draws, t, state, 1)
        assert done == whole[t - 1 : t]


@pytest.mark.parametrize("planner", ["paper", "fast"])
def test_saved_in_the_middle_with_much_remembered(planner, tmp_path):
    problem = random_problem(8, 3000, n_states=30)
    draws = world_draws(problem, 2)
    for window in (100, 700, 5000):
        agent = dm.agents.SWUCRL2CW.for_problem(problem, window=window, widening=0.01, scale=0.05, planner=planner)
        _, state = go_on(agent, problem, draws, 1, problem.start, 1500)
        agent.act(state)  # between act and observe
        agent.save(tmp_path / "a.npz")
        fresh = dm.agents.SWUCRL2CW.load(tmp_path / "a.npz")
        assert str(fresh.explain(state)) == str(agent.explain(state))
        assert go_on(fresh, problem, draws, 1501, state, 1500) == go_on(agent, problem, draws, 1501, state, 1500)
        assert fresh.counts().tolist() == agent.counts().tolist()


def test_a_composition_is_saved_with_its_parts(tmp_path):
    parts = dm.agents
    agent = parts.Optimist(
        dm.Space([1, 2], state_names=["a", "b"]),
        100,
        parts.SinceRestart([1, 10, 30]),
        parts.VariationRadii(delta=[0.1, 0.2, 0.3], widening=[0.0, 0.1, 0.2]),
        parts.Doubling(every=5),
        reward_range=None,
    )
    agent.save(tmp_path / "a.npz")
    fresh = parts.load(tmp_path / "a.npz")
    assert fresh.space == agent.space
    assert fresh.memory.starts.tolist() == [1, 10, 30]
    assert fresh.confidence.delta.tolist() == [0.1, 0.2, 0.3]
    assert fresh.schedule == agent.schedule
    assert fresh.reward_range is None


@pytest.fixture
def saved(tmp_path):
    problem = random_problem(3, 60)
    agent = make("SWUCRL2CW", problem)
    go_on(agent, problem, world_draws(problem, 1), 1, problem.start, 30)
    path = tmp_path / "agent.npz"
    agent.save(path)
    return path


def edited(path, change):
    """Rewrite a snapshot's header."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    change(header)
    arrays["header"] = np.array(json.dumps(header))
    np.savez(path, **arrays)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no such file"):
        dm.agents.load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("keep", [0, 1, 10, 100, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved, keep):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
    with pytest.raises(InvalidInputError, match="it is not one, or it is damaged"):
        dm.agents.load(saved)


def test_a_flipped_byte_is_refused(saved):
    content = bytearray(saved.read_bytes())
    with zipfile.ZipFile(saved) as file:
        member = file.getinfo("state/slots.npy")
    place = member.header_offset + 50 + len(member.filename) + member.compress_size // 2
    content[place] ^= 0xFF
    saved.write_bytes(bytes(content))
    with pytest.raises(InvalidInputError, match="damaged"):
        dm.agents.load(saved)


@pytest.mark.parametrize("content", [b"hello", b"PK\x03\x04", json.dumps({"a": 1}).encode()])
def test_another_file_is_refused(saved, content):
    saved.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"must be a snapshot written by agent\.save"):
        dm.agents.load(saved)


def test_another_npz_is_refused(saved):
    np.savez(saved, a=np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"must be a snapshot written by agent\.save"):
        dm.agents.load(saved)


def test_a_newer_version_is_refused(saved):
    edited(saved, lambda header: header.update(version=snapshot.VERSION + 1, package="9.9.9"))
    with pytest.raises(InvalidInputError, match=r"written by driftmdp 9\.9\.9. Update driftmdp"):
        dm.agents.load(saved)


def test_an_older_version_is_refused(saved):
    edited(saved, lambda header: header.update(version=1, package="0.0.1"))
    with pytest.raises(InvalidInputError, match=r"written by driftmdp 0\.0\.1. Read it with that driftmdp"):
        dm.agents.load(saved)


def test_an_unknown_agent_is_refused(saved):
    edited(saved, lambda header: header.update({"class": "Skynet"}))
    with pytest.raises(InvalidInputError, match="it holds 'Skynet'"):
        dm.agents.load(saved)


def test_parts_that_do_not_fit_together_are_refused(saved):
    edited(saved, lambda header: header["parameters"].pop("space"))
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(saved)


def test_the_wrong_class_is_refused(saved):
    with pytest.raises(InvalidInputError, match="must hold an agent of class UCRL2; it holds SWUCRL2CW"):
        dm.agents.UCRL2.load(saved)


def test_saving_is_whole_or_not_at_all(saved, monkeypatch):
    before = saved.read_bytes()
    agent = dm.agents.load(saved)
    monkeypatch.setattr(snapshot.os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(InvalidInputError, match=r"nothing was changed \(disk full\)"):
        agent.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["agent.npz"]


def test_the_file_has_the_usual_permissions(saved):
    saved.with_name("plain").write_text("")
    assert saved.stat().st_mode == saved.with_name("plain").stat().st_mode


@pytest.mark.parametrize("generator", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_random_goes_on_with_any_generator_even_between_act_and_observe(generator, tmp_path):
    agent = dm.agents.Random(dm.Space.uniform(2, 50))
    agent.reset(np.random.Generator(getattr(np.random, generator)(7)))
    agent.act(0)
    agent.save(tmp_path / "r.npz")
    fresh = dm.agents.load(tmp_path / "r.npz")
    for _ in range(20):
        assert fresh.act(1) == agent.act(1)
        agent.observe(0.0, 0)
        fresh.observe(0.0, 0)


def test_a_class_that_cannot_be_found_again_is_not_saved(tmp_path):
    class Mine(dm.agents.UCRL2):
        pass

    with pytest.raises(InvalidInputError, match="Mine must be one of the agents of driftmdp to be saved"):
        Mine(dm.Space.uniform(2, 2), 10).save(tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.pop("version"),
        lambda h: h.update(version="two"),
        lambda h: h.update(parameters=None),
        lambda h: h.update(waiting=[0]),
        lambda h: h.update(waiting=[99, 0]),
        lambda h: h["parameters"].update(window=10**15, horizon=10**15),
        lambda h: h.pop("format"),
    ],
)
def test_a_strange_header_gets_a_sentence(saved, change):
    edited(saved, change)
    with pytest.raises(InvalidInputError, match=r"must be a (whole )?snapshot"):
        dm.agents.load(saved)


def test_any_flipped_bit_gives_a_sentence_or_the_same_agent(saved):
    content, counts = saved.read_bytes(), dm.agents.load(saved).counts().tolist()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(content), 150):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(bytes(damaged))
        with contextlib.suppress(InvalidInputError):
            assert dm.agents.load(saved).counts().tolist() == counts


def test_a_missing_folder_gets_a_sentence(saved):
    with pytest.raises(InvalidInputError, match="must be in a folder that can be written to"):
        dm.agents.load(saved).save(saved.parent / "no" / "where.npz")


DAMAGE = {
    "slots": ["pair", "state", "head", "count"],
    "entries": ["pair", "next_state", "link", "back", "count"],
    "steps": ["pair", "entry"],
    "tally": ["n_slots", "n_entries", "vacant", "cursor", "remembered", "since", "window"],
    "clock": ["t", "start", "tau", "phase", "n_reasons", "n_touched"],
    "reasons": ["pair"],
    "policy": [None],
    "touched": [None],
}


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        (name, field, value)
        for name, fields in DAMAGE.items()
        for field in fields
        for value in (-7, 10**6, 2**31 - 1)
        if value < 0 or field not in ("t", "tau")  # a later time is possible
    ],
)
def test_a_wrong_index_never_reaches_compiled_code(saved, name, field, value):
    with np.load(saved) as file:
        arrays = dict(file)
    array = arrays[f"state/{name}"]
    (array if field is None else array[field])[0] = value
    np.savez(saved, **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(saved)


@pytest.mark.parametrize("name", ["slots", "entries", "steps", "visits", "policy", "bias", "touched", "reasons"])
@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: a[None], lambda a: np.zeros(3, complex)])
def test_a_wrong_shape_or_type_is_refused(saved, name, change):
    with np.load(saved) as file:
        arrays = dict(file)
    arrays[f"state/{name}"] = change(arrays[f"state/{name}"])
    np.savez(saved, **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(saved)


def test_a_strange_position_of_a_generator_is_refused(tmp_path):
    """numpy trusts it, and would read beyond its state."""
    for kind, place in (("MT19937", ["state", "pos"]), ("Philox", ["buffer_pos"])):
        for position in (-1, 10**5):
            agent = dm.agents.Random(dm.Space.uniform(2, 2))
            agent.reset(np.random.Generator(getattr(np.random, kind)(7)))
            agent.save(tmp_path / "a.npz")
            with np.load(tmp_path / "a.npz") as file:
                arrays = dict(file)
            state = json.loads(str(arrays["state/rng"]))
            inner = state
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = position
            arrays["state/rng"] = np.array(json.dumps(state))
            np.savez(tmp_path / "a.npz", **arrays)
            with pytest.raises(InvalidInputError, match="the generator's position is wrong"):
                dm.agents.load(tmp_path / "a.npz")


def test_a_generator_that_could_not_be_loaded_is_not_saved(tmp_path):
    class Mine(np.random.PCG64):
        pass

    agent = dm.agents.Random(dm.Space.uniform(2, 2))
    agent.reset(np.random.Generator(Mine(1)))
    with pytest.raises(InvalidInputError, match="rng must be one of numpy's own generators to be saved"):
        agent.save(tmp_path / "a.npz")


def test_it_does_not_wait_for_a_step_after_the_horizon(saved):
    agent = dm.agents.load(saved)
    for _ in range(30):
        agent.act(0)
        agent.observe(0.0, 0)
    agent.save(saved)
    edited(saved, lambda header: header.update(waiting=[0, 0]))
    with pytest.raises(InvalidInputError, match="it waits for a step after its horizon"):
        dm.agents.load(saved)


def test_numbers_of_any_kind_are_saved(tmp_path):
    agent = dm.agents.BORL(dm.Space.uniform(2, 2), 100, delta=Fraction(1, 2), scale=np.float32(0.5))
    agent.save(tmp_path / "a.npz")
    assert dm.agents.load(tmp_path / "a.npz").delta == 0.5


MASTER_DAMAGE = {
    "chosen": lambda a: a + 10**9,
    "chosen ": lambda a: a[:-1],
    "chosen  ": lambda a: a.astype(float),
    "probabilities": lambda a: a[:, :-1],
    "feedback": lambda a: np.concatenate([a, a]),
    "feedback ": lambda a: a[:-1],
    "logits": lambda a: a[:-1],
    "logits ": lambda a: a * np.nan,
    "logits  ": lambda a: a + 1e9,
    "gathered": lambda a: a * np.inf,
    "feedback  ": lambda a: a + 7,
    "probabilities ": lambda a: a * np.nan,
}


@pytest.mark.parametrize("damage", MASTER_DAMAGE)
def test_a_wrong_master_is_refused(tmp_path, damage):
    problem = random_problem(3, 400, n_states=2)
    agent = dm.agents.BORL.for_problem(problem, mode="bounded")
    go_on(agent, problem, world_draws(problem, 1), 1, problem.start, 399)
    agent.save(tmp_path / "a.npz")
    fresh = dm.agents.load(tmp_path / "a.npz")
    assert str(fresh.summary()) == str(agent.summary())
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    name = f"state/master_{damage.strip()}"
    arrays[name] = MASTER_DAMAGE[damage](arrays[name])
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["Adaptive", "IMEDRL", "OptimisticQ", "MASTER", "RestartQ"])
def test_rewards_outside_of_their_range_are_noticed_across_snapshots(name, tmp_path):
    agent = dm.agents.builtin()[name].for_problem(random_problem(3, 100), reward_range=(0.0, 1.0))
    for _ in range(19):
        agent.act(0)
        agent.observe(105.0, 0)
    agent.save(tmp_path / "a.npz")
    agent = dm.agents.load(tmp_path / "a.npz")
    agent.act(0)
    with pytest.warns(UserWarning, match="The mean of 20 rewards is 105, far outside reward_range"):
        agent.observe(105.0, 0)


def test_the_other_byte_order_is_read(saved):
    with np.load(saved) as file:
        arrays = dict(file)
    swapped = {k: v.astype(v.dtype.newbyteorder(">")) if k.startswith("state/") else v for k, v in arrays.items()}
    fresh = dm.agents.load(saved)
    np.savez(saved, **swapped)
    assert dm.agents.load(saved).counts().tolist() == fresh.counts().tolist()


@pytest.mark.parametrize("name", ["UCB1", "DUCB", "SWUCB", "BOB"])
def test_a_next_state_that_is_counted_twice_is_refused(tmp_path, name):
    """These agents have room for one next state per arm: entries beyond that would be written past the end."""
    agent = dm.agents.builtin()[name].for_problem(dm.problems.bandit(n_arms=40, horizon=100))
    agent.act(0)
    agent.observe(0.5, 0)
    agent.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    entries = np.repeat(arrays["state/entries"], 63)
    entries["link"], entries["back"] = [*range(1, 63), -1], range(-1, 62)
    arrays["state/entries"] = entries
    arrays["state/slots"]["count"], arrays["state/tally"]["n_entries"] = 63.0, 63
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InvalidInputError, match="a next state is counted twice"):
        dm.agents.load(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["EXP3", "UCRL2", "PSRL", "UCB1"])
def test_a_small_file_cannot_ask_for_gigabytes(tmp_path, name):
    """A defect once: 1,648 bytes took 3.7 GiB before they were refused."""
    agent = dm.agents.builtin()[name].for_problem(dm.problems.bandit(n_arms=3, horizon=100))
    agent.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    arrays["parameter/space"] = np.array([500_000_000], np.int32)
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InvalidInputError, match=r"a space of 5e\+08 pairs in a file of"):
        dm.agents.load(tmp_path / "a.npz")

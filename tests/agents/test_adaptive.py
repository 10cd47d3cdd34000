"""Adaptive against its pseudo-code (tests/reference/adaptive.py), its guarantees, and what always holds of it."""

import functools
import itertools
import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.worlds import random_problem, world_luck
from tests.reference.adaptive import Adaptive as Reference

problems = dm.problems
PROBLEMS = {
    "two states": lambda: problems.two_state(horizon=300),
    "a river": lambda: problems.river_swim(n_states=4, horizon=300, drift="drifting", noise="bernoulli"),
    "slow": lambda: problems.garnet(4, 3, 2, horizon=300, drift="slow"),
    "abrupt": lambda: problems.garnet(4, 2, 3, horizon=300, drift="abrupt", changes=3, noise="bernoulli"),
    "a bandit": lambda: problems.bandit(4, horizon=300),
    "perils": problems.perils,
    "a shop": lambda: problems.inventory(capacity=3, horizon=300),
    "ragged": lambda: random_problem(5, 300, n_states=4, noise="gaussian(0.2)"),
    "one state": lambda: random_problem(2, 200, n_states=1),
    "more than 32 pairs": lambda: problems.garnet(14, 4, 3, horizon=110),
}


def adaptive(problem):
    return dm.agents.Adaptive.for_problem(problem)


def oracle_of(problem):
    return Reference(problem.space.n_actions.tolist(), problem.reward_range)


def known_pairs(agent):
    """What the agent holds of every known pair: r^, hoped, n, and p^ by next state."""
    known, past = agent._known, agent._past
    found = {}
    for index in range(int(known.tally["n_slots"][0])):
        slot, pair = known.slots[index], past.pairs[index]
        chances, entry = {}, int(slot["head"])
        while entry >= 0:
            chances[int(known.entries[entry]["next_state"])] = float(past.chances[entry])
            entry = int(known.entries[entry]["link"])
        name = int(slot["state"]), int(slot["pair"] - agent.space.offsets[slot["state"]])
        found[name] = float(pair["mean"]), float(pair["hoped"]), float(pair["weight"]), chances
    return found


def play(agent, problem, seed, steps=None, after_act=lambda state, action: None, change=lambda reward: reward):
    """Live steps; `after_act` looks on, `change` is done to rewards. Return the states and actions."""
    luck, state, done = world_luck(problem, seed), problem.start, []
    for t in range(1, (steps or problem.horizon) + 1):
        action = agent.act(state)
        after_act(state, action)
        done.append((state, action))
        sample = problem.sample(t, state, action, luck)
        agent.observe(change(float(sample.reward)), int(sample.next_state))
        state = int(sample.next_state)
    return done


def random_steps(agent, steps, seed=0, reward=lambda rng: float(rng.random())):
    """Steps in a world without rhyme or reason; return the last state."""
    rng, state = np.random.default_rng(seed), 0
    for _ in range(steps):
        agent.act(state)
        state = int(rng.integers(agent.space.n_states))
        agent.observe(reward(rng), state)
    return state


# The pseudo-code. ----------------------------------------------------------------------------------------


def assert_close(mine, theirs, tolerance):
    """Rows of numbers by name."""
    for name, row in mine.items():
        worst = np.abs(np.asarray(row) - np.asarray(theirs[name])).max(initial=0.0)
        assert worst <= tolerance, f"{name} differs by {worst}"


def assert_same(agent, oracle):
    """All that the two hold, to rounding; a variance as a difference of squares has half of the digits."""
    pairs, others = known_pairs(agent), oracle.pairs
    assert {x: set(chances) for x, (_, _, _, chances) in pairs.items()} == {
        x: set(others[x].chances) for x in others
    }
    assert list(pairs) == list(others)
    judged, facts, met, known = agent._judged, agent._intent.facts[0], oracle.met, list(oracle.bias)
    mine = {
        "pairs": [number for pair in pairs.values() for number in pair[:3]],
        "chances": [pair[3][after] for x, pair in pairs.items() for after in others[x].chances],
        "w": judged.transition_weights,
        "u": judged.reward_weights[met],
        "E": judged.reward_errors[met],
        "D": judged.drift,
        "noise": judged.noise[0],
    }
    theirs = {
        "pairs": [number for pair in others.values() for number in (pair.mean, pair.hoped, pair.size)],
        "chances": [chance for pair in others.values() for chance in pair.chances.values()],
        "w": oracle.w,
        "u": oracle.u[met],
        "E": oracle.errors[met],
        "D": oracle.drift,
        "noise": oracle.noise,
    }
    assert_close(mine, theirs, 1e-9)
    elsewhere = len(known) < oracle.n_states
    mine = {
        "h": [*agent._intent.bias[known], elsewhere and facts["elsewhere"]],
        "residual": facts["residual"],
        "facts": [facts[name] for name in ("top", "mean", "deviation", "reward_mean", "reward_spread")],
    }
    theirs = {
        "h": [*oracle.bias.values(), elsewhere and oracle.elsewhere],
        "residual": oracle.residual,
        "facts": [oracle.h_max, oracle.h_mean, oracle.h_sd, oracle.r_mean, oracle.r_sd],
    }
    assert_close(mine, theirs, 1e-6)
    assert agent._intent.touched[: facts["n_touched"]].tolist() == known
    assert (facts["sweeps"], facts["t"]) == (oracle.sweeps, oracle.t)


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_does_what_the_pseudo_code_says(name):
    """Where the oracle would do otherwise, its values tie, to rounding; it follows the agent."""
    problem = PROBLEMS[name]()
    agent, oracle = adaptive(problem), oracle_of(problem)
    run = dm.simulate(agent, problem, seed=3)
    luck, state = world_luck(problem, 3), problem.start
    for t in range(1, problem.horizon + 1):
        action = agent.act(state)
        oracle.act(state)
        assert oracle.values[action] >= max(oracle.values) - 1e-6
        oracle.doing = state, action
        assert_same(agent, oracle)
        assert (run.states[t - 1], run.actions[t - 1], run.sweeps[t - 1]) == (state, action, oracle.sweeps)
        sample = problem.sample(t, state, action, luck)
        state = int(sample.next_state)
        agent.observe(float(sample.reward), state)
        oracle.observe(float(sample.reward), state)
    assert len(oracle.judged) > problem.horizon / 3


def test_surprises_are_as_in_the_pseudo_code():
    """After 260 steps without any error, one that is far larger than expected."""
    agent, oracle = dm.agents.Adaptive(dm.Space([1])), Reference([1])
    for t in range(300):
        oracle.act(0)
        oracle.doing = 0, agent.act(0)
        assert_same(agent, oracle)
        for learner in (agent, oracle):
            learner.observe(float(t >= 260), 0)


def test_ties_go_to_the_least_tried_and_then_to_the_lowest():
    agent, oracle = dm.agents.Adaptive(dm.Space([4])), Reference([4])
    for t in range(100):
        assert agent.act(0) == oracle.act(0) == t % 4
        for learner in (agent, oracle):
            learner.observe(1.0, 0)  # nothing can be hoped to be better


# The guarantees of docs/adaptive.md. ---------------------------------------------------------------------


@functools.cache
def judged():
    """The logarithms of q (n, 10) of one run, and of the mixture's (n,)."""
    problem = random_problem(4, 150, n_states=3)
    oracle = oracle_of(problem)
    play(oracle, problem, 1)
    q = np.array([said for _, said in oracle.judged])
    return np.log(q), np.log([weights @ said for weights, said in oracle.judged])


def price(memories):
    """What the right side of guarantee 1 adds to the loss of a sequence of memories."""
    switches = sum(a != b for a, b in itertools.pairwise(memories))
    stays = len(memories) - 1 - switches
    return math.log(10) + switches * math.log(10 / 0.003) + stays * math.log(1 / 0.997)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 120)), min_size=1, max_size=30))
def test_weights_lose_little_to_any_sequence_of_memories(stretches):
    said, mixed = judged()
    memories = [k for k, length in stretches for _ in range(length)]
    memories = (memories * len(said))[: len(said)]
    losses = -said[np.arange(len(said)), memories]
    assert -mixed.sum() <= losses.sum() + price(memories) + 1e-9
    n = len(said) // 2  # and at any time
    assert -mixed[:n].sum() <= losses[:n].sum() + price(memories[:n]) + 1e-9


def test_weights_lose_little_to_the_best_sequence_in_hindsight():
    said, mixed = judged()
    best = -said[0] + math.log(10)
    for row in said[1:]:
        best = np.minimum(best + math.log(1 / 0.997), best.min() + math.log(10 / 0.003)) - row
    assert -mixed.sum() <= best.min() + 1e-9
    assert -mixed.sum() < -said.sum(axis=0).min() + math.log(10) + len(said) * math.log(1 / 0.997)


@pytest.mark.parametrize("first", [1.0, 0.99, 0.5, 0.0])
@pytest.mark.parametrize("n_states", [1, 3])
def test_every_action_is_tried_however_good_the_first_was(first, n_states):
    agent, state = dm.agents.Adaptive(dm.Space.uniform(n_states, 3)), 0
    for t in range(600):
        action = agent.act(state)
        state = t % n_states
        agent.observe(first if action == 0 else 0.0, state)
    assert agent.counts().min() > 0


def test_every_action_is_tried_in_a_garnet():
    problem = problems.garnet(4, 4, 2, horizon=3000, drift="slow")
    run = dm.simulate(adaptive(problem), problem, seed=1)
    pairs = set(zip(run.states.tolist(), run.actions.tolist(), strict=False))
    assert {(s, a) for s in {s for s, _ in pairs} for a in range(4)} <= pairs


@pytest.mark.parametrize("noise", ["none", "bernoulli"])
def test_it_is_anytime(noise):
    long = problems.river_swim(horizon=2000, noise=noise)
    short = problems.river_swim(horizon=500, noise=noise)
    agent = adaptive(long)
    whole = play(agent, long, 5)
    assert play(adaptive(short), long, 5, steps=500) == whole[:500]
    run = dm.simulate(adaptive(long), long, seed=5)
    assert list(zip(run.states.tolist(), run.actions.tolist(), strict=False))[:500] == whole[:500]


@pytest.mark.parametrize("name", ["two states", "abrupt", "a bandit", "a shop"])
@pytest.mark.parametrize(("a", "b"), [(2.0, 0.0), (3.7, -11.3), (1e-3, 5.0)])
def test_units_do_not_matter(name, a, b):
    problem = PROBLEMS[name]()
    low, high = problem.reward_range
    other = dm.agents.Adaptive(problem.space, (a * low + b, a * high + b))
    assert play(other, problem, 2, change=lambda reward: a * reward + b) == play(adaptive(problem), problem, 2)


def test_a_step_has_bounded_work():
    problem = problems.garnet(30, 4, 5, horizon=1500, noise="bernoulli")
    run = dm.simulate(adaptive(problem), problem, seed=0)
    assert 1 <= run.sweeps.min() <= run.sweeps.max() <= 10


# Laws. ---------------------------------------------------------------------------------------------------


def assert_lawful(agent):
    for mean, hoped, size, chances in known_pairs(agent).values():
        assert math.isclose(sum(chances.values()), 1.0, abs_tol=1e-9)
        assert min(chances.values()) > 0
        assert -1e-12 <= mean <= 1 + 1e-12
        assert mean - 1e-12 <= hoped <= 1
        assert size > 0
    judged, facts = agent._judged, agent._intent.facts[0]
    for weights in (judged.transition_weights, *judged.reward_weights):
        assert math.isclose(weights.sum(), 1.0, abs_tol=1e-9)
        assert weights.min() > 0.003 / 11 - 1e-12
    assert (judged.reward_errors >= 0).all()
    assert judged.noise[0] >= 0
    assert (np.diff(judged.drift) >= 0).all()
    assert judged.drift[0] >= 0
    assert judged.drift[-1] <= 0.25
    values = agent._intent.bias[agent._intent.touched[: facts["n_touched"]]].tolist()
    if len(values) < agent.space.n_states:
        values.append(float(facts["elsewhere"]))
    assert min(values) == 0.0
    assert facts["top"] >= max(values) - 1e-12 or facts["planned"] < facts["t"]


@pytest.mark.parametrize("name", ["two states", "abrupt", "a bandit", "a shop", "ragged", "more than 32 pairs"])
def test_laws_hold_at_every_step(name):
    problem = PROBLEMS[name]()
    agent, times = adaptive(problem), itertools.count(1)

    def look(state, action):
        assert agent.t == next(times)
        assert agent.last_plan.t == agent.t
        assert_lawful(agent)

    done = play(agent, problem, 4, after_act=look)
    assert agent.t == problem.horizon + 1
    assert agent.n_plans == problem.horizon
    assert agent.counts().sum() == problem.horizon
    pairs = [problem.space.pair(state, action) for state, action in done]
    assert agent.counts().tolist() == np.bincount(pairs, minlength=problem.space.n_pairs).tolist()


@pytest.mark.parametrize(
    "reward", [lambda rng: 0.0, lambda rng: 1.0, lambda rng: 0.3, lambda rng: float(rng.integers(2)), None]
)
def test_laws_hold_after_many_steps_of_any_reward(reward):
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2))
    state = random_steps(agent, 2000, reward=reward or (lambda rng: 1e-160 * float(rng.random())))
    agent.act(state)
    assert_lawful(agent)


def test_time_may_be_very_late():
    for late in (2**31 - 5, 2**40, 2**61):
        agent = dm.agents.Adaptive(dm.Space.uniform(3, 2))
        state = random_steps(agent, 50)
        agent._intent.facts["t"] = late
        agent.act(state)
        assert_lawful(agent)
        agent.observe(0.5, 0)
        random_steps(agent, 20)
        agent.act(0)
        assert_lawful(agent)
        assert agent.t == late + 21


# Small and odd worlds. -----------------------------------------------------------------------------------


def test_one_state_and_one_action():
    agent = dm.agents.Adaptive(dm.Space.uniform(1, 1))
    assert random_steps(agent, 300) == agent.act(0) == 0
    assert_lawful(agent)
    assert agent.counts().tolist() == [300]


def test_one_state_and_many_actions():
    agent = dm.agents.Adaptive(dm.Space.uniform(1, 40))
    for _ in range(500):
        action = agent.act(0)
        agent.observe(1.0 if action == 17 else 0.1, 0)
    agent.act(0)
    assert_lawful(agent)
    assert agent.counts().argmax() == 17


def test_many_states():
    agent = dm.agents.Adaptive(dm.Space.uniform(2000, 2))
    agent.act(random_steps(agent, 300))
    assert_lawful(agent)


def test_a_range_of_one_point():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2), reward_range=(3.0, 3.0))
    agent.act(random_steps(agent, 50, reward=lambda rng: 3.0))
    assert_lawful(agent)


@pytest.mark.parametrize("reward", [5.0, -4.0, 1e150, -1e150])
def test_rewards_far_outside_of_the_range_are_clipped_and_warned_of_once(reward):
    agent, clipped = (dm.agents.Adaptive(dm.Space.uniform(2, 2)) for _ in range(2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        random_steps(agent, 100, reward=lambda rng: reward)
    assert len(caught) == 1
    assert "far outside reward_range (0, 1): Adaptive clips them" in str(caught[0].message)
    random_steps(clipped, 100, reward=lambda rng: min(1.0, max(0.0, reward)))
    assert known_pairs(agent) == known_pairs(clipped)
    assert agent.counts().tolist() == clipped.counts().tolist()
    assert_lawful(agent)


def test_a_reward_that_is_no_number_is_refused_and_changes_nothing():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2))
    agent.act(random_steps(agent, 30))
    before = state_of(agent)
    for reward in (math.nan, math.inf, -math.inf, 1e200, None, "1"):
        with pytest.raises(InvalidInputError, match="reward must be"):
            agent.observe(reward, 0)
    assert state_of(agent) == before
    agent.observe(0.5, 0)
    assert agent.t == 32


def state_of(agent):
    """Everything that it has learned, to compare."""
    return {name: array.tolist() for name, array in agent._state_arrays().items() if name != "judged_scratch"}


def test_a_jump_is_no_transition():
    agent = dm.agents.Adaptive(dm.Space.uniform(3, 1))
    agent.act(0)
    agent.observe(0.5, 1)
    agent.act(2)  # not where it was led to
    agent.observe(0.5, 0)
    agent.act(1)
    assert {pair: list(chances) for pair, (_, _, _, chances) in known_pairs(agent).items()} == {
        (0, 0): [1],
        (2, 0): [0],
    }
    assert_lawful(agent)


def test_jumps_are_as_in_the_pseudo_code():
    n_actions, rng = [2, 1, 3, 2], np.random.default_rng(1)
    agent, oracle = dm.agents.Adaptive(dm.Space(n_actions)), Reference(n_actions)
    for _ in range(100):
        state, reward, after = int(rng.integers(4)), float(rng.random()), int(rng.integers(3))
        agent.act(state)
        oracle.act(state)
        assert_same(agent, oracle)
        done = int(rng.integers(n_actions[state]))  # and something else was done
        oracle.doing = state, done
        agent.observe(reward, after, action=done)
        oracle.observe(reward, after)


def test_what_was_really_done_is_learned():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 3))
    advised = agent.act(0)
    agent.observe(0.7, 1, action=2)
    assert advised != 2
    assert agent.counts().tolist() == [0, 0, 1, 0, 0, 0]
    assert [reason.count for reason in agent.explain(0)] == [0, 0, 1]


@pytest.mark.parametrize("n_states", [3, 20])
def test_asking_twice_changes_nothing(n_states):
    once, twice = (dm.agents.Adaptive(dm.Space.uniform(n_states, 3)) for _ in range(2))
    rng, state = np.random.default_rng(3), 0
    for _ in range(150):
        action = once.act(state)
        assert [twice.act(state) for _ in range(3)] == [action] * 3
        assert state_of(once) == state_of(twice)
        reward, state = float(rng.random()), int(rng.integers(n_states))
        once.observe(reward, state)
        twice.observe(reward, state)


def test_reset_forgets_everything():
    agent = dm.agents.Adaptive(dm.Space.uniform(3, 2))
    new = state_of(agent)
    random_steps(agent, 60)
    agent.reset()
    assert state_of(agent) == new


# What it says of itself. ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["abrupt", "a bandit", "a shop", "more than 32 pairs"])
def test_it_explains_what_it_does(name):
    problem = PROBLEMS[name]()
    agent, last, (low, high) = adaptive(problem), {}, problem.reward_range

    def look(state, action):
        reasons = agent.explain(state)
        assert [reason.action for reason in reasons] == list(range(problem.space.n_actions[state]))
        best = max(reason.value for reason in reasons)
        ties = [reason for reason in reasons if reason.value >= best - 1e-9 * (high - low)]
        assert min(ties, key=lambda reason: (reason.count, reason.action)).action == action
        for reason in reasons:
            assert reason.age == (agent.t - last[state, reason.action] if reason.count else 0)
            assert reason.hoped_reward <= high + 1e-9
            assert reason.count == agent.counts()[problem.space.pair(state, reason.action)]
            assert math.isnan(reason.reward) if reason.count == 0 else reason.reward <= reason.hoped_reward + 1e-9
        last[state, action] = agent.t

    play(agent, problem, 6, after_act=look)


def test_before_it_began_there_is_nothing_to_explain():
    agent = dm.agents.Adaptive(dm.Space.uniform(2, 2), (0.0, 10.0))
    assert all(math.isnan(reason.value) and reason.hoped_reward == 10 for reason in agent.explain(1))
    with pytest.raises(InvalidInputError, match="There is no plan yet"):
        _ = agent.last_plan
    assert agent.summary()["transition_weights"] == [0.1] * 10


def test_its_summary_agrees_with_its_weights():
    problem = PROBLEMS["perils"]()
    agent, oracle = adaptive(problem), oracle_of(problem)
    assert play(agent, problem, 7) == play(oracle, problem, 7)
    summary = agent.summary()
    np.testing.assert_allclose(summary["transition_weights"], oracle.w, rtol=0, atol=1e-9)
    np.testing.assert_allclose(summary["reward_weights"], oracle.u[0], rtol=0, atol=1e-9)
    reach = [math.log(min(4 * 3**k, problem.horizon)) for k in range(9)] + [math.log(problem.horizon)]
    assert math.isclose(summary["transition_memory"], math.exp(oracle.w @ reach), rel_tol=1e-9)
    rewards = oracle.u[0][:10] / oracle.u[0][:10].sum()
    assert math.isclose(summary["reward_memory"], math.exp(rewards @ reach), rel_tol=1e-9)
    assert dm.simulate(adaptive(problem), problem, seed=7).summary == summary


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


# Known to be wrong; take the mark away with the fault. ---------------------------------------------------


@pytest.mark.xfail(reason="the arrays of the judgement keep the type that they have in the file", strict=False)
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


@pytest.mark.xfail(reason="facts and sums of a snapshot are not held against what they can be", strict=False)
@pytest.mark.parametrize(
    "damage",
    [
        change("facts", 2**63 - 1, "t"),
        change("pairs", 1e308, "reward"),
        change("pairs", -10.0, "rarity"),
        change("total", math.nan),
        change("counts", 1e150),
    ],
)
def test_a_snapshot_that_cannot_be_is_refused(damage, saved, tmp_path):
    arrays = dict(saved[1])
    damage(arrays)
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(InvalidInputError, match="does not fit together"):
        dm.agents.load(tmp_path / "damaged.npz")


@pytest.mark.xfail(reason="compiled steps count among the rewards seen, but are not in their total", strict=False)
def test_the_range_is_not_doubted_after_a_compiled_run_within_it():
    space = dm.Space.uniform(2, 2)
    world = dm.Mdp(space, [100.2, 100.4, 100.6, 100.8], [[0.5, 0.5]] * 4)
    problem = dm.Problem(dm.DriftingMdp([world], np.ones((50, 1))))
    (player,) = dm.simulation.pauses(dm.agents.Adaptive(space, (100.0, 101.0)), problem, seed=1, steps=[40])
    player.act(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        player.observe(101.01, 1)


@pytest.mark.xfail(
    reason="a step without a plan is noted as the time of the last plan, with no sweeps", strict=False
)
def test_the_last_plan_is_one_that_was_made():
    agent = dm.agents.Adaptive(dm.Space.uniform(3, 2))
    agent._habits = agent._habits._replace(every=4)  # as with very many known transitions
    random_steps(agent, 10)
    assert agent.n_plans == 2
    assert agent.last_plan.t == 8
    assert agent.last_plan.sweeps >= 1

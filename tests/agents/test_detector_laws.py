"""Detectors on one stream: exact alarm times, no blindness, few false alarms, and restarts that forget all."""

import dataclasses
import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import driftmdp as dm
from tests.agents.abrupt_worlds import abrupt_problem
from tests.agents.worlds import world_draws
from tests.reference import detectors

DELTA = 1e-3
NAMES = ("glr", "run-length", "cusum", "page-hinkley")
WALKS = {"margin": 0.05, "threshold": 1.5, "warmup": 12}
BUILTIN = {
    "glr": dm.agents.GLRDetector(resolution=0.1),
    "run-length": dm.agents.RunLengthDetector(resolution=0.1),
    "cusum": dm.agents.CUSUMDetector(**WALKS),
    "page-hinkley": dm.agents.PageHinkleyDetector(**WALKS),
}
PLAIN = {
    "glr": detectors.GLR(DELTA, 0.1),
    "run-length": detectors.RunLength(DELTA, 4, 0.1),
    "cusum": detectors.CUSUM(**WALKS),
    "page-hinkley": detectors.PageHinkley(**WALKS),
}
BRUTE = {name: dataclasses.replace(PLAIN[name], splits=detectors.all_splits) for name in ("glr", "run-length")}


def builtin_alarms(detector, stream, observations):
    """When the package's detector fires on observations of one pair, the first of which is number 1."""
    agent = dm.agents.Detecting(
        dm.Space.uniform(4, 1), 10**6, "Random", detector=detector, delta=DELTA, watch=stream
    )
    for observation in observations:
        agent.act(0)
        if stream == "rewards":
            agent.observe(float(observation), 0)
        else:
            agent.observe(0.0, int(observation))
    return list(agent.alarms())


def plain_alarms(detector, stream, observations):
    """(time, statistic less threshold) by the definition, on a list that is emptied at every alarm."""
    alarms, seen = [], []
    for t, observation in enumerate(observations, start=1):
        seen.append(observation)
        numbers = stream == "rewards"
        if detector.rewards_alarm(seen) if numbers else detector.states_alarm(seen):
            alarms.append((t, detector.rewards_excess(seen) if numbers else detector.states_excess(seen)))
            seen = []
    return alarms


@st.composite
def streams(draw):
    """A stream of each kind, with one to three laws one after the other."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.integers(1, 60), min_size=1, max_size=3))
    stream = draw(st.sampled_from(["rewards", "next-states"]))
    law = draw(st.sampled_from(["sure", "coin", "wide"]))
    parts = []
    for length in lengths:
        if stream == "next-states":
            chances = rng.dirichlet(np.full(4, {"sure": 0.05, "coin": 0.5, "wide": 5.0}[law]))
            parts.append(rng.choice(4, length, p=chances))
        elif law == "coin":
            parts.append((rng.random(length) < rng.random()).astype(float))
        else:
            spread = 0.0 if law == "sure" else 0.3
            parts.append(np.clip(rng.random() + spread * rng.normal(size=length), 0.0, 1.0))
    return stream, np.concatenate(parts).tolist()


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(streams())
def test_alarms_and_what_they_report_are_those_of_the_definition(name, drawn):
    stream, observations = drawn
    found = builtin_alarms(BUILTIN[name], stream, observations)
    expected = plain_alarms(PLAIN[name], stream, observations)
    assert [alarm.t for alarm in found] == [t for t, _ in expected]
    np.testing.assert_allclose(
        [alarm.statistic - alarm.threshold for alarm in found], [excess for _, excess in expected], atol=1e-8
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["glr", "run-length"])
@pytest.mark.parametrize("before", [16380, 20000])
def test_the_first_alarm_after_very_many_observations(name, before):
    """The last level of buckets is full at 16,380."""
    rng = np.random.default_rng(before)
    states = [0, 1, 2, 3] * (before // 4) + rng.choice(4, 300, p=[0.7, 0.1, 0.1, 0.1]).tolist()
    alarm = builtin_alarms(BUILTIN[name], "next-states", states)[0]
    assert alarm.t > before
    assert PLAIN[name].states_excess(states[: alarm.t - 1]) <= 0
    excess = PLAIN[name].states_excess(states[: alarm.t])
    assert alarm.statistic - alarm.threshold == pytest.approx(excess, abs=1e-8)


def test_every_split_has_a_tried_one_a_quarter_later():
    """A quarter of the observations after it. All splits are tried of up to 4 observations."""
    assert [detectors.grid_of_splits(n) for n in range(5)] == [detectors.all_splits(n) for n in range(5)]
    for n in [*range(2, 80), 255, 256, 1000]:
        tried = np.array([*detectors.grid_of_splits(n), n])
        splits = np.arange(1, n)
        later = tried[np.searchsorted(tried, splits)] - splits
        assert (4 * later <= n - splits).all()


def first_alarm(detector, states):
    """When a plain detector fires on next states, if it does."""
    return next((n for n in range(1, len(states) + 1) if detector.states_alarm(states[:n])), math.inf)


@pytest.mark.parametrize("name", ["glr", "run-length"])
@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(16, 48), st.integers(0, 2**32 - 1))
def test_all_splits_find_a_change_no_later(name, before, seed):
    """The splits that are tried are some of all. Where all find a change at once, these do soon."""
    chances = np.r_[np.full(before, 0.05), np.full(20, 0.95)]
    coins = (np.random.default_rng(seed).random(chances.size) < chances).astype(int).tolist()
    found = [alarm.t for alarm in builtin_alarms(BUILTIN[name], "next-states", coins)]
    brute = first_alarm(BRUTE[name], coins)
    assert brute <= (found[0] if found else math.inf)
    if brute <= before + 10:
        assert found[0] <= brute + 10


def stated_delay(name, before, step):
    """How many observations after a change of a constant, after `before` of it, make the evidence enough."""
    if name == "cusum":
        return math.ceil(WALKS["threshold"] / (step - WALKS["margin"]) - 1e-9)
    for after in range(1, 200):
        n = before + after
        if name == "page-hinkley":
            height = sum(step * before / (before + i) - WALKS["margin"] for i in range(1, after + 1))
            found = height >= WALKS["threshold"]
        elif name == "glr":
            entropy = -sum(part * math.log(part / n) for part in (before, after))
            found = entropy > math.log(n**1.5 / DELTA)
        else:
            found = math.log(math.comb(n, before) * (n + 1) / ((before + 1) * (after + 1))) > math.log(1 / DELTA)
        if found:
            return after
    raise AssertionError("not within 200")


@pytest.mark.parametrize("stream", ["rewards", "next-states"])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(40, 300), st.floats(0.3, 1.0), st.booleans())
def test_no_change_of_a_constant_is_missed(name, stream, before, step, falls):
    """Walks fire exactly then. The others may lack the split itself, and then have one a quarter further back."""
    step = 1.0 if stream == "next-states" else step
    old, new = (step, 0.0) if falls else (0.0, step)
    delay = stated_delay(name, before, step)
    alarms = builtin_alarms(BUILTIN[name], stream, [old] * before + [new] * (2 * delay + 4))
    late = alarms[0].t - before
    if name in ("cusum", "page-hinkley"):
        assert abs(late - delay) <= 1  # one where rounding decides
    else:
        assert delay <= late + 1
        assert late <= 2 * delay + 4


# False alarms. -------------------------------------------------------------------------------------------


RUNS, STEPS, RATE = 250, 400, 0.05
HIGH = math.log(6 * STEPS / RATE) / (4 * 0.2)  # for walks whose base is off by at most half the margin of 0.2
QUIET = {
    "glr": (dm.agents.GLRDetector(), RATE),
    "glr of means": (dm.agents.GLRDetector(resolution=None), RATE),
    "run-length": (dm.agents.RunLengthDetector(), RATE / STEPS),  # one chance for each run length
    "cusum": (dm.agents.CUSUMDetector(0.2, HIGH, warmup=100), RATE),
    "page-hinkley": (dm.agents.PageHinkleyDetector(0.2, HIGH, warmup=20), RATE),
}


@functools.cache
def still_world(n_states):
    """Next states are independent and uniform, rewards are coins."""
    space = dm.Space.uniform(n_states, 1)
    mdp = dm.Mdp(space, np.full(n_states, 0.3), np.full((n_states, n_states), 1 / n_states))
    return dm.Problem(dm.DriftingMdp.stationary(mdp, STEPS), noise="bernoulli", reward_range=(0.0, 1.0))


def wrong_runs(detector, delta, stream):
    """The number of runs with an alarm where nothing changes."""
    problem = still_world(1 if stream == "rewards" else 3)
    agent = dm.agents.Detecting(problem.space, STEPS, "UCRL2", {"scale": 0.01}, detector, watch=stream, delta=delta)
    return sum(bool(dm.simulate(agent, problem, seed).summary.alarms) for seed in range(RUNS))


@pytest.mark.parametrize("stream", ["rewards", "next-states"])
@pytest.mark.parametrize("name", QUIET)
def test_false_alarms_are_rare(name, stream):
    """delta is shared by the streams in use, so it is that of a whole run."""
    assert wrong_runs(*QUIET[name], stream) <= stats.binom.ppf(0.9999, RUNS, RATE)


def test_a_hazard_is_not_the_probability_of_a_false_alarm():
    """It is one for each run length, so that with many of them most runs have an alarm."""
    assert wrong_runs(dm.agents.RunLengthDetector(), RATE, "rewards") > RUNS / 2


# Restarts. -----------------------------------------------------------------------------------------------


def go_on_together(agents, problem, draws, t, state, steps):
    for now in range(t, t + steps):
        actions = {agent.act(state) for agent in agents}
        assert len(actions) == 1, f"first other action at t={now}"
        sample = problem.sample(now, state, actions.pop(), draws)
        for agent in agents:
            agent.observe(float(sample.reward), int(sample.next_state))
        state = int(sample.next_state)


@pytest.mark.parametrize("name", NAMES)
def test_after_an_alarm_it_is_as_new(name):
    problem = abrupt_problem(5, 300, 3)
    draws, state = world_draws(problem, 5), problem.start
    common = {
        "learner_parameters": {"scale": 0.05},
        "detector": BUILTIN[name],
        "reward_range": problem.reward_range,
    }
    agent = dm.agents.Detecting(problem.space, 300, "UCRL2", **common)
    for t in range(1, 301):
        action = agent.act(state)
        sample = problem.sample(t, state, action, draws)
        agent.observe(float(sample.reward), int(sample.next_state))
        state = int(sample.next_state)
        if agent.alarms():
            break
    fresh = agent.copy()
    fresh.reset()
    go_on_together([agent, fresh], problem, draws, t + 1, state, 300 - t)
    assert [alarm.t - t for alarm in agent.alarms()[1:]] == [alarm.t for alarm in fresh.alarms()]


def test_a_new_epoch_of_restart_q_is_as_new():
    problem = abrupt_problem(7, 300, 3)
    draws, state = world_draws(problem, 5), problem.start
    agent = dm.agents.RestartQ(problem.space, 300, 3, 40, reward_range=problem.reward_range, scale=0.02)
    for t in range(1, 121):
        action = agent.act(state)
        sample = problem.sample(t, state, action, draws)
        agent.observe(float(sample.reward), int(sample.next_state))
        state = int(sample.next_state)
    go_on_together([agent, agent.copy()], problem, draws, 121, state, 180)

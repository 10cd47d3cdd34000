"""MASTER, RestartQ, Detecting and R-BOCPD-UCRL2 do what their plain transcriptions in tests/reference do.

The worlds change at once, so that tests fail and detectors fire. That they did is counted.
"""

import math

import numpy as np
import pytest

import driftmdp as dm
from tests.agents.abrupt_worlds import abrupt_problem
from tests.agents.worlds import agent_rng, random_problem, world_draws
from tests.reference import detectors, master, optimists, restart_q
from tests.reference.detecting import Detecting, forgetful
from tests.reference.rbocpd_ucrl2 import RBOCPDUCRL2
from tests.reference.simulation import simulate as reference_simulate

T = 240


def compare(agent, oracle, problem, seed):
    """Return the compiled run, once it is that of the oracle."""
    run = dm.simulate(agent, problem, seed)
    states, actions, _, _ = reference_simulate(oracle, problem, world_draws(problem, seed))
    wrong = np.flatnonzero(run.actions != np.array(actions))
    assert wrong.size == 0, f"first other action at t={wrong[0] + 1}"
    assert run.states.tolist()[: problem.horizon] == states
    return run


def compare_live(agent, oracle, problem, seed):
    """Step by step, with jumps and with actions that were not advised."""
    rng = np.random.default_rng(seed)
    draws, state = world_draws(problem, seed), problem.start
    agent.reset(agent_rng(seed))
    for t in range(1, problem.horizon + 1):
        action = agent.act(state)
        assert action == agent.act(state) == oracle.act(state), f"first other action at t={t}"
        done = int(rng.integers(problem.space.n_actions[state])) if rng.random() < 0.1 else action
        sample = problem.sample(t, state, done, draws)
        for one in (agent, oracle):
            one.observe(float(sample.reward), int(sample.next_state), action=done)
        state = int(rng.integers(problem.space.n_states)) if rng.random() < 0.05 else int(sample.next_state)


# RestartQ. -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [(1, 240), (1, 40), (2, 7), (3, 20), (5, 11), (7, 34)])
def test_restart_q(cut):
    for seed, scale in enumerate([1.0, 0.1, 0.1, 0.01, 0.01]):
        problem = abrupt_problem(seed, T, 1 if seed == 3 else None)
        common = {"reward_range": problem.reward_range, "scale": scale, "delta": None if seed % 2 else 0.1}
        counts = problem.space.n_actions.tolist()
        agent = dm.agents.RestartQ(problem.space, T, *cut, **common)
        oracle = restart_q.RestartQ(counts, T, *cut, **common)
        found = compare(agent, oracle, problem, seed).summary
        assert list(found.restarts) == oracle.epoch_starts[1:]
        assert found.updates == oracle.updates
        compare_live(agent, restart_q.RestartQ(counts, T, *cut, **common), problem, seed)


def test_restart_q_by_default():
    for seed in range(4):
        problem = random_problem(seed, 700, 1 if seed == 3 else None)
        space, variation = problem.space, problem.drifting.variation()
        width = problem.reward_range[1] - problem.reward_range[0]
        episode = restart_q.default_episode(700, space.n_states, space.n_pairs)
        for agent, budget in (
            (dm.agents.RestartQ(space, 700), 1.0),
            (dm.agents.RestartQ.for_problem(problem), variation.reward / width + variation.transition),
        ):
            assert agent.episode == episode
            every = restart_q.default_restart_every(700, episode, space.n_pairs, budget)
            assert agent.restart_every == every


# MASTER. -------------------------------------------------------------------------------------------------

ROUGH = "gaussian(4)"  # rewards far outside their range: they are not clipped, and make test 1 fail


def compare_master(problem, seed, diameter=1.0, **given):
    """Return how often each cause made both start again."""
    given |= {"reward_range": problem.reward_range}
    counts = problem.space.n_actions.tolist()
    agent = dm.agents.MASTER(problem.space, problem.horizon, diameter, **given)
    oracle = master.MASTER(counts, problem.horizon, diameter, rng=agent_rng(seed), **given)
    run = compare(agent, oracle, problem, seed)
    causes = [sum(cause == name for _, cause in oracle.failures) for name in ("test 1", "test 2", "widening")]
    found = run.summary
    assert [found.test_1, found.test_2, found.widening] == causes
    assert list(zip(found.restarts, found.causes, strict=True)) == oracle.failures
    assert [found.closest_1, found.closest_2] == pytest.approx(oracle.closest, abs=1e-9)
    assert found.blocks == oracle.n_blocks
    assert {m: n for m, n in enumerate(found.instances) if n} == oracle.started
    assert run.episode_starts.tolist() == oracle.episode_starts
    if seed % 2:
        live = master.MASTER(counts, problem.horizon, diameter, rng=agent_rng(seed), **given)
        compare_live(agent, live, problem, seed)
    return np.array(causes)


@pytest.mark.filterwarnings("ignore::driftmdp.errors.VacuousPlansWarning")
@pytest.mark.filterwarnings("ignore:.*reward.*")
def test_master():
    causes = np.zeros(3, int)
    for seed in range(5):
        problem = abrupt_problem(seed, T, (None, 4, 1)[seed % 3])
        rough = dm.Problem(problem.drifting, start=problem.start, noise=ROUGH)
        ties = "first" if seed == 3 else "least-visited"
        causes += compare_master(problem, seed, scale=1.0 if seed % 2 else 0.1, ties=ties)
        causes += compare_master(problem, seed, scale=1e-3, test_scale=3e-4, delta=0.01 if seed % 2 else None)
        causes += compare_master(rough, seed, 2.0, scale=0.02, test_scale=5e-5 if seed % 2 else 5e-4)
        causes += compare_master(problem, seed, scale=1e-4, test_scale=0.02)
    problem = abrupt_problem(3, 120, 4)
    for seed, diameter, scale in [(2, 1.0, 2e-2 * 10**-0.75), (2, 1.15, 2e-2 * 10**-0.75), (0, 1.7, 2e-3)]:
        causes += compare_master(problem, seed, diameter, scale=scale, test_scale=0.02)  # close calls of widening
    river = dm.problems.river_swim(n_states=5, horizon=T)
    causes += compare_master(river, 8, scale=1e-3, test_scale=0.01)
    assert (causes >= 10).all()


@pytest.mark.slow
def test_master_finds_a_world_that_becomes_better():
    """Test 1 is for this: a promise made when all was bad is beaten by what is earned later."""
    space, horizon = dm.Space([2]), 3000
    mdps = [dm.Mdp(space, rewards, np.ones((2, 1))) for rewards in ([0.1, 0.05], [0.9, 0.8])]
    drifting = dm.DriftingMdp.piecewise(mdps, [1300], horizon=horizon)
    problem = dm.Problem(drifting, noise="bernoulli", reward_range=(0.0, 1.0))
    causes = [compare_master(problem, seed, scale=1e-3, test_scale=4e-4) for seed in range(4)]
    assert np.sum(causes, axis=0)[0] > 0


@pytest.mark.parametrize(("horizon", "can_fire"), [(6.7e9, False), (6.8e9, True)])
def test_no_world_fails_a_test_of_theory_before_seven_billion_steps(horizon, can_fire):
    """A promise is at most 1 and a reward at least 0, so test 2, the easier one, needs 3 rho_hat(T) <= 1."""
    oracle = master.MASTER([1], horizon, scale=1e-12, rng=agent_rng(1))
    assert (3 * oracle.rho_hat(horizon) <= 1) == can_fire


# Detecting. ----------------------------------------------------------------------------------------------

BUILTIN = {
    "glr": dm.agents.GLRDetector(resolution=0.1),
    "glr of means": dm.agents.GLRDetector(resolution=None),
    "run-length": dm.agents.RunLengthDetector(resolution=0.1),
    "run-length over all": dm.agents.RunLengthDetector(0.02, support="all", resolution=0.25),
    "cusum": dm.agents.CUSUMDetector(0.1, warmup=15),
    "page-hinkley": dm.agents.PageHinkleyDetector(0.05, threshold=1.5, warmup=10),
    "page-hinkley of theory": dm.agents.PageHinkleyDetector(0.2, warmup=10),
}


def plain_detector(name, delta, n_states):
    return {
        "glr": detectors.GLR(delta, 0.1),
        "glr of means": detectors.GLR(delta),
        "run-length": detectors.RunLength(None, n_states, 0.1, delta=delta),
        "run-length over all": detectors.RunLength(0.02, n_states, 0.25, "all"),
        "cusum": detectors.CUSUM(0.1, None, 15, delta),
        "page-hinkley": detectors.PageHinkley(0.05, 1.5, 10),
        "page-hinkley of theory": detectors.PageHinkley(0.2, None, 10, delta),
    }[name]


def default_delta(name):
    return 1 / math.sqrt(T) if name.startswith("glr") else 1 / T


def alarms_of(found):
    return [(alarm.t, (alarm.state, alarm.action), alarm.stream) for alarm in found]


LEARNERS = {
    "UCRL2": (optimists.UCRL2, {"scale": 0.1}),
    "SWUCRL2CW": (optimists.SWUCRL2CW, {"window": 50, "widening": 0.05, "scale": 0.1}),
    "UCRL2B": (optimists.UCRL2B, {"scale": 0.03}),
}


@pytest.mark.parametrize("restart", ["all", "pairs"])
@pytest.mark.parametrize("name", BUILTIN)
def test_detecting(name, restart):
    fired = 0
    for seed, learner in [(4, "UCRL2"), (5, "UCRL2"), (6, "UCRL2"), (7, "SWUCRL2CW"), (14, "UCRL2B")]:
        problem = abrupt_problem(seed, T)
        delta = 0.05 if seed % 2 else default_delta(name)
        plain, given = LEARNERS[learner]
        common = {"watch": ("both", "next-states", "rewards", "both")[seed % 4], "restart": restart}
        common |= {"exploration": (0.3, 0.07, 0.0)[seed % 3], "reward_range": problem.reward_range}
        counts = problem.space.n_actions.tolist()
        learner_class = forgetful(plain)

        def make(_, counts=counts, learner_class=learner_class, given=given, problem=problem):
            return learner_class(counts, T, reward_range=problem.reward_range, **given)

        def oracle(seed=seed, make=make, counts=counts, common=common, delta=delta, problem=problem):
            detector = plain_detector(name, delta, problem.space.n_states)
            return Detecting(counts, make, detector, rng=agent_rng(seed), **common)

        agent = dm.agents.Detecting(
            problem.space, T, learner, given, BUILTIN[name], delta=delta if seed % 2 else None, **common
        )
        expected = oracle()
        run = compare(agent, expected, problem, seed)
        assert alarms_of(run.summary.alarms) == expected.alarms
        fired += len(expected.alarms)
        if seed % 2 == 0:
            live = oracle()
            compare_live(agent, live, problem, seed)
            assert alarms_of(agent.alarms()) == live.alarms
    assert fired >= 5


@pytest.mark.parametrize("name", ["glr", "run-length", "cusum", "page-hinkley"])
def test_detecting_around_posterior_sampling(name):
    """The learner itself is the package's: what is compared is when it starts again, and from which stream."""
    fired = 0
    for seed in range(2):
        problem = abrupt_problem(seed, T)

        def make(stream, problem=problem):
            learner = dm.agents.PSRL(problem.space, problem.reward_range)
            learner.reset(np.random.default_rng(stream))
            return learner

        common = {"exploration": 0.1, "reward_range": problem.reward_range}
        agent = dm.agents.Detecting(problem.space, T, "PSRL", detector=BUILTIN[name], **common)
        detector = plain_detector(name, default_delta(name), problem.space.n_states)
        expected = Detecting(problem.space.n_actions.tolist(), make, detector, rng=agent_rng(seed), **common)
        run = compare(agent, expected, problem, seed)
        assert alarms_of(run.summary.alarms) == expected.alarms
        fired += len(expected.alarms)
    assert fired > 0


def draw_times(states, actions, alarms):
    """When models are drawn: at first, after alarms, and when the visits of a pair reach its count."""
    counts, before, visits, policy, times, is_stale = {}, {}, {}, {}, [], True
    for t, pair in enumerate(zip(states, actions, strict=True), start=1):
        known = (pair[0], policy.get(pair[0]))
        if is_stale or (known[1] is not None and visits.get(known, 0) >= max(1, before.get(known, 0))):
            times.append(t)
            before, visits, policy, is_stale = dict(counts), {}, {}, False
        policy[pair[0]] = pair[1]
        visits[pair] = visits.get(pair, 0) + 1
        counts[pair] = counts.get(pair, 0) + 1
        if t in alarms:
            counts[pair], is_stale = 0, True
    return times


def test_posterior_sampling_forgets_a_pair():
    fired = 0
    for seed in range(4):
        problem = abrupt_problem(seed, 400)
        agent = dm.agents.Detecting.for_problem(
            problem, learner="PSRL", detector="glr", restart="pairs", exploration=0
        )
        run = dm.simulate(agent, problem, seed)
        alarms = {alarm.t for alarm in run.summary.alarms}
        times = draw_times(run.states.tolist()[:400], run.actions.tolist(), alarms)
        assert run.episode_starts.tolist() == times
        fired += len(alarms)
    assert fired >= 4


# R-BOCPD-UCRL2. ------------------------------------------------------------------------------------------


def test_rbocpd_ucrl2():
    fired = 0
    for seed in range(20, 28):
        problem = abrupt_problem(seed, T, 3)
        common = {"hazard": None if seed % 2 else 0.02, "delta": None if seed % 3 else 0.1, "scale": 0.05}
        common |= {"watch": "both" if seed % 4 == 1 else "next-states", "reward_range": problem.reward_range}
        common |= {"ties": "first" if seed == 22 else "least-visited"}
        counts = problem.space.n_actions.tolist()
        agent = dm.agents.RBOCPDUCRL2(problem.space, T, **common)
        oracle = RBOCPDUCRL2(counts, T, rng=agent_rng(seed), **common)
        run = compare(agent, oracle, problem, seed)
        assert alarms_of(run.summary.alarms) == oracle.alarms
        fired += len(oracle.alarms)
        compare_live(agent, RBOCPDUCRL2(counts, T, rng=agent_rng(seed), **common), problem, seed)
    assert fired >= 8

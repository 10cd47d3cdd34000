"""Detection around a learner: what the slow reference does not cover. Laws, closed forms and refusals."""

import math

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.agents import CUSUMDetector, Detecting, GLRDetector, PageHinkleyDetector, RunLengthDetector
from driftmdp.errors import InvalidInputError

ONE, TWO = dm.Space.uniform(1, 1), dm.Space.uniform(2, 2)
NERVOUS = {"glr": GLRDetector(0.3), "run-length": RunLengthDetector(1.0), "cusum": CUSUMDetector(0.05, 0.5, 2)}
NERVOUS["page-hinkley"] = PageHinkleyDetector(0.05, 0.5, 2)


class Turns:
    """An agent of one's own: its actions in turn."""

    def reset(self, rng):
        self._n = 0

    def act(self, state):
        self._n += 1
        return self._n % 2

    def observe(self, reward, next_state, action=None):
        pass


def feed(agent, rewards, state=0):
    """Take steps with these rewards in one state. Return the alarms."""
    for reward in rewards:
        agent.act(state)
        agent.observe(reward, state)
    return agent.alarms()


@pytest.mark.parametrize(("name", "restart"), list(zip(NERVOUS, 2 * ["all", "pairs"], strict=True)))
def test_every_detector_keeps_the_rules_of_an_agent(name, restart):
    problem = dm.problems.bandit(n_arms=2, drift="abrupt", changes=2, noise="none", horizon=120)
    agent = Detecting.for_problem(problem, detector=NERVOUS[name], restart=restart, exploration=0.2, delta=1.0)
    assert not dm.testing.check_agent(agent, problem).skipped
    assert dm.simulate(agent, problem, seed=0).summary.alarms


@pytest.mark.parametrize("learner", ["UCRL2B", "Adaptive", "SlidingWindowPSRL", "Random", Turns()])
def test_learners_with_and_without_a_watched_run_keep_the_rules(learner):
    problem = dm.problems.two_state(horizon=60)
    agent = Detecting.for_problem(problem, learner=learner, detector=NERVOUS["page-hinkley"])
    run = dm.simulate(agent, problem, seed=1)
    assert run.summary.alarms
    assert np.array_equal(run.actions, dm.simulate(agent, problem, seed=1, compiled=False).actions)


@pytest.mark.parametrize(("learner", "parameters"), [("OptimisticQ", {"scale": 0.01}), ("SWUCB", {"window": 9})])
def test_learners_without_a_plan_are_compiled_too(learner, parameters):
    problem = dm.problems.bandit(n_arms=3, drift="abrupt", changes=2, horizon=80)
    given = {"learner": learner, "learner_parameters": parameters, "exploration": 0.3}
    agent = Detecting.for_problem(problem, detector=NERVOUS["page-hinkley"], **given)
    assert agent._is_compiled
    run, slow = (dm.simulate(agent, problem, seed=1, compiled=compiled) for compiled in (True, False))
    assert run.summary.alarms == slow.summary.alarms != ()
    assert np.array_equal(run.actions, slow.actions)


def test_without_an_alarm_it_is_its_learner():
    problem = dm.problems.river_swim(horizon=2000)
    agent = Detecting.for_problem(problem)
    rng, learner = np.random.default_rng(5), dm.agents.PSRL.for_problem(problem)
    learner.reset(np.random.default_rng(int(np.random.default_rng(5).integers(2**63))))
    agent.reset(rng)
    draws = np.random.default_rng(0)
    for _ in range(300):
        state = int(draws.integers(problem.space.n_states))
        assert agent.act(state) == learner.act(state)
        reward, following = float(draws.random()), int(draws.integers(problem.space.n_states))
        agent.observe(reward, following)
        learner.observe(reward, following)
    assert agent.alarms() == ()
    assert agent.n_plans == learner.n_plans


@pytest.mark.parametrize("detector", ["glr", "run-length", "cusum", "page-hinkley"])
def test_what_never_changes_never_alarms(detector):
    assert feed(Detecting(ONE, 10_000, detector=detector), 1500 * [0.3]) == ()


def test_a_new_constant_reward_is_noticed_when_its_likelihood_ratio_is():
    n, delta = 200, 0.01
    agent = Detecting(ONE, 10_000, delta=delta, watch="rewards")
    (alarm,) = feed(agent, n * [0.2] + 20 * [0.8])

    def ratio(m):
        return sum(sign * k * math.log(k) for sign, k in ((1, n + m), (-1, n), (-1, m)))

    first = next(m for m in range(1, 20) if ratio(m) > 1.5 * math.log(n + m) - math.log(delta))
    assert (alarm.t, alarm.after, alarm.stream) == (n + first, first, "rewards")
    assert alarm.statistic == pytest.approx(ratio(first))


def test_run_lengths_are_those_of_laplace_predictors():
    n, eta = 60, 1e-6
    agent = Detecting(dm.Space.uniform(2, 1), 10_000, detector=RunLengthDetector(eta), watch="next-states")
    for step in range(n + 20):
        agent.act(0)
        agent.observe(0.0, int(step >= n))
    alarm = agent.alarms()[0]
    m = alarm.after
    # The first predictor: n + m calls of which m came late; the second: m calls of one state.
    whole = math.lgamma(n + 1) + math.lgamma(m + 1) - math.lgamma(n + m + 2)
    parts = -math.log(n + 1) - math.log(m + 1)
    assert alarm.t == n + m
    assert alarm.statistic == pytest.approx(parts - whole)
    assert alarm.threshold == pytest.approx(math.log(1 / eta))


@pytest.mark.parametrize("learner", ["PSRL", "SlidingWindowPSRL", "UCRL2"])
def test_restarting_a_pair_forgets_only_that_pair(learner):
    agent = Detecting(TWO, 1000, learner=learner, restart="pairs", watch="rewards", seed=3)
    for step in range(40):
        state = step % 2
        agent.act(state)
        agent.observe(0.5, 1 - state, action=0)
    before = agent._learner.counts()
    plans = agent.n_plans
    while not agent.alarms():
        agent.act(0)
        agent.observe(1.0, 1, action=0)
    after = agent._learner.counts()
    assert before[0] > 0
    assert after[0] == 0
    assert np.array_equal(after[1:], before[1:])
    agent.act(0)
    assert agent.n_plans > plans


def test_a_learner_that_is_told_no_action_is_watched_too():
    class Plain(Turns):
        n_plans = property(lambda self: self._n)  # but no last_plan

        def observe(self, reward, next_state):
            pass

    problem = dm.problems.two_state(horizon=10)
    agent = Detecting.for_problem(problem, learner=Plain(), exploration=1e-300)
    assert dm.simulate(agent, problem, seed=1).actions.tolist() == 5 * [1, 0]


def test_a_learner_that_cannot_be_copied_is_refused():
    class Unique(Turns):
        def __deepcopy__(self, memo):
            raise RuntimeError("there is only one")

    with pytest.raises(InvalidInputError, match=r"learner must be copyable.*there is only one"):
        Detecting(TWO, 100, learner=Unique())


def test_a_warning_raised_as_an_error_leaves_no_half_step_and_comes_once():
    agent = Detecting(ONE, 1000, detector=NERVOUS["page-hinkley"])
    with pytest.warns(UserWarning, match="far outside reward_range"):
        feed(agent, 20 * [9.0])
    feed(agent, 10 * [0.0, 0.0, 0.0, 9.0])  # an error, if a restarted learner said it again
    assert agent.alarms()
    agent = Detecting(ONE, 1000)
    with pytest.raises(UserWarning, match="far outside"):
        feed(agent, 20 * [9.0])
    assert agent.t == agent._learner.t == 21
    with pytest.raises(InvalidInputError, match="observe must follow act"):
        agent.observe(0.0, 0)


def test_forced_actions_come_in_turn():
    problem = dm.problems.two_state(horizon=10)
    agent = Detecting.for_problem(problem, learner=dm.agents.FixedPolicy(problem.space, [0, 0]), exploration=0.5)
    taken = []
    for _ in range(8):
        taken.append(agent.act(0))
        agent.observe(0.0, 0)
    assert taken == [0, 0, 0, 1, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"learner": "PSRLL"}, "learner must be the name of an agent .*; got 'PSRLL'. Did you mean 'PSRL'"),
        ({"learner": 3}, "learner must be the name of an agent"),
        ({"learner": dm.agents.PSRL(ONE)}, "learner must have the same space"),
        ({"learner_parameters": {"pior": 1}}, "which has no 'pior'; got {'pior': 1}. Did you mean 'prior'"),
        ({"learner": "SlidingWindowUCRL2"}, "learner_parameters must be those of SlidingWindowUCRL2; got None"),
        ({"learner": Turns(), "learner_parameters": {"a": 1}}, "learner_parameters must be None"),
        ({"learner": "Adaptive", "restart": "pairs"}, "restart must be 'all' for Adaptive"),
        ({"detector": "gl"}, "detector must be one of 'glr'"),
        ({"detector": 3}, "detector must be one of 'glr'"),
        ({"watch": "all"}, "watch must be one of"),
        ({"learner": dm.agents.UCRL2(TWO, 10)}, "learner must have a horizon of at least 100 steps; got 10"),
        ({"learner_parameters": {"space": ONE}}, "learner must have the same space"),
        ({"learner_parameters": 0}, "learner_parameters must be a mapping of names to values, or None; got 0"),
        ({"learner_parameters": "delta"}, "learner_parameters must be a mapping"),
        (
            {"detector_parameters": {"margin": 1}},
            "detector_parameters must be those of GLRDetector",
        ),
        ({"detector_parameters": [1]}, "detector_parameters must be a mapping"),
        ({"detector": GLRDetector(), "detector_parameters": {"resolution": 1}}, "detector_parameters must be None"),
        ({"exploration": 1.5}, "exploration must be at most 1"),
        ({"delta": 0.0}, "delta must be at least 1e-300"),
    ],
)
def test_wrong_parameters_get_a_sentence(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        Detecting(TWO, 100, **parameters)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GLRDetector(0.0), "resolution must be at least"),
        (lambda: RunLengthDetector(hazard=2.0), "hazard must be at most 1"),
        (lambda: RunLengthDetector(support="some"), "support must be one of"),
        (lambda: CUSUMDetector(margin=0.0), "margin must be at least"),
        (lambda: CUSUMDetector(warmup=0), "warmup must be at least 1"),
        (lambda: PageHinkleyDetector(warmup=-1), "warmup must be at least 0"),
    ],
)
def test_wrong_constants_get_a_sentence(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def test_constants_by_name_are_those_of_the_detector(tmp_path):
    named = Detecting(
        ONE, 100, detector="cusum", detector_parameters={"margin": 0.05, "threshold": 0.5, "warmup": 2}
    )
    named.save(tmp_path / "agent.npz")
    made = Detecting(ONE, 100, detector=NERVOUS["cusum"])
    rewards = 5 * [0.1, 0.1, 0.1, 0.9, 0.9]
    assert (
        feed(named, rewards) == feed(made, rewards) == feed(Detecting.load(tmp_path / "agent.npz"), rewards) != ()
    )


def test_a_learner_of_ones_own_cannot_be_saved(tmp_path):
    with pytest.raises(InvalidInputError, match="learner must be an agent of driftmdp to be saved; got Turns"):
        Detecting(TWO, 100, learner=Turns()).save(tmp_path / "agent.npz")


@pytest.mark.parametrize("name", ["watch_filled", "watch_sizes", "watch_parts", "watch_visits"])
def test_a_damaged_watch_is_refused(name):
    agent = Detecting(TWO, 100)
    feed(agent, [0.1, 0.9, 0.4])
    arrays = agent._state_arrays()
    agent.copy()._restore(dict(arrays))
    arrays[name] = arrays[name] - 9
    with pytest.raises(ValueError, match=r"wrong|does not exist"):
        agent.copy()._restore(arrays)


def test_explain_is_the_learners():
    agent = Detecting(TWO, 100, learner="UCRL2")
    agent.act(0)
    assert agent.explain(0).action == 0
    assert not hasattr(Detecting(TWO, 100), "explain")

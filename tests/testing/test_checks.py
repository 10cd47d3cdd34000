"""All built-in agents and problems are discovered into the checks; broken ones are caught."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import CheckFailedError
from tests.agents.worlds import random_problem

PROBLEMS = {
    "ragged": random_problem(3, 150, n_states=4),
    "one state": random_problem(4, 150, n_states=1),
    "bernoulli": random_problem(5, 150, n_states=3, noise="bernoulli"),
    "inventory": dm.problems.inventory(capacity=4, horizon=150),
}
BANDITS = {name for name, agent in dm.agents.builtin().items() if agent.only_for == "bandits"}

SHOPS = {name for name, agent in dm.agents.builtin().items() if agent.only_for == "inventory"}


def make(name, problem, **parameters):
    agent = dm.agents.builtin()[name]
    if name == "Optimist":
        parts = {"memory": dm.agents.SlidingWindow(31), "confidence": dm.agents.BernsteinRadii(scale=0.1)}
        return agent.for_problem(problem, **parts, schedule=dm.agents.Doubling(every=11))
    known = agent.__init__.__code__.co_varnames
    return agent.for_problem(problem, **{k: v for k, v in parameters.items() if k in known})


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", sorted(dm.agents.builtin()))
def test_every_agent(name, problem):
    if name in BANDITS and problem != "one state":
        with pytest.raises(dm.errors.InvalidInputError, match=f"{name} must have a space of one state"):
            make(name, PROBLEMS[problem])
        return
    if name in SHOPS and problem != "inventory":
        with pytest.raises(dm.errors.InvalidInputError, match=f"{name} must have an inventory problem"):
            make(name, PROBLEMS[problem])
        return
    report = dm.testing.check_agent(lambda p: make(name, p, scale=0.1), PROBLEMS[problem])
    assert not report.skipped


@pytest.mark.parametrize("name", ["SWUCRL2CW", "UCRL2", "UCRL2B", "VariationAwareUCRL"])
def test_every_planner_and_reading(name):
    for parameters in ({"planner": "fast", "scale": 0.1}, {"reward_range": None}, {"ties": "first", "scale": 0.3}):
        dm.testing.check_agent(make(name, PROBLEMS["ragged"], **parameters), PROBLEMS["ragged"])


@pytest.mark.parametrize("name", sorted(BANDITS))
def test_every_bandit(name):
    problem = dm.problems.bandit(n_arms=3, horizon=150)
    assert not dm.testing.check_agent(make(name, problem), problem).skipped


@pytest.mark.parametrize("parameters", [{"mode": "bounded"}, {"master": "exp3"}, {"reward_range": None}])
def test_every_master(parameters):
    problem = random_problem(3, 200, n_states=2)
    agent = dm.agents.BORL.for_problem(problem, scale=0.1, planner="fast", **parameters)
    assert not dm.testing.check_agent(agent, problem).skipped


@pytest.mark.parametrize("name", [entry.name for entry in dm.problems.list()])
def test_every_problem(name):
    short = {"horizon": 60} if "horizon" in dm.problems.describe(name).parameters else {}
    report = dm.testing.check_problem(dm.problems.make(name, **short))
    assert all(check.rule.startswith("emitted") for check in report.skipped), report


class Polite:
    """A user's agent that keeps the rules."""

    def reset(self, rng):
        self.rng = rng
        self.choice = None

    def act(self, state):
        if self.choice is None:
            self.choice = self.rng.random()
        return int(self.choice * PROBLEMS["ragged"].space.n_actions[state])

    def observe(self, reward, next_state, action=None):
        self.choice = None


class Careless(Polite):
    """Its snapshot forgets where its generator was."""

    def save(self, path):
        path.write_text("")

    @classmethod
    def load(cls, path):
        agent = cls()
        agent.reset(np.random.default_rng(0))
        return agent


class Unseeded(Polite):
    def reset(self, rng):
        self.rng, self.choice = np.random.default_rng(), None


class Illegal(Polite):
    def act(self, state):
        return 7


class GymLike(Polite):
    def observe(self, state, action, reward, next_state):
        pass


class Mute:
    def reset(self, rng):
        pass

    def act(self, state):
        return 0


def test_a_users_agent_is_told_what_was_skipped():
    report = dm.testing.check_agent(Polite(), PROBLEMS["ragged"])
    assert {check.rule for check in report.skipped} == {
        "asking twice gives the same answer",
        "a saved and loaded copy continues",
        "compiled equals step by step",
    }
    assert "has no method play(context)" in str(report)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Illegal(), "breaks the rule 'every action exists': Illegal chose an action that does not exist at t=1"),
        (Careless(), "a saved and loaded copy continues"),
        (Unseeded(), "the same seed gives the same run"),
        (Mute(), "it has no method observe"),
        (GymLike(), "breaks the rule 'every action exists': TypeError"),
    ],
)
def test_broken_agents_are_caught(agent, message):
    with pytest.raises(CheckFailedError, match=message):
        dm.testing.check_agent(agent, PROBLEMS["ragged"])


def test_a_derived_agent_is_told_what_was_skipped():
    class Mine(dm.agents.UCRL2):
        def __init__(self, **parameters):
            super().__init__(**parameters)

    report = dm.testing.check_agent(Mine.for_problem(PROBLEMS["ragged"]), PROBLEMS["ragged"])
    assert [check.rule for check in report.skipped if "derived" in check.skipped] == [
        "a saved and loaded copy continues"
    ]


def test_an_agent_that_changes_the_problem_is_caught():
    problem = random_problem(3, 150, n_states=4)
    rewards = problem.drifting.world.anchor_rewards

    class Local(Polite):
        def act(self, state):
            rewards[0, 0] += 1e-6
            return 0

    with pytest.raises(CheckFailedError):
        dm.testing.check_agent(Local(), problem)


def test_a_class_is_not_an_agent():
    with pytest.raises(dm.errors.InvalidInputError, match="got the class UCRL2"):
        dm.testing.check_agent(dm.agents.UCRL2, PROBLEMS["ragged"])

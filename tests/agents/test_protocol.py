"""reset, act, observe; what is refused, and with which sentence."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.worlds import random_problem

SPACE = dm.Space([2, 1, 3])


def ucrl2(**parameters):
    return dm.agents.UCRL2(SPACE, 50, **parameters)


def test_observe_must_follow_act():
    agent = ucrl2()
    with pytest.raises(InvalidInputError, match=r"observe must follow act; call act\(state\) first"):
        agent.observe(0.0, 1)
    agent.act(0)
    agent.observe(0.0, 1)
    with pytest.raises(InvalidInputError, match="observe must follow act"):
        agent.observe(0.0, 1)


def test_what_was_really_done_is_learned():
    agent = ucrl2()
    agent.act(2)
    agent.observe(0.5, 1, action=2)
    assert agent.counts()[SPACE.pair(2, 2)] == 1
    assert agent.counts().sum() == 1


def test_a_jump_adds_no_transition():
    agent = ucrl2()
    agent.act(0)
    agent.observe(0.0, 1)
    agent.act(2)  # not 1: someone moved us
    agent.observe(0.0, 0)
    table = agent.successor_counts().toarray()
    assert table.sum() == 2
    assert table[:, 2].sum() == 0


def test_asking_again_changes_nothing():
    agent = ucrl2()
    assert len({agent.act(0) for _ in range(3)}) == 1
    assert agent.n_plans == 1
    agent.act(2)
    assert agent.n_plans == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: a.act(3), r"state must be one of 0 .. 2; got 3"),
        (lambda a: a.act(-1), r"state must be one of 0 .. 2; got -1"),
        (lambda a: a.act("x"), "state must be a whole number; got 'x'"),
        (lambda a: a.act(0.5), "state must be a whole number"),
        (lambda a: a.observe(float("nan"), 0), "reward must be a finite number; got nan"),
        (lambda a: a.observe("much", 0), "reward must be a finite number"),
        (lambda a: a.observe(None, 0), "reward must be a finite number"),
        (lambda a: a.observe(1.0, 7), r"next_state must be one of 0 .. 2; got 7"),
        (lambda a: a.observe(1.0, 1, action=2), "action of state 0 must be at most 1; got 2"),
        (lambda a: a.reset(7), r"rng must be a numpy Generator; got 7"),
        (lambda a: a.explain(9), r"state must be one of 0 .. 2"),
    ],
)
def test_wrong_calls_get_a_sentence_and_change_nothing(call, message):
    agent = ucrl2()
    agent.act(0)
    with pytest.raises(InvalidInputError, match=message):
        call(agent)
    agent.observe(np.float32(1.0), np.int64(1))
    assert agent.counts().sum() == 1


def test_the_horizon_ends_it():
    agent = dm.agents.UCRL2(SPACE, 2)
    for _ in range(2):
        agent.act(0)
        agent.observe(0.0, 0)
    with pytest.raises(InvalidInputError, match="must not act after its horizon of 2 steps"):
        agent.act(0)
    agent.reset(np.random.default_rng(0))
    assert agent.act(0) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dm.agents.UCRL2(3, 10), "space must be a Space; got 3"),
        (lambda: dm.agents.UCRL2(SPACE, 0), "horizon must be at least 1"),
        (lambda: dm.agents.UCRL2(SPACE, 10, delta=0.0), "delta must be positive"),
        (lambda: dm.agents.UCRL2(SPACE, 10, delta=2.0), "delta must be at most 1"),
        (lambda: dm.agents.UCRL2(SPACE, 10, scale=0.0), "scale must be positive"),
        (lambda: dm.agents.UCRL2(SPACE, 10, planner="quick"), "planner must be one of 'paper', 'fast'"),
        (lambda: dm.agents.UCRL2(SPACE, 10, ties="last"), "ties must be one of"),
        (lambda: dm.agents.UCRL2(SPACE, 10, radii="jacksh"), "Did you mean 'jaksch'"),
        (lambda: dm.agents.UCRL2(SPACE, 10, reward_range=(1, 0)), "reward_range must be two finite numbers"),
        (lambda: dm.agents.UCRL2(SPACE, 10, reward_range=3), "reward_range must be two finite numbers"),
        (lambda: dm.agents.UCRL2(SPACE, 10, seed=-1), "seed must be at least 0"),
        (lambda: dm.agents.SWUCRL2CW(SPACE, 10, 0, 0.1), "window must be at least 1"),
        (lambda: dm.agents.SWUCRL2CW(SPACE, 10, 2.5, 0.1), "window must be a whole number"),
        (lambda: dm.agents.SWUCRL2CW(SPACE, 10, 3, -0.1), "widening must be at least 0"),
        (lambda: dm.agents.UCRL2S(SPACE, 10, period=0), "period must be at least 1"),
        (lambda: dm.agents.UCRL2S(SPACE, 10, period=3, changes=1), "period and changes must not both be given"),
        (lambda: dm.agents.VariationAwareUCRL(SPACE, 10, [0] * 3, [0] * 9), r"reward_steps must have shape \(9,\)"),
        (
            lambda: dm.agents.VariationAwareUCRL(SPACE, 3, [0, -1], [0, 0]),
            r"reward_steps\[1\] must not be negative",
        ),
        (
            lambda: dm.agents.FixedPolicy(SPACE, [0, 1, 0]),
            r"policy\[s=1\] must be one of the actions 0 .. 0; got 1",
        ),
        (lambda: dm.agents.FixedPolicy(SPACE, [0, 0]), "policy must have a whole number"),
        (lambda: dm.agents.FixedPolicy(SPACE, [[0, 0, 0], [0, 0, 1]]), "policy must have a whole number"),
        (lambda: dm.agents.SWUCRL2CW.for_problem(SPACE), "problem must be a Problem"),
        (lambda: dm.agents.Oracle(SPACE, [[0, 0, 0]], [0, 1]), "policy_index must list one of the 1 policies"),
        (lambda: dm.agents.SinceRestart([2, 3]), "starts must begin with 1 and increase"),
        (lambda: dm.agents.Optimist(SPACE, 10, 3, dm.agents.PaperRadii()), "memory must be Everything"),
        (lambda: dm.agents.Optimist(SPACE, 10, dm.agents.Everything(), 3), "confidence must be one of the radii"),
        (
            lambda: dm.agents.Optimist(SPACE, 10, dm.agents.Everything(), dm.agents.PaperRadii(delta=[0.1, 0.2])),
            "one for each of the 1 phases",
        ),
        (lambda: dm.agents.UCRL2.for_problem(SPACE), "problem must be a Problem"),
    ],
)
def test_wrong_parameters_get_a_sentence(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def test_parameters_are_kept_and_shown():
    agent = dm.agents.SWUCRL2CW(SPACE, 50, window=7, widening=0.25, scale=0.3)
    assert agent.parameters["scale"] == 0.3
    assert list(agent.parameters)[:4] == ["space", "horizon", "window", "widening"]
    assert "window=7, widening=0.25" in repr(agent)
    assert dm.agents.SWUCRL2CW(**agent.parameters).parameters == agent.parameters


@pytest.mark.parametrize(
    ("rule", "window"),
    [
        ("theorem-1", 47),
        ("borl-proof", 138),
        ("oblivious", 158),
        ("theorem-3", 434),
        ("theorem-4", 101),
        ("bandit", 118),
    ],
)
def test_tuned_by_theorem(rule, window):
    agent = dm.agents.SWUCRL2CW.tuned(dm.Space.uniform(2, 2), 5000, 5.49, 5.49, rule=rule, scale=0.5)
    chosen = dm.formulas.tuned(dm.Space.uniform(2, 2), 5000, 5.49, 5.49, rule)
    assert (agent.window, agent.widening, agent.scale) == (chosen.window, chosen.widening, 0.5)


def test_delta_is_one_over_the_horizon_by_default():
    problem = random_problem(1, 300)
    default = dm.agents.SWUCRL2CW.for_problem(problem, window=50, widening=0.1, scale=0.1)
    named = dm.agents.SWUCRL2CW.for_problem(problem, window=50, widening=0.1, scale=0.1, delta=1 / 300)
    assert dm.simulate(default, problem, 1).actions.tolist() == dm.simulate(named, problem, 1).actions.tolist()


def test_explain_says_why():
    problem = random_problem(5, 400, n_states=3)
    agent = dm.agents.SWUCRL2CW.for_problem(problem, window=200, widening=0.05, scale=0.05)
    rng, state, t = np.random.default_rng(0), problem.start, 1
    draws = problem.draw_noise(rng)
    for t in range(1, 200):
        sample = problem.sample(t, state, agent.act(state), draws)
        agent.observe(sample.reward, sample.next_state)
        state = sample.next_state
    advised, before = agent.act(state), agent.counts()
    why = agent.explain(state)
    assert why.action == advised
    assert len(why.actions) == problem.space.n_actions[state]
    best = max(why.actions, key=lambda reason: reason.value)
    assert why.actions[advised].value >= best.value - 1e-9 * max(1, abs(best.value))
    plan = agent.last_plan
    assert plan.gain - plan.residual - 1e-9 <= best.value <= plan.gain + 1e-9
    if plan.t == agent.t:
        first = problem.space.pair(state, 0)
        assert [reason.count for reason in why.actions] == before[first : first + len(why.actions)].tolist()
    assert "promises" in str(why)
    assert "widened by 0.05" in str(why)


def test_there_is_nothing_to_explain_before_the_first_plan():
    with pytest.raises(InvalidInputError, match="There is no plan yet"):
        ucrl2().explain(0)


def test_rewards_of_any_range_give_the_same_run_once_mapped():
    problem = random_problem(4, 300)
    mdps = [dm.Mdp(problem.space, 10 * m.rewards + 3, m.transitions) for m in problem.drifting.anchors]
    other = dm.Problem(dm.DriftingMdp(mdps, problem.drifting.weights.matrix), problem.start)
    one = dm.simulate(dm.agents.UCRL2.for_problem(problem, scale=0.1), problem, 3)
    two = dm.simulate(dm.agents.UCRL2.for_problem(other, scale=0.1), other, 3)
    assert one.actions.tolist() == two.actions.tolist()
    assert one.vacuous_share < 1


def test_a_plan_can_be_forced():
    agent = ucrl2()
    agent.act(0)
    agent.observe(1.0, 0)
    plan = agent.plan()
    assert (plan.t, plan.vacuous, plan.method) == (2, True, "paper")
    assert plan.gain == pytest.approx(1.0)
    assert agent.n_plans == 2


def test_one_reward_only():
    mdp = dm.Mdp(dm.Space.uniform(2, 2), np.full(4, 0.7), np.full((4, 2), 0.5))
    problem = dm.Problem(dm.DriftingMdp.stationary(mdp, 50))
    assert problem.reward_range == (0.7, 0.7)
    run = dm.simulate(dm.agents.UCRL2.for_problem(problem), problem, 1)
    assert run.dynamic_regret(problem)[-1] == pytest.approx(0.0, abs=1e-9)


def test_for_problem_fills_what_is_not_given():
    problem = random_problem(1, 300)
    chosen = dm.agents.SWUCRL2CW.for_problem(problem)
    budget = problem.drifting.variation().transition
    assert dm.agents.SWUCRL2CW.for_problem(problem, window=10).widening == pytest.approx((budget * 10 / 300) ** 0.5)
    assert dm.agents.SWUCRL2CW.for_problem(problem, widening=0.1).window == chosen.window


def test_rewards_far_outside_the_range_are_named_once():
    agent = dm.agents.UCRL2(dm.Space.uniform(1, 1), 100)
    for _ in range(19):
        agent.act(0)
        agent.observe(105.0, 0)
    agent.act(0)
    with pytest.warns(
        UserWarning, match=r"mean reward of state 0, action 0 is 105, far outside reward_range \(0, 1\)"
    ):
        agent.observe(105.0, 0)
    agent.act(0)
    agent.observe(105.0, 0)

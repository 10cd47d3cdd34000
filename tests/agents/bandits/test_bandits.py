"""What the bandit corner promises beyond its transcriptions: tuning, limits, what it knows, and plain mistakes."""

import warnings

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import ClippedGammaWarning, InvalidInputError
from tests.agents.worlds import random_problem

BANDITS = sorted(name for name, agent in dm.agents.builtin().items() if agent.only_for == "bandits")
ARMS = dm.Space.uniform(1, 3)


def play(agent, reward, steps):
    """Give the same reward for so many steps."""
    for _ in range(steps):
        agent.act(0)
        agent.observe(reward, 0)


def test_the_corner_is_complete():
    index = ["DUCB", "SWUCB", "UCB1"]
    watching = ["AdSwitch", "CUSUMUCB", "GLRklUCB", "MUCB"]
    assert sorted(["BOB", "DiscountedThompson", "EXP3", "EXP3P", "EXP3S", "Rexp3", *index, *watching]) == BANDITS


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("horizon", [1, 2, 3, 20])
@pytest.mark.parametrize("n_arms", [1, 2, 5])
def test_extremes(name, horizon, n_arms):
    problem = dm.problems.bandit(n_arms=n_arms, horizon=horizon)
    run = dm.simulate(dm.agents.builtin()[name].for_problem(problem), problem, 1)
    assert run.actions.max() < n_arms


@pytest.mark.parametrize("name", BANDITS)
def test_constant_rewards_of_a_range_of_one_point(name):
    mdp = dm.Mdp(ARMS, [0.5, 0.5, 0.5], np.ones((3, 1)))
    problem = dm.Problem(dm.DriftingMdp.stationary(mdp, 30), reward_range=(0.5, 0.5))
    assert dm.simulate(dm.agents.builtin()[name].for_problem(problem), problem, 1).total_reward == 15.0


@pytest.mark.parametrize("name", BANDITS)
def test_several_states_are_refused(name):
    with pytest.raises(InvalidInputError, match=f"{name} must have a space of one state, a bandit; got 2 states"):
        dm.agents.builtin()[name].for_problem(dm.problems.two_state(horizon=50))
    with pytest.raises(InvalidInputError, match="must be a Problem"):
        dm.agents.builtin()[name].for_problem("bandit")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dm.agents.SWUCB(ARMS, window=0), "window must be at least 1"),
        (lambda: dm.agents.SWUCB(ARMS, window=5, xi=-1.0), "xi must be at least 0"),
        (lambda: dm.agents.DUCB(ARMS, discount=0.0), "discount must be at least 1e-09"),
        (lambda: dm.agents.DUCB(ARMS, discount=1.1), "discount must be at most 1"),
        (lambda: dm.agents.EXP3(ARMS, 10, gamma=0.0), "gamma must be above 0"),
        (lambda: dm.agents.EXP3S(ARMS, 10, sharing=2.0), "sharing must be at most 1"),
        (lambda: dm.agents.Rexp3(ARMS, batch=0), "batch must be at least 1"),
        (lambda: dm.agents.BOB(ARMS, 0), "horizon must be at least 1"),
        (lambda: dm.agents.UCB1(3), "space must be a Space"),
        (lambda: dm.agents.UCB1(ARMS, reward_range=None), "reward_range must be two finite numbers"),
    ],
)
def test_wrong_parameters_get_one_sentence(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.mark.parametrize("seed", range(5))
def test_a_window_longer_than_the_run_and_a_discount_of_one_are_ucb1(seed):
    """With the same factor on the radius: xi = 2 for SW-UCB, 4 xi = 2 for D-UCB."""
    problem = random_problem(seed, 400, 1, "bernoulli")
    runs = [
        dm.simulate(agent, problem, seed).actions.tolist()
        for agent in (
            dm.agents.UCB1.for_problem(problem),
            dm.agents.SWUCB.for_problem(problem, window=401, xi=2.0),
            dm.agents.DUCB.for_problem(problem, discount=1.0, xi=0.5),
        )
    ]
    assert runs[0] == runs[1] == runs[2]


def test_exp3s_without_sharing_and_rexp3_with_one_batch_are_exp3():
    problem = dm.problems.bandit(n_arms=3, horizon=400)
    runs = [
        dm.simulate(agent, problem, 3).actions.tolist()
        for agent in (
            dm.agents.EXP3.for_problem(problem, gamma=0.2),
            dm.agents.EXP3S.for_problem(problem, gamma=0.2, sharing=0.0),
            dm.agents.Rexp3.for_problem(problem, gamma=0.2, batch=400),
            dm.agents.EXP3P.for_problem(problem, alpha=0.2 / 3, beta=0.0, gamma=0.2),
        )
    ]
    assert runs[0] == runs[1] == runs[2] == runs[3]


def test_what_ucb_knows():
    agent = dm.agents.SWUCB(ARMS, window=2, xi=1.0, reward_range=(0.0, 10.0))
    for reward in (5.0, 10.0, 2.0):
        agent.act(0)
        agent.observe(reward, 0)
    assert agent.counts().tolist() == [0.0, 1.0, 1.0]
    np.testing.assert_allclose(agent.mean_rewards(), [np.nan, 10.0, 2.0])
    radius = 10.0 * np.sqrt(np.log(2))
    np.testing.assert_allclose(agent.indices(), [np.inf, 10.0 + radius, 2.0 + radius])
    assert agent.act(0) == 0


def test_an_action_that_was_not_advised_is_what_is_learned():
    agent = dm.agents.UCB1(ARMS)
    agent.act(0)
    agent.observe(1.0, 0, action=2)
    assert agent.counts().tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("name", BANDITS)
def test_rewards_far_outside_the_range_are_said_once(name):
    agent = dm.agents.builtin()[name].for_problem(dm.problems.bandit(horizon=500))
    with pytest.warns(UserWarning, match=r"outside .*range .* Make the agent with the range") as said:
        play(agent, 50.0, 200)
    assert {warning.filename for warning in said} == {__file__}
    assert len(said) == (2 if name == "BOB" else 1)  # BOB's master doubts its feedback too


@pytest.mark.parametrize("name", BANDITS)
def test_ordinary_noise_is_not_doubted(name):
    problem = dm.problems.bandit(n_arms=2, horizon=5000, noise="gaussian(0.7)")
    agent = dm.agents.builtin()[name].for_problem(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dm.simulate(agent, problem, seed=0, compiled=False)


@pytest.mark.parametrize("name", BANDITS)
def test_a_warning_that_is_an_error_leaves_a_whole_step(name):
    agent = dm.agents.builtin()[name].for_problem(dm.problems.bandit(horizon=500), seed=1)
    raised = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in range(100):
            agent.act(0)
            try:
                agent.observe(50.0, 0)
            except UserWarning:
                raised += 1
            assert agent.t == t + 2
            with pytest.raises(InvalidInputError, match="observe must follow act"):
                agent.observe(50.0, 0)
    assert raised >= 1


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("EXP3", {"horizon": 6}), ("EXP3S", {"horizon": 6}), ("EXP3P", {"horizon": 6}), ("Rexp3", {"batch": 6})],
)
def test_clipping_is_said_by_all(name, parameters):
    with pytest.warns(ClippedGammaWarning, match=f"gamma of {name} is .* for 9 arms and 6 rounds"):
        agent = dm.agents.builtin()[name](dm.Space.uniform(1, 9), **parameters)
    summary = agent.summary()
    assert summary.clipped
    assert summary.formula_gamma > summary.gamma == 1.0


def test_summaries_have_the_parameters_in_force():
    summary = dm.agents.EXP3S(ARMS, 100, changes=2, sharing=0.25).summary()
    assert (summary.sharing, summary.batch, summary.bonus) == (0.25, 0, 0.0)
    assert summary.rate == pytest.approx(summary.gamma / 3)
    assert dm.agents.Rexp3(ARMS, batch=7).summary().batch == 7


def test_a_faded_arm_keeps_its_mean():
    agent = dm.agents.DUCB(dm.Space.uniform(1, 2), discount=0.5, xi=0.0)
    agent.act(0)
    agent.observe(0.9, 0, action=0)
    for _ in range(1200):
        agent.act(0)
        agent.observe(0.5, 0, action=1)
    np.testing.assert_allclose(agent.mean_rewards(), [0.9, 0.5])
    assert agent.act(0) == 0


def test_a_window_that_memory_cannot_hold_is_refused():
    with pytest.raises(InvalidInputError, match="window must be small enough for its steps to fit into memory"):
        dm.agents.SWUCB(ARMS, window=2**60)


def test_swucrl2_cw_is_tuned_for_one_state_by_the_papers_remark():
    """W* = A^(1/3) (T / B_r)^(2/3); the widening is 0, as nothing can be widened."""
    problem = dm.problems.bandit(n_arms=2, horizon=5000)
    agent = dm.agents.SWUCRL2CW.for_problem(problem)
    b_r = problem.drifting.variation().reward
    assert agent.window == int(2 ** (1 / 3) * (5000 / b_r) ** (2 / 3))
    assert agent.widening == 0.0
    assert agent.window == dm.agents.SWUCB.for_problem(problem).window


def test_widening_changes_nothing_with_one_state():
    problem = dm.problems.bandit(n_arms=3, horizon=600)
    runs = [
        dm.simulate(dm.agents.SWUCRL2CW.for_problem(problem, window=60, widening=eta, scale=0.1), problem, 1)
        for eta in (0.0, 0.5, 2.0)
    ]
    assert runs[0].actions.tolist() == runs[1].actions.tolist() == runs[2].actions.tolist()


def test_forgetting_wins_where_an_arm_wavers():
    """A statistical test that can fail: SW-UCB's mean regret is below UCB1's with 99.9% confidence."""
    phases = [dm.Mdp(dm.Space.uniform(1, 2), [0.5, mean], [[1.0], [1.0]]) for mean in (0.8, 0.2)] * 2
    drifting = dm.DriftingMdp.piecewise(phases, [1001, 2001, 3001], 4000)
    problem = dm.Problem(drifting, noise="bernoulli", reward_range=(0.0, 1.0))

    def regrets(agent):
        runs = [dm.simulate(agent, problem, seed) for seed in range(20)]
        return np.array([run.dynamic_regret(problem)[-1] for run in runs])

    gain = regrets(dm.agents.UCB1.for_problem(problem)) - regrets(dm.agents.SWUCB.for_problem(problem))
    assert gain.mean() > 3.579 * gain.std(ddof=1) / np.sqrt(20)  # one-sided, 19 degrees of freedom

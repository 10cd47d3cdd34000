"""EXP3.P by hand, by law, and against an adversary who watches."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp import kernels
from driftmdp.errors import ClippedGammaWarning, InvalidInputError

TWO = dm.Space.uniform(1, 2)


def told(agent, arm, reward):
    """Let the agent see a reward of an arm, whatever it would have drawn."""
    agent.act(0)
    agent.observe(reward, 0, action=arm)


def test_three_rounds_by_hand():
    """Two arms, alpha = ln 2, beta = 1/4, gamma = 1/2.

    Round 1: u = (1/2, 1/2). Arm 0 gives 1: q = ((1/4 + 1) / (1/2), (1/4) / (1/2)) = (5/2, 1/2).
    Round 2: 2^q = 2^(1/2) (4, 1), so u = (1/2 * 4/5 + 1/4, 1/2 * 1/5 + 1/4) = (13/20, 7/20).
        Arm 1 gives 1/2: q = (5/2 + 5/13, 1/2 + (3/4) / (7/20)) = (75/26, 37/14).
    Round 3: q_0 - q_1 = 75/26 - 37/14 = 22/91. u_0 = 1/2 * 1 / (1 + 2^(-22/91)) + 1/4.
        Arm 0 gives 0: both grow by (1/4) / u.
    """
    agent = dm.agents.EXP3P(TWO, 100, alpha=math.log(2), beta=0.25, gamma=0.5)
    assert agent.probabilities == pytest.approx([0.5, 0.5])
    told(agent, 0, 1.0)
    assert agent.probabilities == pytest.approx([13 / 20, 7 / 20], rel=1e-14)
    told(agent, 1, 0.5)
    third = 0.5 / (1 + 2 ** (-22 / 91)) + 0.25
    assert agent.probabilities == pytest.approx([third, 1 - third], rel=1e-13)
    told(agent, 0, 0.0)
    gap = 22 / 91 + 0.25 / third - 0.25 / (1 - third)
    fourth = 0.5 / (1 + 2**-gap) + 0.25
    assert agent.probabilities == pytest.approx([fourth, 1 - fourth], rel=1e-13)


def test_three_arms_by_hand():
    """alpha = ln 2, beta = 0, gamma = 3/4, rewards in [-1, 1]: u starts at 1/3 each and never falls below 1/4.

    Arm 2 gives 1, a unit reward of 1: q = (0, 0, 3), 2^q = (1, 1, 8), u = 1/4 (1/10, 1/10, 8/10) + 1/4.
    Arm 0 gives 0, a unit reward of 1/2: q_0 = (1/2) / (11/40) = 20/11. Arm 1 gives -1: nothing changes.
    """
    agent = dm.agents.EXP3P(
        dm.Space.uniform(1, 3), 100, alpha=math.log(2), beta=0.0, gamma=0.75, reward_range=(-1.0, 1.0)
    )
    told(agent, 2, 1.0)
    assert agent.probabilities == pytest.approx([11 / 40, 11 / 40, 18 / 40], rel=1e-14)
    told(agent, 0, 0.0)
    weights = np.array([2 ** (20 / 11), 1.0, 8.0])
    assert agent.probabilities == pytest.approx(0.25 * weights / weights.sum() + 0.25, rel=1e-13)
    told(agent, 1, -1.0)
    assert agent.probabilities == pytest.approx(0.25 * weights / weights.sum() + 0.25, rel=1e-13)


@given(
    n_arms=st.integers(2, 40),
    horizon=st.integers(1, 10**7),
    mode=st.sampled_from(["paper", "bounded"]),
    plays=st.lists(st.tuples(st.integers(0, 39), st.floats(-0.5, 1.5)), max_size=60),
)
def test_probabilities_sum_to_one_and_never_fall_below_gamma_over_delta(n_arms, horizon, mode, plays):
    agent = dm.agents.EXP3P(dm.Space.uniform(1, n_arms), max(horizon, len(plays)), mode=mode)
    gamma = agent.summary().gamma
    for arm, reward in plays:
        told(agent, arm % n_arms, reward)
        assert agent.probabilities.sum() == pytest.approx(1.0, abs=1e-12)
        assert agent.probabilities.min() >= gamma / n_arms


@pytest.mark.parametrize("name", ["EXP3", "EXP3P", "EXP3S", "Rexp3"])
@pytest.mark.parametrize("gamma", [1e-12, 1e-3, 1.0])
def test_stable_for_any_number_of_updates(name, gamma):
    """Thousands of updates in favour of one arm after another: finite, and summing to one."""
    parameters = {"batch": 10**9} if name == "Rexp3" else {"horizon": 10**9}
    agent = dm.agents.builtin()[name](dm.Space.uniform(1, 3), gamma=gamma, **parameters)
    for arm, reward in [(0, 1.0), (1, 1.0), (0, 0.0)]:
        for t in range(1, 5000):
            kernels.bandits.learn_exponential(agent._params, agent._weights, t, arm, reward)
        assert np.isfinite(agent._weights.logits).all()
        assert agent.probabilities.sum() == pytest.approx(1.0, abs=1e-12)
        assert agent.probabilities.min() >= gamma / 3


def test_a_long_run_stays_finite():
    problem = dm.problems.bandit(n_arms=4, horizon=2_000_000, drift="stationary")
    summary = dm.simulate(dm.agents.EXP3P.for_problem(problem), problem, 1).summary
    assert summary.probabilities.sum() == pytest.approx(1.0, abs=1e-12)
    assert summary.probabilities[0] > 0.9


def test_clipping_is_said_once_and_in_the_summary():
    with pytest.warns(ClippedGammaWarning, match=r"gamma of EXP3P is 1.91 for 9 arms and 6 rounds") as said:
        agent = dm.agents.EXP3P(dm.Space.uniform(1, 9), 6)
    assert len(said) == 1
    summary = agent.summary()
    assert (summary.gamma, round(summary.formula_gamma, 2), summary.clipped) == (1.0, 1.91, True)


def test_bounded_keeps_its_conditions():
    for n_arms in (2, 9, 35):
        for horizon in (1, 6, 100, 10**6):
            summary = dm.agents.EXP3P(dm.Space.uniform(1, n_arms), horizon, mode="bounded").summary()
            assert summary.gamma <= 0.5
            assert (1 + summary.bonus) * n_arms * summary.rate <= summary.gamma * (1 + 1e-12)
            assert summary.clipped == (summary.formula_gamma > 0.5)


def test_bounded_applies_to_given_parameters_too():
    for chosen in ({"gamma": 0.01}, {"gamma": 0.9}, {"alpha": 5.0}, {"beta": 3.0}, {"alpha": 1.0, "gamma": 1.0}):
        summary = dm.agents.EXP3P(dm.Space.uniform(1, 4), 1000, mode="bounded", **chosen).summary()
        assert summary.gamma <= 0.5
        assert (1 + summary.bonus) * 4 * summary.rate <= summary.gamma * (1 + 1e-12)


@pytest.mark.parametrize(
    "given",
    [
        {"alpha": 1e300, "beta": 1e300},
        {"gamma": 1e-300, "alpha": 1e10, "beta": 1.0},
        {"gamma": 5e-324, "alpha": 1.0, "beta": 1.0},
    ],
)
def test_steps_that_would_overflow_are_refused(given):
    with pytest.raises(InvalidInputError, match="the largest step of EXP3P, must be at most"):
        dm.agents.EXP3P(TWO, 1000, **given)


def test_one_arm_too():
    with pytest.raises(InvalidInputError, match="the largest step of EXP3P"):
        dm.agents.EXP3P(dm.Space.uniform(1, 1), 1000, alpha=1e300, beta=1e300)


def test_one_arm():
    agent = dm.agents.EXP3P(dm.Space.uniform(1, 1), 10)
    for _ in range(10):
        assert agent.act(0) == 0
        agent.observe(1.0, 0)
    assert agent.probabilities.tolist() == [1.0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"space": dm.Space.uniform(2, 2)}, "EXP3P must have a space of one state, a bandit; got 2 states"),
        ({"mode": "papers"}, "Did you mean 'paper'"),
        ({"gamma": 0.0}, "gamma must be above 0"),
        ({"gamma": 1.5}, "gamma must be at most 1"),
        ({"alpha": -1.0}, "alpha must be at least 0"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"reward_range": None}, "reward_range must be two finite numbers"),
    ],
)
def test_wrong_parameters_get_one_sentence(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        dm.agents.EXP3P(**{"space": TWO, "horizon": 100} | parameters)


# An adversary who watches ------------------------------------------------------------------------------------

SEEDS = 20
HORIZONS = (250, 1000, 4000)
ARMS = 4
SPACE = dm.Space.uniform(1, ARMS)


def uniform_play(horizon):
    return dm.agents.EXP3P(SPACE, horizon, gamma=1.0)


def regret_against_a_watcher(make, horizon, seed):
    """Return the regret against the best single arm on the rewards that an adaptive adversary came to give.

    The adversary sees the plays so far. Until half of the time has passed it lets the arm that was played least pay
    0.8, so whatever is favoured stops paying; then the arm that has paid most so far keeps on paying.
    """
    rng = np.random.default_rng(seed)
    learner = make(horizon)
    learner.reset(np.random.default_rng([seed, horizon]))
    played, gains, earned = np.zeros(ARMS), np.zeros(ARMS), 0.0
    for t in range(horizon):
        good = int(np.argmin(played)) if t < horizon // 2 else int(np.argmax(gains))
        pays = rng.random(ARMS) < np.where(np.arange(ARMS) == good, 0.8, 0.3)
        arm = learner.act(0)
        learner.observe(float(pays[arm]), 0)
        played[arm] += 1
        gains += pays
        earned += pays[arm]
    return gains.max() - earned


def growth(make):
    """Return a 99% upper bound, by the bootstrap over seeds, of the exponent with which mean regret grows."""
    regret = np.array([[regret_against_a_watcher(make, n, seed) for seed in range(SEEDS)] for n in HORIZONS])
    rng = np.random.default_rng(0)
    x = np.log(HORIZONS) - np.mean(np.log(HORIZONS))
    slopes = []
    for _ in range(2000):
        means = regret[:, rng.integers(SEEDS, size=SEEDS)].mean(axis=1)
        slopes.append(x @ np.log(np.maximum(means, 1e-9)) / (x @ x))
    return np.quantile(slopes, 0.99)


def test_regret_against_a_watcher_is_sub_linear():
    """The exponent is at most 1/2 in theory; with 99% confidence it is below 0.7 here."""
    assert growth(lambda horizon: dm.agents.EXP3P(SPACE, horizon)) < 0.7


@pytest.mark.parametrize(
    "broken",
    [{"gamma": 1.0}, *(pytest.param(one, marks=pytest.mark.slow) for one in ({"gamma": 0.5}, {"alpha": 1.0}))],
)
def test_the_test_of_sub_linearity_fails_for_broken_parameters(broken):
    assert growth(lambda horizon: dm.agents.EXP3P(SPACE, horizon, **broken)) > 0.7


def test_the_bound_holds_where_uniform_play_breaks_it():
    """[BC12] Theorem 3.2: with probability 1 - d regret is at most 5.15 sqrt(nK ln K) + sqrt(nK / ln K) ln(1/d).

    d = 1/300 for each of three seeds: EXP3.P fails this test with a chance of at most one in a hundred.
    """
    n = 32_000
    bound = 5.15 * math.sqrt(n * ARMS * math.log(ARMS)) + math.sqrt(n * ARMS / math.log(ARMS)) * math.log(300)
    for seed in range(3):
        assert regret_against_a_watcher(lambda horizon: dm.agents.EXP3P(SPACE, horizon), n, seed) <= bound
    assert regret_against_a_watcher(uniform_play, n, 0) > 2 * bound

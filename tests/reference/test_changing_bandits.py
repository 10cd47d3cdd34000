"""The plain bandits that watch for changes, on cases worked by hand, and their parts by other means."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from tests.reference.adswitch import AdSwitch
from tests.reference.changing_bandits import (
    CUSUMUCB,
    MUCB,
    DiscountedThompson,
    GLRklUCB,
    cusum_parameters,
    glr,
    glr_parameters,
    in_turn,
    kl,
    kl_upper,
    m_ucb_parameters,
    m_ucb_window,
)
from tests.reference.xoshiro import Xoshiro


class Script:
    """Uniform numbers from a list, and means instead of draws from Beta laws."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def uniform(self):
        return self.numbers.pop(0)

    def beta(self, a, b):
        return a / (a + b)


def play(agent, *rewards):
    """The arms played for these rewards."""
    arms = []
    for reward in rewards:
        arms.append(agent.act(0))
        agent.observe(reward, 0)
    return arms


# Parts. --------------------------------------------------------------------------------------------------


def test_kl_is_scipys_entropy():
    for p, q in [(0.2, 0.7), (0.0, 0.3), (1.0, 0.3), (0.5, 0.5), (1.0, 1.0), (0.0, 0.0)]:
        assert kl(p, q) == pytest.approx(stats.entropy([p, 1 - p], [q, 1 - q]), abs=1e-15)
    assert kl(0.5, 1.0) == kl(0.5, 0.0) == math.inf


def test_the_kl_index_is_the_root_and_the_best_of_a_grid():
    rng = np.random.default_rng(1)
    for mean, level in zip(0.9 * rng.random(30), 0.3 * rng.exponential(size=30), strict=True):
        root = optimize.brentq(lambda q, m=mean, c=level: kl(m, q) - c, mean, 1 - 1e-15, xtol=1e-15)
        assert kl_upper(mean, level) == pytest.approx(root, abs=1e-9)
        grid = [q for q in np.linspace(mean, 1, 500) if kl(mean, q) <= level]
        assert 0 <= kl_upper(mean, level) - max(grid) <= (1 - mean) / 499
    assert kl_upper(0.0, 0.3) == pytest.approx(1 - math.exp(-0.3))  # kl(0, q) = -ln(1 - q)
    assert kl_upper(0.4, 0.0) == pytest.approx(0.4)
    assert kl_upper(1.0, 0.2) == 1.0


def test_the_ratio_is_that_of_maximal_likelihoods():
    """Twice the ratio of one change against none, each mean fitted: Bernoulli log-likelihoods by scipy."""

    def fitted(xs):
        return stats.bernoulli.logpmf(xs, np.mean(xs)).sum()

    rng = np.random.default_rng(2)
    for n in range(2, 30):
        xs = rng.integers(0, 2, n)
        expected = max(fitted(xs[:s]) + fitted(xs[s:]) - fitted(xs) for s in range(1, n))
        assert glr(list(xs)) == pytest.approx(expected, abs=1e-12)
    assert glr([0] * 4 + [1] * 4) == pytest.approx(8 * math.log(2))
    assert glr([0] * 4 + [1] * 4, split_every=3) == pytest.approx(8 * math.log(2))
    assert glr([0] * 4 + [1] * 4, split_every=2) < 8 * math.log(2)
    assert glr([1]) == -math.inf


def test_exploration_is_in_turn():
    """floor(2 / 0.3) = 6: arms 0 and 1 at the first two of six times."""
    assert [in_turn(t, 2, 0.3) for t in range(1, 9)] == [0, 1, None, None, None, None, 0, 1]
    assert [in_turn(t, 2, 1.0) for t in range(1, 5)] == [0, 1, 0, 1]
    assert in_turn(1, 2, 0.0) is None


def test_the_stream_is_that_of_xoshiro256_plus_plus():
    """The first numbers from the state 1, 2, 3, 4, as in the tests of the Rust crate rand_xoshiro."""
    stream = Xoshiro([1, 2, 3, 4])
    assert [stream.bits() for _ in range(4)] == [41943041, 58720359, 3588806011781223, 3591011842654386]
    assert stats.kstest([stream.beta(3.5, 1.2) for _ in range(2000)], stats.beta(3.5, 1.2).cdf).pvalue > 0.001


# Agents. -------------------------------------------------------------------------------------------------


def test_glr_kl_ucb_forgets_the_arm_that_changed():
    """One arm with rewards 1, 1, 1, 1, 0, 0, ...: after 2 zeros the ratio is 6 h(1/3) = 3.82, h the entropy.

    The threshold is 1.5 ln n + ln 2 = 3.38 at n = 6; at n = 5 the ratio is 5 h(1/5) = 2.50 < 3.11.
    """
    used = {"alpha": 0.0, "growing": False, "delta": 0.5, "xi": 1.0, "test_every": 1, "split_every": 1}
    agent = GLRklUCB([1], 20, restarts="local", **used)
    play(agent, 1, 1, 1, 1, 0)
    assert agent.alarms == []
    play(agent, 0)
    assert (agent.alarms, agent.seen(0)) == ([(6, 0)], [])
    for restarts, kept in [("local", 1), ("global", 0)]:
        agent = GLRklUCB([2], 20, restarts=restarts, **used)
        agent.plays = [(1, 0.0)] + [(0, 1.0)] * 4 + [(0, 0.0)]
        agent.arm = 0
        agent.observe(0.0, 0)
        assert (agent.alarms, len(agent.seen(1))) == ([(7, 0)], kept)


def test_m_ucb_compares_the_halves_of_its_window():
    agent = MUCB([1], 20, window=4, threshold=1.5, gamma=0.5, xi=2.0)
    play(agent, 1, 1, 1, 0)
    assert agent.alarms == []
    play(agent, 0)
    assert agent.alarms == [(5, 0)]
    play(agent, 1, 1, 1)
    assert agent.alarms == [(5, 0)]


def test_m_ucb_explores_from_its_last_restart_on():
    """floor(2 / 0.5) = 4: arms 0 and 1 are forced at times 1, 2, 5 and 6; an alarm at 6 begins anew at 7.

    Time 3: n = 2, equal bonuses: arm 0. Time 4: 0.1 + sqrt(2 ln 3) = 1.58 > 0.5 + sqrt(ln 3) = 1.55: arm 1.
    """
    agent = MUCB([2], 20, window=2, threshold=0.5, gamma=0.5, xi=2.0)
    assert play(agent, 0.5, 0.1, 0.5, 0.2, 0.5, 1.0) == [0, 1, 0, 1, 0, 1]
    assert agent.alarms == [(6, 1)]
    assert play(agent, 0.5, 0.5) == [0, 1]


def test_cusum_ucb_sums_what_differs_from_the_first_mean():
    """M = 2 with mean 1/2, epsilon 0.1: zeros add 0.4 each, so the third is beyond 1."""
    agent = CUSUMUCB([1], 20, warmup=2, epsilon=0.1, threshold=1.0, alpha=0.0, xi=2.0, draws=Script())
    play(agent, 0, 1, 0, 0)
    assert agent.alarms == []
    play(agent, 0)
    assert (agent.alarms, agent.seen(0)) == ([(5, 0)], [])


def test_cusum_ucb_explores_all_arms():
    options = {"warmup": 9, "epsilon": 0.1, "threshold": 9.0, "alpha": 0.5, "xi": 2.0}
    agent = CUSUMUCB([4], 20, draws=Script(0.49, 0.0, 0.3, 0.5), **options)
    assert play(agent, 0, 0, 0, 0) == [3, 0, 2, 1]


def test_discounted_thompson_fades_all_arms():
    """After 1 of arm 0 and 0 of arm 1 at discount 1/2: S_0 = 1/2, F_1 = 1."""
    agent = DiscountedThompson([2], 9, discount=0.5, successes=1.0, failures=1.0, draws=Script(0.3))
    agent.arm = 0
    agent.observe(1.0, 0)
    agent.arm = 1
    agent.observe(0.0, 0)
    assert [agent.count(arm, outcome) for arm in (0, 1) for outcome in (1, 0)] == [0.5, 0.0, 0.0, 1.0]
    assert agent.act(0) == 0
    agent.observe(0.4, 0)  # 0.3 < 0.4 is a success
    assert agent.count(0, 1) == 1.25


def test_ad_switch_takes_turns_evicts_and_starts_again():
    """ln 100 = 4.61. Arms pay 1 and 0: at two plays each, gap 1 > sqrt(0.2 4.61 / 1) evicts arm 1.

    With scale 1/5 the radius of n plays is (1/5) sqrt(9.21 / n). Arm 0's means are 1 until it pays 0 at time 6:
    1 - 0 > 0.607 + (1/5) sqrt(9.21 / 3) = 0.958, so the fourth play of arm 0 starts an episode.
    """
    agent = AdSwitch([2], 100, c1=5.0, test_every=1, scale=0.2, draws=Script(*[0.99] * 50))
    assert play(agent, 1, 0, 1) == [0, 1, 0]
    assert agent.good == {0, 1}
    assert play(agent, 0, 1) == [1, 0]
    assert (agent.good, agent.bad) == ({0}, {1: (0.0, 1.0)})
    assert play(agent, 0) == [0]
    assert (agent.alarms, agent.good, agent.bad, agent.episode) == ([(6, 0)], {0, 1}, {}, 2)
    assert play(agent, 0.5) == [1]


def test_an_obligation_of_ad_switch_is_fulfilled():
    """Arm 1 is evicted at time 4. At time 5 a check of size 1/2 is due: ceil(8 ln 4) = 12 plays of arm 1."""
    agent = AdSwitch([2], 4, c1=5.0, test_every=1, scale=0.3, draws=Script(0.0, *[0.99] * 200))
    assert play(agent, 1, 0, 1, 0) == [0, 1, 0, 1]
    assert agent.bad == {1: (0.0, 1.0)}
    rewards = [0.0 if arm else 1.0 for arm in [1, 0] * 15]
    arms = []
    for _ in rewards:
        arms.append(agent.act(0))
        agent.observe(float(arms[-1] == 0), 0)
    assert agent.obliged == [(5, 1, 1)]
    assert arms[:24] == [0, 1] * 12
    assert arms[24:] == [0] * 6


# Parameters. ---------------------------------------------------------------------------------------------


def test_the_parameters_are_as_printed():
    """ln 1000 = 6.907755, ln(2 2 10^6) = 15.201805, ln 2000 = 7.600902."""
    assert glr_parameters(2, 1000) == pytest.approx((0.117539, 0.0316228), rel=1e-5)
    assert glr_parameters(2, 1000, 4)[0] == pytest.approx(0.235078, rel=1e-5)
    assert glr_parameters(2, 1000, 0)[0] == 0.0
    assert m_ucb_window(2, 1000, 1.0) == 2 * math.ceil(2 * (3.898949 + 2.756974) ** 2)
    assert m_ucb_parameters(2, 1000, 50) == pytest.approx((19.494746, 0.245362), rel=1e-5)
    assert cusum_parameters(1000) == pytest.approx((6.907755, 0.0831129), rel=1e-5)
    assert cusum_parameters(1000, 10) == pytest.approx((4.605170, 0.214597), rel=1e-5)

"""The bandits' oracle itself, and BORL's: a few rounds of each worked by hand, and blocks counted by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.reference import (
    BOB,
    BORL,
    DUCB,
    SWUCB,
    UCB1,
    Exp3,
    Exp3P,
    Exp3S,
    Rexp3,
    borl_parameters,
    draw,
    exp3_gamma,
    exp3p_parameters,
    exp3s_parameters,
    rexp3_parameters,
)
from tests.reference.optimists import SWUCRL2CW


class Script:
    """A generator that hands out given numbers in turn, and counts them."""

    def __init__(self, *uniforms):
        self.uniforms = list(uniforms)
        self.draws = 0

    def random(self):
        self.draws += 1
        return self.uniforms[self.draws - 1]


def play(agent, *rewards):
    """The arms played when these rewards are paid, whatever is played."""
    arms = []
    for reward in rewards:
        arms.append(agent.act(0))
        agent.observe(reward, 0)
    return arms


def approx(*values):
    return pytest.approx([float(value) for value in values], rel=1e-12)


# EXP3.P. -------------------------------------------------------------------------------------------------


def test_three_rounds_of_exp3p_with_two_arms():
    """Let alpha = ln 2, so exp(alpha q) = 2^q, and beta = gamma = 1/2, so u = w / (2 sum w) + 1/4.

    1. q = (0, 0), w = (1, 1), u = (1/2, 1/2). Arm 0 pays 1/2:
       q0 = (1/2 + 1/2) 2 = 2 and q1 = (1/2) 2 = 1.
    2. w = (4, 2), u = (1/3 + 1/4, 1/6 + 1/4) = (7/12, 5/12). Arm 1 pays 29/42, and 1/2 + 29/42 = 25/21:
       q0 = 2 + (1/2)(12/7) = 20/7 and q1 = 1 + (25/21)(12/5) = 1 + 20/7 = 27/7.
    3. q1 - q0 = 1, w = (1, 2), u = (1/6 + 1/4, 1/3 + 1/4) = (5/12, 7/12). Arm 1 pays 1/2:
       q0 = 20/7 + (1/2)(12/5) = 142/35 and q1 = 27/7 + 12/7 = 39/7.
    """
    agent = Exp3P([2], 3, alpha=math.log(2), beta=0.5, gamma=0.5, rng=Script(0.49, 0.59, 0.42))
    assert agent.probabilities() == approx(Fraction(1, 2), Fraction(1, 2))
    assert play(agent, Fraction(1, 2)) == [0]
    assert agent.q == approx(2, 1)
    assert agent.probabilities() == approx(Fraction(7, 12), Fraction(5, 12))
    assert play(agent, Fraction(29, 42)) == [1]
    assert agent.q == approx(Fraction(20, 7), Fraction(27, 7))
    assert agent.probabilities() == approx(Fraction(5, 12), Fraction(7, 12))
    assert play(agent, Fraction(1, 2)) == [1]
    assert agent.q == approx(Fraction(142, 35), Fraction(39, 7))
    assert agent.t == 4


def test_three_rounds_of_exp3p_with_three_arms():
    """Let alpha = ln 2, so exp(alpha q) = 2^q, beta = 35/108, gamma = 1/4, so u = (3/4) w / sum w + 1/12.

    1. u = (1/3, 1/3, 1/3). Arm 2 pays 2/3: every q gets 3 beta = 35/36, q2 also 3 (2/3) = 2.
    2. w is as (1, 1, 4), u = (1/8 + 1/12, 1/8 + 1/12, 1/2 + 1/12) = (5/24, 5/24, 7/12). Arm 0 pays 5/12:
       q1 = 35/36 + beta (24/5) = 35/36 + 14/9 = 91/36,
       q0 = 91/36 + (5/12)(24/5) = 91/36 + 2 = 163/36,
       q2 = 35/36 + 2 + beta (12/7) = 107/36 + 5/9 = 127/36.
    3. w is as (4, 1, 2), u = (3/7 + 1/12, 3/28 + 1/12, 3/14 + 1/12) = (43/84, 16/84, 25/84). Arm 1 pays 1/2:
       q0 = 163/36 + beta (84/43) = 163/36 + 245/387 = 2663/516,
       q1 = 91/36 + (35/108 + 1/2)(84/16) = 91/36 + 623/144 = 329/48,
       q2 = 127/36 + beta (84/25) = 127/36 + 49/45 = 277/60.
    """
    rng = Script(0.67, 0.2, 0.6)
    agent = Exp3P([3], 3, alpha=math.log(2), beta=35 / 108, gamma=0.25, rng=rng)
    assert agent.probabilities() == approx(Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    assert play(agent, Fraction(2, 3)) == [2]
    assert agent.q == approx(Fraction(35, 36), Fraction(35, 36), Fraction(107, 36))
    assert agent.probabilities() == approx(Fraction(5, 24), Fraction(5, 24), Fraction(7, 12))
    assert play(agent, Fraction(5, 12)) == [0]
    assert agent.q == approx(Fraction(163, 36), Fraction(91, 36), Fraction(127, 36))
    assert agent.probabilities() == approx(Fraction(43, 84), Fraction(16, 84), Fraction(25, 84))
    assert play(agent, Fraction(1, 2)) == [1]
    assert agent.q == approx(Fraction(2663, 516), Fraction(329, 48), Fraction(277, 60))


def test_exp3p_does_not_overflow():
    agent = Exp3P([2], 1, alpha=1.0, beta=0.0, gamma=0.5, rng=Script())
    agent.q = [5000.0, 0.0]
    assert agent.probabilities() == [0.75, 0.25]


# EXP3, EXP3.S and Rexp3. ---------------------------------------------------------------------------------


def test_three_rounds_of_exp3():
    """With gamma = 1/2 and K = 2, p = w / (2 sum w) + 1/4 and w_i gets exp(x / (4 p_i)).

    1. p = (1/2, 1/2). Arm 0 pays 2 ln(3/2): w0 = exp(x / 2) = 3/2.
    2. w = (3/2, 1), p = (3/10 + 1/4, 2/10 + 1/4) = (11/20, 9/20).
       Arm 1 pays (9/5) ln(5/4): w1 = exp((5/9) x) = 5/4.
    3. w = (3/2, 5/4), as (6, 5), p = (3/11 + 1/4, 5/22 + 1/4) = (23/44, 21/44).
       Arm 0 pays (23/11) ln(4/3): w0 = (3/2) exp((11/23) x) = 2.
    4. w = (2, 5/4), as (8, 5), p = (4/13 + 1/4, 5/26 + 1/4) = (29/52, 23/52).
    """
    agent = Exp3([2], 3, gamma=0.5, rng=Script(0.0, 0.551, 0.522))
    assert agent.probabilities() == approx(Fraction(1, 2), Fraction(1, 2))
    assert play(agent, 2 * math.log(3 / 2)) == [0]
    assert agent.probabilities() == approx(Fraction(11, 20), Fraction(9, 20))
    assert play(agent, 9 / 5 * math.log(5 / 4)) == [1]
    assert agent.probabilities() == approx(Fraction(23, 44), Fraction(21, 44))
    assert play(agent, 23 / 11 * math.log(4 / 3)) == [0]
    assert agent.probabilities() == approx(Fraction(29, 52), Fraction(23, 52))


def test_three_rounds_of_exp3s():
    """As above, and alpha = 1 / (5 e), so every weight also gets e alpha / 2 = 1/10 of the old sum.

    1. w = (1, 1). Arm 0 pays 2 ln(3/2): w = (3/2 + 1/5, 1 + 1/5) = (17/10, 12/10).
    2. p = (17/58 + 1/4, 12/58 + 1/4) = (63/116, 53/116). Arm 1 pays (53/29) ln(4/3), exp((29/53) x) = 4/3:
       w = (1.7 + 0.29, 1.6 + 0.29) = (1.99, 1.89).
    3. p = (199/776 + 1/4, 189/776 + 1/4) = (393/776, 383/776). Arm 0 pays (393/194) ln(3/2),
       exp((194/393) x) = 3/2: w = (2.985 + 0.388, 1.89 + 0.388) = (3.373, 2.278).
    4. p = (3373/11302 + 1/4, 2278/11302 + 1/4) = (12397/22604, 10207/22604).
    """
    agent = Exp3S([2], 3, gamma=0.5, sharing=1 / (5 * math.e), rng=Script(0.1, 0.9, 0.1))
    assert play(agent, 2 * math.log(3 / 2)) == [0]
    assert [math.exp(w) for w in agent.log_weights] == approx(Fraction(17, 10), Fraction(12, 10))
    assert agent.probabilities() == approx(Fraction(63, 116), Fraction(53, 116))
    assert play(agent, 53 / 29 * math.log(4 / 3)) == [1]
    assert [math.exp(w) for w in agent.log_weights] == approx(Fraction(199, 100), Fraction(189, 100))
    assert agent.probabilities() == approx(Fraction(393, 776), Fraction(383, 776))
    assert play(agent, 393 / 194 * math.log(3 / 2)) == [0]
    assert [math.exp(w) for w in agent.log_weights] == approx(Fraction(3373, 1000), Fraction(2278, 1000))
    assert agent.probabilities() == approx(Fraction(12397, 22604), Fraction(10207, 22604))


def test_exp3s_without_sharing_is_exp3():
    rewards = np.random.default_rng(1).random(50)
    shared = Exp3S([3], 50, gamma=0.2, sharing=0.0, rng=np.random.default_rng(2))
    plain = Exp3([3], 50, gamma=0.2, rng=np.random.default_rng(2))
    assert play(shared, *rewards) == play(plain, *rewards)
    assert shared.probabilities() == plain.probabilities()


def test_rexp3_is_a_new_exp3_in_every_batch():
    rewards = np.random.default_rng(3).random(11)
    agent = Rexp3([3], 11, batch=4, gamma=0.3, rng=np.random.default_rng(4))
    rng = np.random.default_rng(4)
    for start in (0, 4, 8):
        assert agent.probabilities() == approx(Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
        fresh = Exp3([3], 4, gamma=0.3, rng=rng)
        for reward in rewards[start : start + 4]:
            assert agent.probabilities() == fresh.probabilities()
            assert play(agent, reward) == play(fresh, reward)


def test_exp3_clips_what_ucb_takes_as_it_is():
    """Rewards 0 and 8 in the range (2, 6) are -1/2 and 3/2 in units."""
    drawn = Exp3([1], 2, gamma=0.5, rng=Script(0.5, 0.5), reward_range=(2, 6))
    play(drawn, 0, 8)
    assert drawn.plays == [(0, 0.0), (0, 1.0)]
    counted = UCB1([1], 2, reward_range=(2, 6))
    play(counted, 0, 8)
    assert counted.plays == [(0, -0.5), (0, 1.5)]


def test_a_range_of_one_point_divides_by_one():
    agent = UCB1([1], 1, reward_range=(3, 3))
    play(agent, 3.25)
    assert agent.plays == [(0, 0.25)]


def test_a_draw_takes_the_first_arm_whose_sum_exceeds_it():
    assert [draw([0.25, 0.25, 0.5], uniform) for uniform in (0.0, 0.249, 0.25, 0.499, 0.5, 0.999)] == [
        0,
        0,
        1,
        1,
        2,
        2,
    ]
    assert draw([0.0, 1.0], 0.0) == 1
    assert draw([0.5, 0.4999], 0.99999) == 1


def test_one_number_is_drawn_in_a_round_at_its_first_act():
    rng = Script(0.7, 0.2)
    agent = Exp3([2], 2, gamma=1.0, rng=rng)
    agent.probabilities()
    assert rng.draws == 0
    assert [agent.act(0), agent.act(0)] == [1, 1]
    assert rng.draws == 1
    agent.observe(1.0, 0)
    assert rng.draws == 1
    assert agent.act(0) == 0
    assert rng.draws == 2


# The UCB family. -----------------------------------------------------------------------------------------


def test_ucb1_tries_all_then_the_largest_bound():
    """After 1/2, 0, 1/2 of arms 0, 1, 2: n = 3 and N = 1, so the bonus is sqrt(2 ln 3) for all; arm 0 ties 2.

    After another 0 of arm 0 its mean is 1/4, n = 4: 1/4 + sqrt(ln 4) = 1.43, sqrt(2 ln 4) = 1.67, and arm 2
    has 1/2 more than arm 1.
    """
    agent = UCB1([3], 5)
    assert play(agent, 0.5, 0.0, 0.5) == [0, 1, 2]
    bonus = math.sqrt(2 * math.log(3))
    assert agent.indices() == approx(0.5 + bonus, bonus, 0.5 + bonus)
    assert play(agent, 0.0) == [0]
    bonus = math.sqrt(2 * math.log(4))
    assert agent.indices() == approx(0.25 + math.sqrt(math.log(4)), bonus, 0.5 + bonus)
    assert play(agent, 1.0) == [2]


def test_bounds_within_a_billionth_are_tied():
    agent = UCB1([2], 3)
    assert play(agent, 0.5, 0.5 + 5e-10, 0.0) == [0, 1, 0]
    agent = UCB1([2], 3)
    assert play(agent, 0.5, 0.5 + 2e-9, 0.0) == [0, 1, 1]


def test_sw_ucb_forgets_what_left_its_window():
    """Window 3, xi = 3/5. Arms 0 and 1 pay 1 and 0 at times 1 and 2.

    t = 3: N = (1, 1), n = 2: arm 0, which pays 1.
    t = 4: plays 1 to 3: N = (2, 1), n = 3: 1 + sqrt(0.3 ln 3) > 0 + sqrt(0.6 ln 3) = 0.81: arm 0, which pays 0.
    t = 5: plays 2 to 4: N = (2, 1): 1/2 + sqrt(0.3 ln 3) = 1.07 > 0.81: arm 0, which pays 1.
    t = 6: plays 3 to 5 are all of arm 0: arm 1 is unseen again. It pays 1/2.
    t = 7: plays 4 to 6: arm 0 has 0 and 1, arm 1 has 1/2: 1/2 + 0.57 < 1/2 + 0.81: arm 1.
    """
    agent = SWUCB([2], 7, window=3, xi=0.6)
    assert play(agent, 1.0, 0.0) == [0, 1]
    assert agent.indices() == approx(1 + math.sqrt(0.6 * math.log(2)), math.sqrt(0.6 * math.log(2)))
    wide, narrow = math.sqrt(0.6 * math.log(3)), math.sqrt(0.3 * math.log(3))
    assert play(agent, 1.0) == [0]
    assert agent.indices() == approx(1 + narrow, wide)
    assert play(agent, 0.0) == [0]
    assert agent.indices() == approx(0.5 + narrow, wide)
    assert play(agent, 1.0) == [0]
    assert agent.indices() == approx(2 / 3 + math.sqrt(0.2 * math.log(3)), math.inf)
    assert play(agent, 0.5) == [1]
    assert agent.indices() == approx(0.5 + narrow, 0.5 + wide)
    assert agent.act(0) == 1


def test_a_window_shorter_than_the_arms_tries_the_lowest_unseen():
    assert play(SWUCB([3], 6, window=1, xi=0.5), *[1.0] * 6) == [0, 1, 0, 1, 0, 1]
    assert play(SWUCB([3], 7, window=2, xi=0.5), *[1.0] * 7) == [0, 1, 2, 0, 1, 2, 0]


def test_sw_ucb_with_the_longest_window_and_xi_two_is_ucb1():
    rewards = np.random.default_rng(5).random(60)
    assert play(SWUCB([3], 60, window=60, xi=2.0), *rewards) == play(UCB1([3], 60), *rewards)


def test_d_ucb_halves_its_counts():
    """discount 1/2, xi = 1. Arm 0 pays 1 at time 1, arm 1 pays 0 at time 2.

    t = 3: N = (1/2, 1), n = 3/2: 1 + 2 sqrt(2 ln 1.5) = 2.80 > 2 sqrt(ln 1.5): arm 0, which pays 1/2.
    t = 4: N = (1/4 + 1, 1/2), n = 7/4; mean 0 is (1/4 + 1/2) / (5/4) = 3/5.
           3/5 + 2 sqrt(ln 1.75 / 1.25) = 1.94 < 0 + 2 sqrt(2 ln 1.75) = 2.12: arm 1, which pays 1.
    t = 5: N = (5/8, 1/4 + 1), n = 15/8; the means are 3/5 and 1 / (5/4) = 4/5.
    """
    agent = DUCB([2], 5, discount=0.5, xi=1.0)
    assert play(agent, 1.0, 0.0) == [0, 1]
    assert [agent.count(0), agent.count(1)] == [0.5, 1.0]
    assert agent.indices() == approx(1 + 2 * math.sqrt(2 * math.log(1.5)), 2 * math.sqrt(math.log(1.5)))
    assert play(agent, 0.5) == [0]
    assert [agent.count(0), agent.count(1)] == [1.25, 0.5]
    assert agent.mean(0) == pytest.approx(0.6)
    assert agent.indices() == approx(0.6 + 2 * math.sqrt(math.log(1.75) / 1.25), 2 * math.sqrt(2 * math.log(1.75)))
    assert play(agent, 1.0) == [1]
    assert [agent.count(0), agent.count(1)] == [0.625, 1.25]
    assert [agent.mean(0), agent.mean(1)] == approx(0.6, 0.8)


def test_d_ucb_of_discount_one_and_xi_one_half_is_ucb1():
    rewards = np.random.default_rng(6).random(60)
    assert play(DUCB([3], 60, discount=1.0, xi=0.5), *rewards) == play(UCB1([3], 60), *rewards)


# BOB. ----------------------------------------------------------------------------------------------------


def test_bob_chooses_a_window_in_every_block():
    """Blocks of 4, 4 and 2 steps; windows 1 and 4; EXP3 with gamma = 1/2, as in `test_three_rounds_of_exp3`.

    Block 1, window 1: arms 0, 1, 0, 1 pay 1, 1, 0, 0, so 1/2 is fed back: w0 = exp((1/2) / (4 (1/2))) = exp(1/4).
    Block 2, window 4, from nothing: arms 0, 1 pay 1, 0, then arm 0 pays 1 and 2 (not clipped by itself): 4/4.
    Block 3, window 4: 1 + 1 is divided by 4 although there are only two steps.
    """
    rng = Script(0.3, 0.9, 0.99)
    agent = BOB([2], 10, block_length=4, windows=[1, 4], gamma=0.5, xi=0.5, rng=rng)
    assert play(agent, 1, 1, 0) == [0, 1, 0]
    assert (agent.block_rewards, rng.draws) == ([], 1)
    assert play(agent, 0) == [1]
    assert (agent.block_rewards, rng.draws) == ([0.5], 1)
    assert play(agent, 1, 0, 1, 2) == [0, 1, 0, 0]
    assert play(agent, 1, 1) == [0, 1]
    assert agent.chosen == [0, 1, 1]
    assert agent.block_rewards == [0.5, 1.0, 0.5]
    assert (agent.t, rng.draws) == (11, 3)
    assert (agent.episode_starts, agent.sweeps) == ([], [])

    w0 = math.exp(0.25)
    p1 = 0.5 / (1 + w0) + 0.25
    w1 = math.exp(0.25 / p1)
    first, second, third = agent.probabilities_by_block
    assert first == [0.5, 0.5]
    assert second == approx(1 - p1, p1)
    assert third == approx(0.5 * w0 / (w0 + w1) + 0.25, 0.5 * w1 / (w0 + w1) + 0.25)


def test_bob_clips_a_blocks_reward():
    agent = BOB([1], 4, block_length=2, windows=[1], gamma=0.5, xi=0.5, rng=Script(0.5, 0.5))
    play(agent, -1.0, 0.0, 2.0, 3.0)
    assert agent.block_rewards == [0.0, 1.0]


# Parameters. ---------------------------------------------------------------------------------------------


def test_the_parameters_are_as_printed():
    """ln 2 = 0.693147, e - 1 = 1.718282, ln 200 = 5.298317, ln 20 = 2.995732."""
    assert exp3_gamma(2, 100) == pytest.approx(0.0898215, rel=1e-5)
    assert exp3_gamma(20, 3) == 1.0
    assert exp3_gamma(1, 100) == 0.0
    assert exp3s_parameters(2, 100) == pytest.approx((0.325525, 0.01), rel=1e-5)
    assert exp3s_parameters(2, 100, changes=0) == pytest.approx((0.305466, 0.01), rel=1e-5)
    assert exp3s_parameters(2, 100, changes=2) == pytest.approx((0.465456, 0.01), rel=1e-5)
    assert exp3s_parameters(2, 10, changes=9) == (1.0, 0.1)


def test_rexp3s_batch():
    """(2 ln 2)^(1/3) = 1.1150 and (1000/8)^(2/3) = 25: 27.9 is 28, and gamma = sqrt(0.806791 / 28)."""
    assert rexp3_parameters(2, 1000, 8) == pytest.approx((28, 0.169747), rel=1e-5)
    assert rexp3_parameters(2, 1000, 0) == pytest.approx((1000, 0.0284041), rel=1e-5)
    assert rexp3_parameters(2, 1000, 1e-6)[0] == 1000
    assert rexp3_parameters(2, 1000, 1e6)[0] == 1
    assert rexp3_parameters(1, 1000, 8) == (1, 0.0)


@pytest.mark.parametrize(
    ("horizon", "block", "windows", "widenings"),
    [
        (1, 3, [1, 3], [1.0]),
        (2, 4, [1, 4], [1.0, 2**-1.5]),
    ],
)
def test_borls_parameters_for_one_pair_and_the_shortest_horizons(horizon, block, windows, widenings):
    """T = 1: H = 3, Delta_W = floor(ln 3) = 1, Delta_eta = floor(ln 2) = 0. T = 2: H = floor(4.24)."""
    assert borl_parameters(horizon, 1, 1) == (block, windows, pytest.approx(widenings))


@pytest.mark.parametrize("horizon", [1, 2, 3, 10])
@pytest.mark.parametrize("n_actions", [[1], [3], [1, 1], [2, 5, 1]])
def test_borls_parameters_have_every_arm(horizon, n_actions):
    block, windows, widenings = borl_parameters(horizon, len(n_actions), sum(n_actions))
    assert (windows[0], windows[-1]) == (1, block)
    assert windows == sorted(set(windows))
    assert widenings == sorted(set(widenings), reverse=True)


# BORL. ---------------------------------------------------------------------------------------------------
#
# Two states with two actions each, T = 200: H = floor(3 2^(2/3) 2^(1/2) 200^(1/2)) = floor(95.24), so blocks
# start at 1, 96 and 191. ln 95 = 4.55, so J_W has 95^(j/4) = 1, 3.12, 9.75, 30.4, 95; ln(2 sqrt(200)) = 3.34,
# so J_eta has 4 numbers and there are 20 arms.

HORIZON, BLOCK = 200, 95
STAY, SWITCH = 0, 1


def run(agent, reward_at=lambda t: 0.75, steps=HORIZON, state=0):
    """Visited states and the agent's actions where action 1 changes the state, action 0 does not."""
    walk = []
    for t in range(1, steps + 1):
        action = agent.act(state)
        walk.append((state, action))
        state = state if action == STAY else 1 - state
        agent.observe(reward_at(t), state)
    return walk


def borl(rng, **options):
    return BORL([2, 2], HORIZON, rng=rng, **options)


def test_borls_arms_are_numbered_widening_first():
    agent = borl(Script())
    assert agent.block_length == BLOCK
    assert [window for window, _ in agent.arms] == [1] * 4 + [3] * 4 + [9] * 4 + [30] * 4 + [95] * 4
    scale = 2 ** (1 / 3) * 2**0.25
    phi = 1 / (2 * math.sqrt(200))
    assert [eta for _, eta in agent.arms[:4]] == approx(*[scale * phi ** (k / 3) for k in range(4)])
    assert [eta for _, eta in agent.arms[16:]] == [eta for _, eta in agent.arms[:4]]


def test_borl_draws_once_a_block_and_starts_anew():
    """gamma is clipped to 1, so the arms are uniform; 0.01, 0.62 and 0.99 of 20 arms are 0, 12 and 19.

    Arm 0 has window 1 and plans at every step; arm 12 has window 30, so it plans at its own times 30, 60 and
    90, which are 125, 155 and 185; arm 19 has window 95, so no multiple falls into its ten steps 191 to 200.
    """
    rng = Script(0.01, 0.62, 0.99)
    agent = borl(rng)
    draws = []
    run(agent, lambda t: draws.append(rng.draws) or 0.75)
    assert draws == [1] * 95 + [2] * 95 + [3] * 10
    assert agent.chosen == [0, 12, 19]
    assert agent.probabilities_by_block == [[1 / 20] * 20] * 3
    assert agent.t == 201
    starts = agent.episode_starts
    assert starts == sorted(set(starts))
    assert [t for t in starts if t <= 95] == list(range(1, 96))
    assert {96, 125, 155, 185, 191} <= set(starts)
    assert len(agent.sweeps) == len(starts)


def test_inside_a_block_borl_is_a_new_swucrl2cw():
    """Which knows T = 200, not the block's length, in its logarithms, and 1/T as delta."""
    rng = np.random.default_rng(7)
    rewards = rng.random(HORIZON)
    agent = borl(Script(0.47, 0.62, 0.99))
    walk = run(agent, lambda t: rewards[t - 1])
    starts, sweeps = [], []
    for before, last, arm in [(0, 95, 9), (95, 190, 12), (190, 200, 19)]:
        fresh = SWUCRL2CW([2, 2], HORIZON, *agent.arms[arm], delta=1 / HORIZON)
        part = run(fresh, lambda t, before=before: rewards[before + t - 1], last - before, walk[before][0])
        assert part == walk[before:last]
        starts += [before + start for start in fresh.episode_starts]
        sweeps += fresh.sweeps
    assert (agent.episode_starts, agent.sweeps) == (starts, sweeps)


def test_borl_hands_its_options_down():
    agent = borl(Script(0.3), delta=0.2, scale=0.5, ties="first", reward_range=(-1.0, 3.0))
    agent.act(0)
    inner = agent.agents[0]
    assert (inner.delta, inner.scale, inner.ties, inner.reward_range) == (0.2, 0.5, "first", (-1.0, 3.0))
    assert (inner.horizon, inner.window) == (HORIZON, 3)


def test_the_last_block_is_shorter_and_divided_by_h_all_the_same():
    agent = borl(Script(0.1, 0.1, 0.1))
    run(agent)
    assert agent.block_rewards == approx(0.75, 0.75, 0.75 * 10 / 95)


def test_a_blocks_reward_is_of_its_own_steps_and_is_clipped_at_its_end():
    """1 at step 95 is of the first block, 20 at step 96 of the second; -5 makes the third's sum negative."""
    paid = {95: 1.0, 96: 20.0, 200: -5.0}
    agent = borl(Script(0.1, 0.1, 0.1))
    run(agent, lambda t: paid.get(t, 0.0))
    assert agent.block_rewards == approx(Fraction(1, 95), Fraction(20, 95), 0)
    agent = borl(Script(0.1, 0.1, 0.1))
    run(agent, lambda t: 2.0 if t <= 95 else 0.5)
    assert agent.block_rewards == approx(1, Fraction(1, 2), Fraction(5, 95))


def test_the_feedbacks_range_is_the_rewards_unless_given():
    """1.5 is 1/4 of the way from 1 to 3, and 5/8 of the way from -1 to 3."""
    agent = borl(Script(0.1), reward_range=(1.0, 3.0))
    run(agent, lambda t: 1.5, steps=95)
    assert agent.block_rewards == approx(0.25)
    for reward_range in [(1.0, 3.0), None]:
        agent = borl(Script(0.1), reward_range=reward_range, feedback_range=(-1.0, 3.0))
        run(agent, lambda t: 1.5, steps=95)
        assert agent.block_rewards == approx(0.625)
        assert agent.agents[0].reward_range == reward_range
    with pytest.raises(ValueError, match="feedback_range"):
        borl(Script(), reward_range=None)


def test_borls_masters_parameters():
    """ln 20 = 2.995732: beta = sqrt(2.995732 / 60) = 0.223448 and alpha = 0.212275; gamma = 4.69 is clipped.

    Bounded: gamma = 1/2 and alpha = (1/2) / (1.223448 20) = 0.0204341.
    """
    assert exp3p_parameters(HORIZON, BLOCK, 20) == pytest.approx((0.212275, 0.223448, 4.69240), rel=1e-5)
    paper, bounded = borl(Script()).master, borl(Script(), mode="bounded").master
    assert (paper.alpha, paper.beta, paper.gamma) == pytest.approx((0.212275, 0.223448, 1.0), rel=1e-5)
    assert (bounded.alpha, bounded.beta, bounded.gamma) == pytest.approx((0.0204341, 0.223448, 0.5), rel=1e-5)
    assert borl(Script(), master="exp3").master.gamma == 1.0
    assert borl(Script(), master="exp3", mode="bounded").master.gamma == 0.5
    for wrong in ({"mode": "free"}, {"master": "ucb"}):
        with pytest.raises(ValueError, match="must be"):
            borl(Script(), **wrong)


@pytest.mark.parametrize(("master", "exponent"), [("exp3p", 0.0204341 * 15), ("exp3", 0.375)])
def test_the_master_learns_from_a_block(master, exponent):
    """Arm 5 is fed 3/4 with u = 1/20. EXP3.P: q5 is 20 (3/4) = 15 above the others.

    EXP3: its exponent is gamma xhat / K = (1/2) 15 / 20 = 0.375.
    """
    agent = borl(Script(0.27, 0.5), master=master, mode="bounded")
    run(agent, steps=96)
    assert agent.chosen[0] == 5
    total = math.exp(exponent) + 19
    after = [0.5 / total + 0.025] * 20
    after[5] = 0.5 * math.exp(exponent) / total + 0.025
    assert agent.probabilities_by_block[0] == approx(*[1 / 20] * 20)
    assert agent.probabilities_by_block[1] == pytest.approx(after, rel=1e-6)


@pytest.mark.parametrize("horizon", [1, 2])
@pytest.mark.parametrize("n_actions", [[1], [2], [2, 2]])
def test_borl_on_the_shortest_horizons_has_one_block(horizon, n_actions):
    agent = BORL(n_actions, horizon, rng=Script(0.999))
    for _ in range(horizon):
        agent.act(0)
        agent.observe(1.0, 0)
    assert agent.block_rewards == approx(Fraction(horizon, agent.block_length))
    assert agent.chosen == [len(agent.arms) - 1]

import itertools
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.formulas import borl_schedule
from tests.reference import borl_parameters, exp3p_parameters, floor_root

TWO = dm.Space.uniform(2, 2)
ONE = dm.Space.uniform(1, 1)
SIZES = st.integers(1, 100)
HORIZONS = st.integers(1, 10**9)


def test_the_papers_problem_has_these_parameters():
    plan = borl_schedule(TWO, 5000)
    assert (plan.block_length, plan.n_arms, plan.n_blocks) == (476, 35, 11)
    assert round(plan.gamma, 2) == 3.53


def test_the_arms_of_the_papers_problem_by_hand():
    """Delta_W = floor(ln 476) = 6 and Delta_eta = floor(ln 141.4) = 4; 476^(1/6) = 2.794."""
    plan = borl_schedule(TWO, 5000)
    assert (plan.window_steps, plan.widening_steps) == (6, 4)
    assert plan.windows == (1, 2, 7, 21, 60, 170, 476)
    scale = 2 ** (1 / 3) * 2**0.25
    assert plan.widenings == pytest.approx([scale * 141.4213562373095 ** (-k / 4) for k in range(5)])


@pytest.mark.parametrize(
    ("space", "horizon"),
    [(TWO, 5000), (TWO, 7), (dm.Space([4, 3, 2, 1]), 10_000), (dm.Space.uniform(20, 4), 10**6), (ONE, 999)],
)
@pytest.mark.parametrize("arms", ["corrected", "printed"])
def test_the_schedule_is_the_papers(space, horizon, arms):
    block, windows, widenings = borl_parameters(horizon, space.n_states, space.n_pairs, arms)
    plan = borl_schedule(space, horizon, arms)
    assert (plan.block_length, list(plan.windows)) == (block, windows)
    assert plan.widenings == pytest.approx(widenings)
    arms = len(windows) * len(widenings)
    assert (plan.alpha, plan.beta, plan.gamma) == pytest.approx(exp3p_parameters(horizon, block, arms))
    assert plan.n_blocks == math.ceil(horizon / block)


@given(n_states=SIZES, n_actions=st.integers(1, 20), horizon=HORIZONS)
@example(n_states=64, n_actions=4, horizon=10_000)  # 3 * 16 * 2 * 100 = 9600 exactly
def test_the_block_length_is_exact(n_states, n_actions, horizon):
    """H is the largest whole number with H^6 <= (3 S^(2/3) A^(1/2) T^(1/2))^6 = 729 S^4 A^3 T^3."""
    power = 729 * n_states**4 * (n_actions * horizon) ** 3
    length = borl_schedule(dm.Space.uniform(n_states, n_actions), horizon).block_length
    assert length == floor_root(power, 6)


@given(n_states=SIZES, horizon=HORIZONS)
@example(n_states=1, horizon=111_112)  # H = 1000 and Delta_W = 6: 1000^(2/6) = 10 and 1000^(4/6) = 100
def test_every_window_is_exact(n_states, horizon):
    """W_j is the largest whole number with W_j^Delta <= H^j."""
    plan = borl_schedule(dm.Space.uniform(n_states, 1), horizon)
    exact = [floor_root(plan.block_length**j, plan.window_steps) for j in range(plan.window_steps + 1)]
    assert list(plan.windows) == exact


@given(n_states=SIZES, n_actions=st.integers(1, 20), horizon=HORIZONS)
def test_windows_increase_from_1_to_the_block_and_widenings_decrease(n_states, n_actions, horizon):
    plan = borl_schedule(dm.Space.uniform(n_states, n_actions), horizon)
    assert (plan.windows[0], plan.windows[-1]) == (1, plan.block_length)
    assert all(low < high for low, high in itertools.pairwise(plan.windows))
    assert all(high > low > 0 for high, low in itertools.pairwise(plan.widenings))


@given(n_states=SIZES, n_actions=st.integers(1, 20), horizon=st.integers(2, 10**9))
def test_widenings_go_from_their_scale_to_scale_times_phi(n_states, n_actions, horizon):
    plan = borl_schedule(dm.Space.uniform(n_states, n_actions), horizon)
    scale = n_states ** (1 / 3) * n_actions**0.25
    assert plan.phi == pytest.approx(0.5 / math.sqrt(horizon))
    assert (plan.widenings[0], plan.widenings[-1]) == pytest.approx((scale, scale * plan.phi))


@given(n_states=SIZES, n_actions=st.integers(1, 20), horizon=HORIZONS)
def test_arms_are_all_pairs_and_blocks_cover_the_horizon(n_states, n_actions, horizon):
    plan = borl_schedule(dm.Space.uniform(n_states, n_actions), horizon)
    assert plan.n_arms == (plan.window_steps + 1) * (plan.widening_steps + 1)
    assert (plan.n_blocks - 1) * plan.block_length < horizon <= plan.n_blocks * plan.block_length


@given(n_states=SIZES, n_actions=st.integers(1, 20), horizon=HORIZONS)
def test_the_masters_numbers_are_finite_and_in_their_printed_proportions(n_states, n_actions, horizon):
    plan = borl_schedule(dm.Space.uniform(n_states, n_actions), horizon)
    assert 0 < plan.beta < math.inf
    assert plan.alpha == pytest.approx(0.95 * plan.beta)
    assert plan.gamma == pytest.approx(1.05 * plan.n_arms * plan.beta)


def test_one_step_one_state_one_action():
    """H = 3, Phi = 1/2: Delta_W = 1 and Delta_eta = 0, so two windows and one widening."""
    plan = borl_schedule(ONE, 1)
    assert (plan.block_length, plan.n_blocks, plan.windows, plan.widenings) == (3, 1, (1, 3), (1.0,))


def test_two_steps():
    """H = floor(3 sqrt 2) = 4, Phi = 1 / sqrt 8 = e^-1.04: one step of each kind."""
    plan = borl_schedule(ONE, 2)
    assert (plan.block_length, plan.windows, plan.n_arms) == (4, (1, 4), 4)
    assert plan.widenings == pytest.approx((1.0, 8**-0.5))


def test_a_block_longer_than_the_horizon_is_the_only_one():
    plan = borl_schedule(dm.Space.uniform(50, 10), 100)
    assert plan.block_length > 100
    assert plan.n_blocks == 1


def test_a_horizon_of_whole_blocks_has_no_block_more():
    plan = borl_schedule(ONE, 900)
    assert (plan.block_length, plan.n_blocks) == (90, 10)


def test_gamma_is_a_probability_only_at_very_long_horizons():
    assert borl_schedule(TWO, 10**6).gamma > 1
    assert borl_schedule(TWO, 10**8).gamma < 1


@pytest.mark.parametrize(
    ("horizon", "sentence"),
    [(0, "horizon must be at least 1; got 0."), (2.5, "horizon must be a whole number; got 2.5.")],
)
def test_a_wrong_horizon_is_answered_with_one_sentence(horizon, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        borl_schedule(TWO, horizon)
    assert str(caught.value) == sentence

"""The papers' rules for bandits: by hand, against the reference, and at their edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftmdp import formulas
from driftmdp.errors import InvalidInputError
from tests.reference import bandits as reference

ARMS = st.integers(1, 50)
HORIZONS = st.integers(1, 10**8)


def test_exp3p_by_hand():
    """Delta = 35 arms, 11 blocks: ln 35 = 3.5553, so beta = sqrt(3.5553 / 385) = 0.09610."""
    found = formulas.exp3p_parameters(35, 11)
    assert found.beta == pytest.approx(0.0960973, abs=1e-6)
    assert found.alpha == pytest.approx(0.95 * found.beta)
    assert found.gamma == pytest.approx(1.05 * 35 * found.beta)


@given(n_arms=ARMS, rounds=HORIZONS)
def test_bounded_keeps_exp3ps_conditions(n_arms, rounds):
    printed = formulas.exp3p_parameters(n_arms, rounds)
    bounded = printed.bounded(n_arms)
    assert bounded.gamma <= 0.5
    assert (1 + bounded.beta) * n_arms * bounded.alpha <= bounded.gamma * (1 + 1e-12)
    assert bounded.beta == printed.beta
    assert printed.clipped().gamma == min(1.0, printed.gamma)


@given(n_arms=ARMS, horizon=HORIZONS, changes=st.none() | st.integers(0, 1000))
def test_exp3_and_exp3s_are_the_references(n_arms, horizon, changes):
    assert formulas.exp3_gamma(n_arms, horizon) == pytest.approx(reference.exp3_gamma(n_arms, horizon))
    assert formulas.exp3s_parameters(n_arms, horizon, changes) == pytest.approx(
        reference.exp3s_parameters(n_arms, horizon, changes)
    )


@given(n_arms=ARMS, horizon=HORIZONS, variation=st.just(0.0) | st.floats(1e-3, 1e6))
def test_rexp3_is_the_references(n_arms, horizon, variation):
    batch, gamma = formulas.rexp3_parameters(n_arms, horizon, variation)
    expected, _ = reference.rexp3_parameters(n_arms, horizon, variation)
    assert abs(batch - expected) <= 1e-9 * expected + (batch != expected)  # one apart where rounding decides
    assert 1 <= batch <= horizon
    assert gamma == pytest.approx(reference.exp3_gamma(n_arms, batch))


def test_garivier_and_moulines_by_hand():
    """2 sqrt(10^4 ln 10^4 / 4) = 100 sqrt(9.2103) = 303.5; 1 - sqrt(4 / 10^4) / 4 = 0.995."""
    assert formulas.sw_ucb_window(10_000, 4) == 303
    assert formulas.d_ucb_discount(10_000, 4) == pytest.approx(0.995)


def test_without_changes_nothing_is_forgotten():
    assert formulas.sw_ucb_window(500, 0) == 500
    assert formulas.d_ucb_discount(500, 0) == 1.0
    assert formulas.rexp3_parameters(3, 500, 0.0)[0] == 500


def test_bob_by_hand():
    """K = 2, T = 5000: H = floor(141.42) = 141, ceil(ln 141) = 5, 36 blocks, 6 windows."""
    plan = formulas.bob_schedule(2, 5000)
    assert (plan.block_length, plan.n_blocks, plan.windows) == (141, 36, (1, 2, 7, 19, 52, 141))
    assert plan.gamma == pytest.approx(math.sqrt(6 * math.log(6) / ((math.e - 1) * 36)))


@given(n_arms=ARMS, horizon=HORIZONS)
def test_bobs_windows_end_with_the_block_and_blocks_cover_the_horizon(n_arms, horizon):
    plan = formulas.bob_schedule(n_arms, horizon)
    assert (plan.windows[0], plan.windows[-1]) == (1, plan.block_length)
    assert list(plan.windows) == sorted(plan.windows)
    assert (plan.n_blocks - 1) * plan.block_length < horizon <= plan.n_blocks * plan.block_length


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: formulas.exp3_gamma(0, 10), "n_arms must be at least 1"),
        (lambda: formulas.exp3p_parameters(2, 0), "horizon must be at least 1"),
        (lambda: formulas.rexp3_parameters(2, 10, -1.0), "variation must be at least 0"),
        (lambda: formulas.sw_ucb_window(10, -1), "changes must be at least 0"),
        (lambda: formulas.exp3s_parameters(2, 10, 1.5), "changes must be a whole number"),
    ],
)
def test_wrong_numbers_get_one_sentence(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.formulas import RULES, tuned

TWO = dm.Space.uniform(2, 2)
LOW = 5000**0.2
BUDGETS = st.floats(0, 1e6)
SPACES = st.lists(st.integers(1, 6), min_size=1, max_size=8).map(dm.Space)


def both(tuning):
    return tuning.window, tuning.widening


def test_theorem_1_at_the_papers_low_variation_has_window_47_and_widening_0_229():
    tuning = tuned(TWO, 5000, LOW, LOW)
    assert (tuning.window, round(tuning.widening, 3), tuning.rule) == (47, 0.229, "theorem-1")


@pytest.mark.parametrize(
    ("b_r", "b_p", "window"),
    [(15 * LOW, 12 * LOW, 13), (30 * LOW, 6 * LOW, 11), (LOW, LOW, 47), (15 * 5000**0.5, 12 * 5000**0.5, 3)],
)
def test_which_constants_are_taken_for_the_budgets_decides_the_window(b_r, b_p, window):
    """The printed, the exact and the bare orders of Section 8."""
    assert tuned(TWO, 5000, b_r, b_p).window == window


def test_theorem_1_by_hand():
    """S = 8, A = 1, T = 400, B = 3.9: W = 4 sqrt(400 / 3.9) = 40.509; eta takes W before it is rounded down."""
    window, widening = both(tuned(dm.Space.uniform(8, 1), 400, 2.9, 1.0))
    exact = 4 * math.sqrt(400 / 3.9)
    assert window == 40
    assert widening == pytest.approx(math.sqrt(exact / 400))


def test_the_borl_proofs_rule_by_hand():
    """S = A = 2, T = 5000, B_r = 5, B_p = 4, so B_r + B_p + 1 = 10."""
    window, widening = both(tuned(TWO, 5000, 5.0, 4.0, "borl-proof"))
    assert window == math.floor(3 * 2 ** (2 / 3) * 2**0.5 * 500**0.5) == 150
    assert widening == pytest.approx(5**0.5 * 2 ** (1 / 3) * 2**0.25 / 50000**0.25)


def test_the_borl_proofs_widening_lacks_the_root_of_three():
    window, widening = both(tuned(TWO, 10**8, 5.0, 4.0, "borl-proof"))
    assert widening * 3**0.5 == pytest.approx(math.sqrt(5.0 * window / 10**8), rel=1e-3)


def test_the_oblivious_rule_by_hand():
    """W = S^(2/3) A^(1/2) T^(1/2) = 158.7...; eta = sqrt(W / T), not the printed power of T."""
    window, widening = both(tuned(TWO, 5000, 1.0, 2.0, "oblivious"))
    assert window == 158
    assert widening == pytest.approx(2 ** (1 / 3) * 2**0.25 * 5000**-0.25)


@given(b_r=BUDGETS, b_p=BUDGETS)
def test_the_oblivious_rule_does_not_look_at_the_budgets(b_r, b_p):
    assert tuned(TWO, 5000, b_r, b_p, "oblivious") == tuned(TWO, 5000, 0, 0, "oblivious")


def test_theorem_3_by_hand():
    """2^(2/3) 2^(1/2) (5000 / 10)^(2/3) = 2.2449 * 62.996 = 141.4."""
    assert both(tuned(TWO, 5000, 5.0, 4.0, "theorem-3")) == (141, 0.0)


def test_theorem_4_by_hand():
    """Capacity 3 is S = 4 states: 4 * 500^(2/3) = 251.98."""
    assert both(tuned(dm.Space([4, 3, 2, 1]), 5000, 5.0, 4.0, "theorem-4")) == (251, 0.0)


def test_the_bandit_rule_by_hand():
    """3^(1/3) (5000 / 7)^(2/3) = 1.44225 * 79.905 = 115.2."""
    assert both(tuned(dm.Space.uniform(1, 3), 5000, 7.0, 0.0, "bandit")) == (115, 0.0)


@pytest.mark.parametrize(
    ("space", "horizon", "b_r", "b_p", "rule", "window"),
    [
        (dm.Space.uniform(8, 4), 10_000, 0.5, 0.5, "theorem-1", 800),  # 4 * 2 * 100
        (dm.Space.uniform(64, 4), 10_000, 0.5, 0.5, "theorem-1", 3200),  # 16 * 2 * 100
        (dm.Space.uniform(64, 4), 10_000, 1.5, 1.5, "borl-proof", 4800),  # 3 * 16 * 2 * 50
        (dm.Space.uniform(8, 4), 10_000, 0.0, 0.0, "oblivious", 800),
        (dm.Space.uniform(1, 1), 1000, 0.0, 0.0, "theorem-3", 100),  # 1000^(2/3)
        (dm.Space.uniform(3, 1), 1000, 0.0, 0.0, "theorem-4", 300),
        (dm.Space.uniform(1, 8), 1000, 1.0, 0.0, "bandit", 200),  # 2 * 100
    ],
)
def test_a_window_that_is_a_whole_number_is_not_rounded_below_it(space, horizon, b_r, b_p, rule, window):
    assert tuned(space, horizon, b_r, b_p, rule).window == window


@given(space=SPACES, horizon=st.integers(1, 10**8), b_r=BUDGETS, b_p=BUDGETS, rule=st.sampled_from(RULES))
def test_windows_lie_in_1_to_t_and_widenings_in_0_to_2(space, horizon, b_r, b_p, rule):
    window, widening = both(tuned(space, horizon, b_r, b_p, rule))
    assert 1 <= window <= horizon
    assert isinstance(window, int)
    assert 0 <= widening <= 2


@pytest.mark.parametrize("rule", RULES)
def test_a_large_budget_gives_the_least_window_unless_it_is_not_looked_at(rule):
    window = tuned(TWO, 100, 1e9, 1e9, rule).window
    assert window == (22 if rule == "oblivious" else 1)


def test_a_widening_above_two_is_two():
    """S = 64, T = 1, B_p = 10^6: the printed value is 4 * 10^3 / 10^(3/2), far above the largest L1 distance."""
    assert tuned(dm.Space.uniform(64, 1), 1, 0.0, 1e6, "borl-proof").widening == 2.0


@pytest.mark.parametrize("rule", ["theorem-1", "bandit"])
@given(space=SPACES, horizon=st.integers(1, 10**7))
def test_a_world_that_never_moves_is_remembered_whole(rule, space, horizon):
    assert both(tuned(space, horizon, 0.0, 0.0, rule)) == (horizon, 0.0)


@given(space=SPACES, horizon=st.integers(1, 10**7), b_r=BUDGETS)
def test_rewards_that_move_alone_need_no_widening_in_theorem_1(space, horizon, b_r):
    assert tuned(space, horizon, b_r, 0.0).widening == 0.0


@given(
    space=SPACES,
    horizon=st.integers(1, 10**7),
    b_r=BUDGETS,
    b_p=BUDGETS,
    more=st.floats(0, 1e3),
    rule=st.sampled_from(RULES),
)
def test_more_variation_never_makes_the_window_longer(space, horizon, b_r, b_p, more, rule):
    before = tuned(space, horizon, b_r, b_p, rule).window
    assert tuned(space, horizon, b_r + more, b_p, rule).window <= before
    assert tuned(space, horizon, b_r, b_p + more, rule).window <= before


@given(
    space=SPACES,
    horizon=st.integers(1, 10**6),
    b_r=BUDGETS,
    b_p=BUDGETS,
    longer=st.integers(1, 10**6),
    rule=st.sampled_from(RULES),
)
def test_a_longer_horizon_never_makes_the_window_shorter(space, horizon, b_r, b_p, longer, rule):
    before = tuned(space, horizon, b_r, b_p, rule).window
    assert tuned(space, horizon + longer, b_r, b_p, rule).window >= before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, 1, 1), "horizon must be at least 1; got 0."),
        ((10, -1, 1), "b_r must be at least 0; got -1."),
        ((10, 1, math.inf), "b_p must be a finite number; got inf."),
        (
            (10, 1, 1, "theorem-5"),
            "rule must be one of 'theorem-1', 'borl-proof', 'oblivious', 'theorem-3', 'theorem-4', 'bandit'; "
            "got 'theorem-5'. Did you mean 'theorem-4'?",
        ),
    ],
)
def test_wrong_arguments_are_answered_with_one_sentence(arguments, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        tuned(TWO, *arguments)
    assert str(caught.value) == sentence

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.formulas import bounds, tuned

TWO = dm.Space.uniform(2, 2)
EIGHT = dm.Space.uniform(8, 4)  # S^(2/3) = 4, A^(1/2) = 2, S sqrt(A) = 16, 32 pairs
SIZES = st.tuples(st.integers(2, 30), st.integers(1, 8)).map(lambda size: dm.Space.uniform(*size))
BUDGETS = st.floats(0, 1e4)
DIAMETERS = st.floats(1, 100)
HORIZONS = st.integers(1, 10**7)
FACTORS = st.floats(1, 10)

TUNED = [bounds.theorem_1_tuned, bounds.theorem_2]
ZETA = [bounds.theorem_3, bounds.theorem_4]


def test_theorem_1_by_hand():
    """The printed sum, term by term, for W = 25 and eta = 1/2."""
    value = bounds.theorem_1(EIGHT, 100, b_r=3.0, b_p=2.0, diameter=5.0, window=25, widening=0.5)
    inner = 2 * 25 + 16 * 100 / 5 + 100 * 0.5 + 32 * 100 / 25 + 10
    assert value == pytest.approx(2 * 25 / 0.5 + 3 * 25 + math.sqrt(32) * 100 / 5 + 5 * inner)


def test_theorem_1_without_widening_is_infinite_if_transitions_move():
    assert bounds.theorem_1(TWO, 100, 1.0, 1.0, 2.0, window=10, widening=0.0) == math.inf


def test_theorem_1_without_widening_is_finite_if_no_transition_moves():
    assert bounds.theorem_1(TWO, 100, 1.0, 0.0, 2.0, window=10, widening=0.0) < math.inf


def test_the_tuned_bounds_by_hand():
    """S^(2/3) A^(1/2) = 8 and T = 10^4: T^(3/4) = 1000, T^(2/3) = 464.16."""
    assert bounds.theorem_1_tuned(EIGHT, 10**4, 10.0, 6.0, 3.0) == pytest.approx(3 * 2 * 8 * 1000)
    assert bounds.theorem_2(EIGHT, 10**4, 10.0, 5.0, 3.0) == pytest.approx(3 * 2 * 8 * 1000)
    assert bounds.theorem_3(EIGHT, 10**3, 4.0, 3.0, 0.1) == pytest.approx(10 * 2 * 8 * 100)
    assert bounds.theorem_4(EIGHT, 10**3, 4.0, 3.0, 0.1) == pytest.approx(10 * 2 * 8 * 100)
    assert bounds.theorem_4(TWO, 10**3, 4.0, 3.0, 0.1) == pytest.approx(10 * 2 * 2 * 100)
    assert bounds.bandit(4, 10**3, 2.0) == pytest.approx(2 * 100)


def test_theorems_3_and_4_for_any_window_by_hand():
    """The printed sums, term by term, for W = 25; D = 1 / zeta = 5, S^(3/2) = 8^(3/2) and S^2 = 64."""
    value = bounds.theorem_3(EIGHT, 100, b_r=3.0, b_p=2.0, zeta=0.2, window=25)
    assert value == pytest.approx(3 * 25 + 5 * (2 * 25 + 16 * 100 / 5 + 32 * 100 / 25 + 10))
    value = bounds.theorem_4(EIGHT, 100, b_r=3.0, b_p=2.0, zeta=0.2, window=25)
    assert value == pytest.approx(3 * 25 + 5 * (2 * 25 + 8**1.5 * 100 / 5 + 64 * 100 / 25 + 10))


@pytest.mark.parametrize("bound", ZETA)
@given(space=SIZES, horizon=st.integers(10**6, 10**8), total=st.floats(1, 1e3), zeta=st.floats(0.01, 0.1))
def test_theorems_3_and_4_at_their_window_are_within_a_constant_of_the_tuned_form(
    bound, space, horizon, total, zeta
):
    """Five terms, each at most the tuned one here."""
    rule = bound.__name__.replace("_", "-")
    b_r, b_p = total / 3, 2 * total / 3
    window = tuned(space, horizon, b_r, b_p, rule).window
    ratio = bound(space, horizon, b_r, b_p, zeta, window=window) / bound(space, horizon, b_r, b_p, zeta)
    assert 0.3 <= ratio <= 5


@pytest.mark.parametrize("bound", ZETA)
def test_theorems_3_and_4_with_constants_take_any_window(bound):
    window = tuned(EIGHT, 10**6, 1.0, 1.0, bound.__name__.replace("_", "-")).window
    tuned_one = bound(EIGHT, 10**6, 1.0, 1.0, 0.1, explicit=True)
    assert bound(EIGHT, 10**6, 1.0, 1.0, 0.1, explicit=True, window=window) == tuned_one
    assert bound(EIGHT, 10**6, 1.0, 1.0, 0.1, explicit=True, window=10) > tuned_one


def test_the_quoted_bounds_by_hand():
    """S = 8, A = 4, 32 pairs; D = 2 and T = 10^4, D = 8 and T = 10^3."""
    assert bounds.lower_bound(EIGHT, 10**4, 2.0) == pytest.approx(math.sqrt(2 * 32 * 10**4))
    assert bounds.ucrl2b(EIGHT, 10**4, 2.0) == pytest.approx(8 * math.sqrt(2 * 4 * 10**4) + 4 * 64 * 4)
    assert bounds.piecewise_stationary(EIGHT, 10**3, 2, 8.0) == pytest.approx(2 * 4 * 4 * 100)
    assert bounds.piecewise_stationary(EIGHT, 10**3, 0, 8.0) == 0


@given(space=SIZES, horizon=HORIZONS, diameter=DIAMETERS)
def test_no_quoted_bound_is_below_the_lower_bound(space, horizon, diameter):
    least = bounds.lower_bound(space, horizon, diameter) * (1 - 1e-12)
    assert bounds.ucrl2b(space, horizon, diameter) >= least
    assert bounds.stationary(space, horizon, diameter) >= least


def test_the_benchmark_gap_by_hand():
    assert bounds.benchmark_gap(2.0, 100, b_r=5.0, b_p=1.0) == pytest.approx(4 * 3 * 30)


def test_the_benchmark_gap_has_two_diameters_more_where_hardly_anything_moves():
    assert bounds.benchmark_gap(2.0, 100, 0.0, 0.0) == 4.0
    assert bounds.benchmark_gap(2.0, 100, 0.0025, 0.0) == pytest.approx(4 * 3 * 0.5 + 4)
    assert bounds.benchmark_gap(2.0, 100, 0.01, 0.0) == pytest.approx(4 * 3 * 1.0)


@given(horizon=st.integers(1, 12), v_r=st.floats(0, 3), v_p=st.floats(0, 3), start=st.integers(0, 1))
def test_no_policy_beats_the_oracle_by_more_than_the_benchmark_gap(horizon, v_r, v_p, start):
    """Proposition 1 on the two-state problem, its rewards mapped to [0, 1]."""
    drifting = dm.problems.two_state(horizon, v_r, v_p).drifting
    variation = drifting.variation()
    excess = dm.planning.best_total_reward(drifting, start) - dm.planning.optimal_gains(drifting).sum()
    d_max = float(dm.planning.diameters(drifting).max())
    gap = bounds.benchmark_gap(d_max, horizon, variation.reward / 6, variation.transition)
    assert excess / 6 <= gap + 1e-9


@pytest.mark.parametrize("bound", TUNED)
@given(space=SIZES, horizon=HORIZONS, b_r=BUDGETS, b_p=BUDGETS, diameter=DIAMETERS, factor=FACTORS)
def test_tuned_bounds_never_fall_in_horizon_budgets_or_diameter(bound, space, horizon, b_r, b_p, diameter, factor):
    value = bound(space, horizon, b_r, b_p, diameter) * (1 - 1e-12)
    assert bound(space, math.ceil(horizon * factor), b_r, b_p, diameter) >= value
    assert bound(space, horizon, b_r * factor, b_p, diameter) >= value
    assert bound(space, horizon, b_r, b_p * factor, diameter) >= value
    assert bound(space, horizon, b_r, b_p, diameter * factor) == pytest.approx(
        factor * bound(space, horizon, b_r, b_p, diameter)
    )


@pytest.mark.parametrize("bound", ZETA)
@given(space=SIZES, horizon=HORIZONS, b_r=BUDGETS, b_p=BUDGETS, zeta=st.floats(0.01, 0.1), factor=FACTORS)
def test_bounds_under_positive_transitions_never_fall_and_go_with_one_over_zeta(
    bound, space, horizon, b_r, b_p, zeta, factor
):
    value = bound(space, horizon, b_r, b_p, zeta)
    assert bound(space, math.ceil(horizon * factor), b_r, b_p, zeta) >= value * (1 - 1e-12)
    assert bound(space, horizon, b_r * factor, b_p, zeta) >= value
    assert bound(space, horizon, b_r, b_p * factor, zeta) >= value
    assert bound(space, horizon, b_r, b_p, zeta / factor) == pytest.approx(factor * value)


@given(
    space=SIZES,
    horizon=HORIZONS,
    b_r=BUDGETS,
    b_p=BUDGETS,
    diameter=DIAMETERS,
    window=st.integers(1, 10**6),
    widening=st.floats(0.01, 2),
    factor=FACTORS,
)
def test_theorem_1_never_falls_in_budgets_diameter_or_horizon(
    space, horizon, b_r, b_p, diameter, window, widening, factor
):
    def bound(t, r, p, d):
        return bounds.theorem_1(space, t, r, p, d, window, widening)

    value = bound(horizon, b_r, b_p, diameter) * (1 - 1e-12)
    assert bound(math.ceil(horizon * factor), b_r, b_p, diameter) >= value
    assert bound(horizon, b_r * factor, b_p, diameter) >= value
    assert bound(horizon, b_r, b_p * factor, diameter) >= value
    assert bound(horizon, b_r, b_p, diameter * factor) >= value


@given(horizon=HORIZONS, b_r=BUDGETS, n_arms=st.integers(1, 100))
def test_the_bandit_bound_doubles_with_eight_times_the_arms_or_the_budget(horizon, b_r, n_arms):
    value = bounds.bandit(n_arms, horizon, b_r)
    assert bounds.bandit(8 * n_arms, horizon, b_r) == pytest.approx(2 * value)
    assert bounds.bandit(n_arms, horizon, 8 * b_r) == pytest.approx(2 * value)
    assert bounds.bandit(n_arms, 8 * horizon, b_r) == pytest.approx(4 * value)


@given(
    space=SIZES,
    horizon=st.integers(10**5, 10**8),
    total=st.floats(1, 1e3),
    share=st.floats(0, 1),
    diameter=DIAMETERS,
)
def test_theorem_1_at_the_tuned_parameters_is_within_a_constant_of_its_tuned_form(
    space, horizon, total, share, diameter
):
    """Nine terms, each at most the tuned one here; the one with S sqrt(A) T / sqrt(W) alone is A^(-1/4) of it."""
    b_r, b_p = (1 - share) * total, share * total
    choice = tuned(space, horizon, b_r, b_p)
    value = bounds.theorem_1(space, horizon, b_r, b_p, diameter, choice.window, choice.widening)
    ratio = value / bounds.theorem_1_tuned(space, horizon, b_r, b_p, diameter)
    assert space.mean_actions**-0.25 * 0.99 <= ratio <= 9


@given(space=SIZES, horizon=st.integers(10**5, 10**8), total=st.floats(1, 1e3), diameter=DIAMETERS)
def test_no_other_window_is_much_better_than_the_tuned_one(space, horizon, total, diameter):
    choice = tuned(space, horizon, total / 2, total / 2)

    def bound(window, widening):
        return bounds.theorem_1(space, horizon, total / 2, total / 2, diameter, window, widening)

    best = bound(choice.window, choice.widening)
    for factor in (0.01, 0.1, 10, 100):
        window = max(1, choice.window * factor)
        assert bound(window, math.sqrt(total / 2 * window / horizon)) > best / 9


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("zeta", lambda: bounds.theorem_3(TWO, 10, 1.0, 1.0, zeta=0.0)),
        ("zeta", lambda: bounds.theorem_4(TWO, 10, 1.0, 1.0, zeta=0.0)),
        ("window", lambda: bounds.theorem_1(TWO, 10, 1.0, 1.0, 2.0, window=0, widening=0.1)),
        ("window", lambda: bounds.theorem_3(TWO, 10, 1.0, 1.0, zeta=0.1, window=0)),
        ("window", lambda: bounds.theorem_4(TWO, 10, 1.0, 1.0, zeta=0.1, explicit=True, window=-1)),
        ("space", lambda: bounds.theorem_3(2, 10, 1.0, 1.0, zeta=0.1, window=5)),
        ("diameter", lambda: bounds.lower_bound(TWO, 10, diameter=-1.0)),
        ("horizon", lambda: bounds.ucrl2b(TWO, 0, diameter=1.0)),
        ("changes", lambda: bounds.piecewise_stationary(TWO, 10, changes=1.5, diameter=1.0)),
        ("b_r", lambda: bounds.benchmark_gap(2.0, 10, b_r=-1.0, b_p=0.0)),
        ("b_p", lambda: bounds.theorem_2(TWO, 10, b_r=0.0, b_p=-5.0, diameter=2.0)),
    ],
)
def test_wrong_arguments_are_answered_by_name(name, bound):
    with pytest.raises(dm.errors.InvalidInputError, match=f"^{name} must "):
        bound()

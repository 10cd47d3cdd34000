"""Beliefs, laws and paths of demand, compared step by step with the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from driftmdp.kernels.demand_arrays import (
    BIN_EDGES,
    LOSS_EDGES,
    N_BINS,
    N_LOSS_BINS,
    new_beliefs,
    new_shared,
)
from driftmdp.kernels.demand_experts import AT_LEAST, EXACT, NOTHING, fill_levels, fill_mean_levels, learn_all
from driftmdp.kernels.demand_laws import fill_law, fill_paths
from driftmdp.kernels.law_shape import unshaped
from driftmdp.kernels.normal_law import normal_quantile
from driftmdp.kernels.ordering_arrays import NO_LIMIT
from tests.reference.demand_experts import ReferenceItem

DAY, WEEK = 0, 1
EVEN = BIN_EDGES.copy()
BENT = BIN_EDGES**1.3


def shared_of(seed=None, calibration=EVEN):
    """What items share: nothing learned, or random weights."""
    shared = new_shared()
    if seed is not None:
        shared.weights[:] = np.random.default_rng(seed).dirichlet(np.ones(42), 2).reshape(2, 6, 7)
    shared.calibration[:] = calibration
    shared.loss_shape[:] = np.interp(LOSS_EDGES, BIN_EDGES, calibration)
    return shared


def new_bins(dtype=np.int64):
    """Empty bins of the experts' laws, and of that of expected losses, by kind."""
    return np.zeros(N_BINS, dtype), np.zeros((2, N_LOSS_BINS), dtype)


def learn(beliefs, shared, kind, says, units, on_sale=-1, factor=1.0, prior=1.0, item=0, bins=None):
    """Learn one period of one item. Return the demand, as expected where it was not seen."""
    imputed = np.zeros(1)
    sales = tuple(np.array([number], np.int64) for number in (item, kind, says, units, on_sale, NO_LIMIT))
    known = np.array([factor]), np.array([prior])
    learn_all(beliefs, shared, sales, known, imputed, new_bins() if bins is None else bins)
    return imputed[0]


def learned(kind, sold, shared=None, **more):
    """Beliefs after some sales that say what demand was."""
    beliefs = new_beliefs(1)
    for units in sold:
        learn(beliefs, shared or shared_of(), kind, EXACT, units, **more)
    return beliefs


def levels_of(beliefs, prior=1.0, kind=DAY):
    levels = np.zeros(6)
    fill_levels(beliefs, 0, kind, prior, levels)
    return levels


@pytest.mark.parametrize("kind", [DAY, WEEK])
@pytest.mark.parametrize(("mean", "seed"), [(0.1, 0), (2.0, 1), (40.0, 2)])
def test_learning_as_the_reference(kind, mean, seed):
    rng = np.random.default_rng(seed)
    shared = shared_of(seed, BENT)
    beliefs, bins, reference_bins = new_beliefs(3), new_bins(), new_bins(np.float64)
    capacity = [NO_LIMIT, 5, 1000]
    items = [ReferenceItem(number, kind) for number in range(3)]
    for _ in range(40):
        says = rng.choice([EXACT, AT_LEAST, NOTHING], 3, p=[0.6, 0.25, 0.15])
        units = rng.negative_binomial(2, 2 / (2 + mean), 3)
        on_sale = np.where(says == NOTHING, rng.integers(-1, 1, 3), rng.choice([-1, 1], 3) * (units + 1))
        factors, priors, imputed = rng.uniform(0.3, 3, 3), rng.uniform(0.5, 2, 3) * mean, np.zeros(3)
        on_sale = np.minimum(on_sale, capacity)
        sales = tuple(np.array(a, np.int64) for a in (range(3), [kind] * 3, says, units, on_sale, capacity))
        learn_all(beliefs, shared, sales, (factors, priors), imputed, bins)
        for i, item in enumerate(items):
            common = shared.weights[kind]
            terms = int(says[i]), int(units[i]), (int(on_sale[i]), capacity[i]), factors[i], priors[i], common
            shapes = shared.calibration[kind], shared.loss_shape[kind]
            expected = item.learn(*terms, shapes, (reference_bins[0], reference_bins[1][kind]))
            assert imputed[i] == pytest.approx(expected, rel=1e-5)  # of tails of 1e-12, few digits remain
            np.testing.assert_allclose(beliefs.weights[i], item.weights, rtol=1e-5, atol=1e-9)
            np.testing.assert_allclose(beliefs.units[i], item.units, rtol=1e-4)
            np.testing.assert_allclose(beliefs.exposure[i], item.exposure, rtol=1e-12)
            np.testing.assert_allclose(beliefs.service[i], item.service, rtol=1e-5, atol=1e-9)
            assert (beliefs.periods[i], beliefs.unseen[i]) == (item.periods, item.unseen)
            levels = np.zeros(6)
            fill_levels(beliefs, i, kind, priors[i], levels)
            np.testing.assert_allclose(levels, item.levels(priors[i]), rtol=1e-4)
            # The next step begins with the same numbers, so that the last digits of tails do not add up.
            item.units, item.weights = beliefs.units[i].tolist(), beliefs.weights[i].copy()
            item.service = beliefs.service[i].tolist()
    for mine, expected in zip(bins, reference_bins, strict=True):
        np.testing.assert_allclose(mine, expected, atol=121)  # a period's share of a bin loses less than 1
    assert bins[0].any() == (kind == DAY)
    assert bins[1][kind].any()
    assert not bins[1][1 - kind].any()


@pytest.mark.parametrize("calibration", [EVEN, BENT], ids=["even", "bent"])
@pytest.mark.parametrize(("n_periods", "mean"), [(0, 4.0), (30, 6.0), (30, 0.4)])
def test_laws_and_paths_as_the_reference(calibration, n_periods, mean):
    rng, shared = np.random.default_rng(n_periods), shared_of(5, calibration)
    beliefs, item = new_beliefs(1), ReferenceItem(0, DAY)
    for units in rng.negative_binomial(1, 1 / (1 + mean), n_periods):
        learn(beliefs, shared, DAY, EXACT, units, prior=4.0)
        shapes, bins = (calibration, shared.loss_shape[DAY]), (np.zeros(N_BINS), np.zeros(N_LOSS_BINS))
        item.learn(EXACT, int(units), (-1, NO_LIMIT), 1.0, 4.0, shared.weights[DAY], shapes, bins)
    for factor, width in ((0.4, 60), (1.0, 1), (2.5, 300)):
        law = np.zeros(width)
        fill_law(beliefs, shared, 0, DAY, 4.0, factor, law)
        expected = item.law(4.0, factor, shared.weights[DAY], calibration, width)
        np.testing.assert_allclose(law, expected, atol=1e-9)
    factors, paths = np.array([1.0, 0.0, 0.3, 2.0]), np.zeros((50, 4), np.int32)
    numbers, shifts = rng.random((50, 5)), rng.random(5)
    fill_paths(beliefs, shared, 0, DAY, 4.0, factors, numbers, shifts, False, paths)
    moved = (numbers + shifts) % 1.0
    expected = [item.path(4.0, factors, row, shared.weights[DAY], calibration) for row in moved]
    np.testing.assert_array_equal(paths, expected)
    fill_paths(beliefs, shared, 0, DAY, 4.0, factors, numbers, shifts, True, paths)
    expected = [item.service_path(4.0, factors, row, shared.weights[DAY], shared.loss_shape[DAY]) for row in moved]
    np.testing.assert_array_equal(paths, expected)


def test_the_mean_level_is_that_of_all_experts():
    shared, means = shared_of(3), np.zeros(2)
    beliefs = new_beliefs(2)
    for units in (3, 1, 4):
        learn(beliefs, shared, WEEK, EXACT, units, item=1)
    fill_mean_levels(beliefs, shared, np.array([0, 1]), np.array([WEEK, WEEK]), np.array([5.0, 1.0]), means)
    levels = np.zeros(6)
    fill_levels(beliefs, 1, WEEK, 1.0, levels)
    assert means.tolist() == pytest.approx([5.0, beliefs.weights[1].sum(axis=1) @ levels])


@given(
    st.integers(0, 1),
    st.lists(st.tuples(st.sampled_from([EXACT, AT_LEAST, NOTHING]), st.integers(0, 3000)), max_size=12),
    st.floats(0.01, 100.0),
)
def test_weights_and_laws_sum_to_one(kind, sales, factor):
    shared, beliefs = shared_of(1, BENT), new_beliefs(1)
    for says, units in sales:
        imputed = learn(beliefs, shared, kind, says, units, factor=factor)
        assert imputed >= units if says == AT_LEAST else imputed == pytest.approx(units * (says == EXACT))
        assert beliefs.weights.sum() == pytest.approx(1.0)
        assert (beliefs.weights > 0).all()
    assert np.isfinite(levels_of(beliefs)).all()
    law = np.zeros(400)
    fill_law(beliefs, shared, 0, kind, 1.0, factor, law)
    assert law.sum() == pytest.approx(1.0)
    assert law.min() >= -1e-12


@given(st.integers(0, 1), st.lists(st.integers(0, 40), min_size=1, max_size=10), st.integers(1, 200))
def test_a_period_that_says_nothing_changes_no_weights(kind, sold, n_periods):
    beliefs = learned(kind, sold)
    before = beliefs.weights.tobytes(), int(beliefs.periods[0])
    for _ in range(n_periods):
        learn(beliefs, shared_of(), kind, NOTHING, 0, on_sale=0)
    assert (beliefs.weights.tobytes(), int(beliefs.periods[0])) == before
    assert beliefs.unseen[0] == n_periods
    learn(beliefs, shared_of(), kind, NOTHING, 0)
    assert beliefs.unseen[0] == n_periods  # an unknown shelf may have been full


@given(st.integers(0, 1), st.lists(st.integers(0, 40), min_size=1, max_size=10), st.data())
def test_more_sales_make_every_level_higher(kind, sold, data):
    place = data.draw(st.integers(0, len(sold) - 1))
    more = [units + (n == place) for n, units in enumerate(sold)]
    assert (levels_of(learned(kind, more)) > levels_of(learned(kind, sold))).all()


@given(st.integers(0, 1), st.lists(st.integers(0, 40), min_size=1, max_size=10), st.integers(1, 20))
def test_a_sold_out_period_counts_at_least_what_it_sold(kind, sold, units):
    exact, at_least = learned(kind, sold), learned(kind, sold)
    learn(exact, shared_of(), kind, EXACT, units)
    assert learn(at_least, shared_of(), kind, AT_LEAST, units) > units
    assert (levels_of(at_least) > levels_of(exact)).all()


@given(st.floats(0.01, 100.0), st.floats(0.01, 100.0))
def test_of_a_new_item_only_level_times_factor_counts(prior, factor):
    laws = np.zeros((2, 100))
    fill_law(new_beliefs(1), shared_of(1), 0, DAY, prior, factor, laws[0])
    fill_law(new_beliefs(1), shared_of(1), 0, DAY, 8.0 * prior, factor / 8.0, laws[1])
    np.testing.assert_allclose(laws[0], laws[1], atol=1e-12)


@given(st.integers(0, 1), st.lists(st.integers(0, 20), min_size=1, max_size=10), st.sampled_from([0.5, 2.0, 8.0]))
def test_the_level_is_demand_per_factor(kind, sold, factor):
    plain, scaled = learned(kind, sold * 30), learned(kind, sold * 30, factor=factor)
    np.testing.assert_allclose(levels_of(scaled)[4:] * factor, levels_of(plain)[4:], rtol=0.1, atol=0.2)


@given(st.floats(0.0, 1.0), st.floats(0.3, 3.0))
def test_calibration_and_back(u, bend):
    calibration = BIN_EDGES**bend
    assert np.interp(unshaped(BIN_EDGES, calibration, u), BIN_EDGES, calibration) == pytest.approx(u, abs=1e-9)


def test_the_normal_quantile():
    shares = np.concatenate([np.linspace(0.001, 0.999, 999), [1e-6, 1 - 1e-6]])
    found = [normal_quantile(float(u)) for u in shares]
    np.testing.assert_allclose(found, stats.norm.ppf(shares), atol=4.6e-4)


def test_large_means_on_paths():
    """Above a mean of 64 demand is drawn from a law of the same mean and spread, on a coarser grid."""
    shared = new_shared()
    for d, dispersion in enumerate((0.02, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)):
        shared.weights[:] = 0.0
        shared.weights[DAY, 0, d] = 1.0
        numbers = np.stack([np.full(20_000, 0.5), (np.arange(20_000) + 0.5) / 20_000], axis=1)
        paths = np.zeros((20_000, 1), np.int32)
        fill_paths(new_beliefs(1), shared, 0, DAY, 500.0, np.ones(1), numbers, np.zeros(2), False, paths)
        variance = 500.0 + dispersion * 500.0**2
        assert paths.mean() == pytest.approx(500.0, rel=0.02)
        assert paths.var() == pytest.approx(variance, rel=0.08)

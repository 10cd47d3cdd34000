"""Intervals, tests and rankings: by hand, against slow loops, by their laws, and by simulation."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from driftmdp import statistics
from driftmdp.errors import InvalidInputError
from driftmdp.statistics import bootstrap

VALUES = st.integers(-1000, 1000).map(lambda number: number / 8)
SAMPLES = st.integers(1, 12).flatmap(lambda n: arrays(np.float64, n, elements=VALUES))
TABLES = st.tuples(st.integers(1, 8), st.integers(1, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=VALUES)
)
P_VALUES = st.lists(st.floats(0, 1) | st.just(math.nan), max_size=12)


def ends(interval):
    return np.array([interval.low, interval.high])


def slow_ends(drawn, n, level):
    """Expand the tail as Hesterberg does, and round it outwards."""
    tail = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, n - 1))
    ordered = sorted(drawn)
    first = math.floor(tail * (len(ordered) - 1) + 1e-9)
    return ordered[first], ordered[-1 - first]


def picks(n, resamples, seed, stream=0):
    return np.random.default_rng((seed, stream)).integers(n, size=(resamples, n))


# By hand ---------------------------------------------------------------------------------------------------------


def test_two_seeds_give_the_range():
    """With n = 2 the tail is Phi(-sqrt(2) 12.7), which is 0; some of 2000 resamples draw one seed twice."""
    found = statistics.mean_interval([1.0, 4.0])
    assert (found.estimate, found.low, found.high, found.level) == (2.5, 1.0, 4.0, 0.95)


def test_the_expanded_tail_by_hand():
    """Phi(-sqrt(10 / 9) 2.2622) = Phi(-2.3846) = 0.0086; Phi(-sqrt(50 / 49) 2.0096) = Phi(-2.0300) = 0.0212."""
    assert bootstrap._expanded_tail(10, 0.95) == pytest.approx(0.0086, abs=5e-5)
    assert bootstrap._expanded_tail(50, 0.95) == pytest.approx(0.0212, abs=5e-5)


def test_one_seed_has_no_interval():
    found = statistics.mean_interval([[3.0, 4.0]])
    assert found.estimate.tolist() == [3.0, 4.0]
    assert np.isnan(ends(found)).all()
    assert np.isnan(ends(statistics.mean_interval([3.0]))).all()
    assert np.isnan(ends(statistics.median_interval([3.0]))).all()
    assert np.isnan(ends(statistics.ratio_interval([3.0], [2.0]))).all()
    assert np.isnan(ends(statistics.log_log_slope([1, 2], [[3.0], [4.0, 5.0]]))).all()
    ranking = statistics.rank_shares([[3.0, 4.0]])
    assert ranking.mean_rank.tolist() == [2.0, 1.0]
    assert np.isnan([ranking.low, ranking.high, ranking.best_share]).all()


@pytest.mark.parametrize("value", [0.1, -1 / 3, 1e100, 0.0])
@pytest.mark.parametrize("n", [2, 7, 50])
def test_equal_values_have_no_width(value, n):
    sample = np.full(n, value)
    for found in (
        statistics.mean_interval(sample),
        statistics.median_interval(sample),
        statistics.difference_interval(2 * sample, sample),
    ):
        assert found.low == found.estimate == found.high == value
    if value > 0:
        found = statistics.ratio_interval(3 * sample, sample)
        assert found.low == found.estimate == found.high
        found = statistics.log_log_slope([10, 100], [sample, sample])
        assert found.low == found.estimate == found.high == pytest.approx(0, abs=1e-15)


def test_no_points():
    assert statistics.mean_interval(np.empty((3, 0))).low.shape == (0,)


def test_a_ratio_that_may_divide_by_zero_is_unbounded():
    found = statistics.ratio_interval([1.0, 1.0, 1.0], [2.0, -1.0, 2.0])
    assert found.estimate == 1.0
    assert (found.low, found.high) == (-math.inf, math.inf)


def test_a_slope_of_means_that_may_be_negative_is_unbounded():
    found = statistics.log_log_slope([10, 100], [[1.0, 1.0, 1.0], [40.0, -10.0, 0.0]])
    assert found.estimate == pytest.approx(1.0)
    assert (found.low, found.high) == (-math.inf, math.inf)


def test_a_slope_by_hand():
    """Regret 2 T^(2/3) at three horizons."""
    horizons = [10, 100, 1000]
    found = statistics.log_log_slope(horizons, [[2 * t ** (2 / 3)] * 4 for t in horizons])
    assert found.estimate == pytest.approx(2 / 3)
    np.testing.assert_allclose(ends(found), 2 / 3)


def test_sign_flips_by_hand():
    """Of the 8 patterns of 1, 2, 3 only +++ and --- reach 6; of 1, 2, -3 all 8 reach 0."""
    assert statistics.sign_flip_test([1.0, 2.0, 3.0]) == 2 / 8
    assert statistics.sign_flip_test([1.0, 2.0, -3.0]) == 1.0
    assert statistics.sign_flip_test([5.0]) == 1.0
    assert statistics.sign_flip_test(np.zeros(30)) == statistics.sign_flip_test([0.0]) == 1.0


def test_rounding_does_not_decide_a_sign_flip():
    """0.1 + 0.2 - 0.3 is not 0 in floating point, and neither is it the same in every order."""
    assert statistics.sign_flip_test([0.1, 0.2, -0.3]) == 1.0


def test_a_p_value_is_never_zero():
    assert statistics.sign_flip_test(np.ones(200), resamples=999) == 1 / 1000
    for n in (1, 13, 24):
        assert statistics.sign_flip_test(np.ones(n)) == statistics.smallest_p_value(n) == 2 / 2**n
    assert statistics.sign_flip_test(np.ones(25)) == statistics.smallest_p_value(25)


def test_holm_by_the_textbook():
    """Four hypotheses with p = 0.01, 0.04, 0.03, 0.005: times 4, 3, 2, 1 in their order, and never falling."""
    np.testing.assert_allclose(statistics.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([]).size == 0
    assert np.isnan(statistics.holm([math.nan, math.nan])).all()


def test_ranks_by_hand():
    """Agent 0 wins for seed 0 by 1, agent 1 for seed 1 by 1; agent 2 always loses. One draw twice: a tie."""
    found = statistics.rank_shares([[3.0, 2.0, 0.0], [2.0, 3.0, 0.0]], resamples=4000)
    np.testing.assert_allclose(found.mean_rank, [1.5, 1.5, 3.0], atol=0.05)
    np.testing.assert_allclose(found.best_share, [0.5, 0.5, 0.0], atol=0.05)
    assert found.low.tolist() == [1.0, 1.0, 3.0]
    assert found.high.tolist() == [2.0, 2.0, 3.0]


# Against slow loops ----------------------------------------------------------------------------------------------


@given(
    table=TABLES.filter(lambda table: len(table) > 1), seed=st.integers(0, 3), level=st.sampled_from([0.5, 0.95])
)
@settings(max_examples=25, deadline=None)
def test_means_and_medians_are_the_slow_loops(table, seed, level):
    n, resamples = len(table), 60
    draws = picks(n, resamples, seed)
    found = statistics.mean_interval(table, level, resamples, seed)
    for k, column in enumerate(table.T):
        low, high = slow_ends([math.fsum(column[draw]) / n for draw in draws], n, level)
        np.testing.assert_allclose([found.low[k], found.high[k]], [low, high], atol=1e-9)
        median = statistics.median_interval(column, level, resamples, seed)
        np.testing.assert_allclose(ends(median), slow_ends([np.median(column[draw]) for draw in draws], n, level))


def test_many_points_are_done_in_blocks():
    table = np.random.default_rng(0).normal(size=(4, 3000))
    found = statistics.mean_interval(table)
    for k in (0, 1047, 1048, 1049, 2999):
        alone = statistics.mean_interval(table[:, k])
        np.testing.assert_allclose(ends(alone), [found.low[k], found.high[k]], atol=1e-12)


def test_many_seeds_are_done_in_blocks():
    sample = np.random.default_rng(0).normal(size=3000)
    draws = picks(3000, 2000, 0)
    expected = slow_ends([np.median(sample[draw]) for draw in draws], 3000, 0.95)
    np.testing.assert_allclose(ends(statistics.median_interval(sample)), expected)
    assert 0 < statistics.sign_flip_test(sample) <= 1


def test_a_ratio_is_the_slow_loops():
    rng = np.random.default_rng(3)
    over, under = rng.normal(5, 1, size=9), rng.normal(8, 1, size=9)
    drawn = [over[draw].mean() / under[draw].mean() for draw in picks(9, 2000, 0)]
    found = statistics.ratio_interval(over, under)
    assert found.estimate == pytest.approx(over.mean() / under.mean())
    np.testing.assert_allclose(ends(found), slow_ends(drawn, 9, 0.95))


def test_a_slope_is_the_slow_loops():
    rng = np.random.default_rng(4)
    horizons, sizes = [100, 300, 1000], [6, 9, 6]
    samples = [rng.normal(t**0.6, 3, size=n) for t, n in zip(horizons, sizes, strict=True)]
    draws = [picks(n, 500, 7, stream) for stream, n in enumerate(sizes)]
    drawn = []
    for b in range(500):
        means = [sample[draw[b]].mean() for sample, draw in zip(samples, draws, strict=True)]
        drawn.append(np.polyfit(np.log(horizons), np.log(means), 1)[0])
    found = statistics.log_log_slope(horizons, samples, 0.9, 500, 7)
    np.testing.assert_allclose(ends(found), slow_ends(drawn, 6, 0.9))


@given(sample=arrays(float, st.integers(1, 8), elements=VALUES))
@settings(max_examples=40, deadline=None)
def test_exact_sign_flips_are_the_slow_loops(sample):
    """Eighths add up without rounding."""
    sums = [abs(np.dot(signs, sample)) for signs in itertools.product([1, -1], repeat=sample.size)]
    assert statistics.sign_flip_test(sample) == np.mean(np.array(sums) >= abs(sample.sum()))


@pytest.mark.parametrize("n", [14, 24, 25])
def test_many_sign_flips_are_those_of_whole_numbers(n):
    """Whole numbers: the counts of all sums follow one difference at a time. 25 are the first to be drawn."""
    sample = np.random.default_rng(n).integers(-6, 10, size=n)
    counts = np.array([1.0])
    for value in np.abs(sample):
        counts = np.convolve(counts, np.concatenate([[1.0], np.zeros(2 * value - 1), [1.0]]) if value else [2.0])
    sums = np.arange(counts.size) - np.abs(sample).sum()
    exact = counts[np.abs(sums) >= abs(sample.sum())].sum() / 2**n
    error = math.sqrt(exact * (1 - exact) / 9999)
    assert abs(statistics.sign_flip_test(sample) - exact) <= (1e-15 if n <= 24 else 4 * error + 1e-4)


@given(table=TABLES.filter(lambda table: len(table) > 1))
@settings(max_examples=25, deadline=None)
def test_ranks_are_the_slow_loops(table):
    found = statistics.rank_shares(table, resamples=50)
    means = np.array([table[draw].mean(axis=0) for draw in picks(len(table), 50, 0)]).round(9)
    ranks = np.array([stats.rankdata(-row) for row in means])
    best = means == means.max(axis=1, keepdims=True)
    np.testing.assert_allclose(found.mean_rank, ranks.mean(axis=0))
    np.testing.assert_allclose(found.best_share, (best / best.sum(axis=1, keepdims=True)).mean(axis=0))
    np.testing.assert_allclose(found.low, np.sort(ranks, axis=0)[1])
    np.testing.assert_allclose(found.high, np.sort(ranks, axis=0)[-2])


# Laws ------------------------------------------------------------------------------------------------------------


@given(sample=SAMPLES, shift=VALUES, factor=VALUES)
@settings(max_examples=40, deadline=None)
def test_intervals_move_and_stretch_with_the_data(sample, shift, factor):
    for interval in (statistics.mean_interval, statistics.median_interval):
        before, after = interval(sample, resamples=99), interval(shift + factor * sample, resamples=99)
        assert after.estimate == pytest.approx(shift + factor * before.estimate, abs=1e-7)
        if sample.size > 1:
            np.testing.assert_allclose(ends(after), np.sort(shift + factor * ends(before)), atol=1e-7)
            assert before.low <= before.high


@given(sample=SAMPLES, data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_order_of_seeds_does_not_matter_to_estimates(sample, data):
    shuffled = np.array(data.draw(st.permutations(sample.tolist())))
    for interval in (statistics.mean_interval, statistics.median_interval):
        assert interval(shuffled).estimate == pytest.approx(interval(sample).estimate, abs=1e-9)
    assert statistics.sign_flip_test(shuffled) == statistics.sign_flip_test(sample)


@given(sample=SAMPLES, factor=st.sampled_from([-8.0, 0.5, 3.0]))
@settings(max_examples=40, deadline=None)
def test_a_p_value_does_not_know_the_unit(sample, factor):
    p = statistics.sign_flip_test(sample)
    assert 0 < p <= 1
    assert statistics.sign_flip_test(factor * sample) == p


@given(p_values=P_VALUES, data=st.data())
def test_holms_laws(p_values, data):
    raw = np.array(p_values)
    adjusted = statistics.holm(raw)
    known = ~np.isnan(raw)
    assert (np.isnan(adjusted) == ~known).all()
    assert (adjusted[known] >= raw[known]).all()
    assert (adjusted[known] <= np.minimum(1, raw[known] * known.sum())).all()
    assert (np.diff(adjusted[known][np.argsort(raw[known])]) >= 0).all()
    order = data.draw(st.permutations(range(len(raw))))
    np.testing.assert_array_equal(statistics.holm(raw[order]), adjusted[order])


@given(table=TABLES.filter(lambda table: len(table) > 1))
@settings(max_examples=25, deadline=None)
def test_ranks_and_shares_add_up(table):
    k = table.shape[1]
    found = statistics.rank_shares(table, resamples=99)
    assert found.mean_rank.sum() == pytest.approx(k * (k + 1) / 2)
    assert found.best_share.sum() == pytest.approx(1)
    assert (found.low <= found.high).all()


def test_the_same_agent_twice_ties_whatever_its_column():
    values = np.random.default_rng(1).normal(size=(37, 1))
    found = statistics.rank_shares(np.repeat(values, 11, axis=1))
    np.testing.assert_array_equal(found.mean_rank, 6.0)
    np.testing.assert_allclose(found.best_share, 1 / 11)


def test_a_difference_is_the_mean_of_the_differences():
    a, b = np.random.default_rng(2).normal(size=(2, 8, 3))
    found, wanted = statistics.difference_interval(a, b), statistics.mean_interval(a - b)
    np.testing.assert_array_equal([found.low, found.high], [wanted.low, wanted.high])


def test_results_repeat_and_inputs_stay():
    values = np.random.default_rng(2).normal(size=(8, 3))
    before = values.copy()
    first, again = statistics.mean_interval(values), statistics.mean_interval(values)
    np.testing.assert_array_equal([first.low, first.high], [again.low, again.high])
    assert (statistics.mean_interval(values, seed=1).low != first.low).any()
    statistics.rank_shares(values)
    statistics.holm(p_values := np.array([0.5, 0.1]))
    np.testing.assert_array_equal(values, before)
    assert p_values.tolist() == [0.5, 0.1]


# By simulation ---------------------------------------------------------------------------------------------------


def coverage(draw, truth, n, trials=4000):
    """Return the share of 95% intervals that cover, and the largest chance departure (p = 0.001) from 95%."""
    found = statistics.mean_interval(draw(np.random.default_rng(11), (n, trials)))
    share = np.mean((found.low <= truth) & (truth <= found.high))
    return share, 3.3 * math.sqrt(0.95 * 0.05 / trials)


@pytest.mark.parametrize("n", [10, 50])
def test_normal_means_are_covered(n):
    share, slack = coverage(lambda rng, shape: rng.normal(size=shape), 0.0, n)
    assert abs(share - 0.95) < slack


@pytest.mark.parametrize(("n", "least"), [(10, 0.89), (50, 0.925)])
def test_skewed_means_are_covered_less(n, least):
    share, slack = coverage(lambda rng, shape: rng.exponential(size=shape), 1.0, n)
    assert least < share < 0.95 + slack


@pytest.mark.parametrize(("n", "most"), [(2, 0.52), (3, 0.78), (5, 0.94)])
def test_very_few_seeds_are_covered_too_little(n, most):
    """A percentile interval stays within the data, which hold the mean for 1 - 2^(1 - n) of all samples."""
    share, slack = coverage(lambda rng, shape: rng.normal(size=shape), 0.0, n)
    assert share < most
    assert share <= 1 - 2.0 ** (1 - n) + slack


def test_plain_percentiles_would_cover_less():
    """The point of the expansion: at n = 5 the plain 2.5% tails give about 84%."""
    draws = np.random.default_rng(11).normal(size=(5, 2000))
    means = bootstrap.Resamples(5, 0.95, 2000, 0).means(draws)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    plain = np.mean((low <= 0) & (high >= 0))
    expanded, _ = coverage(lambda rng, shape: rng.normal(size=shape), 0.0, 5)
    assert plain < 0.88 < expanded


@pytest.mark.parametrize(("n", "trials"), [(10, 800), (20, 400)])
def test_p_values_are_uniform_when_nothing_differs(n, trials):
    rng = np.random.default_rng(12)
    p_values = [statistics.sign_flip_test(rng.standard_t(3, size=n), resamples=999) for _ in range(trials)]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001
    for level in (0.01, 0.05, 0.2):
        assert stats.binomtest(int(np.sum(np.array(p_values) <= level)), trials, level).pvalue > 0.001


# Bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: statistics.mean_interval([]),
            "values must have shape (n,) or (n, k) with n at least 1; got (0,).",
        ),
        (lambda: statistics.mean_interval(3.0), "values must have shape (n,) or (n, k) with n at least 1; got ()."),
        (lambda: statistics.mean_interval([1.0, math.nan]), "values[1] must be finite and at most 1e+150"),
        (lambda: statistics.mean_interval([[1.0, 2.0], [3.0, math.inf]]), "values[1, 1] must be finite"),
        (lambda: statistics.mean_interval([[1.0], [1.0, 2.0]]), "values must be numbers; got [["),
        (lambda: statistics.mean_interval(["a"]), "values must be numbers; got ['a']."),
        (lambda: statistics.mean_interval([1.0, 2.0], level=1.0), "level must be above 0 and below 1; got 1."),
        (lambda: statistics.mean_interval([1.0, 2.0], level=95), "level must be above 0 and below 1; got 95."),
        (lambda: statistics.mean_interval([1.0, 2.0], resamples=0), "resamples must be at least 1; got 0."),
        (lambda: statistics.mean_interval([1.0, 2.0], seed=-1), "seed must be at least 0; got -1."),
        (lambda: statistics.median_interval([[1.0], [2.0]]), "values must have shape (n,); got (2, 1)."),
        (lambda: statistics.difference_interval([1.0], [1.0, 2.0]), "a and b must be paired by seed; got shapes"),
        (lambda: statistics.ratio_interval([1.0], [1.0, 2.0]), "numerator and denominator must be paired by seed"),
        (lambda: statistics.ratio_interval([1.0], [0.0]), "denominator must have a mean other than 0; got 0."),
        (lambda: statistics.sign_flip_test([]), "differences must have shape"),
        (lambda: statistics.sign_flip_test([1.0], seed=0.5), "seed must be a whole number; got 0.5."),
        (lambda: statistics.holm([0.5, 1.5]), "p_values[1] must be within [0, 1]; got 1.5."),
        (lambda: statistics.holm([[0.5]]), "p_values must be a list of numbers"),
        (lambda: statistics.holm(["x"]), "p_values must be a list of numbers"),
        (lambda: statistics.log_log_slope([5, 5], [[1.0], [1.0]]), "horizons must hold at least two distinct ones"),
        (lambda: statistics.log_log_slope([0, 5], [[1.0], [1.0]]), "horizons[0] must be positive; got 0."),
        (lambda: statistics.log_log_slope([1, 5], [[1.0]]), "samples must have one entry for each of 2 horizons"),
        (
            lambda: statistics.log_log_slope([1, 5], [[1.0], [-2.0, 1.0]]),
            "samples must have positive means; got -0.5 at T = 5.",
        ),
        (lambda: statistics.rank_shares([1.0, 2.0]), "values must have shape (n seeds, k agents); got (2,)."),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert str(caught.value).startswith(message)

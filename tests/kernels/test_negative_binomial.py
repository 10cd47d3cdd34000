"""The negative binomial law against scipy, from hardly any demand to a million."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from driftmdp.kernels.demand_arrays import DISPERSIONS
from driftmdp.kernels.demand_laws import normal_quantile
from driftmdp.kernels.negative_binomial import chance_of_none, log_gamma, normal_tail, quantile, upper_tail

means = st.floats(1e-3, 50.0)
dispersions = st.sampled_from(DISPERSIONS.tolist())


def law(mean, dispersion):
    r = 1.0 / dispersion
    return stats.nbinom(r, r / (r + mean))


@pytest.mark.parametrize("z", [1e-3, 0.02, 0.25, 0.5, 1.0, 1.5, 2.0, 7.99, 8.0, 50.0, 171.0, 1e4, 1e6 + 0.25])
def test_log_gamma(z):
    assert log_gamma(z) == pytest.approx(special.gammaln(z), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("z", [-40.0, -8.0, -3.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 2.0, 6.0, 10.0])
def test_normal_tail(z):
    assert normal_tail(z) == pytest.approx(stats.norm.sf(z), abs=1e-7)
    assert normal_tail(z) + normal_tail(-z) == pytest.approx(1.0, abs=1e-7)


@given(means, dispersions)
def test_the_chance_of_none(mean, dispersion):
    assert chance_of_none(mean, 1.0 / dispersion) == pytest.approx(law(mean, dispersion).pmf(0), rel=1e-9)


@given(means, dispersions, st.integers(0, 60))
def test_tails_and_their_means(mean, dispersion, y):
    tail, beyond = upper_tail(mean, 1.0 / dispersion, y)
    expected = law(mean, dispersion).sf(y - 1)
    if expected > 1e-9:
        x = np.arange(y, 6000)
        assert tail == pytest.approx(expected, rel=1e-5)
        assert beyond == pytest.approx(x @ law(mean, dispersion).pmf(x) / expected, rel=1e-4)
    assert tail >= 1e-12  # what is not thought possible may be seen
    assert beyond >= y


def test_of_everything_the_mean_is_the_mean():
    assert upper_tail(3.5, 2.0, 0) == pytest.approx((1.0, 3.5))


@pytest.mark.parametrize("dispersion", [0.02, 0.25, 1.0, 4.0])
@pytest.mark.parametrize("mean", [1e-3, 1.0, 1000.0, 1e5, 1e6])
def test_far_tails(mean, dispersion):
    """Where the walk would be long, tails are those of a gamma law, and cruder for the widest one."""
    for y in (1500, 1501, 20_000, 1_000_000):
        tail, beyond = upper_tail(mean, 1.0 / dispersion, y)
        expected = law(mean, dispersion).sf(y - 1)
        assert tail == pytest.approx(expected, abs=0.02 if dispersion < 4 else 0.11)
        assert 1e-12 <= tail <= 1.0
        assert beyond >= y
        if expected > 1e-3:
            scale = 1.0 + dispersion * mean
            above = mean * stats.gamma(mean / scale + 1.0, scale=scale).sf(y) / expected
            assert beyond == pytest.approx(above, rel=0.02 if dispersion < 4 else 0.15)


def test_a_large_demand_that_sold_out_early_is_expected_to_be_the_mean():
    """Sold out at 2 percent of the mean says nothing: what is imputed must not push the level up."""
    assert upper_tail(100_000.0, 50.0, 2000)[1] == pytest.approx(100_000.0, rel=1e-3)


@given(means, dispersions, st.floats(1e-6, 0.999))
def test_quantiles(mean, dispersion, u):
    demand, found = law(mean, dispersion), quantile(mean, 1.0 / dispersion, u, 0.0)
    assert demand.cdf(found) >= u - 1e-9
    assert found == 0 or demand.cdf(found - 1) < u + 1e-9


@pytest.mark.parametrize("dispersion", [0.02, 0.1, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("mean", [64.5, 1000.0, 1e6])
def test_quantiles_of_large_demand(mean, dispersion):
    for u in (0.001, 0.05, 0.3, 0.5, 0.8, 0.95, 0.99, 0.999):
        found = quantile(mean, 1.0 / dispersion, u, normal_quantile(u))
        expected = law(mean, dispersion).ppf(u)
        spread = math.sqrt(mean + dispersion * mean**2)
        assert found == pytest.approx(expected, abs=0.02 * spread + mean / 64 + 1), u


def test_no_demand():
    assert quantile(0.0, 1.0, 0.999, 3.0) == 0
    assert quantile(1e-3, 50.0, 0.5, 0.0) == 0


@given(means, dispersions, st.floats(0.001, 0.99), st.floats(0.0, 0.009))
def test_quantiles_do_not_fall(mean, dispersion, u, more):
    r = 1.0 / dispersion
    assert quantile(mean, r, u + more, 0.0) >= quantile(mean, r, u, 0.0)

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.problems.inventory import (
    Constant,
    Empirical,
    Gamma,
    Geometric,
    NegativeBinomial,
    Poisson,
    Seasonal,
    Trend,
)
from driftmdp.problems.inventory.demand import as_demand
from tests.problems.inventory.cases import LAW_NAMES, PATHS, law, masses

HORIZON = 12
MEANS = st.floats(0.0, 60.0)
CAPACITIES = st.integers(1, 40)


def assert_law(table, frozen, capacity, shift=0):
    """Compare one row with scipy: masses below the capacity, and the tail last."""
    np.testing.assert_allclose(table[:-1], frozen.pmf(np.arange(capacity) + shift), atol=1e-12)
    assert table[-1] == pytest.approx(frozen.sf(capacity - 1 + shift), abs=1e-12)


@given(mean=MEANS, capacity=CAPACITIES)
def test_poisson_is_scipys(mean, capacity):
    assert_law(Poisson(mean).table(1, capacity)[0], scipy.stats.poisson(mean), capacity)


@given(mean=MEANS, dispersion=st.floats(0.05, 1e4), capacity=CAPACITIES)
def test_the_negative_binomial_is_scipys(mean, dispersion, capacity):
    frozen = scipy.stats.nbinom(dispersion, dispersion / (dispersion + mean))
    assert_law(NegativeBinomial(mean, dispersion).table(1, capacity)[0], frozen, capacity)


@given(mean=st.floats(1e-6, 60.0), capacity=CAPACITIES)
def test_the_geometric_is_scipys_shifted_to_start_at_zero(mean, capacity):
    assert_law(Geometric(mean).table(1, capacity)[0], scipy.stats.geom(1 / (1 + mean)), capacity, shift=1)


@given(mean=MEANS, capacity=CAPACITIES)
def test_a_negative_binomial_of_dispersion_one_is_geometric(mean, capacity):
    np.testing.assert_allclose(
        NegativeBinomial(mean).table(1, capacity), Geometric(mean).table(1, capacity), atol=1e-12
    )


@pytest.mark.parametrize("dispersion", [1e6, 1e8, 1e10])
def test_a_negative_binomial_of_great_dispersion_is_poisson(dispersion):
    table = NegativeBinomial(6.0, dispersion).table(1, 15)
    np.testing.assert_allclose(table, Poisson(6.0).table(1, 15), atol=1e-4)
    assert table.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("make", [Poisson, Geometric, NegativeBinomial])
def test_without_demand_nothing_is_asked_for(make):
    assert make(0.0).table(1, 3).tolist() == [[1.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", LAW_NAMES)
def test_every_law_along_every_path_has_the_masses_of_its_day(name, path):
    table = law(name, path).table(HORIZON, 6)
    for t in (1, 4, 7, 12):
        pmf = masses(name, path, t, HORIZON)
        np.testing.assert_allclose(table[t - 1], [*pmf[:6], pmf[6:].sum()], atol=1e-12)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", LAW_NAMES)
def test_every_law_along_every_path_has_the_mean_of_its_day(name, path):
    means = law(name, path).means(HORIZON)
    for t in (1, 4, 7, 12):
        pmf = masses(name, path, t, HORIZON)
        assert means[t - 1] == pytest.approx(np.arange(pmf.size) @ pmf, rel=1e-9)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", LAW_NAMES)
def test_every_row_is_a_distribution_and_a_smaller_shelf_lumps_its_tail(name, path):
    wide, narrow = (law(name, path).table(HORIZON, capacity) for capacity in (9, 4))
    assert wide.min() >= 0
    np.testing.assert_allclose(wide.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(narrow[:, -1], wide[:, 4:].sum(axis=1), atol=1e-12)


def test_counts_will_do_for_an_empirical_law():
    assert Empirical([2, 1, 1]).table(1, 2).tolist() == [[0.5, 0.25, 0.25]]


def test_demand_above_the_shelf_is_lumped_into_the_last_column():
    assert Empirical([0.25, 0.25, 0.25, 0.25]).table(1, 2).tolist() == [[0.25, 0.25, 0.5]]


def test_past_demand_is_an_empirical_law():
    past = Empirical.from_samples([3, 0, 0, 1])
    assert past.table(2, 3).tolist() == [[0.5, 0.25, 0.0, 0.25]] * 2
    assert past.means(2).tolist() == [1.0, 1.0]


def test_tables_mix_where_the_position_lies_between_them():
    moving = Empirical([[1, 0], [0, 1]], Trend(0, 1))
    assert moving.table(3, 1).tolist() == [[1, 0], [0.5, 0.5], [0, 1]]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"law": "poisson", "mean": 6}, Poisson(Constant(6))),
        (
            {"law": "negative-binomial", "mean": {"path": "trend", "start": 1, "end": 2}, "dispersion": 3},
            NegativeBinomial(Trend(1, 2), 3),
        ),
        (
            {"law": "geometric", "mean": {"path": "seasonal", "mean": 6, "amplitude": 4, "period": 9}},
            Geometric(Seasonal(6, 4, 9)),
        ),
        ({"law": "empirical", "tables": [[1, 1]]}, Empirical([[1, 1]])),
    ],
)
def test_a_table_stands_for_a_law(table, expected):
    assert as_demand(table) == expected


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Poisson(-1).table(3, 2), "mean demand must not be negative; got -1 at t=1."),
        (
            lambda: Poisson(Trend(1, -1)).means(3),
            "mean demand must not be negative; got -1 at t=3.",
        ),
        (lambda: NegativeBinomial(1, 0), "dispersion must be positive; got 0."),
        (lambda: Empirical([]), "tables must list at least one distribution of demand; got []."),
        (
            lambda: Empirical([[0, 0]]),
            "tables[0] must hold masses that are not negative and not all 0; got [0, 0].",
        ),
        (
            lambda: Empirical([[1], [1, 1]], 2).means(1),
            "position must lie in [0, 1] for 2 tables; got 2 to 2.",
        ),
        (
            lambda: Empirical.from_samples([1, -2]),
            "samples must be a list of whole numbers that are not negative; got [1, -2].",
        ),
        (
            lambda: as_demand({"law": "poison", "mean": 1}),
            "demand['law'] must be one of 'poisson', 'negative-binomial', 'geometric', 'gamma', 'empirical'; "
            "got 'poison'. Did you mean 'poisson'?",
        ),
        (lambda: as_demand(6), "demand must be a law such as Poisson(6) or a table with a 'law'; got 6."),
    ],
)
def test_wrong_laws_are_answered_with_one_sentence(make, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        make()
    assert str(caught.value) == sentence


@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("mean", [0.0, 0.3, 6.0])
def test_gamma_is_a_rounded_continuous_demand(shape, mean):
    law = Gamma(mean, shape)
    table = law.table(1, 400)[0]
    assert table.sum() == pytest.approx(1.0)
    assert law.means(1)[0] == pytest.approx((np.arange(401) * table).sum(), abs=1e-9)
    drawn = np.rint(np.random.default_rng(0).gamma(shape, mean / shape, 200_000))
    for k in range(4):
        assert table[k] == pytest.approx((drawn == k).mean(), abs=0.005)

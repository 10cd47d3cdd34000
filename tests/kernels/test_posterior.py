"""Random numbers of compiled code: the published stream, and scipy's laws."""

import numpy as np
import pytest
from scipy import stats

from driftmdp import kernels

DRAWS = 20_000


def draws(seed):
    return np.random.default_rng(seed).integers(0, 2**64, 4, dtype=np.uint64)


def test_the_stream_is_that_of_xoshiro256_plus_plus():
    """The first numbers from the state 1, 2, 3, 4, as in the tests of the Rust crate rand_xoshiro."""
    state = np.array([1, 2, 3, 4], np.uint64)
    drawn = [int(kernels.posterior.next_bits(state)) for _ in range(6)]
    assert drawn == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
    ]


@pytest.mark.parametrize(
    ("name", "shapes", "law"),
    [
        ("uniform", (), stats.uniform()),
        ("exponential", (), stats.expon()),
        ("normal", (), stats.norm()),
        *(("gamma", (shape,), stats.gamma(shape)) for shape in (1.0, 1.04, 2.5, 400.0)),
        ("beta", (1.0, 1.0), stats.beta(1.0, 1.0)),
        ("beta", (3.5, 1.2), stats.beta(3.5, 1.2)),
    ],
)
def test_the_laws_are_scipys(name, shapes, law):
    state = draws(7)
    drawn = np.array([getattr(kernels.rng, name)(state, *shapes) for _ in range(DRAWS)])
    assert stats.kstest(drawn, law.cdf).pvalue > 0.001
    assert drawn.mean() == pytest.approx(law.mean(), abs=4 * law.std() / DRAWS**0.5)
    assert drawn.var() == pytest.approx(law.var(), rel=0.06)


def test_draws_do_not_depend_on_one_another():
    state = draws(3)
    drawn = np.array([kernels.posterior.normal(state) for _ in range(DRAWS)])
    for lag in (1, 2, 3):
        assert abs(np.corrcoef(drawn[lag:], drawn[:-lag])[0, 1]) < 4 / DRAWS**0.5

"""Uniform numbers of sample paths, and arrays as bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from driftmdp.inventory.array_bytes import arrays_to_bytes, bytes_to_arrays
from driftmdp.inventory.sample_draws import N_PATHS, PATHS_TOGETHER, shifts, uniforms


def test_columns_are_spread_evenly_and_do_not_go_together():
    drawn = uniforms(20)
    assert drawn.shape == (N_PATHS, 20)
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    for first in range(0, N_PATHS, PATHS_TOGETHER):
        ranks = np.sort((PATHS_TOGETHER * drawn[first : first + PATHS_TOGETHER]).astype(int), axis=0)
        assert (ranks == np.arange(PATHS_TOGETHER)[:, None]).all()
    correlation = np.corrcoef(drawn.T) - np.eye(20)
    assert np.abs(correlation).max() < 0.2


def test_shifts_are_uniform_over_items_days_and_columns():
    seeds = np.arange(200, dtype=np.uint64)
    found = np.stack([shifts(seeds, 739_000 + day, 10) for day in range(10)])
    assert stats.kstest(found.ravel(), "uniform").pvalue > 1e-3
    assert np.unique(found).size == found.size
    assert np.abs(np.corrcoef(found[0].T) - np.eye(10)).max() < 0.3


@given(st.integers(0, 2**32 - 1), st.integers(1, 3_000_000), st.integers(1, 30), st.integers(0, 10))
def test_a_shift_depends_on_item_day_and_column_only(seed, day, columns, more):
    one = shifts(np.array([seed], np.uint64), day, columns)
    among = shifts(np.array([7, seed, 8], np.uint64), day, columns + more)
    np.testing.assert_array_equal(one[0], among[1, :columns])
    assert ((one >= 0.0) & (one < 1.0)).all()


@given(st.lists(st.sampled_from(["<f8", "<i8", "|u1"]), max_size=4), st.integers(0, 3))
def test_arrays_come_back(kinds, size):
    arrays = [np.arange(2 * size).astype(kind).reshape(size, 2) for kind in kinds]
    header, found = bytes_to_arrays(arrays_to_bytes({"a": [1, "b"]}, arrays))
    assert header == {"a": [1, "b"]}
    for one, other in zip(arrays, found, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_damaged_bytes_are_a_value_error():
    content = arrays_to_bytes({}, [np.arange(3)])
    for damaged in (b"", content[:4], content[:-1], content + b"0", b"\0" * 8 + content[8:]):
        with pytest.raises(ValueError, match=r"."):
            bytes_to_arrays(damaged)

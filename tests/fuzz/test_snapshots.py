"""Snapshots of every agent: valid ones go on the same, forged ones never crash."""

import pytest

from tests.fuzz.harness import assert_survives


def test_valid_snapshots_go_on_the_same():
    assert_survives("valid_snapshots", 1)


def test_forged_snapshots_never_crash():
    assert_survives("forged_snapshots", 100)


@pytest.mark.slow
def test_many_valid_snapshots_go_on_the_same():
    assert_survives("valid_snapshots", 30, seed=1)


@pytest.mark.slow
def test_many_forged_snapshots_never_crash():
    assert_survives("forged_snapshots", 10_000, seed=1)

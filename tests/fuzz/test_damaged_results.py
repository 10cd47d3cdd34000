"""Damaged and forged folders of results end in an answer or a sentence."""

import pytest

from tests.fuzz.harness import assert_survives


def test_damaged_results():
    assert_survives("damaged_results", cases=30)


@pytest.mark.slow
def test_many_damaged_results():
    assert_survives("damaged_results", cases=3000, seed=1)

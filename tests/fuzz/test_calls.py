"""Calls with arguments of every kind."""

import pytest

from tests.fuzz.harness import assert_survives


def test_every_call_is_answered():
    assert_survives("calls", 700)


@pytest.mark.slow
def test_very_many_calls_are_answered():
    assert_survives("calls", 30_000, seed=1)

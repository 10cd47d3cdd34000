"""Random specs end in a plan, a run or a sentence."""

import pytest

from tests.fuzz.harness import assert_survives


def test_random_specs():
    assert_survives("specs", cases=150)


@pytest.mark.slow
def test_many_random_specs():
    assert_survives("specs", cases=20_000, seed=1)

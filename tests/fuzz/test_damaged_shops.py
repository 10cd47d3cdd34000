import pytest

from tests.fuzz.harness import assert_survives


def test_a_few():
    assert_survives("damaged_shops", 150)


@pytest.mark.slow
def test_many():
    assert_survives("damaged_shops", 10_000, seed=1)

import pytest

from tests.fuzz.harness import assert_survives


def test_a_few():
    assert_survives("xlsx_files", 300)


@pytest.mark.slow
def test_many():
    assert_survives("xlsx_files", 10_000, seed=1)

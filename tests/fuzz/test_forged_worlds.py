"""Files of worlds, damaged or forged, end in a sentence or in a world that can be used."""

import pytest

from tests.fuzz.harness import assert_survives


def test_forged_worlds():
    assert_survives("forged_worlds", 300)


@pytest.mark.slow
def test_many_forged_worlds():
    assert_survives("forged_worlds", 20_000, seed=1)

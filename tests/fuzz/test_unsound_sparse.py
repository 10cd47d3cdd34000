"""Whatever a sparse matrix holds, every function that takes one returns a result or raises one sentence."""

import pytest

from tests.fuzz.harness import assert_survives


def test_unsound_sparse_matrices():
    assert_survives("unsound_sparse", 400)


@pytest.mark.slow
def test_many_unsound_sparse_matrices():
    assert_survives("unsound_sparse", 20_000, seed=1)

"""Whatever is written into a sparse matrix, every door answers with a number or a sentence."""

import pytest

from tests.fuzz.harness import assert_survives


def test_unsound_sparse_matrices():
    assert_survives("unsound_sparse", 400)


@pytest.mark.slow
def test_many_unsound_sparse_matrices():
    assert_survives("unsound_sparse", 20_000, seed=1)

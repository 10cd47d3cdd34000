"""Sparse tables: every form of scipy gives the same MDP, and none of them can end the process."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from driftmdp import Mdp, Space
from driftmdp.mdp.sparse import sound_csr

FORMS = ("csr", "csc", "bsr", "coo", "dia", "dok", "lil")
TABLE = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.25, 0.0, 0.0, 0.75], [1.0, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_form_is_read_alike(form, kind):
    matrix = getattr(sp, f"{form}_{kind}")(TABLE)
    found = sound_csr(matrix, "table")
    assert np.array_equal(found.toarray(), TABLE)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert np.array_equal(matrix.toarray(), TABLE)  # and not written to
    assert np.array_equal(Mdp(Space.uniform(4, 1), np.zeros(4), matrix).transitions.toarray(), TABLE)


def test_blocks_and_shifted_diagonals_are_read():
    blocks = sp.bsr_array(TABLE, blocksize=(2, 2))
    assert np.array_equal(sound_csr(blocks, "table").toarray(), TABLE)
    diagonals = sp.dia_array((np.arange(15.0).reshape(3, 5), [-3, 0, 2]), shape=(4, 6))
    assert np.array_equal(sound_csr(diagonals, "table").toarray(), diagonals.toarray())


def test_flags_of_an_edited_matrix_are_not_believed():
    matrix = sp.csr_array(([0.5, 0.5, 1.0], [0, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert matrix.has_canonical_format
    matrix.indices[:] = 1, 1, 0  # a duplicate, which the flag denies
    assert sound_csr(matrix, "table").nnz == 2


def test_what_lies_behind_the_last_row_does_not_count():
    matrix = sp.csr_array((np.ones(2), [0, 1], [0, 1, 2]), shape=(2, 2))
    matrix.indices, matrix.data = np.array([0, 1, 10**7]), np.ones(3)
    assert sound_csr(matrix, "table").nnz == 2


UNSOUND = """
def edited(name, value):
    matrix = sp.csr_array(np.ones((4, 2)) / 2)
    setattr(matrix, name, np.array(value, np.uint64 if max(value) > 2**62 else None))
    return matrix

matrices = {
    "an index outside": lambda: sp.csc_array(([1.] * 4, [0, 2, 1, 10**7], [0, 2, 4]), shape=(4, 2)),
    "an end below 0": lambda: edited("indptr", [0, 10**6, 2, 3, -1]),
    "an end at 0": lambda: edited("indptr", [0, 10**6, 10**7, 3, 0]),
    "pointers that wrap": lambda: edited("indptr", [0, 2**62, 2**63, 3, 8]),
    "too few numbers": lambda: edited("data", [1.0]),
}
mdp, rewards, space = dm.Mdp(dm.Space([1, 1]), [0., 1.], np.eye(2)[::-1]), [0.] * 4, dm.Space([2, 2])
functions = {
    "Mdp": lambda m: dm.Mdp(space, rewards, m),
    "weights": lambda m: dm.DriftingMdp([mdp, mdp], m),
    "reward_weights": lambda m: dm.DriftingMdp([mdp, mdp], [0] * 4, m),
    "balls": lambda m: dm.planning.extended_value_iteration(space, rewards, m, [1.] * 4, 0.1),
    "from_scipy": lambda m: dm.interchange.from_scipy([m], rewards),
    "from_mdptoolbox": lambda m: dm.interchange.from_mdptoolbox([np.eye(2)], m),
    "diameter": lambda m: dm.planning.diameter(mdp, targets=m),
}
for matrix, make in matrices.items():
    for function, give in functions.items():
        print(f"{matrix} at {function}: ", end="", flush=True)
        try:
            give(make())
        except dm.errors.InvalidInputError as error:
            print(error)
"""


def test_an_unsound_matrix_gets_a_sentence_from_every_function():
    script = f"import numpy as np, scipy.sparse as sp, driftmdp as dm, driftmdp.interchange\n{UNSOUND}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-200:]}\n{done.stderr[-500:]}"
    lines = done.stdout.splitlines()
    assert len(lines) == 5 * 7
    assert all(" must be " in line for line in lines)

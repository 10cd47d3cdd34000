import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftmdp.kernels.policy_iteration import solve_dense


def solve_plainly(matrix: np.ndarray, vector: np.ndarray) -> list[float]:
    """Gaussian elimination with partial pivots as in a textbook, in Python's floats."""
    rows = [[*map(float, row), float(right)] for row, right in zip(matrix, vector, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            for j in range(k + 1, n + 1):
                rows[i][j] -= factor * rows[k][j]
    solution = [0.0] * n
    for i in reversed(range(n)):
        value = rows[i][n]
        for j in range(i + 1, n):
            value -= rows[i][j] * solution[j]
        solution[i] = value / rows[i][i]
    return solution


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(0.1, 1.0))
def test_elimination_is_the_textbooks_to_the_last_bit(seed, n, density):
    """Gains of small worlds, and all that is computed from them, depend on every bit of it."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, n)) * (rng.random((n, n)) < density) + np.diag(rng.normal(size=n))
    vector = rng.normal(size=n)
    expected = solve_plainly(matrix, vector)
    solve_dense(matrix, vector)
    assert vector.tolist() == expected


def test_dense_solve_equals_numpy():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 40):
        matrix, vector = rng.normal(size=(n, n)), rng.normal(size=n)
        expected = np.linalg.solve(matrix, vector)
        solve_dense(matrix, vector)
        np.testing.assert_allclose(vector, expected, rtol=1e-8)

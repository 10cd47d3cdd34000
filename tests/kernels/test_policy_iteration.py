import numpy as np

from driftmdp import kernels


def test_dense_solve_equals_numpy():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 40):
        matrix, vector = rng.normal(size=(n, n)), rng.normal(size=n)
        expected = np.linalg.solve(matrix, vector)
        kernels.policy_iteration.solve_dense(matrix, vector)
        np.testing.assert_allclose(vector, expected, rtol=1e-8)

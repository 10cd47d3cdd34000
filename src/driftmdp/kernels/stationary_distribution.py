"""Stationary distributions of Markov chains."""

from __future__ import annotations

import numpy as np

from driftmdp.kernels._compile import kernel
from driftmdp.kernels.arrays import Floats


@kernel
def stationary_distribution(matrix: Floats) -> Floats:
    """Return the stationary distribution of an irreducible chain; overwrites ``matrix``.

    Grassmann, Taksar and Heyman's elimination [GTH85]: no subtraction, so every entry is accurate in
    relative terms, the smallest too.
    """
    n = len(matrix)
    for k in range(n - 1, 0, -1):
        leaving = matrix[k, :k].sum()
        for i in range(k):
            matrix[i, k] /= leaving
            for j in range(k):
                matrix[i, j] += matrix[i, k] * matrix[k, j]
    distribution = np.empty(n)
    distribution[0] = 1.0
    for k in range(1, n):
        total = 0.0
        for i in range(k):
            total += distribution[i] * matrix[i, k]
        distribution[k] = total
    return distribution / distribution.sum()

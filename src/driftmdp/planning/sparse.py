"""The two things taken from scipy's sparse algebra: elimination and strong components.

Imported where they are used, because they make up a fifth of the package's import time.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.errors import NotConvergedError


def solve_sparse(system: Any, right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve a sparse system by elimination. Raises RuntimeError if it is exactly singular."""
    from scipy.sparse.linalg import splu

    return np.asarray(splu(system.tocsc()).solve(right))


def leaving_rates(chain: sp.csr_array) -> sp.csr_array:
    """Return I - P, with 1 - p(s | s) summed from the other probabilities, so that rare ones keep their digits."""
    others = chain - sp.diags_array(chain.diagonal())
    others.eliminate_zeros()
    return sp.csr_array(sp.diags_array(np.asarray(others.sum(axis=1))) - others)


def solve_leaving(chain: sp.csr_array, inside: NDArray[Any], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve (I - P) x = right on states ``inside`` that the chain P leaves with certainty."""
    try:
        return solve_sparse(leaving_rates(chain)[inside][:, inside], right)
    except RuntimeError:
        raise NotConvergedError(
            "The policy must leave its transient states in a time that double precision can hold; it does not: a "
            "way out is as good as none. Set such probabilities to 0, or make them larger."
        ) from None


def strong_components(graph: sp.csr_array) -> tuple[int, NDArray[np.int32]]:
    """Return the number of strongly connected components and the component of each node."""
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(graph, directed=True, connection="strong")
    return int(count), labels

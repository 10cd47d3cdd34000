"""From what may happen in each pair to the table of transitions."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import Space


def transition_table(space: Space, outcomes: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> sp.csr_array:
    """Return the next-state distribution of each pair.

    Parameters
    ----------
    space
        States and actions.
    outcomes
        What may happen: the chance and the next state of each pair, both of shape (n_pairs,). Outcomes that lead to
        the same state add up.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp import Space
    >>> from driftmdp.problems.outcomes import transition_table
    >>> stays, moves = (np.array([0.9, 0.4]), np.array([0, 1])), (np.array([0.1, 0.6]), np.array([1, 0]))
    >>> transition_table(Space.uniform(2, 1), [stays, moves]).toarray()
    array([[0.9, 0.1],
           [0.6, 0.4]])
    """
    chances, following = zip(*outcomes, strict=True)
    pairs = np.tile(np.arange(space.n_pairs), len(chances))
    entries = np.concatenate(chances), (pairs, np.concatenate(following))
    table = sp.coo_array(entries, shape=(space.n_pairs, space.n_states)).tocsr()
    table.eliminate_zeros()
    return table

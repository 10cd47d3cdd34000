"""Drift schedules: the weights of the anchors over T steps, and the drifting world that they make.

===================  ==========================================================================
drift                what happens over the horizon
===================  ==========================================================================
``stationary``       nothing: the first anchor for ever
``seasonal``         linear from anchor to anchor and back to the first, 5 times
``slow``, ``fast``   the same once, or 20 times
``abrupt``           jumps from anchor to anchor
``reward-only``      rewards move twice as in ``seasonal``, transitions are the first anchor's
``transition-only``  transitions move twice, rewards are the first anchor's
===================  ==========================================================================
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import DriftingMdp, Mdp
from driftmdp.mdp.weights import as_horizon
from driftmdp.validation import as_integer, as_number, one_of

CYCLES = {"seasonal": 5.0, "slow": 1.0, "fast": 20.0, "reward-only": 2.0, "transition-only": 2.0}
DRIFTS = ("stationary", *CYCLES, "abrupt")
MOST = 1_000_000_000  # cycles or changes: times the steps of any horizon they are still numbers


def drifting_between(
    anchors: Sequence[Mdp], drift: str, horizon: int, cycles: float | None = None, changes: int = 5
) -> DriftingMdp:
    """Return the world that drifts between some anchors.

    Parameters
    ----------
    anchors
        The worlds to move between, in their order.
    drift
        One of the words above.
    horizon
        T.
    cycles
        Cycles over the horizon, instead of the drift's own number, 0 to a billion.
    changes
        Jumps of ``abrupt``, 0 to a billion.

    Examples
    --------
    >>> from driftmdp import Mdp, Space
    >>> from driftmdp.problems.schedules import drifting_between
    >>> low, high = (Mdp(Space.uniform(1, 1), [reward], [[1.0]]) for reward in (0.0, 1.0))
    >>> [drifting_between([low, high], "slow", horizon=4).rewards_at(t).item() for t in (1, 2, 3, 4)]
    [0.0, 0.5, 1.0, 0.5]
    """
    one_of(drift, "drift", DRIFTS)
    cycles = CYCLES.get(drift, 1.0) if cycles is None else cycles
    moving = drift_weights("seasonal" if drift in CYCLES else drift, horizon, len(anchors), cycles, changes)
    fixed = np.zeros(moving.shape[0], dtype=np.int32)  # always the first anchor
    return DriftingMdp(
        anchors,
        weights=fixed if drift == "reward-only" else moving,
        reward_weights={"reward-only": moving, "transition-only": fixed}.get(drift),
    )


def swing(horizon: int, cycles: float) -> NDArray[np.float64]:
    """Return cosine weights that swing between two anchors, starting at the first, shape (T, 2)."""
    first = 0.5 * (1.0 + np.cos(2 * np.pi * _phase(horizon, cycles)))
    return np.column_stack([first, 1.0 - first])


def _phase(horizon: int, cycles: float) -> NDArray[np.float64]:
    """Return the phase of each step in [0, 1). Whole cycles repeat exactly, so that equal steps are found."""
    return np.asarray(np.mod(cycles * np.arange(horizon), horizon) / horizon)


def cyclic(horizon: int, n_anchors: int, cycles: float) -> sp.csr_array:
    """Return weights that move linearly from each anchor to the next and back to the first, CSR of shape (T, K).

    Examples
    --------
    >>> from driftmdp.problems.schedules import cyclic
    >>> cyclic(horizon=4, n_anchors=2, cycles=1).toarray().tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.5, 0.5]]
    """
    position = n_anchors * _phase(horizon, cycles)
    here = np.floor(position).astype(np.int64) % n_anchors
    part = position - np.floor(position)
    steps = np.arange(horizon)
    rows, columns = np.tile(steps, 2), np.concatenate([here, (here + 1) % n_anchors])
    return sp.coo_array((np.concatenate([1.0 - part, part]), (rows, columns)), shape=(horizon, n_anchors)).tocsr()


def blocks(horizon: int, n_anchors: int, changes: int) -> NDArray[np.int32]:
    """Return the anchor of each step, with ``changes`` evenly spread jumps to the next anchor.

    Examples
    --------
    >>> from driftmdp.problems.schedules import blocks
    >>> blocks(horizon=6, n_anchors=2, changes=2).tolist()
    [0, 0, 1, 1, 0, 0]
    """
    block = np.arange(horizon, dtype=np.int64) * (changes + 1) // horizon
    return (block % n_anchors).astype(np.int32)


def drift_weights(
    drift: str, horizon: int, n_anchors: int, cycles: float, changes: int
) -> sp.csr_array | NDArray[np.int32]:
    """Return the weights of ``stationary``, ``seasonal`` (cyclic) or ``abrupt`` (blocks) drift.

    Examples
    --------
    >>> from driftmdp.problems.schedules import drift_weights
    >>> drift_weights("abrupt", horizon=4, n_anchors=3, cycles=1, changes=1).tolist()
    [0, 0, 1, 1]
    """
    is_smooth = one_of(drift, "drift", ("stationary", "seasonal", "abrupt")) == "seasonal"
    horizon = as_horizon(horizon, n_weights=2 if is_smooth else 0)
    cycles = as_number(cycles, "cycles", 0.0, MOST)
    changes = as_integer(changes, "changes", 0, MOST)
    if is_smooth:
        return cyclic(horizon, n_anchors, cycles)
    return blocks(horizon, n_anchors, changes if drift == "abrupt" else 0)

"""Sparse matrices with one damaged attribute, passed to every function that takes one.

If a function accepts the matrix, its result must equal that for the same numbers in a dense table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

import driftmdp as dm
from driftmdp import interchange, planning
from driftmdp.errors import DriftmdpError
from tests.fuzz.harness import answered

FORMS = ("csr", "csc", "bsr", "coo", "dia", "dok", "lil")
N = 4
SPACE = dm.Space.uniform(N, 1)
REWARDS = np.arange(N, dtype=float)
ANCHORS = [dm.Mdp(SPACE, REWARDS + k, np.full((N, N), 1.0 / N)) for k in range(N)]
NUMBERS = (-1, 0, 1, N, N + 1, 10**7, 2**31 - 1, 2**31, 2**62, -(2**31), -(2**62), 0.5, np.nan)


def _pairs_of(matrix: Any) -> dm.Mdp:
    ddp = SimpleNamespace(R=REWARDS, Q=matrix, s_indices=np.arange(N), a_indices=np.zeros(N, int))
    return interchange.from_quantecon(ddp)


DOORS: dict[str, Callable[[Any], Any]] = {
    "Mdp": lambda m: planning.policy_gain(dm.Mdp(SPACE, REWARDS, m), [0] * N),
    "weights": lambda m: dm.DriftingMdp(ANCHORS, m).at(1).rewards,
    "reward_weights": lambda m: dm.DriftingMdp(ANCHORS, [0] * N, m).rewards_at(N),
    "balls": lambda m: planning.extended_value_iteration(SPACE, REWARDS, m, np.full(N, 0.5), 1e-6).gain,
    "lower": lambda m: (
        planning.extended_value_iteration_over_intervals(SPACE, REWARDS, m, np.ones((N, N)), 1e-6).gain
    ),
    "upper": lambda m: (
        planning.extended_value_iteration_over_intervals(SPACE, REWARDS, np.zeros((N, N)), m, 1e-6).gain
    ),
    "from_scipy": lambda m: interchange.from_scipy([np.eye(N), m], REWARDS).rewards,
    "from_mdptoolbox": lambda m: interchange.from_mdptoolbox([m], [m]).rewards,
    "reward table": lambda m: interchange.from_mdptoolbox([np.eye(N)] * N, m).rewards,
    "from_quantecon": lambda m: _pairs_of(m).rewards,
    "diameter": lambda m: planning.diameter(ANCHORS[0], targets=m),
    "policy": lambda m: planning.policy_gain(ANCHORS[0], m),
    "change points": lambda m: dm.DriftingMdp.piecewise(ANCHORS, m).horizon,
    "anchors": lambda m: dm.DriftingMdp(m, [0] * N).horizon,
    "reward range": lambda m: dm.Problem(dm.DriftingMdp.stationary(ANCHORS[0], 3), reward_range=m).horizon,
    "toy text": lambda m: interchange.from_toy_text({0: {0: m}}).rewards,
    "start": lambda m: interchange.from_toy_text({0: {0: [(1.0, 0, 0.0, True)]}}, start=m).rewards,
}


def valid(rng: np.random.Generator) -> Any:
    """Return a matrix of distributions in any of scipy's forms and classes."""
    rows = rng.dirichlet(np.ones(N), size=N) * (rng.random((N, N)) < 0.7) + np.eye(N)[rng.integers(N, size=N)]
    form = str(rng.choice(FORMS))
    kind = "array" if rng.random() < 0.7 else "matrix"
    return getattr(sp, f"{form}_{kind}")(rows / rows.sum(axis=1, keepdims=True))


def spoil(matrix: Any, rng: np.random.Generator) -> None:
    """Alter one attribute: a value, the length, the type, or all of it."""
    names = {
        "coo": ("coords", "data"),
        "dia": ("offsets", "data"),
        "dok": ("_dict",),
        "lil": ("rows", "data"),
    }.get(matrix.format, ("indptr", "indices", "data"))
    name = str(rng.choice(names))
    number = NUMBERS[rng.integers(len(NUMBERS))]
    if name == "_dict":
        matrix._dict[(number, 0) if rng.random() < 0.8 else "key"] = 0.5
        return
    if name == "coords":
        row, column = matrix.coords
        matrix.coords = _spoilt(row, number, rng), column
        return
    setattr(matrix, name, _spoilt(getattr(matrix, name), number, rng))


def _spoilt(array: Any, number: float, rng: np.random.Generator) -> Any:
    way = rng.integers(10)
    if way == 0:
        return array[: rng.integers(len(array) + 1)]
    if way == 1:
        return np.concatenate([array, array])
    if way == 2:
        return [None, "text", 5, array.tolist(), np.ma.masked_array(array, True)][rng.integers(5)]
    if array.dtype == object:
        changed = array.copy()
        changed[rng.integers(len(array))] = [number] if rng.random() < 0.5 else number
        return changed
    changed = array.astype(
        np.float64 if isinstance(number, float) else np.int64 if array.dtype.kind == "i" else float
    )
    changed.flat[rng.integers(changed.size)] = number
    return changed


def case(rng: np.random.Generator, folder: Path) -> None:
    """Damage a matrix, or not, and pass it to a function that takes one."""
    matrix = valid(rng)
    name = str(rng.choice(list(DOORS)))
    if rng.random() < 0.1:
        dense = answered(lambda: DOORS[name](matrix.toarray()))
        sparse = answered(lambda: DOORS[name](matrix))
        if not isinstance(sparse, DriftmdpError):
            np.testing.assert_allclose(np.asarray(sparse), np.asarray(dense), rtol=1e-12)
        return
    spoil(matrix, rng)
    answered(lambda: DOORS[name](matrix))

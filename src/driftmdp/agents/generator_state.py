"""Random generators in snapshots: their state as text, so that a loaded agent draws what it would have drawn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError

KINDS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def as_text(rng: np.random.Generator) -> NDArray[Any]:
    """Return the state of a generator as an array that holds one text."""
    kind = type(rng.bit_generator).__name__
    if kind not in KINDS:
        raise InvalidInputError(
            f"rng must be one of numpy's own generators to be saved, {', '.join(KINDS)}; got {kind}."
        )
    return np.array(json.dumps(rng.bit_generator.state, default=lambda array: array.tolist()))


def from_text(text: NDArray[Any]) -> np.random.Generator:
    """Return the generator of a text; anything else raises ValueError."""
    state = json.loads(str(text))
    kind = state["bit_generator"]
    if kind not in KINDS:
        raise ValueError(f"unknown generator {kind!r}")
    if kind == "MT19937" and not 0 <= state["state"]["pos"] <= 624:  # numpy trusts what it is given
        raise ValueError("the generator's position is wrong")
    if kind == "Philox" and not 0 <= state["buffer_pos"] <= 4:
        raise ValueError("the generator's position is wrong")
    rng = np.random.Generator(getattr(np.random, kind)())
    rng.bit_generator.state = state
    return rng

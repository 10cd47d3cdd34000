"""Random generators in snapshots: their state as text, so that a loaded agent draws what it would have drawn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_text", "from_text"]

KINDS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def as_text(rng: np.random.Generator) -> NDArray[Any]:
    """Return the state of a generator as an array that holds one text."""
    return np.array(json.dumps(rng.bit_generator.state, default=lambda array: array.tolist()))


def from_text(text: NDArray[Any]) -> np.random.Generator:
    """Return the generator of a text; anything else raises ValueError."""
    state = json.loads(str(text))
    if state["bit_generator"] not in KINDS:
        raise ValueError(f"unknown generator {state['bit_generator']!r}")
    rng = np.random.Generator(getattr(np.random, state["bit_generator"])())
    rng.bit_generator.state = state
    return rng

"""Compiled loops: arrays in, arrays filled; no validation, no I/O, no classes.

``driftmdp.kernels.NAME`` loads a module, and with it the compiler, when it is first used, so that
importing driftmdp costs nothing of it.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftmdp.kernels import (
        adaptive,
        bellman,
        censored,
        chance,
        elimination,
        exponential,
        extended,
        gain,
        graph,
        hitting,
        horizon,
        inner,
        markov,
        memory,
        optimist,
        ordering,
        posterior,
        scripted,
        shelf,
        sweeping,
        traces,
        upper_bounds,
        world,
    )

__all__ = [
    "adaptive",
    "bellman",
    "censored",
    "chance",
    "elimination",
    "exponential",
    "extended",
    "gain",
    "graph",
    "hitting",
    "horizon",
    "inner",
    "markov",
    "memory",
    "optimist",
    "ordering",
    "posterior",
    "scripted",
    "shelf",
    "sweeping",
    "traces",
    "upper_bounds",
    "world",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"driftmdp.kernels.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def machine_code_is_there() -> bool:
    """Return whether something has been compiled on this machine before; if not, the first run takes a minute."""
    from driftmdp.kernels import _compile

    return _compile.machine_code_is_there()

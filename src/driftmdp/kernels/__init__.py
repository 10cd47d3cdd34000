"""Compiled loops: arrays in, arrays filled; no validation, no I/O, no classes.

``driftmdp.kernels.NAME`` loads a module, and with it the compiler, when it is first used, so that
importing driftmdp costs nothing of it.
"""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftmdp.kernels import (
        adaptive,
        backward_induction,
        bellman,
        censored_demand,
        exponential_weights,
        extended_value_iteration,
        fading_memory,
        fixed_policies,
        gain,
        graph,
        hitting_times,
        inner_max,
        inventory_rules,
        modified_policy_iteration,
        optimist,
        order_planning,
        policy_iteration,
        posterior,
        rng,
        stationary_distribution,
        transition_counts,
        upper_confidence,
        world,
    )

__all__ = [
    "adaptive",
    "backward_induction",
    "bellman",
    "censored_demand",
    "exponential_weights",
    "extended_value_iteration",
    "fading_memory",
    "fixed_policies",
    "gain",
    "graph",
    "hitting_times",
    "inner_max",
    "inventory_rules",
    "modified_policy_iteration",
    "optimist",
    "order_planning",
    "policy_iteration",
    "posterior",
    "rng",
    "stationary_distribution",
    "transition_counts",
    "upper_confidence",
    "world",
]


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_") or importlib.util.find_spec(f"driftmdp.kernels.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"driftmdp.kernels.{name}")


def has_compiled_cache() -> bool:
    """Return whether something has been compiled on this machine before; if not, the first run takes a minute."""
    from driftmdp.kernels import _compile

    return _compile.has_compiled_cache()

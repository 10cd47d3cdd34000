"""The order engine without one of its parts, for ablations. Call ``apply`` before any kernel is compiled.

A variant runs in a process and a kernel cache of its own, as compiled kernels hold their constants.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.child import call_in_child
from driftmdp.inventory.pooled_factors import WeekdayFactors, weekday_factors
from driftmdp.kernels.arrays import Floats, Longs

__all__ = ["AS_IT_IS", "VARIANTS", "apply", "call_variant"]

AS_IT_IS = "driftmdp"
_ARRAYS, _EXPERTS = "driftmdp.kernels.demand_arrays", "driftmdp.kernels.demand_experts"
# Constants by module and name. Arrays are changed in place, as other modules import them.
VARIANTS: dict[str, dict[tuple[str, str], Any]] = {
    AS_IT_IS: {},
    "no season": {("driftmdp.inventory.shared_rhythm", "season_factors"): "_no_season"},
    "weekdays are alike": {("driftmdp.inventory.shared_rhythm", "weekday_factors"): "_no_weekdays"},
    "no weekdays of items' own": {("driftmdp.inventory.shared_rhythm", "weekday_factors"): "_no_own_weekdays"},
    "one memory only (45 days, 24 weeks)": {(_ARRAYS, "MEMORIES"): [[45.0], [24.0]]},
    "one memory only (15 days, 12 weeks)": {(_ARRAYS, "MEMORIES"): [[15.0], [12.0]]},
    "one memory only (135 days, 48 weeks)": {(_ARRAYS, "MEMORIES"): [[135.0], [48.0]]},
    "one dispersion only (0.5)": {(_ARRAYS, "DISPERSIONS"): 0.5},
    "one dispersion only (Poisson, 0.02)": {(_ARRAYS, "DISPERSIONS"): 0.02},
    "weights not shared by items": {(_EXPERTS, "COMMON_SHARE"): 0.0},
    "weights without a fixed share": {(_EXPERTS, "FIXED_SHARE"): 1e-9},
    "laws not calibrated": {(_EXPERTS, "LARGEST_COUNTED"): -1.0},
}


def apply(name: str) -> None:
    """Change the constants of a variant."""
    for (module, constant), value in VARIANTS[name].items():
        place = importlib.import_module(module)
        found = getattr(place, constant)
        if isinstance(found, np.ndarray):
            found[...] = value
        else:
            setattr(place, constant, globals()[value] if isinstance(value, str) else value)


def call_variant(function: Callable[..., Any], name: str, *arguments: Any) -> Any:
    """Return what a module-level function of ``name`` and JSON arguments returns, in a process of its own.

    The function must call ``apply(name)`` first.
    """
    with tempfile.TemporaryDirectory() as cache:
        environment = {} if name == AS_IT_IS else {"NUMBA_CACHE_DIR": cache}
        return call_in_child(function, name, *arguments, environment=environment).result


def _no_season(units: Floats, expected: Floats, weeks: Longs) -> Floats:
    return np.ones((len(units), 52))


def _no_weekdays(units: Floats, expected: Floats, groups: Longs, n_groups: int) -> WeekdayFactors:
    return WeekdayFactors(np.ones((n_groups + 1, 7)), np.ones((len(units), 7)))


def _no_own_weekdays(units: Floats, expected: Floats, groups: Longs, n_groups: int) -> WeekdayFactors:
    return weekday_factors(units, expected, groups, n_groups)._replace(of_items=np.ones((len(units), 7)))

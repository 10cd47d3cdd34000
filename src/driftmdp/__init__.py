"""driftmdp: decisions in worlds that change while you learn them.

Reinforcement learning in non-stationary Markov decision processes with average reward, after *Non-Stationary
Reinforcement Learning: The Blessing of (More) Optimism* [CSZ20].

Start with a problem, ``driftmdp.problems.two_state()``, or describe a world of your own with :class:`Mdp` and
:class:`DriftingMdp`. :mod:`driftmdp.planning` finds what is best in it, and :func:`simulate` lets an agent of
:mod:`driftmdp.agents` learn it. :mod:`driftmdp.experiments` and :mod:`driftmdp.report` compare many agents over
many seeds. :mod:`driftmdp.inventory` decides how much to order each morning. :mod:`driftmdp.statements` has the
paper's statements, executable.
"""

import importlib
from typing import TYPE_CHECKING, Any

from driftmdp import errors
from driftmdp._version import __version__
from driftmdp.deprecation import renamed
from driftmdp.mdp import Draws, DriftingMdp, Mdp, Noise, Problem, Sample, Space, Variation, binomial, gaussian

if TYPE_CHECKING:
    from driftmdp import (
        agents,
        compiled_agents,
        experiments,
        formulas,
        gymnasium,
        interchange,
        inventory,
        planning,
        problems,
        report,
        statements,
        statistics,
        suite,
        testing,
    )
    from driftmdp.callbacks import Callback, Steps
    from driftmdp.simulation import Run, simulate

__all__ = [
    "Callback", "Draws", "DriftingMdp", "Mdp", "Noise", "Problem", "Run", "Sample", "Space", "Steps", "Variation",
    "__version__", "agents", "binomial", "compiled_agents", "errors", "experiments", "formulas", "gaussian",
    "gymnasium", "interchange", "inventory", "planning", "problems", "report", "simulate", "statements",
    "statistics", "suite", "testing",
]  # fmt: skip

# Imported on first use: some are slow, and some need more packages, which an extra has.
_HOMES = {"Callback": "callbacks", "Steps": "callbacks", "Run": "simulation", "simulate": "simulation"}
_EXTRAS = dict.fromkeys(("agents", "formulas", "planning", "problems", *_HOMES.values()), "")
_EXTRAS |= dict.fromkeys(("experiments", "inventory", "report", "statements", "statistics", "suite"), "experiments")
_EXTRAS |= dict.fromkeys(("compiled_agents", "testing"), "experiments")
_EXTRAS |= dict.fromkeys(("gymnasium", "interchange"), "gymnasium")


def _import_on_first_use(name: str) -> Any:
    if name in _HOMES:
        globals()[name] = found = getattr(_import_on_first_use(_HOMES[name]), name)
        return found
    if name not in _EXTRAS:
        raise AttributeError(f"module 'driftmdp' has no attribute {name!r}")
    try:
        return importlib.import_module(f"driftmdp.{name}")
    except ModuleNotFoundError as error:
        if not _EXTRAS[name]:
            raise
        raise errors.missing_package(error, f"driftmdp.{name}", _EXTRAS[name]) from None


def __dir__() -> list[str]:
    return sorted(__all__)


__getattr__ = renamed(__name__, _import_on_first_use, Luck="Draws")

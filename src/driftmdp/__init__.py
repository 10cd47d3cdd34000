"""driftmdp: decisions in worlds that change while you learn them.

Reinforcement learning in non-stationary Markov decision processes with average reward, after *Non-Stationary
Reinforcement Learning: The Blessing of (More) Optimism* [CSZ20].

Start with a problem, ``driftmdp.problems.two_state()``, or describe a world of your own with :class:`Mdp`
and :class:`DriftingMdp`; ask :mod:`driftmdp.planning` what is best in it, or let an agent of :mod:`driftmdp.agents`
learn it with :func:`simulate`. To compare many agents over many seeds: :mod:`driftmdp.experiments` and
:mod:`driftmdp.report`. How much to order each morning: :mod:`driftmdp.inventory`. The paper's statements,
executable: :mod:`driftmdp.statements`.
"""

from typing import TYPE_CHECKING, Any

from driftmdp import agents, errors, formulas, planning, problems, testing
from driftmdp._version import __version__
from driftmdp.callbacks import Callback, Steps
from driftmdp.deprecation import renamed
from driftmdp.mdp import Draws, DriftingMdp, Mdp, Noise, Problem, Sample, Space, Variation, gaussian
from driftmdp.simulation import Run, simulate

if TYPE_CHECKING:
    from driftmdp import experiments, gymnasium, interchange, inventory, report, statements, statistics, suite

__all__ = [
    "Callback",
    "Draws",
    "DriftingMdp",
    "Mdp",
    "Noise",
    "Problem",
    "Run",
    "Sample",
    "Space",
    "Steps",
    "Variation",
    "__version__",
    "agents",
    "errors",
    "experiments",
    "formulas",
    "gaussian",
    "gymnasium",
    "interchange",
    "inventory",
    "planning",
    "problems",
    "report",
    "simulate",
    "statements",
    "statistics",
    "suite",
    "testing",
]

# Loaded when first used: they are slow, or need more packages. Each with the extra that has those.
_LATER = {
    "experiments": "experiments",
    "gymnasium": "gymnasium",
    "interchange": "gymnasium",
    "inventory": "experiments",
    "report": "experiments",
    "statements": "experiments",
    "statistics": "experiments",
    "suite": "experiments",
}


def _load_later(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'driftmdp' has no attribute {name!r}")
    import importlib

    try:
        return importlib.import_module(f"driftmdp.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "driftmdp":
            raise
        raise ModuleNotFoundError(
            f"driftmdp.{name} needs the package {error.name!r}. {errors.install_hint(_LATER[name])}",
            name=error.name,
        ) from None


__getattr__ = renamed(__name__, _load_later, Luck="Draws")

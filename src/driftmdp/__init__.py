"""driftmdp: decisions in worlds that change while you learn them.

Reinforcement learning in non-stationary Markov decision processes with average reward, after *Non-Stationary
Reinforcement Learning: The Blessing of (More) Optimism* [CSZ20].

Start with a problem, ``driftmdp.problems.two_state()``, or describe a world of your own with :class:`Mdp`
and :class:`DriftingMdp`; ask :mod:`driftmdp.planning` what is best in it, or let an agent of :mod:`driftmdp.agents`
learn it with :func:`simulate`.
"""

from driftmdp import agents, errors, formulas, planning, problems, testing
from driftmdp._version import __version__
from driftmdp.mdp import DriftingMdp, Luck, Mdp, Noise, Problem, Sample, Space, Variation, gaussian
from driftmdp.simulation import Run, simulate

__all__ = [
    "DriftingMdp",
    "Luck",
    "Mdp",
    "Noise",
    "Problem",
    "Run",
    "Sample",
    "Space",
    "Variation",
    "__version__",
    "agents",
    "errors",
    "formulas",
    "gaussian",
    "planning",
    "problems",
    "simulate",
    "testing",
]

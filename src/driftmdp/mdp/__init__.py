"""Worlds: a space of states and actions, an MDP on it, an MDP that drifts, and a problem to solve."""

from driftmdp.deprecation import renamed
from driftmdp.kernels.arrays import Draws
from driftmdp.mdp.drifting import DriftingMdp
from driftmdp.mdp.mdp import Mdp
from driftmdp.mdp.problem import Noise, Problem, Sample, binomial, gaussian
from driftmdp.mdp.space import Space
from driftmdp.mdp.variation import Variation

__all__ = [
    "Draws",
    "DriftingMdp",
    "Mdp",
    "Noise",
    "Problem",
    "Sample",
    "Space",
    "Variation",
    "binomial",
    "gaussian",
]

__getattr__ = renamed(__name__, Luck="Draws")

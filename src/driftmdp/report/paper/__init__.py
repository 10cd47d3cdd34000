"""The figures of the paper, drawn from what is computed here, and one that it lacks."""

from driftmdp.report.paper.borl_structure import borl_structure
from driftmdp.report.paper.diameter_inside import diameter_inside
from driftmdp.report.paper.peril_instances import peril_instances
from driftmdp.report.paper.peril_trajectory import peril_trajectory
from driftmdp.report.paper.q_sets import q_sets
from driftmdp.report.paper.reward_process import reward_process
from driftmdp.report.paper.writing import FIGURES, write_figures

__all__ = [
    "FIGURES",
    "borl_structure",
    "diameter_inside",
    "peril_instances",
    "peril_trajectory",
    "q_sets",
    "reward_process",
    "write_figures",
]

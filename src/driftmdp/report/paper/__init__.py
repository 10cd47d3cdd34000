"""The figures of the paper, drawn from what is computed here, and some that it lacks."""

from driftmdp.report.paper.bidding_example import bidding_example
from driftmdp.report.paper.borl_structure import borl_structure
from driftmdp.report.paper.diameter_inside import diameter_inside
from driftmdp.report.paper.peril_instances import peril_instances
from driftmdp.report.paper.peril_trajectory import peril_trajectory
from driftmdp.report.paper.q_sets import q_sets
from driftmdp.report.paper.remarketing_example import remarketing_example
from driftmdp.report.paper.reward_process import reward_process
from driftmdp.report.paper.write import EXAMPLES, FIGURES, write_figures

__all__ = [
    "EXAMPLES",
    "FIGURES",
    "bidding_example",
    "borl_structure",
    "diameter_inside",
    "peril_instances",
    "peril_trajectory",
    "q_sets",
    "remarketing_example",
    "reward_process",
    "write_figures",
]

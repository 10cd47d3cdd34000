"""The paper's formulas: confidence radii, tuned parameters, schedules of BORL and of bandits, regret bounds."""

from driftmdp.formulas import bounds, lemmas
from driftmdp.formulas.bandits import (
    BobSchedule,
    Exp3pParameters,
    bob_schedule,
    d_ucb_discount,
    exp3_gamma,
    exp3p_parameters,
    exp3s_parameters,
    rexp3_parameters,
    sw_ucb_window,
)
from driftmdp.formulas.radii import Radii, bernstein_radii, jaksch_radii, paper_radii
from driftmdp.formulas.tuning import RULES, BorlSchedule, Tuning, borl_schedule, tuned

__all__ = [
    "RULES",
    "BobSchedule",
    "BorlSchedule",
    "Exp3pParameters",
    "Radii",
    "Tuning",
    "bernstein_radii",
    "bob_schedule",
    "borl_schedule",
    "bounds",
    "d_ucb_discount",
    "exp3_gamma",
    "exp3p_parameters",
    "exp3s_parameters",
    "jaksch_radii",
    "lemmas",
    "paper_radii",
    "rexp3_parameters",
    "sw_ucb_window",
    "tuned",
]

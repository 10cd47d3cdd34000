"""The paper's formulas: confidence radii, tuned parameters, BORL's schedule, regret orders."""

from driftmdp.formulas import bounds
from driftmdp.formulas.borl import BorlSchedule, borl_schedule
from driftmdp.formulas.radii import Radii, bernstein_radii, jaksch_radii, paper_radii
from driftmdp.formulas.tuning import RULES, Tuning, tuned

__all__ = [
    "RULES",
    "BorlSchedule",
    "Radii",
    "Tuning",
    "bernstein_radii",
    "borl_schedule",
    "bounds",
    "jaksch_radii",
    "paper_radii",
    "tuned",
]

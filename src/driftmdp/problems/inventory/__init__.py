"""Single-item inventory with fixed cost, lost sales and censored demand, [CSZ20] Section 7.1."""

from driftmdp.problems.inventory.costs import Costs
from driftmdp.problems.inventory.demand import (
    DemandLaw,
    Empirical,
    Gamma,
    Geometric,
    NegativeBinomial,
    Poisson,
    as_demand,
)
from driftmdp.problems.inventory.paths import (
    Abrupt,
    Constant,
    Given,
    Path,
    RegimeSwitching,
    Seasonal,
    Trend,
    as_path,
)
from driftmdp.problems.inventory.problem import InventoryProblem, inventory
from driftmdp.problems.inventory.stock import LEAD_TIMES, Stock, as_lead_time

__all__ = [
    "LEAD_TIMES",
    "Abrupt",
    "Constant",
    "Costs",
    "DemandLaw",
    "Empirical",
    "Gamma",
    "Geometric",
    "Given",
    "InventoryProblem",
    "NegativeBinomial",
    "Path",
    "Poisson",
    "RegimeSwitching",
    "Seasonal",
    "Stock",
    "Trend",
    "as_demand",
    "as_lead_time",
    "as_path",
    "inventory",
]

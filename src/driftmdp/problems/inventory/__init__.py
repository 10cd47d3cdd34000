"""Single-item inventory with fixed cost, lost sales and censored demand, [CSZ20] Section 7.1."""

from driftmdp.problems.inventory.costs import Costs
from driftmdp.problems.inventory.demand import (
    DemandLaw,
    Empirical,
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

__all__ = [
    "Abrupt",
    "Constant",
    "Costs",
    "DemandLaw",
    "Empirical",
    "Geometric",
    "Given",
    "InventoryProblem",
    "NegativeBinomial",
    "Path",
    "Poisson",
    "RegimeSwitching",
    "Seasonal",
    "Trend",
    "as_demand",
    "as_path",
    "inventory",
]

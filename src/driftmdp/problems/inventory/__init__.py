"""Single-item inventory with fixed cost, lost sales and censored demand, [CSZ20] Section 7.1."""

from driftmdp.problems.inventory.costs import Costs
from driftmdp.problems.inventory.demand import DemandLaw, Empirical, Gamma, Geometric, NegativeBinomial, Poisson
from driftmdp.problems.inventory.paths import Abrupt, Constant, Given, Path, RegimeSwitching, Seasonal, Trend
from driftmdp.problems.inventory.problem import InventoryProblem, inventory
from driftmdp.problems.inventory.stock import Stock

__all__ = [
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
    "inventory",
]

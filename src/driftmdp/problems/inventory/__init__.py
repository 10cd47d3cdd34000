"""Single-item inventory with fixed cost, lost sales and censored demand, [CSZ20] Section 7.1."""

from driftmdp.deprecation import renamed
from driftmdp.problems.inventory.demand import DemandLaw, Empirical, Gamma, Geometric, NegativeBinomial, Poisson
from driftmdp.problems.inventory.paths import Abrupt, Constant, Given, Path, RegimeSwitching, Seasonal, Trend
from driftmdp.problems.inventory.problem import Costs, InventoryProblem, inventory
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

_MOVED = {"LEAD_TIMES": "stock", "as_demand": "demand", "as_lead_time": "stock", "as_path": "paths"}
__getattr__ = renamed(__name__, **{name: f"{__name__}.{home}.{name}" for name, home in _MOVED.items()})

"""Problems: the paper's, well-known ones, and random ones.

``list()`` names them, ``make(name, ...)`` makes one by name, and each has a function of its own.
"""

from driftmdp.problems.bandit import bandit
from driftmdp.problems.bidding import bidding
from driftmdp.problems.garnet import garnet
from driftmdp.problems.inventory import (
    Abrupt,
    Constant,
    Costs,
    Empirical,
    Gamma,
    Geometric,
    Given,
    InventoryProblem,
    NegativeBinomial,
    Poisson,
    RegimeSwitching,
    Seasonal,
    Trend,
    inventory,
)
from driftmdp.problems.maintenance import maintenance
from driftmdp.problems.perils import PerilsProblem, perils
from driftmdp.problems.queue import queue
from driftmdp.problems.registry import ProblemEntry, describe, make, register
from driftmdp.problems.registry import list_problems as list
from driftmdp.problems.remarketing import remarketing
from driftmdp.problems.river_swim import river_swim
from driftmdp.problems.two_state import two_state

__all__ = [
    "Abrupt", "Constant", "Costs", "Empirical", "Gamma", "Geometric", "Given", "InventoryProblem",
    "NegativeBinomial", "PerilsProblem", "Poisson", "ProblemEntry", "RegimeSwitching", "Seasonal", "Trend",
    "bandit", "bidding", "describe", "garnet", "inventory", "list", "maintenance", "make", "perils", "queue",
    "register", "remarketing", "river_swim", "two_state",
]  # fmt: skip

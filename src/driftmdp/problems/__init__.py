"""Problems: the paper's, well-known ones, and random ones.

``list()`` names them, ``make(name, ...)`` makes one by name, and each has a function of its own.
"""

from driftmdp.problems.bandit import bandit
from driftmdp.problems.bidding import bidding
from driftmdp.problems.bridge import bridge
from driftmdp.problems.choice import choice
from driftmdp.problems.combination_lock import combination_lock
from driftmdp.problems.epidemic import epidemic
from driftmdp.problems.frozen_lake import frozen_lake
from driftmdp.problems.garnet import garnet
from driftmdp.problems.healthcare import healthcare
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
from driftmdp.problems.random_mdp import random_mdp
from driftmdp.problems.registry import ProblemEntry, describe, make, register
from driftmdp.problems.registry import list_problems as list
from driftmdp.problems.remarketing import remarketing
from driftmdp.problems.river_swim import river_swim
from driftmdp.problems.transport import transport
from driftmdp.problems.two_state import two_state
from driftmdp.problems.wireless import wireless

__all__ = [
    "Abrupt", "Constant", "Costs", "Empirical", "Gamma", "Geometric", "Given", "InventoryProblem",
    "NegativeBinomial", "PerilsProblem", "Poisson", "ProblemEntry", "RegimeSwitching", "Seasonal", "Trend",
    "bandit", "bidding", "bridge", "choice", "combination_lock", "describe", "epidemic", "frozen_lake", "garnet",
    "healthcare", "inventory", "list", "maintenance", "make", "perils", "queue", "random_mdp", "register",
    "remarketing", "river_swim", "transport", "two_state", "wireless",
]  # fmt: skip

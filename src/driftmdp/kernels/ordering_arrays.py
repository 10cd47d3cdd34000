"""What orders are planned for, by name: an item's terms and the periods to come. Nothing here needs the compiler.

Units of goods and of money, periods (days or weeks), the morning's stock and the orders on their way are those of
docs/inventory.md. In a period, in this order: what was ordered L periods ago arrives, an order is placed (``fixed``
if it is not 0, ``unit`` per unit, with L = 0 it is on sale at once), demand comes, ``lost`` is charged per unit not
served and ``holding`` per unit left in the evening. Goods that spoil are those of shelf_ages.py.
"""

from math import ceil, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from driftmdp.kernels.arrays import Floats, Longs

Flags: TypeAlias = NDArray[np.uint8]

NO_LIMIT = 2**31 - 1  # the capacity of a shelf that takes everything

FIRST_PATHS = 512  # of a plan on sample paths, before its doubt is known
MOST_DOUBT = 0.005  # of such a plan, see path_orders.py: beyond it, it is made again on all paths

# How a plan was made.
EXACT = 0  # by dynamic programming
PROJECTED = 1  # by a projected inventory level, tuned on sample paths
CAPPED = 2  # by a capped base stock, tuned on sample paths
SERVICE = 8  # by a target: the smallest order that serves enough
IMPROVED = 4  # added to these two: another order today was clearly better on the paths


class OrderTerms(NamedTuple):
    """One item's costs and rules of ordering: numbers only.

    =========================  ==============================================================================
    fixed, unit, lost, holding money per order, per unit ordered, per unit not served, per unit left over
    capacity                   most units on the shelf and on their way, together. NO_LIMIT if there is none
    pack, minimum              an order is 0, or a multiple of ``pack`` and at least ``minimum``
    lead_time                  L: an order of morning t is on the shelf in morning t + L
    shelf_life                 n: it can be sold in the periods t + L .. t + L + n - 1. 0: it never spoils
    waste                      money per unit that spoils
    =========================  ==============================================================================
    """

    fixed: float
    unit: float
    lost: float
    holding: float
    capacity: int
    pack: int
    minimum: int
    lead_time: int
    shelf_life: int = 0
    waste: float = 0.0


class ComingPeriods(NamedTuple):
    """The calendar of the H periods to come, today first.

    ==========  =====  ===========================================================================================
    is_open     (H,)   0: closed, with no demand, no cost and no order
    may_order   (H,)   0: no order
    cycle       int    so many of the last periods repeat for ever behind them. 0: nothing counts behind them
    ==========  =====  ===========================================================================================
    """

    is_open: Flags
    may_order: Flags
    cycle: int


class OrderTask(NamedTuple):
    """What to decide for n items. H is the most periods ahead of any of them.

    =============  ==========  ============================================================================
    items, kinds   (n,)        their numbers and kinds of period
    priors, means  (n,)        levels of the items' surroundings, and their own
    costs          (n, 4)      fixed, unit, lost and holding
    sizes          (n, 5)      capacity, pack, minimum, lead time, and shelf life or 0
    waste          (n,)        cost of a unit that spoils
    service        (n, 2)      target, or 0 where lost sales have a cost, and what it is a share of
    stock          (n,)        on the shelf this morning
    ages           (n, ...)    ``ages[n, k]`` of the stock can be sold in k + 1 more periods, of goods that spoil
    coming         (n, ...)    ``coming[n, j]`` arrives j + 1 periods from now
    horizons       (n, 2)      periods ahead of an exact plan, 0 where there is none, and of paths
    cycles         (n,)        periods that repeat behind them. 0: nothing counts there
    factors        (n, H)      of demand: season, weekday and special days, 0 where closed
    usual          (n, H)      the same without special days and single closed days
    is_open        (n, H)      0: closed
    may_order      (n, H)      0: no order day
    shifts         (n, ...)    of the uniform numbers: H + 1 columns for demand, others for late orders
    hazards        (n, D)      of the delay of orders, see late_orders.py
    overdue        (n, ...)    ``overdue[n, u]`` was due u periods ago, and did not come until this morning
    =============  ==========  ============================================================================
    """

    items: Longs
    kinds: Longs
    priors: Floats
    means: Floats
    costs: Floats
    sizes: Longs
    waste: Floats
    service: Floats
    stock: Longs
    ages: Longs
    coming: Longs
    horizons: Longs
    cycles: Longs
    factors: Floats
    usual: Floats
    is_open: Flags
    may_order: Flags
    shifts: Floats
    hazards: Floats
    overdue: Longs


def terms_of(task: OrderTask, n: int) -> OrderTerms:
    """Return the terms of an item of a task."""
    fixed, unit, lost, holding = task.costs[n].tolist()
    capacity, pack, minimum, lead_time, shelf_life = task.sizes[n].tolist()
    sizes = capacity, pack, minimum, lead_time, shelf_life
    return OrderTerms(fixed, unit, lost, holding, *sizes, float(task.waste[n]))


def horizon_needed(terms: OrderTerms, mean: float, wait: int = 1, shortest: int = 6, longest: int = 40) -> int:
    """Return how many periods paths should have where the world goes on behind them.

    Orders that arrive within them are those of the first H - L mornings: enough for a few orders, so that the
    consequences of today's have come and gone.

    Parameters
    ----------
    terms, mean
        The item's, and its mean demand per period.
    wait
        Most periods from one order day to the next.
    shortest, longest
        Bounds of H - L, which is always long enough for the next order to arrive.
    """
    batch = max(float(terms.pack), float(terms.minimum))
    if terms.holding > 0.0 and mean > 0.0:
        batch = max(batch, sqrt(2.0 * terms.fixed * mean / terms.holding))
    if terms.shelf_life > 0:
        batch = min(batch, mean * terms.shelf_life)
    batch = min(batch, float(terms.capacity))
    rounds = max(batch / mean if mean > 0.0 else 0.0, float(wait))
    return terms.lead_time + max(min(max(ceil(4.0 * rounds), shortest), longest), wait + 1)

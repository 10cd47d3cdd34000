"""Ordering rules of the paper's world, on one shelf in whole units: agents, and the yardsticks.

=============  ============================================================================================
optimist       `agents.InventoryOptimist`: from its own censored sales only
driftmdp       the order engine of shops, on the same sales. Its days begin on a Monday
hindsight      the (s, S) that turned out cheapest on the scored days, all 0 <= s < S <= capacity tried
first-60       the (s, S) fitted once, to the demand of the first 60 days
face-value     (s, S) fitted every morning to the last 60 days of sales, as if they were the demand
uncensored     the same, fitted to the demand itself, which no shop can see
base-stock     every day up to the quantile (l - c) / (l - c + h) of the last 60 days' sales (newsvendor)
=============  ============================================================================================

To fit means: least average cost if demand is drawn at random from these days. An (s, S) rule adds up stock and
orders on their way, and orders up to S when the sum is s or less. Every rule begins with an empty shelf.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from driftmdp import kernels
from driftmdp.agents.inventory_optimist import as_shelf_model
from driftmdp.agents.order_explanation import require_converged
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.item_paths import item_path
from driftmdp.inventory.joint_rules import EngineRule, finished, play
from driftmdp.inventory.ordering_rules import MOVING_AVERAGE, OURS, RULES
from driftmdp.inventory.sales_history import WARM_UP, Series
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Ints
from driftmdp.kernels.inventory_arrays import (
    OrderTrace,
    ShelfModel,
    new_demand_workspace,
    new_demands,
    new_order_trace,
)
from driftmdp.problems.inventory import Costs
from driftmdp.validation import as_integer

WINDOW = 60  # days that rolling rules look back
LARGEST_CAPACITY = (1000, 200, 60)  # by lead time; plans are quick up to here
FIRST_MONDAY = np.datetime64("2001-01-01")
FIT_DAYS = 400  # of the path on which rules with a lead time are fitted

SHELF_RULES: Mapping[str, str] = MappingProxyType(
    {"optimist": "InventoryOptimist"} | {name: title for name, title in RULES.items() if name != MOVING_AVERAGE}
)


class RuleSet:
    """All rules for one shelf, not to be shared by threads.

    Parameters
    ----------
    costs, capacity, lead_time
        Of the shelf.
    warm_up
        Days before scoring starts.
    """

    def __init__(self, costs: Costs, capacity: int, lead_time: int = 0, warm_up: int = WARM_UP) -> None:
        self.shelf = shelf_model(costs, capacity, lead_time)
        self.warm_up = as_integer(warm_up, "warm_up", minimum=0)
        self._workspace = new_demand_workspace(self.shelf.capacity, self.shelf.lead_time)
        self._fit_path = np.random.default_rng(0).random(FIT_DAYS), np.zeros(FIT_DAYS, np.int32)

    def follow(self, rule: str, path: Ints, weekdays: Ints) -> OrderTrace:
        """Return what a rule does along a path of demands."""
        rules, shelf, trace = kernels.inventory_rules, self.shelf, new_order_trace(path.size)
        if rule == "optimist":
            return self.estimate(path, weekdays)[0]
        if rule == OURS:
            return self._follow_engine(path)
        if rule == "hindsight":
            rules.follow_levels(path, shelf, *self.levels_in_hindsight(path), trace)
        elif rule == "first-60":
            days = min(WARM_UP, path.size)
            levels = rules.fit_levels(path, 0, days, shelf, self._workspace, *self._fit_path)
            rules.follow_levels(path, shelf, *levels, trace)
        elif rule == "base-stock":
            gain = max(0.0, shelf.lost - shelf.unit)
            ratio = gain / (gain + shelf.holding) if gain + shelf.holding > 0 else 0.0
            counts = np.zeros((shelf.lead_time + 1) * shelf.capacity + 1, np.int64)
            rules.roll_base_stock(path, shelf, WINDOW, ratio, np.zeros(path.size, np.int32), counts, trace)
        else:
            seen, censored = np.zeros(path.size, np.int32), rule == "face-value"
            rules.roll_levels(path, shelf, WINDOW, censored, self._workspace, self._fit_path, seen, trace)
        return trace

    def estimate(self, path: Ints, weekdays: Ints) -> tuple[OrderTrace, Floats]:
        """Return what the optimist does, and its estimate of each day's mean demand, up to the capacity."""
        trace, means = new_order_trace(path.size), np.zeros(path.size)
        arrays = self.shelf, new_demands(1, self.shelf.capacity), self._workspace
        residual = kernels.inventory_rules.follow_optimist(path, weekdays, arrays, means, trace)
        require_converged(residual, self.shelf)
        return trace, means

    def _follow_engine(self, path: Ints) -> OrderTrace:
        shelf = self.shelf
        costs = Costs(shelf.fixed, shelf.unit, shelf.lost, shelf.holding)
        dates = FIRST_MONDAY + np.arange(path.size)
        terms = ItemTerms(costs, shelf.capacity, lead_time=shelf.lead_time)
        item = item_path(Series("item", dates, path.astype(np.int64)), terms, SpecialDays())
        trace = finished(play(EngineRule([item]), [item]))[0]
        return OrderTrace(*(column.astype(np.int32) for column in trace[:3]))

    def levels_in_hindsight(self, path: Ints) -> tuple[int, int]:
        """Return the (s, S) that costs least on the scored days."""
        first = min(self.warm_up, path.size)
        s, up = kernels.inventory_rules.find_cheapest_levels(path, 0, first, path.size, self.shelf)
        return int(s), int(up)


def shelf_model(costs: Costs, capacity: int, lead_time: int) -> ShelfModel:
    """Return costs, capacity and lead time as kernels take them. A capacity that makes plans slow is refused."""
    shelf = as_shelf_model(costs, capacity, lead_time)
    largest = LARGEST_CAPACITY[shelf.lead_time]
    if shelf.capacity > largest:
        rule = f"capacity must be at most {largest} lots with a lead time of {shelf.lead_time}"
        raise InvalidInputError(f"{rule}; got {capacity}. Use larger lots.")
    return shelf


def day_costs(shelf: ShelfModel, path: Ints, trace: OrderTrace) -> Floats:
    """Return what each day cost, shape (T,): C_t of [CSZ20] Section 7.1, lost sales counted in full."""
    missing = path.astype(np.int64) - trace.on_sale
    ordering = shelf.fixed * (trace.orders > 0) + shelf.unit * trace.orders
    return np.asarray(ordering + shelf.lost * np.maximum(missing, 0) + shelf.holding * np.maximum(-missing, 0))

"""Ways of ordering, ours and the yardsticks, along a path of demands.

=============  ============================================================================================
optimist       our agent, `agents.InventoryOptimist`: from its own censored sales only
hindsight      the (s, S) that turned out cheapest on the scored days, all 0 <= s < S <= capacity tried
first-60       the (s, S) fitted once, to the demand of the first 60 days
face-value     (s, S) fitted every morning to the last 60 days of sales, as if they were the demand
uncensored     the same, fitted to the demand itself, which nobody has
base-stock     every day up to the quantile (l - c) / (l - c + h) of the last 60 days' sales (newsvendor)
=============  ============================================================================================

To fit means: least average cost if demand is drawn at random from these days. An (s, S) rule looks at stock and
orders on their way together, and orders up to S when they are s or less. Every rule begins with an empty shelf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.inventory_optimist import prices_of
from driftmdp.agents.order_explanation import require_converged
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.sales_history import WARM_UP
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
LARGEST = (1000, 200, 60)  # capacity by lead time
DRAWS = 400  # days of the path on which rules with a lead time are fitted

RULES: Mapping[str, str] = MappingProxyType(
    {
        "optimist": "InventoryOptimist",
        "hindsight": "best fixed (s, S) in hindsight",
        "first-60": "(s, S) fitted on the first 60 days",
        "face-value": "rolling (s, S), sales at face value",
        "uncensored": "rolling (s, S), uncensored demand",
        "base-stock": "base-stock newsvendor",
    }
)


class RuleSet:
    """All rules, for one shelf; not to be shared by threads.

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
        dice = np.random.default_rng(0).random(DRAWS)
        self._dice = dice, np.zeros(DRAWS, np.int32)

    def follow(self, rule: str, path: NDArray[np.int32], weekdays: NDArray[np.int32]) -> OrderTrace:
        """Return what a rule does along a path of demands."""
        run: Callable[[NDArray[np.int32], NDArray[np.int32], OrderTrace], object] = {
            "optimist": self._optimist,
            "hindsight": self._hindsight,
            "first-60": self._first,
            "face-value": lambda path, _, trace: self._rolling(path, True, trace),
            "uncensored": lambda path, _, trace: self._rolling(path, False, trace),
            "base-stock": self._base_stock,
        }[rule]
        trace = new_order_trace(path.size)
        run(path, weekdays, trace)
        return trace

    def estimate(
        self, path: NDArray[np.int32], weekdays: NDArray[np.int32]
    ) -> tuple[OrderTrace, NDArray[np.float64]]:
        """Return what the optimist does, and its estimate of each day's mean demand, up to the capacity."""
        trace = new_order_trace(path.size)
        return trace, self._optimist(path, weekdays, trace)

    def levels_in_hindsight(self, path: NDArray[np.int32]) -> tuple[int, int]:
        """Return the (s, S) that costs least on the scored days."""
        s, up = kernels.inventory_rules.find_cheapest_levels(
            path, 0, min(self.warm_up, path.size), path.size, self.shelf
        )
        return int(s), int(up)

    def _optimist(
        self, path: NDArray[np.int32], weekdays: NDArray[np.int32], trace: OrderTrace
    ) -> NDArray[np.float64]:
        means = np.zeros(path.size)
        demands = new_demands(1, self.shelf.capacity)
        residual = kernels.inventory_rules.follow_optimist(
            path, weekdays, self.shelf, demands, self._workspace, means, trace
        )
        require_converged(residual, self.shelf)
        return means

    def _hindsight(self, path: NDArray[np.int32], weekdays: NDArray[np.int32], trace: OrderTrace) -> None:
        kernels.inventory_rules.follow_levels(path, self.shelf, *self.levels_in_hindsight(path), trace)

    def _first(self, path: NDArray[np.int32], weekdays: NDArray[np.int32], trace: OrderTrace) -> None:
        days = min(WARM_UP, path.size)
        s, up = kernels.inventory_rules.fit_levels(path, 0, days, self.shelf, self._workspace, *self._dice)
        kernels.inventory_rules.follow_levels(path, self.shelf, s, up, trace)

    def _rolling(self, path: NDArray[np.int32], censored: bool, trace: OrderTrace) -> None:
        seen = np.zeros(path.size, np.int32)
        kernels.inventory_rules.roll_levels(
            path, self.shelf, WINDOW, censored, self._workspace, self._dice, seen, trace
        )

    def _base_stock(self, path: NDArray[np.int32], weekdays: NDArray[np.int32], trace: OrderTrace) -> None:
        shelf, seen = self.shelf, np.zeros(path.size, np.int32)
        short, over = shelf.lost - shelf.unit, shelf.holding
        ratio = max(0.0, short) / (max(0.0, short) + over) if max(0.0, short) + over > 0 else 0.0
        counts = np.zeros((shelf.lead_time + 1) * shelf.capacity + 1, np.int64)
        kernels.inventory_rules.roll_base_stock(path, shelf, WINDOW, ratio, seen, counts, trace)


def shelf_model(costs: Costs, capacity: int, lead_time: int) -> ShelfModel:
    """Return what a shelf is, for which plans are quick."""
    shelf = prices_of(costs, capacity, lead_time)
    if shelf.capacity > LARGEST[shelf.lead_time]:
        raise InvalidInputError(
            f"capacity must be at most {LARGEST[shelf.lead_time]} lots with a lead time of {shelf.lead_time}; "
            f"got {capacity}. Use larger lots."
        )
    return shelf


def day_costs(shelf: ShelfModel, path: NDArray[np.int32], trace: OrderTrace) -> NDArray[np.float64]:
    """Return what each day cost, shape (T,): C_t of [CSZ20] Section 7.1, lost sales counted in full."""
    missing = path.astype(np.int64) - trace.on_sale
    ordering = shelf.fixed * (trace.orders > 0) + shelf.unit * trace.orders
    return np.asarray(ordering + shelf.lost * np.maximum(missing, 0) + shelf.holding * np.maximum(-missing, 0))

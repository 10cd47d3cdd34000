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
from driftmdp.agents.outlook import require_converged
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.sales import WARM_UP
from driftmdp.kernels.shop_arrays import Diary, Prices, new_demands, new_guess
from driftmdp.problems.inventory import Costs
from driftmdp.validation import as_integer

__all__ = ["RULES", "Rules", "day_costs"]

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


class Rules:
    """All rules, for one shelf; not to be shared by threads.

    Parameters
    ----------
    costs, capacity, lead_time
        Of the shelf.
    warm_up
        Days before scoring starts.
    """

    def __init__(self, costs: Costs, capacity: int, lead_time: int = 0, warm_up: int = WARM_UP) -> None:
        self.prices = shelf_of(costs, capacity, lead_time)
        self.warm_up = as_integer(warm_up, "warm_up", minimum=0)
        self._guess = new_guess(self.prices.capacity, self.prices.lead_time)
        dice = np.random.default_rng(0).random(DRAWS)
        self._dice = dice, np.zeros(DRAWS, np.int32)

    def follow(self, rule: str, path: NDArray[np.int32], weekdays: NDArray[np.int32]) -> Diary:
        """Return what a rule does along a path of demands."""
        run: Callable[[NDArray[np.int32], NDArray[np.int32], Diary], object] = {
            "optimist": self._optimist,
            "hindsight": self._hindsight,
            "first-60": self._first,
            "face-value": lambda path, _, diary: self._rolling(path, True, diary),
            "uncensored": lambda path, _, diary: self._rolling(path, False, diary),
            "base-stock": self._base_stock,
        }[rule]
        diary = new_diary(path.size)
        run(path, weekdays, diary)
        return diary

    def estimate(self, path: NDArray[np.int32], weekdays: NDArray[np.int32]) -> tuple[Diary, NDArray[np.float64]]:
        """Return what the optimist does, and its estimate of each day's mean demand, up to the capacity."""
        diary = new_diary(path.size)
        return diary, self._optimist(path, weekdays, diary)

    def levels_in_hindsight(self, path: NDArray[np.int32]) -> tuple[int, int]:
        """Return the (s, S) that costs least on the scored days."""
        s, up = kernels.shelf.cheapest_levels(path, 0, min(self.warm_up, path.size), path.size, self.prices)
        return int(s), int(up)

    def _optimist(self, path: NDArray[np.int32], weekdays: NDArray[np.int32], diary: Diary) -> NDArray[np.float64]:
        means = np.zeros(path.size)
        demands = new_demands(1, self.prices.capacity)
        residual = kernels.shelf.follow_optimist(path, weekdays, self.prices, demands, self._guess, means, diary)
        require_converged(residual, self.prices)
        return means

    def _hindsight(self, path: NDArray[np.int32], weekdays: NDArray[np.int32], diary: Diary) -> None:
        kernels.shelf.follow_levels(path, self.prices, *self.levels_in_hindsight(path), diary)

    def _first(self, path: NDArray[np.int32], weekdays: NDArray[np.int32], diary: Diary) -> None:
        days = min(WARM_UP, path.size)
        s, up = kernels.shelf.fitted_levels(path, 0, days, self.prices, self._guess, *self._dice)
        kernels.shelf.follow_levels(path, self.prices, s, up, diary)

    def _rolling(self, path: NDArray[np.int32], censored: bool, diary: Diary) -> None:
        seen = np.zeros(path.size, np.int32)
        kernels.shelf.roll_levels(path, self.prices, WINDOW, censored, self._guess, self._dice, seen, diary)

    def _base_stock(self, path: NDArray[np.int32], weekdays: NDArray[np.int32], diary: Diary) -> None:
        prices, seen = self.prices, np.zeros(path.size, np.int32)
        short, over = prices.lost - prices.unit, prices.holding
        ratio = max(0.0, short) / (max(0.0, short) + over) if max(0.0, short) + over > 0 else 0.0
        counts = np.zeros((prices.lead_time + 1) * prices.capacity + 1, np.int64)
        kernels.shelf.roll_base_stock(path, prices, WINDOW, ratio, seen, counts, diary)


def shelf_of(costs: Costs, capacity: int, lead_time: int) -> Prices:
    """Return what a shelf is, for which plans are quick."""
    prices = prices_of(costs, capacity, lead_time)
    if prices.capacity > LARGEST[prices.lead_time]:
        raise InvalidInputError(
            f"capacity must be at most {LARGEST[prices.lead_time]} lots with a lead time of {prices.lead_time}; "
            f"got {capacity}. Use larger lots."
        )
    return prices


def new_diary(n: int) -> Diary:
    """Return an empty diary of n days."""
    return Diary(np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32))


def day_costs(prices: Prices, path: NDArray[np.int32], diary: Diary) -> NDArray[np.float64]:
    """Return what each day cost, shape (T,): C_t of [CSZ20] Section 7.1, lost sales counted in full."""
    missing = path.astype(np.int64) - diary.on_sale
    ordering = prices.fixed * (diary.orders > 0) + prices.unit * diary.orders
    return np.asarray(ordering + prices.lost * np.maximum(missing, 0) + prices.holding * np.maximum(-missing, 0))

"""Another forecaster in place of ours: quantiles in, orders out.

A function of one's own is named as ``module:name`` and called for each item and morning:

    def forecast(history: ItemHistory, days: np.ndarray) -> np.ndarray: ...

``days`` are the first days of the coming periods (datetime64[D]). It returns the quantiles of their demand at
``LEVELS``, shape (periods, levels). Orders are planned on sample paths whose periods are drawn from them.
"""

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.errors import InvalidInputError, one_line
from driftmdp.inventory.sample_draws import N_PATHS, shifted_uniforms, uniforms
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.late_orders import LateOrders
from driftmdp.kernels.ordering_arrays import (
    FIRST_PATHS,
    MOST_DOUBT,
    SERVICE,
    ComingPeriods,
    Flags,
    OrderTask,
    OrderTerms,
    terms_of,
)

LEVELS = tuple(round(0.05 * k, 2) for k in range(1, 20))
FIRST_DAY = np.datetime64("0001-01-01", "D")


class ItemHistory(NamedTuple):
    """What was seen of an item.

    Attributes
    ----------
    item
        Its number.
    days
        Periods, as datetime64[D].
    units
        Sold, or asked for.
    sold_out
        Whether demand was at least that.
    """

    item: int
    days: NDArray[np.datetime64]
    units: Longs
    sold_out: NDArray[np.bool_]


class UserForecaster:
    """A function ``module:name``, and the histories that it is given.

    Raises
    ------
    InvalidInputError
        If there is no such function.
    """

    def __init__(self, name: str) -> None:
        module, colon, function = name.partition(":")
        try:
            found = getattr(importlib.import_module(module), function) if colon else None
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            raise InvalidInputError(f"forecaster must be a function module:name; got {name!r}: {error}.") from None
        if not callable(found):
            raise InvalidInputError(f"forecaster must be a function module:name; got {name!r}.")
        self._function: Callable[[ItemHistory, NDArray[np.datetime64]], Any] = found
        self._name = name
        self._seen: dict[int, list[tuple[int, int, bool]]] = {}

    def remember(self, day: int, items: Longs, seen: NDArray[np.int8], units: Longs) -> None:
        """Keep a period's sales."""
        for item, says, sold in zip(items.tolist(), seen.tolist(), units.tolist(), strict=True):
            if says != 2:
                self._seen.setdefault(item, []).append((day, sold, says == 1))

    def history(self, item: int) -> ItemHistory:
        """Return what was seen of an item."""
        rows = self._seen.get(item, [])
        days, units, sold_out = (np.array(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
        dates = FIRST_DAY + (np.asarray(days, np.int64) - 1)
        return ItemHistory(item, dates, np.asarray(units, np.int64), np.asarray(sold_out, np.bool_))

    def quantiles(self, item: int, days: Longs) -> Floats:
        """Return the function's quantiles for the periods that begin on some days, checked."""
        try:
            returned = self._function(self.history(item), FIRST_DAY + (days - 1))
        except Exception as error:
            what = one_line(f"{type(error).__name__}: {error}")
            raise InvalidInputError(f"{self._name} must return quantiles; it failed with {what}.") from error
        shape = days.size, len(LEVELS)
        rule = f"{self._name} must return quantiles of shape {shape}, of at least 0 and not falling"
        try:
            found = np.asarray(returned, np.float64)
        except (TypeError, ValueError):
            raise InvalidInputError(f"{rule}; got something else than numbers.") from None
        if found.shape != shape:
            raise InvalidInputError(f"{rule}; got shape {found.shape}.")
        if not np.isfinite(found).all() or (found < 0).any() or (np.diff(found) < 0).any():
            raise InvalidInputError(f"{rule}; got others.")
        return found

    def decide(self, task: OrderTask, day: int, served: Floats, found: tuple[Longs, Floats, Longs]) -> None:
        """Fill orders, costs and methods. ``served`` is ``Beliefs.service`` of the items."""
        for n in range(task.items.size):
            state, periods, quantiles = self._about(task, n, day)
            for n_paths in (FIRST_PATHS, N_PATHS):
                paths, late = _draw_paths(task, n, n_paths, quantiles, periods), _late_orders(task, n, n_paths)
                if task.service[n, 0] > 0.0:
                    plan = _plan_for_service(state, paths, periods, task.service[n], served[n], late)
                else:
                    plan = kernels.path_orders.plan_late_on_paths(*state, paths, periods, late)
                found[0][n], found[1][n], found[2][n], doubt = plan
                if doubt <= MOST_DOUBT:
                    break

    def fill_menus(self, task: OrderTask, day: int, orders: Longs, costs: Floats) -> None:
        """Fill what several orders of today would cost, by (item, order)."""
        for n in range(task.items.size):
            state, periods, quantiles = self._about(task, n, day)
            paths = _draw_paths(task, n, FIRST_PATHS, quantiles, periods)
            late = _late_orders(task, n, FIRST_PATHS)
            kernels.order_menus.fill_menu_on_paths(*state, paths, periods, late, orders[n], costs[n])

    def _about(
        self, task: OrderTask, n: int, day: int
    ) -> tuple[tuple[OrderTerms, int, Longs, Longs], ComingPeriods, Floats]:
        """Return an item's terms, stock, its ages and what is coming, the periods ahead, and their quantiles."""
        step, horizon = 7 if task.kinds[n] else 1, int(task.horizons[n, 1])
        is_open, may_order = task.is_open[n, :horizon].copy(), task.may_order[n, :horizon].copy()
        terms = terms_of(task, n)
        ages = task.ages[n, : terms.shelf_life].copy()
        coming = kernels.order_decisions.coming_of(task, n).copy()
        periods = ComingPeriods(is_open, may_order, int(min(task.cycles[n], 1)))
        quantiles = self.quantiles(int(task.items[n]), day + step * np.arange(horizon))
        return (terms, int(task.stock[n]), ages, coming), periods, quantiles


def _draw_paths(task: OrderTask, n: int, n_paths: int, quantiles: Floats, periods: ComingPeriods) -> Ints:
    drawn = shifted_uniforms(task.shifts[n, : periods.is_open.size + 1], n_paths)[:, 1:]
    return draw_demand(quantiles, drawn, periods.is_open)


def _late_orders(task: OrderTask, n: int, n_paths: int) -> LateOrders:
    horizon, drawn = int(task.horizons[n, 1]), uniforms(task.shifts.shape[1])
    return LateOrders(*kernels.order_decisions.late_orders_of(task, n, horizon, n_paths, drawn))


def draw_demand(quantiles: Floats, drawn: Floats, is_open: Flags | NDArray[np.bool_]) -> Ints:
    """Return paths of demand by (path, period), from quantiles by period and uniform numbers."""
    paths = np.zeros(drawn.shape, np.int32)
    for h, row in enumerate(quantiles):
        demand = np.rint(np.interp(drawn[:, h], LEVELS, row))
        paths[:, h] = np.minimum(demand, kernels.demand_laws.LARGEST_DEMAND) * is_open[h]
    return paths


def _plan_for_service(
    state: tuple[OrderTerms, int, Longs, Longs],
    paths: Ints,
    periods: ComingPeriods,
    service: Floats,
    served: Floats,
    late: LateOrders,
) -> tuple[int, float, int, float]:
    """Return the order for a service target, what it is expected to cost, how it was found, and no doubt."""
    target, measure = float(service[0]), int(service[1])
    balance = float((1.0 - target) * served[2 * measure] - served[2 * measure + 1])
    asked = target, measure, balance
    if late.delays.shape[0] > 0:
        order, _ = kernels.late_service.plan_late_for_service(*state, paths, periods, asked, late)
        terms, stock, ages, _ = state
        cost = kernels.late_service.expected_late_cost(terms, stock, ages, order, paths, periods, late)
        return order, cost, SERVICE, 0.0
    order, _ = kernels.service_orders.plan_ages_for_service(*state, paths, periods, asked)
    return order, kernels.order_decisions.expected_cost(*state, order, paths, periods), SERVICE, 0.0

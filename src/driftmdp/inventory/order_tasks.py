"""What to decide in a morning, as arrays for the planner: the periods ahead of each item, and its state."""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from driftmdp import kernels
from driftmdp.inventory.coming_factors import ComingFactors
from driftmdp.inventory.item_table import ItemTable
from driftmdp.inventory.periods import DAY, WEEK, period_of
from driftmdp.inventory.sample_draws import shifts
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.late_orders import EARLIEST, LATEST, ON_TIME
from driftmdp.kernels.ordering_arrays import NO_LIMIT, OrderTask, OrderTerms, horizon_needed

NO_ORDER_DAY, CLOSED, TOO_LATE, GIVEN_UP = 2, 3, 4, 6  # why nothing is ordered: places in METHODS
LONGEST_HORIZON = 110  # periods ahead, if the next order can be on the shelf within them
WEEKS_AHEAD = 8  # that an exact plan looks at season by season
DAYS_AHEAD = 14  # the same of days, where some of them are special
SPREAD = 2.0  # standard deviations of a delay that paths are longer for
SERVICE_PERIODS = 7  # behind the lead time, on paths for a service target: until the next order is here, or a week


class Lateness(NamedTuple):
    """Of items whose lead times may vary.

    Attributes
    ----------
    hazards
        Of the delay of orders, by (item, delay), as in kernels/late_orders.py.
    overdue
        Units that were due this morning, 1, 2, .. periods ago, and did not come, by (item, periods).
    """

    hazards: Floats
    overdue: Longs

    def of(self, rows: Longs) -> "Lateness":
        """Return that of some items."""
        return Lateness(np.ascontiguousarray(self.hazards[rows]), np.ascontiguousarray(self.overdue[rows]))


def all_on_time(n_items: int) -> Lateness:
    """Return that of items whose orders arrive on their days."""
    return Lateness(np.tile(ON_TIME, (n_items, 1)), np.zeros((n_items, 0), np.int64))


def order_task(
    table: ItemTable,
    factors: ComingFactors,
    day: int,
    items: Longs,
    state: tuple[Longs, Longs, Longs | None],
    levels: tuple[Floats, Floats],
    fixed: Floats,
    until: int | None,
    lateness: Lateness,
) -> tuple[OrderTask, Longs]:
    """Return the task for items with one kind of period, and why nothing is ordered of some, or -1.

    Parameters
    ----------
    table, factors
        All items.
    day, items
        The morning, and the items asked about.
    state
        Their stock, what is coming by (item, periods from now, less one), and the ages of the stock by (item,
        periods left to sell it, less one). None: all is fresh.
    levels
        Of their surroundings, and their own.
    fixed
        What an order of each costs, with its share of what a supplier's items share.
    until
        The last day that counts, if any.
    lateness
        How late orders come.
    """
    chosen = table.columns[items]
    step, period = (7, WEEK) if chosen["kind"][0] == 1 else (1, DAY)
    left = None if until is None else max(0, (period_of(until, period) - day) // step) + 1
    has_lines = any(day <= line.day < day + 2 * DAYS_AHEAD for line in factors.calendar.lines)
    shapes = [
        _horizons(table.terms[item], level, cost, left, has_lines)
        for item, level, cost in zip(items.tolist(), levels[1], fixed.tolist(), strict=True)
    ]
    horizons, cycles = np.array([shape[:2] for shape in shapes]), np.array([shape[2] for shape in shapes])
    coming = np.ascontiguousarray(state[1], np.int64).reshape(items.size, -1)
    hazards = np.where((chosen["sizes"][:, 3] == 0)[:, None], ON_TIME, lateness.hazards)
    is_late = (hazards[:, : EARLIEST + 1] != ON_TIME[: EARLIEST + 1]).any(axis=1) | lateness.overdue.any(axis=1)
    if left is None:
        horizons[is_late, 1] += _delays(hazards[is_late], chosen["sizes"][is_late, 3])
    width = int(horizons.max()) + 1
    is_beyond = np.arange(coming.shape[1]) >= np.maximum(chosen["sizes"][:, 3:4] - 1, 0)
    if is_late.any() or (coming * is_beyond).any():
        n_coming, n_overdue = coming.shape[1], lateness.overdue.shape[1]
        width = kernels.late_orders.columns_needed(int(horizons.max()), n_coming, n_overdue)
    periods = day + step * np.arange(int(horizons.max()))
    is_open, may_order = factors.is_open(items, periods), factors.may_order(items, periods)
    is_given_up = np.array([table.terms[item].is_discontinued for item in items.tolist()], np.bool_)
    may_order[is_given_up, 0] = False
    idle = np.full(items.size, -1, np.int64)
    idle[~may_order[:, 0]] = NO_ORDER_DAY
    idle[~is_open[:, 0]] = CLOSED
    if left is not None:
        idle[chosen["sizes"][:, 3] >= left] = TOO_LATE
    idle[is_given_up] = GIVEN_UP
    costs = np.ascontiguousarray(chosen["costs"])
    costs[:, 0] = fixed
    task = OrderTask(
        items=items,
        kinds=chosen["kind"].copy(),
        priors=levels[0],
        means=levels[1],
        costs=costs,
        sizes=np.ascontiguousarray(chosen["sizes"]),
        waste=np.ascontiguousarray(chosen["waste"]),
        service=np.ascontiguousarray(chosen["service"]),
        stock=np.asarray(state[0], np.int64),
        ages=_ages(np.asarray(state[0], np.int64), chosen["sizes"][:, 4], state[2]),
        coming=coming,
        horizons=horizons,
        cycles=cycles,
        factors=factors.all_factors(items, periods),
        usual=factors.usual_factors(items, periods),
        is_open=is_open.astype(np.uint8),
        may_order=may_order.astype(np.uint8),
        shifts=shifts(chosen["seed"], day, width),
        hazards=hazards,
        overdue=lateness.overdue,
    )
    return task, idle


def _delays(hazards: Floats, lead_times: Longs) -> Longs:
    """Return by how many periods paths are longer, so that what is ordered comes before their end."""
    found = []
    for row, lead in zip(hazards, lead_times.tolist(), strict=True):
        mean, variance = kernels.late_orders.delay_moments(row, lead)
        found.append(min(max(ceil(mean + SPREAD * sqrt(variance)), 0), LATEST))
    return np.array(found, np.int64)


def _ages(stock: Longs, lives: Longs, ages: Longs | None) -> Longs:
    """Return ages that have a place for each period of the longest life."""
    width = int(lives.max(initial=0))
    if ages is None:
        return np.where(np.arange(1, width + 1) == lives[:, None], stock[:, None], 0)
    return np.ascontiguousarray(np.pad(ages[:, :width], ((0, 0), (0, max(0, width - ages.shape[1])))), np.int64)


def _horizons(
    terms: ItemTerms, level: float, fixed: float, left: int | None, has_lines: bool
) -> tuple[int, int, int]:
    """Return periods ahead of an exact plan and of paths, and how many repeat behind them. 0: nothing does.

    Where order days and weekdays come round too late for an exact plan, it has no periods. ``has_lines`` says that
    the coming days have special ones. Without them a week of days is a usual one.
    """
    every = 7 if terms.order_days.weekdays else terms.order_days.every
    longest = max(LONGEST_HORIZON, terms.lead_time + every + 1)
    if left is not None and left < longest:
        return left, left, 0
    cycle = every if terms.period == WEEK else int(np.lcm(7, every))
    exact = cycle
    if terms.period == WEEK:
        exact += terms.lead_time + WEEKS_AHEAD
    elif has_lines:
        exact += DAYS_AHEAD
    costs, capacity = terms.costs, NO_LIMIT if terms.capacity is None else terms.capacity
    money = fixed, costs.unit, costs.lost_sale, costs.holding
    sizes = capacity, terms.pack, terms.minimum, terms.lead_time, terms.shelf_life or 0
    numbers = OrderTerms(*money, *sizes)
    paths = horizon_needed(numbers, level, every)
    if terms.service is not None:
        paths = terms.lead_time + max(SERVICE_PERIODS, 2 * every)
    return min(exact, LONGEST_HORIZON) if cycle <= LONGEST_HORIZON else 0, min(paths, longest), cycle

"""All items' terms and beliefs, by item number: learns periods of sales, decides orders, forecasts demand.

Time is cut into blocks of four weeks. What items share (seasons, weekdays, effects of special days, the shape of
demand, the level that a new item begins with) is made at the beginning of a block from all that was learned before
it, and stays for the block. So the beliefs do not depend on the order in which the items' sales of a block come.
"""

import json
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.engines import ThreadEngine
from driftmdp.inventory.calendar_csv import CLOSED as CLOSED_NAME
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.periods import WEEK, days, period_of
from driftmdp.inventory.shared_rhythm import SharedRhythm
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.demand_arrays import BIN_EDGES, DAY_KIND, Beliefs, Shared, new_beliefs, new_shared
from driftmdp.kernels.order_decisions import OrderTask
from driftmdp.kernels.ordering_arrays import NO_LIMIT, OrderTerms, horizon_needed

Bytes = NDArray[np.int8]
EXACT, AT_LEAST, NOTHING = 0, 1, 2  # what sales say of demand
METHODS = ("exact", "simulated", "not an order day", "closed", "too late")
SIMULATED, NO_ORDER_DAY, CLOSED, TOO_LATE = 1, 2, 3, 4  # places in METHODS

BLOCK_DAYS = 7
N_PATHS, PATHS_TOGETHER = 512, 128  # sample paths, and how many in a row are spread evenly
LONGEST_HORIZON = 110  # periods of a path
ITEMS_PER_THREAD = 64  # that a thread decides at a time
SETTLED_PERIODS = 8  # from which on an item's level counts for its group
FIRST_SHARE = 0.3  # of the capacity: the demand of the first item of a shop, before anything is known
FIRST_LEVEL = 1.0  # the same without a capacity
FIRST_BINS = 300 * (1 << 20)  # periods for which "the predicted shape is right" counts
SEASON_AHEAD = 8  # weeks that an exact plan looks ahead season by season


class Orders(NamedTuple):
    """Orders in units, the expected cost per period of their plans, and how they were found."""

    order: Longs
    cost: Floats
    method: Bytes


class Forecast(NamedTuple):
    """The demand of coming periods: means (items, periods), and quantiles (items, periods, q)."""

    mean: Floats
    quantiles: Floats


class DemandSummary(NamedTuple):
    """What is believed of an item's demand.

    Attributes
    ----------
    periods
        How many periods were learned from.
    level
        The mean without season and special days.
    factor
        What the period's season, weekday and special days multiply it by.
    """

    periods: int
    level: float
    factor: float


class OrderEngine:
    """All items of a shop or a backtest.

    Parameters
    ----------
    forecaster
        Another forecaster, as ``module:name``.
    """

    def __init__(self, forecaster: str | None = None) -> None:
        self.skus: list[str] = []
        self.terms: list[ItemTerms] = []
        self.calendar = SpecialDays()
        self.beliefs, self.shared, self.rhythm = new_beliefs(0), new_shared(), SharedRhythm()
        self._size = 0  # of the items; the arrays may be longer
        self._columns = _new_columns(0)
        self._priors = np.zeros((2, 1))  # levels by kind of period and group, the last of all items. 0: unknown
        self._bins = np.rint(FIRST_BINS * np.diff(BIN_EDGES)).astype(np.int64)
        self._block = -1
        self._uniforms = _uniforms()

    # ---- items

    def add_items(self, skus: Sequence[str], terms: Sequence[ItemTerms]) -> None:
        """Append items."""
        self.skus += skus
        self.terms += terms
        first, self._size = self._size, len(self.skus)
        if self._size > len(self._columns):
            more = max(self._size, int(1.5 * len(self._columns))) - len(self._columns)
            self._columns = np.concatenate([self._columns, _new_columns(more)])
            self.beliefs = Beliefs(
                *(np.concatenate(pair) for pair in zip(self.beliefs, new_beliefs(more), strict=True))
            )
        for item in range(first, self._size):
            self._write_terms(item)

    def set_terms(self, item: int, terms: ItemTerms) -> None:
        """Replace an item's terms."""
        self.terms[item] = terms
        self._write_terms(item)

    def _write_terms(self, item: int) -> None:
        terms, row = self.terms[item], self._columns[item]
        row["kind"] = int(terms.period == WEEK)
        row["group"] = self.rhythm.number(terms.group)
        costs = terms.costs
        row["costs"] = costs.fixed, costs.unit, costs.lost_sale, costs.holding
        capacity = NO_LIMIT if terms.capacity is None else terms.capacity
        row["sizes"] = capacity, terms.pack, terms.minimum, terms.lead_time
        row["seed"] = zlib.crc32(self.skus[item].encode())

    def set_calendar(self, lines: Sequence[SpecialDay]) -> None:
        """Replace the special days."""
        self.calendar = SpecialDays(lines)

    # ---- learning

    def is_current(self, day: int) -> bool:
        """Return whether sales of a day may still be learned, of items that learned no later day."""
        return (day - 1) // BLOCK_DAYS >= self._block

    def learn(self, day: int, items: Longs, seen: Bytes, on_sale: Longs, units: Longs) -> None:
        """Learn one period's sales of some items, all of the same or a later block than what was learned before."""
        if (day - 1) // BLOCK_DAYS != self._block:
            self._renew()
            self._block = (day - 1) // BLOCK_DAYS
        chosen = self._columns[items]
        groups, kinds = chosen["group"], chosen["kind"].astype(np.int64)
        one_day = np.array([day])
        season = self.rhythm.season_of(groups, one_day)[:, 0]
        weekday = np.where(kinds == 0, self.rhythm.weekday_of(groups, one_day)[:, 0], 1.0)
        special, unknown = self._specials(items, one_day)
        special = special[:, 0]
        priors = self._prior_levels(items)
        says = np.asarray(seen, np.int64)
        # Days without a line that are closed say nothing, and a special day of unknown effect is left out.
        says = np.where(unknown[:, 0] | ((units == 0) & ~self._is_open(items, one_day)[:, 0]), NOTHING, says)
        base = _slow_levels(self.beliefs, items, priors)
        settled = self.beliefs.exposure[items, -1] >= 4.0
        factors, imputed = season * weekday * special, np.zeros(items.size)
        sales = items, kinds, says, np.asarray(units, np.int64)
        kernels.demand_experts.learn_all(
            self.beliefs, self.shared, sales, (factors, priors), imputed, self._bins
        )
        counts = settled & (says != NOTHING)
        self._count(day, groups[counts], kinds[counts], imputed[counts], base[counts], season[counts], weekday[counts], special[counts])
        self._count_specials(day, items, settled & (np.asarray(seen) != NOTHING), units, base * season * weekday)

    def _count(
        self,
        day: int,
        groups: Longs,
        kinds: Longs,
        units: Floats,
        base: Floats,
        season: Floats,
        weekday: Floats,
        special: Floats,
    ) -> None:
        self.rhythm.count_week(day, groups, units, base * weekday * special)
        daily = kinds == 0
        if daily.any():
            self.rhythm.count_weekday(day, groups[daily], units[daily], (base * season * special)[daily])

    def _count_specials(self, day: int, items: Longs, counts: NDArray[np.bool_], units: Longs, expected: Floats) -> None:
        for line in self._lines_between(day, day + 7):
            touched = counts & self._touched(line, items) & self._is_in_period(line, items, day)
            if line.factor is None and touched.any():
                self.rhythm.count_special(line.day, line.name, float(units[touched].sum()), float(expected[touched].sum()))

    def _renew(self) -> None:
        """Make what items share, from all that was learned."""
        self.rhythm.renew()
        n = self._size
        kinds, groups = self._columns["kind"][:n], self._columns["group"][:n]
        settled = self.beliefs.periods[:n] >= SETTLED_PERIODS
        slow = _slow_levels(self.beliefs, np.arange(n), np.zeros(n))
        self._priors = np.zeros((2, len(self.rhythm.groups) + 1))
        for kind in (0, 1):
            mine = settled & (kinds == kind)
            if mine.any():
                self.shared.weights[kind] = self.beliefs.weights[:n][mine].mean(axis=0)
                self._priors[kind, -1] = np.median(slow[mine])
                for group in np.unique(groups[mine]):
                    self._priors[kind, group] = np.median(slow[mine & (groups == group)])
        self.shared.calibration[DAY_KIND, 1:] = np.cumsum(self._bins) / self._bins.sum()

    def _prior_levels(self, items: Longs) -> Floats:
        """Return the levels that items begin with: their group's, else that of all, else a share of the shelf."""
        chosen = self._columns[items]
        kinds = chosen["kind"]
        groups = np.minimum(chosen["group"], self._priors.shape[1] - 1)
        known = np.where(groups < self._priors.shape[1] - 1, self._priors[kinds, groups], 0.0)
        level = np.where(known > 0, known, self._priors[kinds, -1])
        capacity = chosen["sizes"][:, 0]
        first = np.where(capacity < NO_LIMIT, FIRST_SHARE * capacity, FIRST_LEVEL)
        return np.where(level > 0, level, first)

    # ---- the periods to come

    def _is_open(self, items: Longs, periods: Longs) -> NDArray[np.bool_]:
        """Return in which periods items are sold, (items, periods)."""
        found: dict[object, NDArray[np.bool_]] = {}
        by_item = any(line.sku and line.name == CLOSED_NAME for line in self.calendar.lines)
        rows = []
        for item in items.tolist():
            terms = self.terms[item]
            key = item if by_item else id(terms)
            if key not in found:
                found[key] = self.calendar.is_open(self.skus[item], terms, periods)
            rows.append(found[key])
        return np.array(rows, np.bool_).reshape(items.size, periods.size)

    def _may_order(self, items: Longs, periods: Longs) -> NDArray[np.bool_]:
        found: dict[int, NDArray[np.bool_]] = {}
        for item in items.tolist():
            terms = self.terms[item]
            if id(terms) not in found:
                found[id(terms)] = terms.order_days.may_order(periods, terms.period)
        return np.array([found[id(self.terms[item])] for item in items.tolist()], np.bool_)

    def _lines_between(self, first: int, last: int) -> list[SpecialDay]:
        return [line for line in self.calendar.lines if first <= line.day < last and line.name != CLOSED_NAME]

    def _touched(self, line: SpecialDay, items: Longs) -> NDArray[np.bool_]:
        if line.sku:
            return np.array([self.skus[item] == line.sku for item in items.tolist()], np.bool_)
        if line.group:
            return np.asarray(self._columns["group"][items] == self.rhythm.groups.get(line.group, -1))
        return np.ones(items.size, np.bool_)

    def _is_in_period(self, line: SpecialDay, items: Longs, day: int) -> NDArray[np.bool_]:
        lengths = np.where(self._columns["kind"][items] == 1, 7, 1)
        return np.asarray((day <= line.day) & (line.day < day + lengths))

    def _specials(self, items: Longs, periods: Longs) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the factors of special days, (items, periods), and where an effect is not known yet."""
        factors = np.ones((items.size, periods.size))
        unknown = np.zeros(factors.shape, np.bool_)
        for line in self._lines_between(int(periods[0]), int(periods[-1]) + 7):
            factor = line.factor if line.factor is not None else self.rhythm.effects.get(line.name)
            touched = self._touched(line, items)
            for place, day in enumerate(periods.tolist()):
                mine = touched & self._is_in_period(line, items, day)
                factors[mine, place] *= 1.0 if factor is None else factor
                unknown[mine, place] |= factor is None
        return factors, unknown

    def _factors(self, items: Longs, periods: Longs, kind: int) -> Floats:
        groups = self._columns["group"][items]
        factors = self.rhythm.season_of(groups, periods)
        if kind == 0:
            factors = factors * self.rhythm.weekday_of(groups, periods)
        factors = factors * self._specials(items, periods)[0]
        return np.where(self._is_open(items, periods), factors, 0.0)

    # ---- deciding

    def decide(self, day: int, items: Longs, stock: Longs, coming: Longs, until: int | None) -> Orders:
        """Return the orders of a morning. ``coming[n, j]`` arrives j + 1 periods later."""
        orders = Orders(np.zeros(items.size, np.int64), np.zeros(items.size), np.zeros(items.size, np.int8))
        kinds = self._columns["kind"][items]
        parts = []
        for kind in (0, 1):
            mine = np.flatnonzero(kinds == kind)
            parts += [mine[first : first + ITEMS_PER_THREAD] for first in range(0, mine.size, ITEMS_PER_THREAD)]

        def decide_some(part: Longs) -> None:
            task, method = self._task(day, items[part], stock[part], coming[part], until)
            order, cost, how = np.zeros(part.size, np.int64), np.zeros(part.size), np.zeros(part.size, np.int64)
            kernels.order_decisions.decide_all(
                self.beliefs, self.shared, task, self._uniforms, order, cost, how
            )
            orders.order[part], orders.cost[part] = order, cost
            orders.method[part] = np.where(method >= 0, method, np.where(how == 0, EXACT, SIMULATED))

        for outcome in ThreadEngine().map(decide_some, parts):
            if outcome.error is not None:
                raise outcome.error
        return orders

    def _task(
        self, day: int, items: Longs, stock: Longs, coming: Longs, until: int | None
    ) -> tuple[OrderTask, Longs]:
        """Return what to decide for items of one kind of period, and a method for those without an order."""
        chosen = self._columns[items]
        kind = int(chosen["kind"][0])
        step, period = (7, WEEK) if kind else (1, "day")
        priors, means = self._prior_levels(items), np.zeros(items.size)
        kinds = chosen["kind"].astype(np.int64)
        kernels.demand_experts.fill_mean_levels(self.beliefs, self.shared, items, kinds, priors, means)
        left = None if until is None else max(0, (period_of(until, period) - day) // step) + 1
        shapes = [self._horizons(self.terms[item], mean, left) for item, mean in zip(items.tolist(), means, strict=True)]
        horizons, cycles = np.array([shape[:2] for shape in shapes]), np.array([shape[2] for shape in shapes])
        periods = day + step * np.arange(int(horizons.max()))
        is_open, may_order = self._is_open(items, periods), self._may_order(items, periods)
        method = np.full(items.size, -1, np.int64)
        method[~may_order[:, 0]] = NO_ORDER_DAY
        method[~is_open[:, 0]] = CLOSED
        if left is not None:
            method[chosen["sizes"][:, 3] >= left] = TOO_LATE
        task = OrderTask(
            items=items,
            kinds=kinds,
            priors=priors,
            means=means,
            costs=np.ascontiguousarray(chosen["costs"]),
            sizes=np.ascontiguousarray(chosen["sizes"]),
            stock=np.asarray(stock, np.int64),
            coming=np.ascontiguousarray(coming, np.int64).reshape(items.size, -1),
            horizons=horizons,
            cycles=cycles,
            factors=self._factors(items, periods, kind),
            is_open=is_open.astype(np.uint8),
            may_order=(may_order & is_open).astype(np.uint8),
            shifts=_shifts(chosen["seed"], day, periods.size + 1),
        )
        return task, method

    def _horizons(self, terms: ItemTerms, mean: float, left: int | None) -> tuple[int, int, int]:
        """Return periods ahead of an exact plan and of paths, and how many repeat behind them."""
        if left is not None and left <= LONGEST_HORIZON - 1:
            return left, left, 0
        every = 7 if terms.order_days.weekdays else terms.order_days.every
        cycle = every if terms.period == WEEK else int(np.lcm(7, every))
        wait = cycle if terms.order_days.weekdays else every
        exact = cycle + (terms.lead_time + SEASON_AHEAD if terms.period == WEEK else 0)
        capacity = NO_LIMIT if terms.capacity is None else terms.capacity
        costs = terms.costs
        numbers = OrderTerms(
            costs.fixed, costs.unit, costs.lost_sale, costs.holding, capacity, terms.pack, terms.minimum, terms.lead_time
        )
        paths = horizon_needed(numbers, mean, wait)
        return min(exact, LONGEST_HORIZON - 1), min(paths, LONGEST_HORIZON - 1), cycle

    # ---- forecasts

    def forecast(self, day: int, items: Longs, periods: int, quantiles: Sequence[float]) -> Forecast:
        """Return the demand of the periods from a day on."""
        mean = np.zeros((items.size, periods))
        found = np.zeros((items.size, periods, len(quantiles)))
        for row, item in enumerate(items.tolist()):
            one = np.array([item], np.int64)
            kind = int(self._columns["kind"][item])
            coming = day + (7 if kind else 1) * np.arange(periods)
            factors, prior = self._factors(one, coming, kind)[0], self._prior_levels(one)[0]
            paths = np.zeros((N_PATHS, periods), np.int32)
            shifts = _shifts(self._columns["seed"][one], day, periods + 1)[0]
            kernels.demand_laws.fill_paths(
                self.beliefs, self.shared, item, kind, prior, factors, _uniforms(periods + 1), shifts, paths
            )
            mean[row] = paths.mean(axis=0)
            found[row] = np.quantile(paths, quantiles, axis=0, method="inverted_cdf").T
        return Forecast(mean, found)

    def describe(self, day: int, item: int) -> DemandSummary:
        """Return what is believed of an item's demand on a day."""
        one = np.array([item], np.int64)
        kind, level = int(self._columns["kind"][item]), np.zeros(1)
        kinds = np.array([kind], np.int64)
        priors = self._prior_levels(one)
        kernels.demand_experts.fill_mean_levels(self.beliefs, self.shared, one, kinds, priors, level)
        factor = self._factors(one, np.array([day]), kind)[0, 0]
        return DemandSummary(int(self.beliefs.periods[item]), float(level[0]), float(factor))

    # ---- snapshot

    def as_bytes(self) -> bytes:
        """Return the beliefs."""
        n = self._size
        header = json.dumps({"block": self._block, "rhythm": self.rhythm.as_json()}).encode()
        arrays = [*(array[:n] for array in self.beliefs), *self.shared, self._priors, self._bins]
        shapes = json.dumps([array.shape for array in arrays]).encode()
        sizes = b"".join(len(part).to_bytes(8, "little") for part in (header, shapes))
        return b"".join([sizes, header, shapes, *(np.ascontiguousarray(array).tobytes() for array in arrays)])

    def restore(self, content: bytes) -> None:
        """Take over beliefs about the items that were added. Others raise ValueError."""
        first, second = (int.from_bytes(content[place : place + 8], "little") for place in (0, 8))
        header = json.loads(content[16 : 16 + first])
        shapes = json.loads(content[16 + first : 16 + first + second])
        end, arrays = 16 + first + second, []
        kinds = [*(array.dtype for array in self.beliefs), *(array.dtype for array in self.shared), np.float64, np.int64]
        for kind, shape in zip(kinds, shapes, strict=True):
            size = int(np.prod(shape))
            arrays.append(np.frombuffer(content, kind, size, end).reshape(shape).copy())
            end += size * np.dtype(kind).itemsize
        if end != len(content) or len(arrays[0]) != self._size:
            raise ValueError("the beliefs do not fit the items")
        self._block, rhythm = header["block"], SharedRhythm.from_json(header["rhythm"])
        for group in self.rhythm.groups:
            rhythm.number(group)
        self.rhythm = rhythm
        n = len(self.beliefs)
        for mine, found in zip(self.beliefs, arrays[:n], strict=True):
            mine[: self._size] = found
        self.shared = Shared(*arrays[n : n + 2])
        self._priors, self._bins = arrays[n + 2], arrays[n + 3]
        for item in range(self._size):
            self._columns["group"][item] = self.rhythm.groups[self.terms[item].group]


_COLUMNS = np.dtype(
    [("kind", "<i4"), ("group", "<i8"), ("seed", "<u4"), ("costs", "<f8", (4,)), ("sizes", "<i8", (4,))]
)


def _new_columns(n: int) -> NDArray[np.void]:
    return np.zeros(n, _COLUMNS)


def _slow_levels(beliefs: Beliefs, items: Longs, priors: Floats) -> Floats:
    """Return the levels of the longest memory."""
    return np.asarray((beliefs.units[items, -1] + priors) / (beliefs.exposure[items, -1] + 1.0))


def _uniforms(columns: int = LONGEST_HORIZON) -> Floats:
    """Return uniform numbers by (path, column), each column of a few paths in a row spread evenly."""
    rng = np.random.default_rng(20)
    parts = []
    for _ in range(0, N_PATHS, PATHS_TOGETHER):
        ranks = rng.permuted(np.tile(np.arange(PATHS_TOGETHER), (columns, 1)), axis=1).T
        parts.append((ranks + rng.random((PATHS_TOGETHER, columns))) / PATHS_TOGETHER)
    return np.ascontiguousarray(np.concatenate(parts))


def _shifts(seeds: NDArray[np.uint32], day: int, columns: int) -> Floats:
    """Return a shift of each column for items on a day: seeds from item and date (splitmix64)."""
    state = (seeds.astype(np.uint64)[:, None] << np.uint64(20)) ^ np.uint64(day)
    with np.errstate(over="ignore"):
        state = state * np.uint64(0x9E3779B97F4A7C15) + np.arange(1, columns + 1, dtype=np.uint64) * np.uint64(
            0xD1342543DE82EF95
        )
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return np.asarray((state >> np.uint64(11)).astype(np.float64) / float(1 << 53))

"""A backtest: every rule on the same past, as if the sales in a file were the demand.

An item's first 60 days (26 weeks) are for learning and fitting, and scoring starts after them. Quantities are in
units. Each rule sees demand only as far as its own shelf reaches, unless ``RULES`` says otherwise.
"""

import functools
from collections.abc import Generator, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftmdp import engines
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.backtest_result import Backtest
from driftmdp.inventory.calendar_csv import SpecialDay, checked_calendar
from driftmdp.inventory.item_paths import ItemPath, by_day, evening_stock, period_costs
from driftmdp.inventory.items_csv import ItemSettings
from driftmdp.inventory.joint_rules import EngineRule, JointRule, MovingAverageRule, play
from driftmdp.inventory.ordering_rules import OURS, OWN, RULES, TOGETHER, Yardsticks, checked_rules
from driftmdp.inventory.own_orders import OwnOrders
from driftmdp.inventory.own_replay import first_ordinal, matched, own_remarks, replay_all
from driftmdp.inventory.past import past_of, scored_from
from driftmdp.inventory.periods import DAY, WEEK, OrderDays
from driftmdp.inventory.sales_history import Sales
from driftmdp.inventory.terms import ShopTerms, as_closed_days, parsed_setting
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.yardstick_rules import UnitTrace
from driftmdp.problems.inventory import Costs
from driftmdp.progress import Progress, as_progress, watched

BLOCK_PERIODS = {DAY: 14, WEEK: 4}  # in a row, whose mean cost is one sample for the interval of a single item


class RuleScore(NamedTuple):
    """A rule's sums over an item's scored periods, and what each block of them cost."""

    cost: float
    sold: int
    stock: int
    orders: int
    spoiled: int
    blocks: Floats


def backtest(
    sales: Sales,
    costs: Costs,
    capacity: int | None,
    lead_time: int = 0,
    pack: int | str = 1,
    rules: Sequence[str] = tuple(RULES),
    workers: int | None = None,
    progress: Progress | bool | None = None,
    engine: str = "threads",
    scheduler: str | None = None,
    *,
    minimum: int = 0,
    period: str = DAY,
    order_days: str = "every 1",
    closed_days: str = "",
    service: float | None = None,
    service_measure: str = "units",
    shelf_life: int | None = None,
    waste: float = 0.0,
    items: Iterable[ItemSettings] = (),
    calendar: Iterable[SpecialDay] = (),
    forecaster: str | None = None,
    own: OwnOrders | None = None,
) -> Backtest:
    """Let every rule order through the past.

    Parameters
    ----------
    sales
        What ``read_sales`` gave.
    costs
        Per unit, but for the fixed cost of an order. Per pack where packs are chosen (``"auto"``).
    capacity
        Units of each item, on the shelf and on their way. None is no limit. Packs where packs are chosen.
    lead_time
        Periods from an order to its arrival, 0 to 60. Closed days count.
    pack, minimum
        Orders are multiples of ``pack``, and at least ``minimum``. ``"auto"`` chooses each item's pack, see
        ``lot_size``.
    rules
        Which of ``RULES`` to try.
    workers
        Items at a time. By default one per core. It does not change the result.
    progress
        True shows progress in a terminal or a notebook. An object with ``begin``, ``advance`` and ``end`` is
        called. None and False are silent.
    engine, scheduler
        ``"threads"``, ``"processes"``, or ``"dask"`` for a cluster, whose scheduler has an address such as
        ``tcp://host:8786``. They do not change the result. Our rule, which learns from all items together, runs
        here.
    period, order_days, closed_days, service, service_measure, shelf_life, waste, forecaster
        As in ``Shop.create``. Weekdays on which no item ever sold are closed too.
    items, calendar
        What items have of their own (``read_items``), and special days (``read_calendar``).
    own
        What was really ordered or held (``read_own``). What it cost becomes one more row, called ``own``, on the
        same sales and periods. Items and days that it does not have are left out. See ``own_replay``.

    Examples
    --------
    >>> from driftmdp.inventory import Costs, Sales, Series, backtest
    >>> import numpy as np
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> units = np.random.default_rng(7).poisson(4, 120)
    >>> result = backtest(Sales((Series("A", dates, units),)), Costs(), capacity=20)
    >>> result.ratio("driftmdp", "face-value").estimate < 1.1
    True
    """
    if not isinstance(sales, Sales) or not sales.series:
        raise InvalidInputError(f"sales must have at least one item; got {sales!r}. Use read_sales(path).")
    if len({series.sku for series in sales.series}) < len(sales.series):
        raise InvalidInputError("sales must have one series for each item; two have the same name.")
    watcher, names = as_progress(progress, "steps"), checked_rules(rules)
    days = parsed_setting("order_days", OrderDays.parse, order_days)
    closed = parsed_setting("closed_days", as_closed_days, closed_days)
    served, spoils = (service, service_measure), {"shelf_life": shelf_life, "waste": waste}
    shop = ShopTerms(costs, capacity, pack, minimum, lead_time, period, days, closed, *served, **spoils)
    past = past_of(sales if own is None else matched(sales, own), shop, items, checked_calendar(calendar))
    past = past if own is None else scored_from(past, first_ordinal(own))
    replays = [] if own is None else replay_all(own, past.paths)
    alone = [name for name in names if name not in TOGETHER]
    joint = {name: _joint_rule(name, past.paths, past.calendar, forecaster) for name in names if name in TOGETHER}
    total = (len(past.paths) if alone else 0) + len(joint) * len(by_day(past.paths))
    work = _Work(past.paths, alone, joint)
    for _ in watched(
        work.run(engines.make(engine, workers, scheduler)), total, watcher, every=0.05 if joint else 0.0
    ):
        pass
    remarks = past.remarks
    if own is not None:
        names = *names, OWN
        remarks = *remarks, *own_remarks(own, replays, past.paths)
        for scores, path, each in zip(work.scores, past.paths, replays, strict=True):
            scores[OWN] = score(path, each.trace)
    return Backtest(
        past.shop,
        names,
        tuple(path.sku for path in past.paths),
        packs=np.array([path.terms.pack for path in past.paths]),
        **_columns(names, past.paths, work.scores),
        remarks=remarks,
        series=past.series,
        paths=past.paths,
        ours=tuple(work.traces.get(OURS, ())),
        calendar=past.calendar,
        forecaster=forecaster,
        own=tuple(replays),
    )


def _joint_rule(
    name: str, paths: Sequence[ItemPath], calendar: Sequence[SpecialDay], forecaster: str | None
) -> JointRule:
    return EngineRule(paths, calendar, forecaster) if name == OURS else MovingAverageRule(paths)


class _Work:
    """The rules of a backtest, one item after another where they look at one only, else day by day.

    ``scores[item][rule]`` and ``traces[rule][item]``, the second of joint rules, are there after ``run``.
    """

    def __init__(self, paths: Sequence[ItemPath], alone: Sequence[str], joint: dict[str, JointRule]) -> None:
        self._paths, self._alone, self._joint = paths, tuple(alone), joint
        self.scores: list[dict[str, RuleScore]] = [{} for _ in paths]
        self.traces: dict[str, list[UnitTrace]] = {}

    def run(self, engine: engines.Engine) -> Generator[None, None, None]:
        """Yield after each step."""
        if self._alone:
            for outcome in engine.map(functools.partial(_score_yardsticks, self._alone), self._paths):
                if outcome.error is not None:
                    raise outcome.error
                self.scores[outcome.index].update(outcome.value)
                yield
        for name, rule in self._joint.items():
            self.traces[name] = yield from play(rule, self._paths)
            for scores, path, trace in zip(self.scores, self._paths, self.traces[name], strict=True):
                scores[name] = score(path, trace)


def _score_yardsticks(names: Sequence[str], path: ItemPath) -> dict[str, RuleScore]:
    rules = Yardsticks(path)
    return {name: score(path, rules.follow(name)) for name in names}


def score(path: ItemPath, trace: UnitTrace) -> RuleScore:
    """Return a rule's sums over an item's scored periods."""
    scored = slice(path.scored, None)
    demand, on_sale = path.demand[scored], trace.on_sale[scored]
    paid = period_costs(path, trace)[scored]
    sold, left = np.minimum(demand, on_sale), evening_stock(path, trace)[scored]
    starts = _block_starts(paid.size, path.terms.period)
    orders = int((trace.orders[scored] > 0).sum())
    units = int(sold.sum()), int(left.sum()), orders, int(trace.spoiled[scored].sum())
    return RuleScore(float(paid.sum()), *units, np.add.reduceat(paid, starts))


def _block_starts(periods: int, period: str) -> Longs:
    """Return where blocks of periods begin. The last one takes those that are left over."""
    size = BLOCK_PERIODS[period]
    return np.arange(0, max(1, periods - size + 1), size)


def _columns(
    names: Sequence[str], paths: Sequence[ItemPath], scores: Sequence[dict[str, RuleScore]]
) -> dict[str, Any]:
    """Return the fields of a ``Backtest`` that are sums."""
    found: dict[str, Any] = {
        field: np.array([[each[name][place] for each in scores] for name in names])
        for place, field in enumerate(RuleScore._fields[:-1])
    }
    found["periods"] = np.array([path.days.size - path.scored for path in paths])
    found["demand"] = np.array([path.demand[path.scored :].sum() for path in paths])
    blocks = []
    for path, each in zip(paths, scores, strict=True):
        n = path.days.size - path.scored
        sizes = np.diff(np.append(_block_starts(n, path.terms.period), n))
        blocks.append(np.vstack([*(each[name].blocks for name in names), sizes]))
    return found | {"blocks": tuple(blocks)}

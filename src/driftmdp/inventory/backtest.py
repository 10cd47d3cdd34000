"""A backtest: every rule on the same past, as if the sales in a file were the demand.

An item's first 60 days (26 weeks) are for learning and fitting, and scoring starts after them. Quantities are in
units. Each rule sees demand only as far as its own shelf reaches, unless ``RULES`` says otherwise.
"""

import functools
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import numpy as np

from driftmdp import engines
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.backtest_result import Backtest
from driftmdp.inventory.calendar_csv import SpecialDay, checked_calendar
from driftmdp.inventory.item_paths import ItemPath, by_day
from driftmdp.inventory.items_csv import ItemSettings
from driftmdp.inventory.joint_rules import EngineRule, JointRule, MovingAverageRule, each_alone, finished, play
from driftmdp.inventory.lowest_cost import has_bound, lowest_cost
from driftmdp.inventory.ordering_rules import (
    ALONE,
    MOVING_AVERAGE,
    OURS,
    OWN,
    RULES,
    TOGETHER,
    Yardsticks,
    checked_rules,
)
from driftmdp.inventory.own_orders import OwnOrders
from driftmdp.inventory.own_replay import first_ordinal, matched, own_remarks, replay_all
from driftmdp.inventory.past import past_of, scored_from
from driftmdp.inventory.periods import DAY, OrderDays
from driftmdp.inventory.sales_history import Sales
from driftmdp.inventory.scores import RuleScore, block_starts, score_all
from driftmdp.inventory.supplier_charges import groups_of
from driftmdp.inventory.suppliers import Supplier
from driftmdp.inventory.terms import ShopTerms, as_closed_days, parsed_setting
from driftmdp.inventory.yardstick_play import YardstickRule
from driftmdp.kernels.yardstick_rules import UnitTrace
from driftmdp.problems.inventory import Costs
from driftmdp.progress import Progress, as_progress, watched


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
    suppliers: Iterable[Supplier] = (),
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
    suppliers
        Suppliers' terms (``read_suppliers``), of items that name one. What an order there costs is charged once per
        period under every rule, see ``supplier_charges``. One that must reach a minimum is filled up, see
        ``supplier_minima``. There is one more row, ``alone``: our rule with each item planned alone.

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
    served: tuple[float | None, str] = (service, service_measure)
    shop = ShopTerms(
        costs, capacity, pack, minimum, lead_time, period, days, closed, *served, shelf_life=shelf_life, waste=waste
    )
    past = past_of(
        sales if own is None else matched(sales, own), shop, items, checked_calendar(calendar), suppliers
    )
    past = past if own is None else scored_from(past, first_ordinal(own))
    is_shared = any(not path.terms.shared_order.is_alone for path in past.paths)
    if is_shared and OURS in names:
        names = tuple(dict.fromkeys([*names[: names.index(OURS) + 1], ALONE, *names]))
    replays = [] if own is None else replay_all(own, past.paths)
    apart = [name for name in names if name not in TOGETHER]
    joint = {name: _joint_rule(name, past.paths, past.calendar, forecaster) for name in names if name in TOGETHER}
    work = _Work(past.paths, apart, joint, is_shared)
    for _ in watched(
        work.run(engines.make(engine, workers, scheduler)), work.steps, watcher, every=0.05 if joint else 0.0
    ):
        pass
    remarks = past.remarks
    if own is not None:
        names = *names, OWN
        remarks = *remarks, *own_remarks(own, replays, past.paths)
        work.add_scores(OWN, range(len(past.paths)), score_all(past.paths, [each.trace for each in replays]))
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
        lowest=work.lowest,
    )


def _joint_rule(
    name: str, paths: Sequence[ItemPath], calendar: Sequence[SpecialDay], forecaster: str | None
) -> JointRule:
    if name == MOVING_AVERAGE:
        return MovingAverageRule(paths)
    return EngineRule(paths if name == OURS else list(map(each_alone, paths)), calendar, forecaster)


class _Work:
    """The rules of a backtest: by supplier where they look at one item only, else day by day.

    ``scores[item][rule]``, ``traces[rule][item]`` of joint rules, and ``lowest`` are there after ``run``.
    """

    def __init__(
        self, paths: Sequence[ItemPath], apart: Sequence[str], joint: dict[str, JointRule], has_lowest: bool
    ) -> None:
        self._paths, self._apart, self._joint = paths, tuple(apart), joint
        self._groups = groups_of(paths) if apart or has_lowest else []
        self._has_lowest = has_lowest and all(has_bound(path.terms) for path in paths)
        self.steps = len(self._groups) + len(joint) * len(by_day(paths))
        self.scores: list[dict[str, RuleScore]] = [{} for _ in paths]
        self.traces: dict[str, list[UnitTrace]] = {}
        self._lowest = np.zeros(len(self._groups))

    @property
    def lowest(self) -> float | None:
        """The lower bound, or None."""
        return float(self._lowest.sum()) if self._has_lowest else None

    def run(self, engine: engines.Engine) -> Generator[None, None, None]:
        """Yield after each step."""
        groups = [[self._paths[item] for item in group] for group in self._groups]
        for outcome in engine.map(functools.partial(_play_group, self._apart, self._has_lowest), groups):
            if outcome.error is not None:
                raise outcome.error
            scores, lowest = outcome.value
            for name, found in scores.items():
                self.add_scores(name, self._groups[outcome.index], found)
            self._lowest[outcome.index] = lowest
            yield
        for name, rule in self._joint.items():
            self.traces[name] = yield from play(rule, self._paths)
            self.add_scores(name, range(len(self._paths)), score_all(self._paths, self.traces[name]))

    def add_scores(self, name: str, items: Sequence[int], found: Sequence[RuleScore]) -> None:
        """Add a rule's scores of some items."""
        for item, score in zip(items, found, strict=True):
            self.scores[item][name] = score


def _play_group(
    names: Sequence[str], has_lowest: bool, paths: Sequence[ItemPath]
) -> tuple[dict[str, list[RuleScore]], float]:
    """Return the scores of rules that look at one item only, and the lowest cost if it is wanted."""
    if paths[0].terms.shared_order.has_minimum:
        traces = {name: finished(play(YardstickRule(name, paths), paths)) for name in names}
    else:
        rules = [Yardsticks(path) for path in paths]
        traces = {name: [each.follow(name) for each in rules] for name in names}
    scores = {name: score_all(paths, found) for name, found in traces.items()}
    return scores, lowest_cost(paths) if has_lowest else 0.0


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
        sizes = np.diff(np.append(block_starts(n, path.terms.period), n))
        blocks.append(np.vstack([*(each[name].blocks for name in names), sizes]))
    return found | {"blocks": tuple(blocks)}

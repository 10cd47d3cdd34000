"""What a backtest found and what it assumes, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from driftmdp.display import counted
from driftmdp.inventory import RULES, Backtest
from driftmdp.inventory.backtest import BLOCK_DAYS
from driftmdp.inventory.sales_history import WARM_UP
from driftmdp.report.backtest.view import SEES, cost_ratio, followable, ordered, ours
from driftmdp.report.text import interval_text, number
from driftmdp.statistics import Interval

FEW = 10  # samples, below which an interval is too narrow


def title(backtest: Backtest) -> str:
    """Return the title of the report."""
    days = int(backtest.days.sum())
    if len(backtest.skus) == 1:
        return f"Inventory backtest: 1 item, {counted(days, 'day')}"
    return f"Inventory backtest: {len(backtest.skus):,} items, {days:,} item-days"


def estimate_text(found: Interval) -> str:
    """Return an estimate with its interval, if there is one.

    Examples
    --------
    >>> estimate_text(Interval(1.5, float("nan"), float("nan"), 0.95)), estimate_text(Interval(1.5, 1, 2, 0.95))
    ('1.5', '1.50 [1.00, 2.00]')
    """
    return number(found.estimate) if math.isnan(found.low) else interval_text(found)


def percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.73045)
    '73.0%'
    """
    return f"{100 * share:.1f}%"


def compared(found: Interval) -> str:
    """Return a ratio of costs as how much more or less, with its interval.

    Examples
    --------
    >>> compared(Interval(1.018, 1.012, 1.023, 0.95))
    '1.8% more [1.2% to 2.3%] than'
    >>> compared(Interval(0.99, 0.97, 1.01, 0.95))
    '1.0% less [3.0% less to 1.0% more; too close to call] than'
    """
    certain = math.isnan(found.low) or found.low == found.high
    if certain and found.estimate == 1:
        return "exactly as much as"
    estimate = _more(found.estimate)
    if certain:
        return f"{estimate} than"
    if found.low <= 1 <= found.high:
        return f"{estimate} [{_more(found.low)} to {_more(found.high)}; too close to call] than"
    nearer, further = sorted((found.low, found.high), key=lambda ratio: abs(ratio - 1))
    return f"{estimate} [{_more(nearer).split()[0]} to {_more(further).split()[0]}] than"


def _more(ratio: float) -> str:
    if not math.isfinite(ratio):
        return "without bound more" if ratio > 0 else "without bound less"
    return f"{100 * abs(ratio - 1):,.1f}% {'less' if ratio < 1 else 'more'}"


def findings(backtest: Backtest) -> str:
    """Return what was found: our cost by itself, and against every other rule."""
    us, name = ours(backtest), RULES[ours(backtest)]
    cost = backtest.cost_per_day(us)
    each = "a day" if len(backtest.skus) == 1 else "per item and day"
    brackets = "" if math.isnan(cost.low) else " (95% intervals in brackets)"
    said = [f"{name[0].upper()}{name[1:]} cost {estimate_text(cost)} {each}{brackets}."]
    others = [rule for rule in ordered(backtest) if rule != us]
    like_us = [rule for rule in others if followable(rule)]
    unlike_us = [rule for rule in others if not followable(rule)]
    if like_us:
        said.append(f"Against rules that a shop could follow as well: {_against(backtest, like_us)}.")
    if unlike_us:
        said.append(f"Against rules that see what no shop can see: {_against(backtest, unlike_us)}.")
    said.append(_service(backtest, us))
    return " ".join(said)


def _against(backtest: Backtest, others: Sequence[str]) -> str:
    told = []
    for other in others:
        found = cost_ratio(backtest, ours(backtest), other)
        name = f"the {RULES[other]}"
        told.append(f"{compared(found)} {name}" if found else f"no ratio, as {name} cost nothing")
    return "; ".join(told)


def _service(backtest: Backtest, rule: str) -> str:
    if not backtest.demand.any():
        return "There was no demand on the scored days."
    return (
        f"It served {percent(backtest.service_level(rule))} of the demand, with "
        f"{number(backtest.average_stock(rule), 3)} lots on the shelf in an evening on average, and placed "
        f"{counted(backtest.orders_placed(rule), 'order')}."
    )


def assumptions(backtest: Backtest) -> str:
    """Return what is assumed of costs, shelf, lots and demand."""
    costs = backtest.costs
    arrival = {0: "at once", 1: "a day later"}.get(backtest.lead_time, f"{backtest.lead_time} days later")
    return " ".join(
        [
            f"Assumed: an order costs {number(costs.fixed)}, and {number(costs.unit)} for each lot in it; a "
            f"lost sale costs {number(costs.lost_sale)} a lot, and a lot left in an evening "
            f"{number(costs.holding)}.",
            f"The shelf of an item holds {counted(backtest.capacity, 'lot')}; an order arrives {arrival}.",
            _lots(backtest),
            "The sales in the file are taken for the demand: where the shop's own shelf was empty, demand was "
            "higher than is known here.",
            "Each rule starts with an empty shelf; what its shelf cannot serve is lost.",
            f"The first {WARM_UP} days of an item are for learning and are not scored.",
        ]
    )


def _lots(backtest: Backtest) -> str:
    low, high = int(backtest.lots.min()), int(backtest.lots.max())
    if high == 1:
        return "A lot is one unit."
    size = counted(low, "unit") if low == high else f"{low:,} to {high:,} units"
    return f"A lot is {size}{'' if low == high else ', by item'}; each day's demand is rounded to whole lots."


def sight(backtest: Backtest) -> str:
    """Return which rules see what no shop can see."""
    unfair = [rule for rule in ordered(backtest) if not followable(rule)]
    if not unfair:
        return "Each rule sees only its own sales."
    told = "; ".join(f"the {RULES[rule]} ({SEES[rule]})" for rule in unfair)
    return (
        f"Yardsticks, which see what no shop can: {told}. They see demand also where an empty shelf would hide "
        "it. Every other rule sees only its own sales."
    )


def intervals(backtest: Backtest) -> str:
    """Return what the intervals resample, and what they leave out."""
    n, what = len(backtest.skus), "item"
    said = [
        "Intervals of totals and ratios resample items, all rules on the same ones; those of a single item "
        f"resample its fortnights ({BLOCK_DAYS} days).",
        "They say how much depends on which items were tried, not how another year would be.",
    ]
    if n == 1:
        n, what = backtest.blocks[0].shape[1], "fortnight"
        said = [f"Intervals resample the item's fortnights ({BLOCK_DAYS} days)."]
    if n == 1:
        return f"There are no intervals: they take at least two fortnights ({2 * BLOCK_DAYS} days) to resample."
    if n < FEW:
        said.append(f"With {n} {what}s they are narrower than they should be.")
    return " ".join(said)

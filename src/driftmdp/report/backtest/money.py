"""The first sentence of a backtest: what was paid, and what our rule would have cost."""

import math

from driftmdp.display import counted
from driftmdp.inventory import Backtest
from driftmdp.inventory.ordering_rules import MOVING_AVERAGE, OURS, OWN, TITLES
from driftmdp.report.backtest.comparison import cost_by_item, cost_ratio, ours
from driftmdp.report.backtest.text import comparison_text, percent
from driftmdp.report.text import number

DIGITS = 3  # of the larger sum, or more where they would hide the difference
ALIKE = 0.0005  # of the larger sum: a difference below is none
USUAL = {  # rules that are compared with where own orders are not given, the first of these that was tried
    "face-value": "fitting a rule to sales every morning",
    MOVING_AVERAGE: "a moving average",
    "base-stock": "a base stock",
}


def money_sentence(backtest: Backtest) -> str:
    """Return what our rule would have cost: beside what the shop paid, else beside a usual rule.

    Examples
    --------
    >>> from driftmdp.report.backtest import money_sentence
    >>> import numpy as np
    >>> from driftmdp.inventory import OwnOrders, OwnSeries, Sales, Series, backtest
    >>> from driftmdp.problems.inventory import Costs
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> sales = Sales((Series("A", dates, np.full(120, 4)),))
    >>> own = OwnOrders((OwnSeries("A", dates, ordered=np.full(120, 4)),))
    >>> money_sentence(backtest(sales, Costs(), capacity=20, own=own)).split(";")[0]
    'In 60 days you paid about 360'
    """
    return _beside_own(backtest) if OWN in backtest.rules else _beside_usual(backtest)


def _beside_own(backtest: Backtest) -> str:
    us = ours(backtest)
    paid, cost = (float(cost_by_item(backtest, rule).sum()) for rule in (OWN, us))
    sentence = paid_text(paid, cost, counted(backtest.scored_periods(), backtest.terms.period), _name(us))
    found = cost_ratio(backtest, us, OWN)
    is_close = found is not None and found.low <= 1 <= found.high and found.low < found.high
    return f"{sentence} That is too close to call." if is_close else sentence


def money_caveats(backtest: Backtest) -> list[str]:
    """Return what the first sentence cannot know, or leaves out, a sentence each.

    Examples
    --------
    >>> from driftmdp.report.backtest import money_caveats
    >>> import numpy as np
    >>> from driftmdp.inventory import OwnOrders, OwnSeries, Sales, Series, backtest
    >>> from driftmdp.problems.inventory import Costs
    >>> dates = np.datetime64("2026-01-01") + np.arange(120)
    >>> sales = Sales((Series("A", dates, np.full(120, 4)),))
    >>> own = OwnOrders((OwnSeries("A", dates, stock=np.full(120, 4)),))
    >>> money_caveats(backtest(sales, Costs(), capacity=20, own=own))
    ['What customers wanted beyond the 60 sold-out days is not in it.']
    """
    sentences = []
    if backtest.own and backtest.terms.service is not None:
        share = percent(backtest.service_level(ours(backtest)))
        sentences.append(f"It would have served {share} of what you sold, and its lost sales are not in the cost.")
    if start := sum(each.start for each in backtest.own if not each.is_counted):  # too much, if orders are missing
        units = counted(start, "unit")
        sentences.append(
            f"Your stock is worked out from your orders, and begins with {units}: a count would be surer."
        )
    if sold_out := sum(each.sold_out for each in backtest.own):
        days = counted(sold_out, f"sold-out {backtest.terms.period}")
        of_items = " of items" if len(backtest.skus) > 1 else ""
        sentences.append(f"What customers wanted beyond the {days}{of_items} is not in it.")
    return sentences


def _name(rule: str) -> str:
    return "this" if rule == OURS else f"the {TITLES[rule]}"


def paid_text(paid: float, cost: float, time: str, name: str = "this") -> str:
    """Return what was paid and what a rule would have cost, in round numbers.

    Examples
    --------
    >>> from driftmdp.report.backtest.money import paid_text
    >>> paid_text(12_412.3, 11_093, "305 days")
    'In 305 days you paid about 12,400; this would have cost about 11,100.'
    >>> paid_text(12_412.3, 12_709, "305 days")
    'In 305 days you paid about 12,400; this would have cost about 300 more.'
    >>> paid_text(12_412.3, 12_390, "305 days")
    'In 305 days you paid about 12,410; this would have cost about 12,390.'
    """
    difference, larger = abs(paid - cost), max(paid, cost)
    if difference <= ALIKE * larger:
        return (
            f"In {time} you paid about {_rounded(paid, _exponent(larger))}; {name} would have cost about as much."
        )
    exponent = min(_exponent(larger), math.floor(math.log10(difference / 2)))
    more = f"{_rounded(cost - paid, exponent)} more" if cost > paid else _rounded(cost, exponent)
    return f"In {time} you paid about {_rounded(paid, exponent)}; {name} would have cost about {more}."


def _exponent(sum_of_money: float) -> int:
    """Return the power of ten of the last digit that is shown."""
    return math.floor(math.log10(sum_of_money)) + 1 - DIGITS if sum_of_money > 0 else 0


def _rounded(value: float, exponent: int) -> str:
    return f"{round(value, -exponent):,.{max(0, -exponent)}f}"


def _beside_usual(backtest: Backtest) -> str:
    """Return what a period of all items costs with our rule, and how much less or more than a usual rule."""
    us, n_items = ours(backtest), len(backtest.skus)
    items = "this item" if n_items == 1 else f"these {n_items:,} items"
    total = number(backtest.total_per_period(us), 4)
    sentence = f"With {TITLES[us]}, {items} would have cost {total} per {backtest.terms.period}"
    other = next((rule for rule in USUAL if rule in backtest.rules and rule != us), None)
    found = None if other is None else cost_ratio(backtest, us, other)
    if other is None or found is None:
        return f"{sentence}."
    brackets = "" if math.isnan(found.low) else " (in brackets, as everywhere here, the 95% interval)"
    return f"{sentence}, {comparison_text(found)} {USUAL[other]}{brackets}."

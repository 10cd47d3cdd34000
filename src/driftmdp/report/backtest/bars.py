"""The first picture of a backtest: what every rule would have cost, as bars."""

from driftmdp.display import counted
from driftmdp.inventory import Backtest
from driftmdp.inventory.ordering_rules import OWN, TITLES
from driftmdp.report.backtest.comparison import cost_by_item, followable, ordered, ours
from driftmdp.report.content import Bar, BarChart
from driftmdp.report.text import number


def cost_bars(backtest: Backtest) -> BarChart:
    """Return each rule's cost of all items over the scored periods: own orders first, then ours."""
    rules = sorted(ordered(backtest), key=lambda rule: (rule != OWN, not followable(rule)))
    costs = {rule: float(cost_by_item(backtest, rule).sum()) for rule in rules}
    longest = max(costs.values()) or 1.0
    bars = [Bar(TITLES[rule], number(cost), cost / longest, _kind(backtest, rule)) for rule, cost in costs.items()]
    time = counted(backtest.scored_periods(), backtest.terms.period)
    caption = f"What {counted(len(backtest.skus), 'item')} would have cost in {time}, by rule."
    if not all(map(followable, rules)):
        caption += " Dashed: rules that see what no shop can see."
    return BarChart("cost", caption, bars)


def _kind(backtest: Backtest, rule: str) -> str:
    if rule in (OWN, ours(backtest)):
        return "own" if rule == OWN else "ours"
    return "" if followable(rule) else "pale"

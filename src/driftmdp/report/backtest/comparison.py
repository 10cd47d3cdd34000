"""How the rules of a backtest compare: which one the report is about, their order, and their cost ratios."""

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory import Backtest
from driftmdp.inventory.ordering_rules import ALONE, MOVING_AVERAGE, OURS, OWN, TITLES
from driftmdp.statistics import Interval

HINDSIGHT = "hindsight"
OWN_SALES = "its own sales"
SEES = {
    OURS: OWN_SALES,
    ALONE: OWN_SALES,
    "hindsight": "all periods, in advance",
    "first-60": "the demand of the periods before scoring",
    "face-value": OWN_SALES,
    "uncensored": "the demand of the last periods",
    "base-stock": OWN_SALES,
    MOVING_AVERAGE: OWN_SALES,
    OWN: OWN_SALES,
}
MAX_ITEMS_SHOWN = 200


def ours(backtest: Backtest) -> str:
    """Return the rule that the report is about: driftmdp, or the first rule if it was not tried."""
    return OURS if OURS in backtest.rules else backtest.rules[0]


def ordered(backtest: Backtest) -> list[str]:
    """Return the rules, ours first, then as in ``TITLES``."""
    return sorted(backtest.rules, key=lambda rule: (rule != ours(backtest), list(TITLES).index(rule)))


def rival(backtest: Backtest) -> str | None:
    """Return the rule that items are sorted against: hindsight, else the next in order, else None."""
    others = ordered(backtest)[1:]
    return HINDSIGHT if HINDSIGHT in others else next(iter(others), None)


def followable(rule: str) -> bool:
    """Return whether a shop could follow a rule, because it needs nothing but its own sales."""
    return SEES[rule] == OWN_SALES


def served(backtest: Backtest, rule: str, sku: str | None = None) -> float | None:
    """Return the share of the demand that a rule served, or None for own orders: their demand is what they sold."""
    return None if rule == OWN else backtest.service_level(rule, sku)


def cost_by_item(backtest: Backtest, rule: str) -> NDArray[np.float64]:
    """Return the total cost of a rule, per item."""
    return np.asarray(backtest.cost[backtest.rules.index(rule)])


def cost_ratio(backtest: Backtest, rule: str, other: str) -> Interval | None:
    """Return a rule's total cost over another's, or None where the other cost nothing."""
    return backtest.ratio(rule, other) if cost_by_item(backtest, other).any() else None


def item_ratios(backtest: Backtest, other: str) -> NDArray[np.float64]:
    """Return our cost over another rule's per item, sorted, without items that cost the other nothing."""
    mine, theirs = cost_by_item(backtest, ours(backtest)), cost_by_item(backtest, other)
    return np.sort(mine[theirs > 0] / theirs[theirs > 0])


def losses(backtest: Backtest) -> NDArray[np.float64]:
    """Return how much more a period of each item cost with our rule than with the rival, or our cost alone."""
    other, mine = rival(backtest), cost_by_item(backtest, ours(backtest))
    theirs = np.zeros_like(mine) if other is None else cost_by_item(backtest, other)
    return np.asarray((mine - theirs) / backtest.periods)


def items_shown(backtest: Backtest) -> list[int]:
    """Return the indices of the items to show: all, or the 200 whose costs differ most, sorted by that."""
    if len(backtest.skus) <= MAX_ITEMS_SHOWN:
        return list(range(len(backtest.skus)))
    return [int(item) for item in np.argsort(-np.abs(losses(backtest)), kind="stable")[:MAX_ITEMS_SHOWN]]

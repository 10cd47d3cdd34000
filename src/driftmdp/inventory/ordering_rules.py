"""Ordering rules along the past of items: ours, and the yardsticks.

==============  ===========================================================================================
driftmdp        ours, `inventory.order_engine`: from its own censored sales only
hindsight       the (s, S) that turned out cheapest on the scored periods
first-60        the (s, S) fitted once, to the demand of the periods before scoring
face-value      (s, S) fitted every morning to the last 60 days of sales, as if they were the demand
uncensored      the same, fitted to the demand itself, which no shop can see
base-stock      up to the quantile (l - c) / (l - c + h) of the last 60 days' sales (newsvendor)
moving-average  up to 13 periods' mean sales without season, times the coming season (VN2's benchmark)
==============  ===========================================================================================

To fit means: least average cost if demand is drawn at random from these periods. Levels s < S are whole packs. Up
to a capacity of 40 packs all of them are tried, beyond that a grid of 40, whose best is refined. A rule that is
fitted every morning looks near the levels of the day before. An (s, S) rule adds up stock and orders on their way.
When the sum is s or less, it orders the most packs that do not exceed S. With a service target, the levels are the
cheapest that reach it. In weeks, 26 take the place of 60 days.

An order to a supplier costs what it costs once, whatever is in it. Only ours plans a supplier's items together.
With suppliers there is a rule ``alone`` too, ours for each item alone. It and the yardsticks plan as if each order
of an item paid the whole.

Every rule begins with an empty shelf. Until an item was on sale for 14 periods, rules that are fitted every morning
keep plenty: the demand of lead time + 2 periods, each like the largest of the first 14. Without a capacity, so does
ours.

Goods that spoil are fitted with their shelf life and the cost of waste. A newsvendor's unit left over costs its
holding and, with a life of n, one n-th of its price and waste in place of as much holding.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from driftmdp import kernels
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.item_paths import (
    FIT_PERIODS,
    ItemPath,
    fit_calendar,
    lead_in_open_periods,
    longest_wait,
    order_terms,
    service_target,
)
from driftmdp.inventory.sales_history import warm_up
from driftmdp.kernels.yardstick_rules import MOST_LEVELS, FitDraws, UnitTrace, new_buffers, new_unit_trace
from driftmdp.validation import one_of

OURS, ALONE, MOVING_AVERAGE, OWN = "driftmdp", "alone", "moving-average", "own"
RULES: Mapping[str, str] = MappingProxyType(
    {
        OURS: "driftmdp",
        "hindsight": "best fixed (s, S) in hindsight",
        "first-60": "(s, S) fitted once, before scoring",
        "face-value": "rolling (s, S), sales at face value",
        "uncensored": "rolling (s, S), uncensored demand",
        "base-stock": "base-stock newsvendor",
        MOVING_AVERAGE: "moving average with season",
    }
)
TITLES: Mapping[str, str] = MappingProxyType(
    {OURS: RULES[OURS], ALONE: "driftmdp, each item planned alone", **RULES, OWN: "your own orders"}
)
TOGETHER = (OURS, ALONE, MOVING_AVERAGE)  # rules that learn from all items at once


class Yardsticks:
    """The rules that look at one item only, for one item.

    Parameters
    ----------
    path
        The item's past.
    scored
        The first period that is scored. By default that of the path.

    Attributes
    ----------
    path
        The item's past.
    window, wait
        The periods that a rolling rule looks back, and the most from one order day to the next.
    terms, target
        The item's, as kernels take them.
    draws
        What (s, S) rules are fitted on.
    """

    def __init__(self, path: ItemPath, scored: int | None = None) -> None:
        self.path, self._periods = path, path.for_kernel
        self.window = warm_up(path.terms.period)
        self._scored = min(path.scored if scored is None else scored, path.days.size)
        calendar = fit_calendar(int(path.days[0]), path.terms)
        self.wait = longest_wait(calendar)
        self.terms = order_terms(path.terms, lead_in_open_periods(calendar))
        self.target = service_target(path.terms)
        dice = np.random.default_rng(0).random(FIT_PERIODS)
        self.draws = FitDraws(dice, calendar, new_buffers(FIT_PERIODS))
        self._buffers = new_buffers(path.days.size)

    def follow(self, rule: str) -> UnitTrace:
        """Return what a rule does along the path."""
        rules, trace = kernels.yardstick_rules, new_unit_trace(self.path.days.size)
        buffers = np.zeros(self.path.days.size, np.int64), self._buffers, trace
        if rule == "base-stock":
            sums = np.zeros(self.window + 2, np.int64)
            spans = self.window, self.wait, self.ratio()
            rules.roll_base_stock(self._periods, self.terms, *spans, buffers[0], sums, *buffers[1:])
        elif rule in ("hindsight", "first-60"):
            levels = self.levels_in_hindsight() if rule == "hindsight" else self.levels_of_first()
            rules.follow_levels(self._periods, self.terms, levels, self._buffers, trace)
        else:
            how = self.window, self.wait, rule == "face-value", self.draws
            rules.roll_levels(self._periods, self.terms, self.target, *how, *buffers)
        return trace

    def levels_in_hindsight(self) -> tuple[int, int]:
        """Return the (s, S) that costs least on the scored periods, in packs."""
        rules, terms, last = kernels.yardstick_rules, self.terms, self.path.days.size
        most = terms.capacity // terms.pack
        if most > MOST_LEVELS:
            most = rules.most_packs(self._periods.demand, 0, last, terms, self.wait)
        given = self._periods, self._scored, last, terms, self.target
        s, up = rules.find_cheapest_levels(*given, most, self._buffers)
        return int(s), int(up)

    def levels_of_first(self) -> tuple[int, int]:
        """Return the (s, S) fitted to the periods before scoring, in packs."""
        last = min(self.window, self.path.days.size)
        given = self._periods.demand, 0, last, self.terms, self.target, self.draws, self.wait
        s, up = kernels.yardstick_rules.fit_levels(*given, (0, 0))
        return int(s), int(up)

    def ratio(self) -> float:
        """Return the newsvendor's quantile, or the service target."""
        terms = self.terms
        if self.target.share > 0.0:
            return self.target.share
        gain, over = max(0.0, terms.lost - terms.unit), terms.holding
        if terms.shelf_life > 0:  # a share of what is left over spoils, as its last period comes
            over += (terms.unit + terms.waste - over) / terms.shelf_life
        return gain / (gain + over) if gain + over > 0 else 0.0


def checked_rules(rules: Sequence[str], known: Mapping[str, str] = RULES) -> tuple[str, ...]:
    """Validate that ``rules`` are some of those that are known. Repeated ones are dropped."""
    if not rules:
        raise InvalidInputError(f"rules must name at least one of {', '.join(known)}; got none.")
    return tuple(dict.fromkeys(one_of(rule, f"rules[{i}]", known) for i, rule in enumerate(rules)))

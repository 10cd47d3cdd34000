"""Ordering rules in simulated worlds: regret to the clairvoyant, and recovery after a change.

The clairvoyant knows the law of every day's demand in advance, though not the demand. It follows the best plan, by
backward induction. Every rule meets the same demands. Costs are those paid.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from driftmdp import kernels
from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.ordering_rules import OURS, checked_rules
from driftmdp.inventory.shelf_rules import SHELF_RULES, RuleSet, day_costs
from driftmdp.kernels.arrays import Floats, Ints
from driftmdp.kernels.inventory_arrays import OrderTrace, ShelfModel, new_order_trace
from driftmdp.planning import plan_finite_horizon
from driftmdp.problems.inventory import InventoryProblem, Stock
from driftmdp.statistics import Interval, ratio_interval
from driftmdp.validation import as_integer, as_number, as_table, one_of

QUICK_RULES = tuple(rule for rule in SHELF_RULES if rule != OURS)


@dataclass(frozen=True)
class Recovery:
    """Days until costs are back, and the ends of an interval. Infinity means never.

    Attributes
    ----------
    days
        The estimate.
    low, high
        The ends of its interval.
    """

    days: float
    low: float
    high: float

    __repr__ = brief

    def __str__(self) -> str:
        days, low, high = ("never" if math.isinf(d) else f"{d:.0f}" for d in (self.days, self.low, self.high))
        return days if days == low == high else f"{days} [{low}, {high}]"


@dataclass(frozen=True, eq=False)
class SimulatedComparison:
    """What rules paid in simulated worlds.

    Attributes
    ----------
    rules, seeds
        What was tried.
    costs
        By (rule, seed, day): what was paid.
    clairvoyant
        By (seed, day): what the clairvoyant paid.
    """

    rules: tuple[str, ...]
    seeds: tuple[int, ...]
    costs: Floats = field(repr=False)
    clairvoyant: Floats = field(repr=False)

    __repr__ = brief

    def regret(self, rule: str) -> Floats:
        """Return what a rule paid more than the clairvoyant, by seed."""
        return np.asarray((self.costs[self._place(rule)] - self.clairvoyant).sum(axis=1))

    def regret_ratio(self, rule: str, other: str) -> Interval:
        """Return a rule's mean regret over another's, with its interval over seeds."""
        return ratio_interval(self.regret(rule), self.regret(other))

    def recovery(self, rule: str, change: int, within: float = 0.05, window: int = 7) -> Recovery:
        """Return the days after a change until a rule's mean cost is near the clairvoyant's, with an interval.

        The interval is the middle 95% of 400 draws of as many seeds with replacement.
        """
        paid, best = self.costs[self._place(rule)], self.clairvoyant
        rng, n = np.random.default_rng(0), len(self.seeds)
        draws = [rng.integers(0, n, n) for _ in range(400)]
        found = sorted(days_to_recover(paid[draw], best[draw], change, within, window) for draw in draws)
        return Recovery(days_to_recover(paid, best, change, within, window), found[9], found[-10])

    def _place(self, rule: str) -> int:
        return self.rules.index(one_of(rule, "rule", self.rules))


def compare_rules(
    problem: InventoryProblem, seeds: Iterable[int], rules: Sequence[str] = QUICK_RULES, warm_up: int = 0
) -> SimulatedComparison:
    """Let rules and the clairvoyant order in a simulated world.

    Parameters
    ----------
    problem
        Of ``driftmdp.problems.inventory``. Every shelf begins empty.
    seeds
        Of the worlds. A seed draws the demands that ``driftmdp.simulate`` draws with it.
    rules
        Some of ``SHELF_RULES``. By default all but ``driftmdp``, which takes a millisecond per day.
    warm_up
        Days that are not scored when the best fixed rule is chosen. ``first-60`` looks at the first 60 anyway.

    Examples
    --------
    >>> from driftmdp.inventory import compare_rules
    >>> import driftmdp as dm
    >>> found = compare_rules(dm.problems.inventory(horizon=1000), range(3), ["optimist", "face-value"])
    >>> bool(found.regret("optimist").mean() < found.regret("face-value").mean())
    True
    """
    if not isinstance(problem, InventoryProblem):
        raise InvalidInputError(f"problem must be one of driftmdp.problems.inventory(); got {problem!r}.")
    names = checked_rules(rules, SHELF_RULES)
    numbers = tuple(as_integer(seed, "seeds", minimum=0) for seed in seeds)
    if not numbers:
        raise InvalidInputError("seeds must name at least one seed; got none.")
    rule_set = RuleSet(problem.costs, problem.capacity, problem.lead_time, warm_up)
    stock = Stock(problem.capacity, problem.lead_time)
    policies = plan_finite_horizon(problem.drifting).policy
    weekdays = (np.arange(problem.horizon) % 7).astype(np.int32)
    paid = np.zeros((len(names), len(numbers), problem.horizon))
    best = np.zeros((len(numbers), problem.horizon))
    for column, seed in enumerate(numbers):
        path = drawn_demand(problem, seed)
        best[column] = day_costs(rule_set.shelf, path, _clairvoyant(stock, policies, path, rule_set.shelf))
        for row, rule in enumerate(names):
            paid[row, column] = day_costs(rule_set.shelf, path, rule_set.follow(rule, path, weekdays))
    return SimulatedComparison(names, numbers, paid, best)


def _clairvoyant(stock: Stock, policies: Ints, path: Ints, shelf: ShelfModel) -> OrderTrace:
    """Return the trace of ``policies[t, state]``."""
    trace = new_order_trace(path.size)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(stock.on_hand))]).astype(np.int32)
    days = np.arange(path.size, dtype=np.int32)
    kernels.inventory_rules.follow_policies(path, shelf, offsets, policies, days, trace)
    return trace


def drawn_demand(problem: InventoryProblem, seed: int) -> Ints:
    """Return the demands that ``simulate`` draws for a seed, shape (T,). The capacity stands for all beyond it.

    Examples
    --------
    >>> from driftmdp.inventory import drawn_demand
    >>> import driftmdp as dm
    >>> drawn_demand(dm.problems.inventory(horizon=5), seed=7).tolist()
    [8, 2, 7, 9, 8]
    """
    world_stream, _ = np.random.SeedSequence(as_integer(seed, "seed", minimum=0)).spawn(2)
    draws = problem.draw_noise(np.random.default_rng(world_stream))
    world, steps = problem.drifting.world, range(problem.horizon)
    drawn = (kernels.world.sample_anchor(world, step, draws.anchor[step]) for step in steps)
    return np.fromiter(drawn, np.int32, problem.horizon)


def days_to_recover(
    costs: ArrayLike, reference: ArrayLike, change: int, within: float = 0.05, window: int = 7
) -> float:
    """Return the days after a change until costs are back near a reference, or infinity.

    The first d for which the mean cost of the days change + d .. change + d + window - 1, over all seeds, exceeds
    the reference's by at most ``within`` of it.

    Parameters
    ----------
    costs, reference
        By (seed, day).
    change
        The day of the change, from 1.
    within
        The share of the reference that is near.
    window
        Days in a row that are averaged: a day alone is too noisy.

    Examples
    --------
    >>> from driftmdp.inventory import days_to_recover
    >>> days_to_recover([[1.0] * 5 + [3.0] * 10 + [1.0] * 20], [[1.0] * 35], change=6, window=7)
    10.0
    """
    paid, best = as_table(costs, "costs").mean(axis=0), as_table(reference, "reference").mean(axis=0)
    start = as_integer(change, "change", 1, paid.size) - 1
    window = as_integer(window, "window", 1, paid.size - start)
    near = 1.0 + as_number(within, "within", minimum=0.0)
    means = [np.convolve(series[start:], np.ones(window), "valid") for series in (paid, best)]
    back = np.flatnonzero(means[0] <= near * means[1] + 1e-9)
    return float(back[0]) if back.size else math.inf

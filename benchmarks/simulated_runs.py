"""The order engine in simulated worlds: random shops, the seasonal problem, and items with their own weekdays."""

from __future__ import annotations

import numpy as np

import driftmdp as dm
from benchmarks.engine_shops import follow_engine
from benchmarks.engine_variants import apply
from benchmarks.shops import random_shops
from driftmdp.inventory import compare_rules, drawn_demand
from driftmdp.inventory.terms import ItemTerms
from driftmdp.kernels.arrays import Floats
from driftmdp.statistics import Interval, ratio_interval

__all__ = ["Yardsticks", "run_engine"]

SHOPS, UNSCORED = 7, 60  # the seed of the shops, and their first days
RHYTHMS = 100, 301, 0.4  # items with weekdays of their own, days, and the deviation of the factors' logarithms


def run_engine(variant: str, seeds: int) -> tuple[list[float], list[float], list[float]]:
    """Return what a variant pays in each world, in a process of its own.

    That is in each shop, for each seed of the seasonal problem, and for each item with its own weekdays.

    The shops' items are in one engine. Seeds of the seasonal problem are not, as their seasons are the same.
    """
    apply(variant)
    shops = random_shops(SHOPS)
    demand = np.array([drawn_demand(shop, number) for number, shop in enumerate(shops)], np.int64)
    in_shops = follow_engine([ItemTerms(shop.costs, shop.capacity) for shop in shops], demand)
    problem = dm.problems.inventory()
    terms = [ItemTerms(problem.costs, problem.capacity)]
    paid = [follow_engine(terms, drawn_demand(problem, seed).astype(np.int64)[None]).sum() for seed in range(seeds)]
    scored = [costs[:, UNSCORED:].sum(axis=1).tolist() for costs in (in_shops, _follow_rhythms())]
    return scored[0], [float(cost) for cost in paid], scored[1]


def _follow_rhythms() -> Floats:
    """Return what items of one shop pay whose weekdays differ: negative binomial demand, lead time 0."""
    n_items, n_days, deviation = RHYTHMS
    rng = np.random.default_rng(SHOPS)
    weekdays = np.exp(rng.normal(0.0, deviation, (n_items, 7)))
    levels = np.exp(rng.uniform(np.log(0.5), np.log(10.0), n_items))
    means = levels[:, None] * (weekdays / weekdays.mean(axis=1, keepdims=True))[:, np.arange(n_days) % 7]
    demand = rng.negative_binomial(4.0, 4.0 / (4.0 + means)).astype(np.int64)
    return follow_engine([ItemTerms(dm.problems.inventory().costs, 60)] * n_items, demand)


class Yardsticks:
    """What the clairvoyant, InventoryOptimist and the best fixed rule pay in the same worlds."""

    def __init__(self, seeds: int) -> None:
        shops = [compare_rules(shop, [number], ["optimist"]) for number, shop in enumerate(random_shops(SHOPS))]
        self.optimist_in_shops = np.array([shop.costs[..., UNSCORED:].sum() for shop in shops])
        self.best_in_shops = np.array([shop.clairvoyant[..., UNSCORED:].sum() for shop in shops])
        seasonal = compare_rules(dm.problems.inventory(), range(seeds), ["optimist", "hindsight"])
        self.best = seasonal.clairvoyant.sum(axis=1)
        self.optimist, self.hindsight = seasonal.costs.sum(axis=2)

    def ratios(self, in_shops: list[float], seasonal: list[float]) -> list[Interval]:
        """Return cost over the clairvoyant's and the optimist's, and regret over the best fixed rule's."""
        regret = np.array(seasonal) - self.best
        return [
            ratio_interval(in_shops, self.best_in_shops),
            ratio_interval(in_shops, self.optimist_in_shops),
            ratio_interval(regret, self.hindsight - self.best),
        ]

"""The order engine in simulated worlds: random shops, and the seasonal problem."""

from __future__ import annotations

import numpy as np

import driftmdp as dm
from benchmarks.engine_shops import follow_engine
from benchmarks.engine_variants import apply
from benchmarks.shops import random_shops
from driftmdp.inventory import compare_rules, drawn_demand
from driftmdp.inventory.terms import ItemTerms
from driftmdp.statistics import Interval, ratio_interval

__all__ = ["Yardsticks", "run_engine"]

SHOPS, UNSCORED = 7, 60  # the seed of the shops, and their first days


def run_engine(variant: str, seeds: int) -> tuple[list[float], list[float]]:
    """Return what a variant pays in each shop and for each seed of the seasonal problem, in a process of its own.

    The shops' items are in one engine. Seeds of the seasonal problem are not, as their seasons are the same.
    """
    apply(variant)
    shops = random_shops(SHOPS)
    demand = np.array([drawn_demand(shop, number) for number, shop in enumerate(shops)], np.int64)
    in_shops = follow_engine([ItemTerms(shop.costs, shop.capacity) for shop in shops], demand)
    problem = dm.problems.inventory()
    terms = [ItemTerms(problem.costs, problem.capacity)]
    paid = [follow_engine(terms, drawn_demand(problem, seed).astype(np.int64)[None]).sum() for seed in range(seeds)]
    return in_shops[:, UNSCORED:].sum(axis=1).tolist(), [float(cost) for cost in paid]


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

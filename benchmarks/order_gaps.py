"""How far orders from sample paths are from the optimum: ``python -m benchmarks.order_gaps``.

200 random items that are small enough to be solved: lead times 1 to 4, capacity up to 20, with and without a fixed
cost, packs and order days, demand of a known law. plan_on_paths decides in every state that its own decisions can
lead to, each time on paths of its own from the law, and the average cost of that policy is computed exactly on the
chain (tests/reference/lost_sales.py). The gap is what it costs more than the optimum, in percent.

``--quick`` takes 16 items. ``--seed`` takes others: constants were chosen on seeds from 1000.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np

from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms, horizon_needed
from driftmdp.kernels.path_orders import plan_on_paths
from tests.reference.lost_sales import Chain

N_PATHS, BLOCK = 500, 125  # a search on some of the paths uses whole blocks


class Case(NamedTuple):
    """One item: its terms, the law of its demand and the periods from one order day to the next."""

    terms: OrderTerms
    law: np.ndarray
    wait: int

    @property
    def label(self) -> tuple[int, bool, bool, bool]:
        """Lead time, and whether it has a fixed cost, packs and order days."""
        return self.terms.lead_time, self.terms.fixed > 0, self.terms.pack > 1, self.wait > 1


def draw_case(seed: int, number: int) -> Case:
    """Return a random item. The classes take turns."""
    rng = np.random.default_rng((seed, number))
    classes = list(product((1, 2, 3, 4), (False, True), (False, True), (False, True)))
    lead, fixed, packs, days = classes[number % len(classes)]
    capacity = int(rng.integers(8, 21))
    wait = int(rng.integers(2, 4)) if days else 1
    pack = int(rng.choice([2, 3, 4, 6])) if packs else 1
    minimum = int(rng.choice([0, 0, 2 * pack])) if packs else 0
    mean = float(rng.uniform(0.15, 0.8) * capacity / (lead + wait))
    holding = 1.0
    unit = float(rng.choice([0.0, 0.0, 2.0]))
    lost = unit + float(np.exp(rng.uniform(np.log(2.0), np.log(60.0))))
    cost = float(np.exp(rng.uniform(np.log(2.0), np.log(30.0)))) if fixed else 0.0
    terms = OrderTerms(cost, unit, lost, holding, capacity, pack, minimum, lead)
    return Case(terms, draw_law(rng, mean), wait)


def draw_law(rng: np.random.Generator, mean: float) -> np.ndarray:
    """Return a Poisson, negative binomial or lumpy law with about this mean."""
    kind = rng.integers(3)
    if kind == 0:
        drawn = rng.poisson(mean, 200_000)
    elif kind == 1:
        shape = float(rng.choice([0.5, 1.0, 3.0]))
        drawn = rng.negative_binomial(shape, shape / (shape + mean), 200_000)
    else:  # customers who take several
        size = int(rng.integers(2, 5))
        drawn = rng.poisson(mean / size, 200_000) * size
    law = np.bincount(drawn) / drawn.size
    keep = int(np.flatnonzero(law > 1e-5)[-1]) + 1
    law = law[:keep]
    return law / law.sum()


def draw_paths(law: np.ndarray, horizon: int, rng: np.random.Generator, stratified: bool = True) -> np.ndarray:
    """Return paths of demand. Stratified: in each block of paths, a period's are spread evenly over the law."""
    blocks = N_PATHS // BLOCK
    levels = rng.random((horizon, blocks, BLOCK))
    if stratified:
        order = rng.permuted(np.broadcast_to(np.arange(BLOCK), levels.shape), axis=2)
        levels = (order + levels) / BLOCK
    drawn = np.searchsorted(np.cumsum(law), levels.reshape(horizon, N_PATHS).T, side="right")
    return np.ascontiguousarray(np.minimum(drawn, law.size - 1), dtype=np.int32)


def policy_on_paths(case: Case, chain: Chain, seed: int, stratified: bool = True) -> tuple[list, int]:
    """Return orders[phase][state] for the states that they lead to from an empty shelf, and how many plans."""
    horizon = horizon_needed(case.terms, float(case.law @ np.arange(case.law.size)), case.wait)
    horizon += (case.wait - (horizon - case.terms.lead_time)) % case.wait
    calendars = []
    for phase in range(case.wait):
        may_order = np.array([(phase + h) % case.wait == 0 for h in range(horizon)], np.uint8)
        calendars.append(ComingPeriods(np.ones(horizon, np.uint8), may_order, case.wait))
    policy = [np.zeros(len(chain.stocks), int) for _ in range(case.wait)]
    seen = [np.zeros(len(chain.stocks), bool) for _ in range(case.wait)]
    waiting, plans = [(0, 0)], 0
    seen[0][0] = True
    rows = [chain.phases[phase] for phase in range(case.wait)]
    firsts = [np.searchsorted(row[0], np.arange(len(chain.stocks))) for row in rows]
    while waiting:
        phase, state = waiting.pop()
        stock, coming = chain.stocks[state]
        if chain.may_order[phase]:
            rng = np.random.default_rng((seed, phase, state))
            paths = draw_paths(case.law, horizon, rng, stratified)
            order, _, _ = plan_on_paths(case.terms, stock, np.array(coming, np.int64), paths, calendars[phase])
            policy[phase][state] = order
            plans += 1
        _, orders, _, following, law = rows[phase]
        pair = firsts[phase][state]
        while orders[pair] != policy[phase][state]:
            pair += 1
        later = (phase + 1) % case.wait
        for next_state in np.unique(following[pair][law > 0]):
            if not seen[later][next_state]:
                seen[later][next_state] = True
                waiting.append((later, int(next_state)))
    return policy, plans


def judge(arguments: tuple[int, int, bool]) -> tuple[int, float, float, int, float]:
    """Return a case's number, its optimum, the gap in percent, the plans made and the seconds of one plan."""
    seed, number, stratified = arguments
    case = draw_case(seed, number)
    laws = [case.law] * case.wait
    chain = Chain(case.terms, laws, [phase == 0 for phase in range(case.wait)], [True] * case.wait)
    best, _ = chain.optimum(precision=1e-4)
    begin = time.perf_counter()
    policy, plans = policy_on_paths(case, chain, seed * 1000 + number, stratified)
    seconds = (time.perf_counter() - begin) / max(plans, 1)
    cost = chain.average_cost(policy)
    return number, best, 100.0 * (cost / best - 1.0), plans, seconds


def main() -> None:
    """Print the gaps by class."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="paths that are not stratified")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    numbers = range(16 if options.quick else options.cases)
    found = []
    with ProcessPoolExecutor(options.workers) as pool:
        for row in pool.map(judge, [(options.seed, number, not options.plain) for number in numbers]):
            found.append(row)
            if options.verbose:
                case = draw_case(options.seed, row[0])
                print(
                    row, case.terms[:], case.wait, round(float(case.law @ np.arange(case.law.size)), 2), flush=True
                )
    print_table(options.seed, found)


def print_table(seed: int, found: list) -> None:
    """Print mean and worst gap of every class, and of all."""
    gaps = {}
    for number, _, gap, _, _ in found:
        gaps.setdefault(draw_case(seed, number).label, []).append(gap)
    print("lead  fixed  packs  days   cases   mean %  worst %")
    for (lead, fixed, packs, days), values in sorted(gaps.items()):
        words = ["yes" if flag else "no" for flag in (fixed, packs, days)]
        print(
            f"{lead:4d}  {words[0]:5s}  {words[1]:5s}  {words[2]:5s} {len(values):6d} {np.mean(values):8.2f} {max(values):8.2f}"
        )
    everything = np.array([row[2] for row in found])
    print(
        f"all: mean {everything.mean():.2f} %, worst {everything.max():.2f} %, above 3 %: {(everything > 3).sum()}"
    )
    print(
        f"plans {sum(row[3] for row in found)}, {np.mean([row[4] for row in found]) * 1e6:.0f} us each, drawing paths included"
    )


if __name__ == "__main__":
    main()

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
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from tests.reference.lost_sales import Chain

from driftmdp.inventory.sample_draws import N_PATHS, shifted_uniforms
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.exact_orders import plan_exactly
from driftmdp.kernels.ordering_arrays import (
    FIRST_PATHS,
    MOST_DOUBT,
    NO_LIMIT,
    ComingPeriods,
    OrderTerms,
    horizon_needed,
)
from driftmdp.kernels.path_orders import plan_on_paths

WORST_WANTED = 3.0  # percent


class Case(NamedTuple):
    """One item: its terms, the law of its demand and the periods from one order day to the next."""

    terms: OrderTerms
    law: Floats
    wait: int

    @property
    def label(self) -> tuple[int, bool, bool, bool]:
        """Lead time, and whether it has a fixed cost, packs and order days."""
        return self.terms.lead_time, self.terms.fixed > 0, self.terms.pack > 1, self.wait > 1


class Verdict(NamedTuple):
    """A case, its least average cost, the gap to it in percent, the plans that were made and the time of one."""

    case: Case
    best: float
    gap: float
    plans: int
    seconds: float


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


def draw_law(rng: np.random.Generator, mean: float) -> Floats:
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
    return np.asarray(law[:keep] / law[:keep].sum())


def order_of(case: Case, stock: int, coming: Longs, periods: ComingPeriods, seed: tuple[int, ...]) -> int:
    """Return the order of a state, on paths as a shop draws them: more where 512 leave a doubt."""
    moved = np.random.default_rng(seed).random(periods.is_open.size + 1)
    below = np.cumsum(case.law)[:-1]
    for n_paths in (FIRST_PATHS, N_PATHS):
        drawn = np.searchsorted(below, shifted_uniforms(moved, n_paths)[:, 1:], side="right")
        order, _, _, doubt = plan_on_paths(case.terms, stock, coming, drawn.astype(np.int32), periods)
        if doubt <= MOST_DOUBT:
            break
    return int(order)


def policy_on_paths(case: Case, chain: Chain, seed: int) -> tuple[list[Longs], int]:
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
            way = np.array(coming, np.int64)
            policy[phase][state] = order_of(case, stock, way, calendars[phase], (seed, phase, state))
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


def judge(task: tuple[int, int]) -> Verdict:
    """Return how far the orders of a case are from the optimum."""
    seed, number = task
    case = draw_case(seed, number)
    chain = Chain(case.terms, [case.law] * case.wait, [h == 0 for h in range(case.wait)], [True] * case.wait)
    best, _ = chain.optimum(precision=1e-4)
    begin = time.perf_counter()
    policy, plans = policy_on_paths(case, chain, seed * 1000 + number)
    seconds = (time.perf_counter() - begin) / max(plans, 1)
    return Verdict(case, float(best), 100.0 * (float(chain.average_cost(policy)) / best - 1.0), plans, seconds)


def print_gaps(found: Sequence[Verdict]) -> None:
    """Print mean and worst gap of every class, and of all."""
    print("lead  fixed  packs  days   cases   mean %  worst %")
    for label in sorted({verdict.case.label for verdict in found}):
        gaps = [verdict.gap for verdict in found if verdict.case.label == label]
        words = "".join(f"{'yes' if flag else 'no':7s}" for flag in label[1:])
        print(f"{label[0]:4d}  {words}{len(gaps):5d} {np.mean(gaps):8.2f} {max(gaps):8.2f}")
    gaps = [verdict.gap for verdict in found]
    beyond = sum(gap > WORST_WANTED for gap in gaps)
    print(f"all: mean {np.mean(gaps):.2f} %, worst {max(gaps):.2f} %, above {WORST_WANTED:g} %: {beyond}")
    for verdict in found:
        if verdict.gap > WORST_WANTED:
            case = verdict.case
            mean = case.law @ np.arange(case.law.size)
            print(f"  {verdict.gap:.2f} %: {case.terms}, mean {mean:.2f}, orders every {case.wait}")
    microseconds = 1e6 * float(np.median([verdict.seconds for verdict in found]))
    print(f"{sum(verdict.plans for verdict in found)} plans, {microseconds:.0f} us each with drawing their paths")


def print_times() -> None:
    """Print how long plans take."""
    rows = [
        ("exact, L = 0, capacity 20", OrderTerms(4.0, 0.5, 4.0, 0.5, 20, 1, 0, 0), 2.0),
        ("exact, L = 0, capacity 240, pack 12", OrderTerms(48.0, 0.5, 4.0, 0.05, 240, 12, 0, 0), 20.0),
        ("exact, L = 0, capacity 500", OrderTerms(48.0, 0.5, 4.0, 0.05, 500, 1, 0, 0), 20.0),
        ("exact, L = 1, capacity 20", OrderTerms(4.0, 0.5, 4.0, 0.5, 20, 1, 0, 1), 2.0),
        ("exact, L = 2, capacity 20", OrderTerms(4.0, 0.5, 4.0, 0.5, 20, 1, 0, 2), 2.0),
        ("paths, L = 2, no fixed cost", OrderTerms(0.0, 0.0, 1.0, 0.2, NO_LIMIT, 1, 0, 2), 5.0),
        ("paths, L = 2, fixed cost", OrderTerms(4.0, 0.0, 1.0, 0.2, NO_LIMIT, 1, 0, 2), 5.0),
        ("paths, L = 7, packs of 6", OrderTerms(4.0, 0.5, 4.0, 0.2, NO_LIMIT, 6, 12, 7), 5.0),
        ("paths, L = 30", OrderTerms(0.0, 0.5, 4.0, 0.2, NO_LIMIT, 1, 0, 30), 5.0),
        ("paths, L = 60", OrderTerms(0.0, 0.5, 4.0, 0.2, NO_LIMIT, 1, 0, 60), 5.0),
    ]
    for text, terms, mean in rows:
        weekly = 1e6 * time_plan(terms, mean, 1, text.startswith("exact"))
        daily = 1e6 * time_plan(terms, mean, 7, text.startswith("exact"))
        print(f"{text:38s} {weekly:7.0f} us, with weekdays {daily:7.0f} us")


def time_plan(terms: OrderTerms, mean: float, cycle: int, exactly: bool) -> float:
    """Return the median seconds of a plan, with equal periods or with weekdays, for negative binomial demand."""
    rng, lead = np.random.default_rng(0), terms.lead_time
    horizon = 14 if exactly else horizon_needed(terms, mean)
    factors = np.array([1.0, 0.8, 0.8, 1.0, 1.2, 1.6, 0.6])[np.arange(horizon) % 7] if cycle > 1 else 1.0
    means = np.full(horizon, mean) * factors
    periods = ComingPeriods(np.ones(horizon, np.uint8), np.ones(horizon, np.uint8), cycle)
    stock, coming = int(mean), np.full(max(lead - 1, 0), int(mean) // terms.pack * terms.pack)
    drawn = rng.negative_binomial(3.0, 3.0 / (3.0 + means), (20_000 if exactly else FIRST_PATHS, horizon))
    laws = np.stack([np.bincount(column, minlength=int(drawn.max()) + 1) for column in drawn.T]) / len(drawn)
    seconds = []
    for _ in range(21):
        begin = time.perf_counter()
        if exactly:
            plan_exactly(terms, stock, coming, laws, periods)
        else:
            plan_on_paths(terms, stock, coming, drawn.astype(np.int32), periods)
        seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds))


def main() -> None:
    """Print the gaps by class, and the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="16 cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    numbers = range(16 if options.quick else options.cases)
    with ProcessPoolExecutor(options.workers) as pool:
        found = list(pool.map(judge, [(options.seed, number) for number in numbers]))
    print_gaps(found)
    print_times()


if __name__ == "__main__":
    main()

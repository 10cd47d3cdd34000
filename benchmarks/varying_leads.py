"""Orders with lead times that vary, against the optimum and simpler plans: ``python -m benchmarks.varying_leads``.

Random items that are small enough to be solved: lead times 1 and 2, capacity up to 14, with and without a fixed
cost, demand of a known law, and orders that come late with a chance of 5% to 60%, by up to three periods. Each way
of planning decides in every state that its own orders can lead to, and its average cost is computed exactly
(tests/reference/varying_leads.py). The gap is what it costs more than the optimum, in percent.

- *known*: plans with the hazards of the delays, as a shop's do after very many deliveries
- *after n*: plans with what is learned from n order days
- *on time*: plans with the set lead time; an order that did not come is expected with the next morning
- *not told*: the same, but an order that did not come on its day is not known to come, as in a shop that tells
  nothing
- *safer*: plans with a fixed lead time that 90% of the orders keep

A second table has service targets: the share that was served in simulated periods.

``--quick`` takes few items. ``--seed`` takes others: constants were chosen on seeds from 1000.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from math import ceil
from typing import NamedTuple

import numpy as np
from tests.reference.varying_leads import VaryingLeads

from benchmarks.order_gaps import draw_law
from driftmdp.inventory.lead_times import learn_from_counts
from driftmdp.inventory.sample_draws import N_PATHS, shifted_uniforms
from driftmdp.kernels import late_orders, late_service, path_orders, service_orders
from driftmdp.kernels.arrays import Floats, Ints, Longs
from driftmdp.kernels.late_orders import EARLIEST, ON_TIME, LateOrders
from driftmdp.kernels.ordering_arrays import (
    FIRST_PATHS,
    MOST_DOUBT,
    ComingPeriods,
    OrderTerms,
    horizon_needed,
)

LEARNED = (5, 20, 60)
WAYS = ("known", *(f"after {n}" for n in LEARNED), "on time", "not told", "safer")
SAFE = 0.9  # the share of orders that keep the safer lead time
MOST_STATES = 1000
TARGET = 0.95
PERIODS, WARM_UP = 2000, 200
NOTHING = np.zeros(0, np.int64)


Seen = Callable[[int, tuple[int, ...]], tuple[int, Longs, Longs]]  # the state of a process as a plan sees it


class Case(NamedTuple):
    """An item, the law of its demand, and the hazards of its delays from 0 on."""

    terms: OrderTerms
    law: Floats
    hazards: list[float]

    @property
    def late(self) -> float:
        """The share of orders that are late."""
        return 1.0 - self.hazards[0]

    @property
    def all_hazards(self) -> Floats:
        """The hazards as plans have them."""
        found = ON_TIME.copy()
        found[EARLIEST : EARLIEST + len(self.hazards)] = self.hazards
        found[EARLIEST + len(self.hazards) :] = 1.0
        return found


class Verdict(NamedTuple):
    """A case, its least average cost, and the gap of each way in percent."""

    case: Case
    best: float
    gaps: list[float]


def draw_case(seed: int, number: int) -> Case:
    """Return a random item. The classes take turns."""
    rng = np.random.default_rng((seed, number))
    classes = list(product((1, 2), (1, 2, 3), (False, True)))
    lead, longest, fixed = classes[number % len(classes)]
    late = float(rng.choice([0.05, 0.15, 0.3, 0.6]))
    hazards = [1.0 - late, *rng.uniform(0.3, 0.8, longest - 1).tolist(), 1.0]
    slots, capacity = lead + longest - 1, int(rng.integers(8, 15))
    while n_states(capacity, slots) > MOST_STATES:
        capacity -= 1
    mean = float(rng.uniform(0.12, 0.35) * capacity / (lead + 0.5))
    lost = float(np.exp(rng.uniform(np.log(4.0), np.log(40.0))))
    cost = float(np.exp(rng.uniform(np.log(1.0), np.log(8.0)))) if fixed else 0.0
    return Case(OrderTerms(cost, 0.0, lost, 1.0, capacity, 1, 0, lead), draw_law(rng, mean), hazards)


def n_states(capacity: int, slots: int) -> int:
    """Return how many states the process has."""
    found = 1
    for k in range(1, slots + 2):
        found = found * (capacity + k) // k
    return found


def periods_ahead(horizon: int) -> ComingPeriods:
    """Return open periods in which one may always order."""
    return ComingPeriods(np.ones(horizon, np.uint8), np.ones(horizon, np.uint8), 1)


class Planner:
    """Plans for a case with some hazards, in states (stock, what is promised, what is overdue)."""

    def __init__(self, case: Case, terms: OrderTerms, hazards: Floats, seed: tuple[int, ...]) -> None:
        self._terms, self._hazards, self._seed = terms, hazards, seed
        mean, variance = late_orders.delay_moments(hazards, terms.lead_time)
        longer = max(ceil(mean + 2.0 * np.sqrt(variance)), 0)
        self.horizon = horizon_needed(terms, float(case.law @ np.arange(case.law.size))) + longer
        self._below = np.cumsum(case.law)[:-1]
        self._periods = periods_ahead(self.horizon)

    def paths(self, state: tuple[int, Longs, Longs], n_paths: int) -> tuple[Ints, LateOrders]:
        """Return paths of demand and delays, whose random numbers are those of the state."""
        stock, coming, overdue = state
        width = late_orders.columns_needed(self.horizon, coming.size, overdue.size)
        rng = np.random.default_rng((*self._seed, stock, *coming.tolist(), *overdue.tolist()))
        moved = rng.random(width)
        drawn = shifted_uniforms(moved, n_paths)
        demand = np.searchsorted(self._below, drawn[:, 1 : self.horizon + 1], side="right").astype(np.int32)
        lead = self._terms.lead_time
        if late_orders.is_certain(self._hazards, coming, overdue, lead):
            return demand, LateOrders(*late_orders.all_on_time())
        about = lead, self._hazards, coming, overdue, drawn, np.zeros(width), self.horizon, n_paths
        return demand, LateOrders(*late_orders.new_late_orders(*about))

    def expected(self, state: tuple[int, Longs, Longs]) -> Longs:
        """Return what is on its way by the periods in which it is expected."""
        if late_orders.is_certain(self._hazards, state[1], state[2], self._terms.lead_time):
            return np.ascontiguousarray(state[1][: max(self._terms.lead_time - 1, 0)])
        return np.asarray(late_orders.expected_coming(self._hazards, state[1], state[2]))

    def order(self, state: tuple[int, Longs, Longs]) -> int:
        """Return the order of a state."""
        order = 0
        for n_paths in (FIRST_PATHS, N_PATHS):
            demand, late = self.paths(state, n_paths)
            about = self._terms, state[0], NOTHING, self.expected(state), demand, self._periods, late
            order, _, _, doubt = path_orders.plan_late_on_paths(*about)
            if doubt <= MOST_DOUBT:
                break
        return int(order)

    def order_for_service(self, state: tuple[int, Longs, Longs], balance: float) -> int:
        """Return the order of a state for the service target."""
        demand, late = self.paths(state, FIRST_PATHS)
        about = self._terms, state[0], NOTHING, self.expected(state), demand, self._periods, (TARGET, 0, balance)
        if late.delays.shape[0] == 0:
            return int(service_orders.plan_ages_for_service(*about)[0])
        return int(late_service.plan_late_for_service(*about, late)[0])


def as_promised(lead: int, forgets: bool) -> Seen:
    """Return how a plan sees a state of the process: by what is promised with a lead time, and what is overdue."""

    def seen(stock: int, waiting: tuple[int, ...]) -> tuple[int, Longs, Longs]:
        ages = np.array((0, *waiting))
        coming = np.array(
            [ages[lead - 1 - j] if lead - 1 - j < ages.size else 0 for j in range(lead - 1)], np.int64
        )
        overdue = np.array(ages[lead:], np.int64)
        return stock, coming, np.zeros_like(overdue) if forgets else overdue

    return seen


def policy_of(chain: VaryingLeads, order: Callable[[int, tuple[int, ...]], int]) -> Longs:
    """Return orders for the states that they lead to from an empty shelf."""
    policy, first = np.zeros(len(chain.states), np.int64), chain.number[0, (0,) * chain.slots]
    seen, waiting = {first}, [first]
    place = {(row, order): k for k, (row, order) in enumerate(zip(chain.rows, chain.orders, strict=True))}
    while waiting:
        state = waiting.pop()
        policy[state] = order(*chain.states[state])
        row = place[state, policy[state]]
        for following in chain.moves.indices[chain.moves.indptr[row] : chain.moves.indptr[row + 1]].tolist():
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return policy


def learned_hazards(case: Case, n: int, rng: np.random.Generator) -> Floats:
    """Return what is learned from so many order days."""
    return learn_from_counts(np.bincount(draw_delays(case, n, rng), minlength=len(case.hazards)))


def draw_delays(case: Case, n: int, rng: np.random.Generator) -> Longs:
    """Return delays of orders."""
    delays, open_ones = np.zeros(n, np.int64), np.ones(n, bool)
    for hazard in case.hazards:
        open_ones &= rng.random(n) >= hazard
        delays += open_ones
    return delays


def safer_terms(case: Case) -> OrderTerms:
    """Return the terms with a lead time that SAFE of the orders keep."""
    left, extra = case.late, 0
    while left > 1.0 - SAFE + 1e-9:
        extra += 1
        left *= 1.0 - case.hazards[extra]
    return case.terms._replace(lead_time=case.terms.lead_time + extra)


def ways_of(case: Case, seed: tuple[int, ...]) -> dict[str, tuple[OrderTerms, Floats, bool]]:
    """Return the terms and hazards that each way plans with, and whether it forgets what is overdue."""
    rng = np.random.default_rng((*seed, 7))
    found = {"known": (case.terms, case.all_hazards, False)}
    found |= {f"after {n}": (case.terms, learned_hazards(case, n, rng), False) for n in LEARNED}
    certain = ON_TIME.copy()
    certain[EARLIEST:] = 1.0
    found |= {"on time": (case.terms, certain, False), "not told": (case.terms, certain, True)}
    return found | {"safer": (safer_terms(case), certain, False)}


def judge(task: tuple[int, int]) -> Verdict:
    """Return the gaps of a case."""
    case = draw_case(*task)
    chain = VaryingLeads(case.terms, case.law, case.hazards)
    best, _ = chain.optimum()
    gaps = []
    for terms, hazards, forgets in ways_of(case, task).values():
        planner, seen = Planner(case, terms, hazards, task), as_promised(terms.lead_time, forgets)
        most = case.terms.capacity

        def order(
            stock: int, waiting: tuple[int, ...], planner: Planner = planner, seen: Seen = seen, most: int = most
        ) -> int:
            return min(planner.order(seen(stock, waiting)), most - stock - sum(waiting))

        gaps.append(100.0 * (chain.average_cost(policy_of(chain, order)) / best - 1.0))
    return Verdict(case, best, gaps)


def serve(task: tuple[int, int]) -> tuple[float, list[float]]:
    """Return the share of a case's orders that are late, and what each way serves in simulated periods."""
    case = draw_case(*task)
    case = case._replace(terms=case.terms._replace(capacity=200))
    rng = np.random.default_rng((*task, 3))
    demand = rng.choice(case.law.size, PERIODS, p=case.law)
    delays = draw_delays(case, PERIODS, rng)
    ways, shares = ways_of(case, task), []
    for name in ("known", "after 20", "on time", "not told", "safer"):
        terms, hazards, forgets = ways[name]
        planner, seen = Planner(case, terms, hazards, task), as_promised(terms.lead_time, forgets)
        shares.append(simulate(case, planner, seen, demand, delays))
    return case.late, shares


def simulate(case: Case, planner: Planner, seen: Seen, demand: Longs, delays: Longs) -> float:
    """Return the share of demand that is served."""
    slots = case.terms.lead_time + len(case.hazards) - 2
    out, stock, balance, lost = dict[int, tuple[int, int]](), 0, 0.0, 0
    for t, wanted in enumerate(demand.tolist()):
        stock += sum(units for arrival, units in out.values() if arrival == t)
        out = {when: pair for when, pair in out.items() if pair[0] > t}
        waiting = tuple(out[t - k][1] if t - k in out else 0 for k in range(1, slots + 1))
        order = planner.order_for_service(seen(stock, waiting), balance)
        if order:
            out[t] = t + case.terms.lead_time + int(delays[t]), order
        missing = max(wanted - stock, 0)
        stock = max(stock - wanted, 0)
        balance = service_orders.add_to_balance(balance, TARGET, 0, float(wanted), float(missing))
        lost += missing if t >= WARM_UP else 0
    return 1.0 - lost / float(demand[WARM_UP:].sum())


def print_gaps(found: Sequence[Verdict]) -> None:
    """Print the gaps by how often orders are late."""
    print(f"{'late':>6s} {'items':>6s}" + "".join(f"{way:>20s}" for way in WAYS))
    for late in (0.05, 0.15, 0.3, 0.6, None):
        mine = np.array([v.gaps for v in found if late is None or abs(v.case.late - late) < 1e-9])
        if mine.size:
            print(f"{'all' if late is None else format(late, '.0%'):>6s} {len(mine):6d}" + "".join(cells(mine)))
    worst = np.array([v.gaps for v in found]).max(axis=0)
    print(f"{'worst':>6s} {'':6s}" + "".join(f"{gap:20.2f}" for gap in worst))


def cells(gaps: Floats) -> list[str]:
    """Return means with 95% intervals over items."""
    errors = 1.96 * gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.zeros(gaps.shape[1])
    return [f"{mean:10.2f} ± {error:<7.2f}" for mean, error in zip(gaps.mean(axis=0), errors, strict=True)]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="6 items")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    tasks = [(options.seed, number) for number in range(6 if options.quick else options.cases)]
    with ProcessPoolExecutor(options.workers) as pool:
        found = list(pool.map(judge, tasks))
        served = list(pool.map(serve, tasks[:6]))
    print_gaps(found)
    print(f"\nserved, for a target of {TARGET:.0%}: known, after 20, on time, not told, safer")
    table = 100.0 * np.array([shares for _, shares in served])
    print("mean  " + "".join(cells(table)))
    print("least " + "".join(f"{share:10.2f}{'':10s}" for share in table.min(axis=0)))


if __name__ == "__main__":
    main()

"""Orders of goods that spoil: ``python -m benchmarks.shelf_life``.

Random items with shelf lives of 1 to 7 periods and lead times of 0 to 3, in weeks that are all alike and in days
with weekdays, one of them closed. Demand has a known law. All ways of ordering meet the same demand, and the
oldest are sold first.

*Small* items can be solved exactly. The plan on sample paths, which a shop makes where they cannot, is compared
with the exact plan, and so are two others that know the same law:

- *life ignored*: the plan for goods that never spoil
- *estimated aging* [BD09]: a base stock with the newsvendor's safety on the position, less what will spoil before
  the order arrives if demand is its mean. Where orders have a fixed cost, at least the economic order

*Large* items are too large for that. They are compared with the largest of three lower bounds: the least cost if
goods never spoiled, could be thrown away at any time for nothing, and arrived after at most one period, the exact
cost without a lead time (an order can be placed later, so a shorter one never costs more), for lives up to 3 in
weeks, and with a life of 1, where each period is alone, its newsvendor's cost. The first is far below what is
possible where much must spoil.

Constants were chosen on seeds from 1000. ``--seed`` takes other items, ``--quick`` few of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np

from driftmdp.inventory.ages import age, sell_oldest
from driftmdp.inventory.sample_draws import N_PATHS, shifted_uniforms
from driftmdp.kernels import exact_perishables
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.normal_law import normal_quantile
from driftmdp.kernels.ordering_arrays import (
    FIRST_PATHS,
    MOST_DOUBT,
    NO_LIMIT,
    ComingPeriods,
    Flags,
    OrderTerms,
    horizon_needed,
)
from driftmdp.kernels.path_orders import plan_ages_on_paths
from driftmdp.statistics import mean_interval

LIVES, LEADS = range(1, 8), range(4)
DEEPEST = 5  # ages on the shelf and on their way, of a small item
TOPS = (0, 14, 14, 12, 9, 7)  # its capacity, by that
WEEKDAYS = np.array([0.7, 0.8, 0.9, 1.1, 1.4, 1.6, 0.0])  # the last is closed
WARM_UP, SMALL_PERIODS, LARGE_PERIODS = 50, 8_000, 450
MOST_AGES = 3
ASHORE = 1e-5  # of the bound's average cost

Way = Callable[[int, tuple[int, ...]], int]  # an order, from phase and z_1 .. z_d


class Case(NamedTuple):
    """An item: its terms, and the law of demand by phase. A law of a closed day is that of nothing."""

    terms: OrderTerms
    laws: Floats
    is_large: bool

    @property
    def is_open(self) -> Flags:
        """Which phases are open."""
        return np.asarray(self.laws[:, 0] < 1.0, np.uint8)

    @property
    def means(self) -> Floats:
        """The mean demand by phase."""
        return np.asarray(self.laws @ np.arange(self.laws.shape[1]))


class Verdict(NamedTuple):
    """A case, and the costs per period of each way by name."""

    case: Case
    costs: dict[str, float]


def cases(seed: int, number: int, is_large: bool) -> Case:
    """Return a random item. The classes take turns."""
    rng = np.random.default_rng((seed, number, int(is_large)))
    classes = [
        (life, lead, days)
        for life, lead, days in product(LIVES, LEADS, (False, True))
        if is_large or life + lead - 1 <= DEEPEST
    ]
    turn = np.random.default_rng(0).permutation(len(classes))  # so that few items are of many classes
    life, lead, days = classes[turn[number % len(classes)]]
    capacity = NO_LIMIT if is_large else TOPS[max(life + lead - 1, 1)]
    mean = rng.uniform(3.0, 12.0) if is_large else rng.uniform(0.15, 0.5) * capacity / (lead + min(life, 2))
    unit = float(rng.choice([0.5, 2.0, 4.0]))
    lost = unit + float(np.exp(rng.uniform(np.log(1.0), np.log(20.0))))
    fixed = float(rng.choice([0.0, 0.0, 0.0, 4.0])) * (mean if is_large else 0.5)
    costs = fixed, unit, lost, float(rng.choice([0.02, 0.2]))
    terms = OrderTerms(*costs, capacity, 1, 0, lead, life, float(rng.choice([0.0, 0.5, 2.0])))
    factors = WEEKDAYS if days else np.ones(1)
    return Case(terms, draw_laws(rng, mean, factors), is_large)


def draw_laws(rng: np.random.Generator, mean: float, factors: Floats) -> Floats:
    """Return Poisson or negative binomial laws with about these means."""
    shape = float(rng.choice([1.0, 4.0, 100.0]))
    drawn = [rng.negative_binomial(shape, shape / (shape + max(mean * f, 1e-12)), 100_000) for f in factors]
    width = max(int(np.quantile(each, 0.9999)) for each in drawn) + 1
    counts = [np.bincount(np.minimum(each, width - 1), minlength=width) / each.size for each in drawn]
    return np.stack(counts)


def exact_way(case: Case) -> Way:
    """Return the optimal orders, by dynamic programming."""
    terms, cycle = case.terms, len(case.laws)
    grid = exact_perishables.new_age_grid(terms, terms.capacity)
    periods = ComingPeriods(case.is_open, case.is_open, cycle)
    values = np.zeros(grid.size)
    exact_perishables.settle_ages(terms, grid, case.laws, periods, values)
    after: list[Floats] = [values] * cycle
    for phase in range(cycle - 1, -1, -1):
        after[phase] = values.copy()
        is_open = bool(case.is_open[phase])
        exact_perishables.step_back_with_ages(terms, grid, case.laws[phase], is_open, is_open, values)

    def order(phase: int, units: tuple[int, ...]) -> int:
        is_open, shelf = bool(case.is_open[phase]), np.array([*units, 0], np.int64)
        best = exact_perishables.best_order_with_ages(
            terms, grid, case.laws[phase], is_open, is_open, shelf, after[phase]
        )
        return int(best[0])

    return order


def path_way(case: Case, seed: int, ignores_life: bool = False) -> Way:
    """Return the orders of plans on sample paths, as a shop makes them: more paths where 512 leave a doubt."""
    terms, cycle = case.terms, len(case.laws)
    life = terms.shelf_life
    planned = terms._replace(shelf_life=0, waste=0.0) if ignores_life else terms
    horizon = horizon_needed(planned, float(case.means.mean()))
    below = np.cumsum(case.laws, axis=1)[:, :-1]
    rng = np.random.default_rng((seed, 3))

    def order(phase: int, units: tuple[int, ...]) -> int:
        if not case.is_open[phase]:
            return 0
        ages, coming = np.zeros(life, np.int64), np.array(units[life:], np.int64)
        ages[: len(units)] = units[:life]
        phases = (phase + np.arange(horizon)) % cycle
        periods = ComingPeriods(case.is_open[phases], case.is_open[phases], 1)
        moved = rng.random(horizon + 1)
        for n_paths in (FIRST_PATHS, N_PATHS):
            drawn = shifted_uniforms(moved, n_paths)[:, 1:]
            columns = [np.searchsorted(below[each], drawn[:, h], side="right") for h, each in enumerate(phases)]
            paths = np.stack(columns, axis=1).astype(np.int32)
            known = np.zeros(0, np.int64) if ignores_life else ages
            found, _, _, doubt = plan_ages_on_paths(planned, int(ages.sum()), known, coming, paths, periods)
            if doubt <= MOST_DOUBT:
                break
        return int(found)

    return order


def aging_way(case: Case) -> Way:
    """Return the orders of a base stock less the estimated outdating, [BD09]."""
    terms, cycle, means = case.terms, len(case.laws), case.means
    squares = case.laws @ np.arange(case.laws.shape[1]) ** 2
    deviations = np.sqrt(squares - means**2)
    gain = max(terms.lost - terms.unit, 0.0)
    over = terms.holding + (terms.unit + terms.waste) / terms.shelf_life
    safety = normal_quantile(min(max(gain / (gain + over), 0.01), 0.9999))
    rate = float(means.mean())
    batch = float(np.sqrt(2.0 * terms.fixed * rate / terms.holding)) if terms.fixed > 0.0 else 0.0
    batch = min(batch, rate * terms.shelf_life)

    def order(phase: int, units: tuple[int, ...]) -> int:
        if not case.is_open[phase]:
            return 0
        span = (phase + np.arange(terms.lead_time + 1)) % cycle
        level = means[span].sum() + safety * np.sqrt((deviations[span] ** 2).sum())
        left, outdated = np.array(units, float), 0.0
        for each in span[:-1]:
            left = np.diff(np.maximum(np.cumsum(left) - means[each], 0.0), prepend=0.0)
            outdated += left[0]
            left = np.append(left[1:], 0.0)
        wanted = level - (sum(units) - outdated)
        wanted = 0.0 if wanted <= 0.0 else max(wanted, batch)
        return max(min(int(np.ceil(wanted - 1e-9)), terms.capacity - sum(units)), 0)

    return order


def simulate(case: Case, demand: Longs, way: Way, remembers: bool) -> float:
    """Return the cost per period of a way of ordering."""
    terms, cycle, known = case.terms, len(case.laws), dict[tuple[int, tuple[int, ...]], int]()
    life, lead = terms.shelf_life, terms.lead_time
    shelf, paid = np.zeros((1, life + lead), np.int64), 0.0  # z_1 .. z_d, and what is ordered now
    for t, asked in enumerate(demand.tolist()):
        phase, is_open = t % cycle, bool(case.is_open[t % cycle])
        units = tuple(shelf[0, :-1].tolist())
        key = phase, units
        order = known[key] if key in known else way(phase, units)
        if remembers:
            known[key] = order
        shelf[0, -1] += order
        there = int(shelf[0, :life].sum())
        sold = min(asked, there)
        shelf[:, :life] = sell_oldest(shelf[:, :life], np.array([sold]))
        shelf, spoiled = age(shelf)
        cost = terms.unit * order + (terms.fixed if order else 0.0) + terms.lost * (asked - sold)
        cost += terms.waste * int(spoiled[0]) + (
            terms.holding * (there - sold - int(spoiled[0])) if is_open else 0.0
        )
        paid += cost if t >= WARM_UP else 0.0
    return paid / (demand.size - WARM_UP)


def lower_bound(case: Case) -> float:
    """Return a cost per period that no way of ordering is below on average."""
    life = case.terms.shelf_life
    alone = newsvendor_cost(case) if life == 1 else 0.0
    at_once = cost_without_lead(case) if 1 < life <= MOST_AGES and len(case.laws) == 1 else 0.0
    return max(alone, at_once, cost_without_spoiling(case))


def newsvendor_cost(case: Case) -> float:
    """Return the cost per period where each period's goods are of that period only."""
    terms, x = case.terms, np.arange(case.laws.shape[1])
    total = 0.0
    for law in case.laws[case.is_open != 0]:
        levels = np.arange(x.size + 1)
        missing = np.maximum(x - levels[:, None], 0) @ law
        spoiled = np.maximum(levels[:, None] - x, 0) @ law
        paid = terms.fixed * (levels > 0) + terms.unit * levels + terms.lost * missing + terms.waste * spoiled
        total += float(paid.min())
    return total / len(case.laws)


def cost_without_lead(case: Case) -> float:
    """Return the least cost per period if orders arrived at once, less its certificate."""
    top = int(3.0 * case.means.max() * case.terms.shelf_life) + 20
    terms, ones = case.terms._replace(lead_time=0, capacity=top), np.ones(1, np.uint8)
    empty = np.zeros(terms.shelf_life, np.int64)
    found = exact_perishables.plan_ages_exactly(
        terms, empty, np.zeros(0, np.int64), case.laws, ComingPeriods(ones, ones, 1)
    )
    return float(found[1] - found[2])


def cost_without_spoiling(case: Case) -> float:
    """Return the least cost per period if goods never spoiled, could be thrown away, and came after a period."""
    terms, laws = case.terms, case.laws
    top = int(4 * case.means.max() * 3 + 60)
    levels, x = np.arange(top + 1), np.arange(laws.shape[1])
    ordering = terms.unit * levels + terms.fixed * (levels > 0)
    values = np.zeros(top + 1)
    left = np.maximum(levels[:, None] - x, 0)
    gain = np.inf
    while True:
        before = values.copy()
        for phase in range(len(laws) - 1, -1, -1):
            law, is_open = laws[phase], bool(case.is_open[phase])
            may_order = is_open or terms.lead_time > 1  # the same order, on an earlier day
            kept = np.minimum.accumulate(values)  # throwing away for nothing
            if terms.lead_time == 0:
                held = terms.holding * left @ law if is_open else 0.0
                day = held + terms.lost * np.maximum(x - levels[:, None], 0) @ law + kept[left] @ law
                ordered = day + ordering  # to level y from 0: y - s are ordered
                values = np.array([_cheapest(day, ordered, terms, s, may_order) for s in range(top + 1)])
            else:
                # At most ``top`` after arrival; what is ordered now is there in the next morning.
                best = np.array([_after_order(kept, ordering, s, may_order) for s in range(top + 1)])
                held = terms.holding * left @ law if is_open else 0.0
                values = held + terms.lost * np.maximum(x - levels[:, None], 0) @ law + best[left] @ law
        grown = values - before
        gain = float(grown.min()) / len(laws)
        if grown.max() - grown.min() <= ASHORE * len(laws) * max(gain, 1e-9):
            return gain
        values -= values[0]


def _cheapest(day: Floats, ordered: Floats, terms: OrderTerms, s: int, may_order: bool) -> float:
    if not may_order or s + 1 >= day.size:
        return float(day[s])
    return float(min(day[s], (ordered[s + 1 :] - terms.unit * s).min()))


def _after_order(kept: Floats, ordering: Floats, s: int, may_order: bool) -> float:
    if not may_order:
        return float(kept[s])
    return float((kept[s:] + ordering[: kept.size - s]).min())


def judge(task: tuple[int, int, bool]) -> Verdict:
    """Return what a case costs."""
    seed, number, is_large = task
    case = cases(seed, number, is_large)
    rng = np.random.default_rng((seed, number, 7))
    size = LARGE_PERIODS if is_large else SMALL_PERIODS
    below, phases = np.cumsum(case.laws, axis=1)[:, :-1], np.arange(size) % len(case.laws)
    drawn = rng.random(size)
    demand = np.array([np.searchsorted(below[p], u, side="right") for p, u in zip(phases, drawn, strict=True)])
    ways = {"paths": path_way(case, seed), "ignored": path_way(case, seed, True), "aging": aging_way(case)}
    if not is_large:
        ways["exact"] = exact_way(case)
    costs = {name: simulate(case, demand, way, not is_large) for name, way in ways.items()}
    if is_large:
        costs["bound"] = lower_bound(case)
    return Verdict(case, costs)


def print_table(found: Sequence[Verdict], is_large: bool) -> None:
    """Print by shelf life what each way costs more than the optimum, or than the lower bound."""
    least = "bound" if is_large else "exact"
    print(f"{'large' if is_large else 'small'}: cost over {least}'s, less 1, in percent")
    print("life  cases   paths: mean [95%]        worst   life ignored   estimated aging   paths / better of them")
    for life in (*LIVES, None):
        mine = [v for v in found if v.case.is_large == is_large and life in (None, v.case.terms.shelf_life)]
        if not mine:
            continue
        over = {
            name: np.array([100.0 * (v.costs[name] / v.costs[least] - 1.0) for v in mine]) for name in mine[0].costs
        }
        best = np.mean([v.costs["paths"] / min(v.costs["ignored"], v.costs["aging"]) for v in mine])
        interval = mean_interval(over["paths"])
        gap = f"{interval.estimate:7.2f} [{interval.low:.2f}, {interval.high:.2f}]"
        others = f"{over['ignored'].mean():12.1f} {over['aging'].mean():16.1f} {best:22.3f}"
        print(f"{life or 'all':>4} {len(mine):6d}   {gap:24s} {over['paths'].max():6.2f} {others}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="12 small and 8 large items")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small", type=int, default=72)
    parser.add_argument("--large", type=int, default=56)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    small, large = (12, 8) if options.quick else (options.small, options.large)
    tasks = [(options.seed, number, False) for number in range(small)]
    tasks += [(options.seed, number, True) for number in range(large)]
    with ProcessPoolExecutor(options.workers) as pool:
        found = list(pool.map(judge, tasks))
    for is_large in (False, True):
        print_table(found, is_large)


if __name__ == "__main__":
    main()

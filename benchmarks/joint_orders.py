"""Items of one supplier ordered together, each alone, and a lower bound: ``python -m benchmarks.joint_orders``.

Random suppliers with 2 to 12 items whose demand has a known law, an order cost K of the supplier from 0 to 40 times
the items' own, lead times 0 to 2, and orders on every period or every third. None has a minimum. Three ways of
ordering meet the same 20,000 periods of demand:

- *together*: ``driftmdp.inventory.joint_orders``, what a shop does
- *each alone, K in each*: each item is planned as if its orders paid the whole K
- *each alone, without K*: as if they paid none of it

All pay K once for each period with an order. The lower bound divides K among the items, plans each alone and
exactly with its share, and takes the best division [AI87]. No way of ordering costs less on average.

Constants were chosen on seeds 1 to 4 and from 1000 on. ``--seed`` takes other suppliers, ``--quick`` few of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np

from driftmdp.inventory.joint_orders import JointItems, SharingItems, cost_shares, most_worthwhile, order_together
from driftmdp.inventory.lowest_cost import best_division
from driftmdp.inventory.shared_order import SharedOrder
from driftmdp.kernels.arrays import Floats, Longs
from driftmdp.kernels.exact_orders import plan_exactly
from driftmdp.kernels.order_menus import MENU, NO_ORDER, fill_menu_exactly
from driftmdp.kernels.ordering_arrays import ComingPeriods, OrderTerms

PERIODS, WARM_UP, BATCHES = 20_200, 200, 40
WAYS = ("together", "whole", "without")
CAPACITY = 60
RATIOS = (0.0, 1.0, 4.0, 12.0, 40.0)  # of K to the mean of the items' own fixed costs
SHARES = np.linspace(0.0, 1.0, 13) ** 2  # of K, at which an item's cost is computed for the bound


class Case(NamedTuple):
    """A supplier: what orders share, the items' terms and laws, and periods from one order day to the next."""

    shared: SharedOrder
    terms: list[OrderTerms]
    laws: list[Floats]
    wait: int
    ratio: float


class Verdict(NamedTuple):
    """A case, the mean costs per period of BATCHES parts of its time by way of ordering, and the lower bound."""

    case: Case
    paid: dict[str, Floats]
    bound: float

    def cost(self, how: str) -> float:
        """Return the mean cost per period."""
        return float(self.paid[how].mean())

    def gain(self) -> tuple[float, float]:
        """Return how much more the better way of ordering each alone costs than together, and twice its error."""
        together = self.paid["together"]
        alone = min((self.paid["whole"], self.paid["without"]), key=lambda paid: float(paid.mean()))
        differences = (alone - together) / together.mean()
        return float(differences.mean()), float(2.0 * differences.std(ddof=1) / BATCHES**0.5)


def draw_case(seed: int, number: int) -> Case:
    """Return a random supplier. The classes take turns."""
    rng = np.random.default_rng((seed, number))
    classes = list(product(RATIOS, (0, 1, 2), (1, 3)))
    ratio, lead, wait = classes[number % len(classes)]
    n = int(rng.integers(2, 13))
    means = np.minimum(np.exp(rng.normal(0.3, 0.9, n)), 6.0)
    fixed = np.exp(rng.uniform(np.log(0.5), np.log(4.0), n))
    holding, lost = (
        np.exp(rng.uniform(np.log(0.1), np.log(1.0), n)),
        np.exp(rng.uniform(np.log(4.0), np.log(20.0), n)),
    )
    shared = SharedOrder(float(ratio * fixed.mean()))
    terms = [OrderTerms(fixed[i], 0.0, lost[i], holding[i], CAPACITY, 1, 0, lead) for i in range(n)]
    return Case(shared, terms, [draw_law(rng, mean) for mean in means], wait, ratio)


def draw_law(rng: np.random.Generator, mean: float) -> Floats:
    """Return a Poisson or negative binomial law with about this mean."""
    shape = float(rng.choice([0.7, 2.0, 100.0]))
    drawn = rng.negative_binomial(shape, shape / (shape + mean), 200_000)
    law = np.bincount(np.minimum(drawn, CAPACITY), minlength=CAPACITY + 1) / drawn.size
    return np.asarray(law)


def periods_of(case: Case) -> ComingPeriods:
    """Return the periods from one order day to the next, which repeat for ever."""
    may_order = np.array([h == 0 for h in range(case.wait)], np.uint8)
    return ComingPeriods(np.ones(case.wait, np.uint8), may_order, case.wait)


def means_of(case: Case) -> Floats:
    """Return the items' mean demands."""
    return np.array([float(law @ np.arange(law.size)) for law in case.laws])


def gain(case: Case, item: int, fixed: float) -> float:
    """Return the least average cost per period of an item alone, with this fixed cost, less its certificate."""
    terms, nothing = (
        case.terms[item]._replace(fixed=fixed),
        np.zeros(max(case.terms[item].lead_time - 1, 0), np.int64),
    )
    laws = np.tile(case.laws[item], (case.wait, 1))
    _, cost, residual = plan_exactly(terms, 0, nothing, laws, periods_of(case))
    return float(cost - residual)


def lower_bound(case: Case) -> float:
    """Return the best sum of the items' costs over divisions of K."""
    cost = case.shared.cost
    table = np.array(
        [
            [gain(case, item, terms.fixed + share * cost) for share in (SHARES if cost else (0.0,))]
            for item, terms in enumerate(case.terms)
        ]
    )
    return best_division(table, SHARES * cost) if cost else float(table.sum())


class Menus:
    """The menus of one item with a fixed cost for the future, by state."""

    def __init__(self, case: Case, item: int, fixed: float) -> None:
        self._terms, self._laws = case.terms[item]._replace(fixed=fixed), np.tile(case.laws[item], (case.wait, 1))
        self._periods, self._found = periods_of(case), dict[tuple[int, ...], tuple[Longs, Floats]]()

    def of(self, stock: int, coming: tuple[int, ...]) -> tuple[Longs, Floats]:
        """Return the orders and costs of a state."""
        key = stock, *coming
        if key not in self._found:
            orders, costs = np.full(MENU, NO_ORDER, np.int64), np.zeros(MENU)
            state = stock, np.array(coming, np.int64)
            fill_menu_exactly(self._terms, *state, self._laws, self._periods, orders, costs)
            self._found[key] = orders, costs
        return self._found[key]


def simulate(case: Case, demand: Longs, how: str) -> Floats:
    """Return the cost per period of a way of ordering, one of WAYS, by part of the time."""
    n, lead = len(case.terms), case.terms[0].lead_time
    fixed, holding, lost = (
        np.array([getattr(t, name) for t in case.terms]) for name in ("fixed", "holding", "lost")
    )
    ones = np.ones(n)
    levels = means_of(case)
    sharing = SharingItems(fixed, holding, lost, lead * ones, levels, ones, most_worthwhile(holding, lost, levels))
    shares = {
        "together": cost_shares(case.shared, sharing, float(case.wait)),
        "whole": np.full(n, case.shared.cost),
        "without": np.zeros(n),
    }[how]
    menus = [Menus(case, i, fixed[i] + shares[i]) for i in range(n)]
    stock, way = np.zeros(n, np.int64), np.zeros((n, lead), np.int64)
    paid = np.zeros(demand.shape[1])
    for t in range(demand.shape[1]):
        if lead:
            stock += way[:, 0]
            way = np.concatenate([way[:, 1:], np.zeros((n, 1), np.int64)], axis=1)
        orders = np.zeros(n, np.int64)
        if t % case.wait == 0:
            pairs = [menus[i].of(int(stock[i]), tuple(way[i, : max(lead - 1, 0)].tolist())) for i in range(n)]
            table = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
            if how == "together":
                items = JointItems(*table, fixed, np.zeros(n, bool), ones)
                orders = order_together(case.shared, items, False)
            else:
                saving = table[1][:, 0] - table[1][:, 1] - fixed - shares
                orders = np.where((saving > 0) & (table[0][:, 1] > 0), table[0][:, 1], 0)
        if lead:
            way[:, -1] += orders
        else:
            stock += orders
        cost = fixed[orders > 0].sum() + (case.shared.cost if orders.any() else 0.0)
        sold = np.minimum(stock, demand[:, t])
        stock -= sold
        paid[t] = cost + (lost * (demand[:, t] - sold)).sum() + (holding * stock).sum()
    return np.asarray(paid[WARM_UP:].reshape(BATCHES, -1).mean(axis=1))


def judge(task: tuple[int, int]) -> Verdict:
    """Return what a case costs."""
    case = draw_case(*task)
    rng = np.random.default_rng((*task, 1))
    demand = np.stack([rng.choice(law.size, PERIODS, p=law) for law in case.laws])
    return Verdict(case, {how: simulate(case, demand, how) for how in WAYS}, lower_bound(case))


def print_table(found: Sequence[Verdict]) -> None:
    """Print a line for each ratio of K to the items' own costs."""
    print(
        "K / f   cases   over bound: together   K in each   without K   alone over together: mean   least   worse"
    )
    for ratio in RATIOS:
        mine = [verdict for verdict in found if verdict.case.ratio == ratio]
        if mine:
            over = [np.mean([verdict.cost(how) / verdict.bound for verdict in mine]) for how in WAYS]
            gains = [verdict.gain() for verdict in mine]
            worse = sum(gain + error < 0.0 for gain, error in gains)
            means = [1.0 + gain for gain, _ in gains]
            cells = "   ".join(f"{value:9.3f}" for value in over)
            print(f"{ratio:5.0f} {len(mine):7d}   {cells}   {np.mean(means):9.3f} {min(means):9.4f} {worse:5d}")
    gains = [verdict.gain() for verdict in found]
    below = sum(gain < -1e-9 for gain, _ in gains)
    clearly = sum(gain + error < 0.0 for gain, error in gains)
    least, error = min(gains)
    print(f"Together costs more in {below} of {len(gains)} cases, in {clearly} beyond twice the error of the mean.")
    print(f"The most: {-100 * least:.2f}% (+- {100 * error:.2f}%).")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="30 suppliers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=120)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    numbers = range(30 if options.quick else options.cases)
    with ProcessPoolExecutor(options.workers) as pool:
        found = list(pool.map(judge, [(options.seed, number) for number in numbers]))
    print_table(found)


if __name__ == "__main__":
    main()

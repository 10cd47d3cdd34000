"""Lost sales with a lead time as a Markov decision process, slow and plain: the oracle of the order planners.

A state is (phase of the calendar, stock in the morning, orders on their way c_1 .. c_{L-1}). The calendar
repeats: in a phase one may order or not, and the shelf is open or not. In an open period: an order a, on sale at
once if L = 0, demand, lost sales, holding. In the next morning stock is what is left and what arrives.
"""

from itertools import product
from typing import Any

import numpy as np


def orders_of(terms, position, may_order):
    """Return the orders that fit: 0, and multiples of the pack from the minimum to the capacity."""
    orders = [0]
    if may_order:
        orders += [a for a in range(terms.pack, terms.capacity - position + 1, terms.pack) if a >= terms.minimum]
    return orders


def cost_of(terms, stock, order, demand):
    """Return the cost of an open period."""
    on_sale = stock + order if terms.lead_time == 0 else stock
    total = terms.fixed * (order > 0) + terms.unit * order
    return total + terms.lost * max(demand - on_sale, 0) + terms.holding * max(on_sale - demand, 0)


def next_of(terms, stock, coming, order, demand):
    """Return the next morning's stock and what is coming then."""
    on_sale = stock + order if terms.lead_time == 0 else stock
    left = max(on_sale - demand, 0)
    if terms.lead_time == 0:
        return left, ()
    line = (*coming, order)
    return left + line[0], line[1:]


class Chain:
    """The process of one item: ``states``, and for each the orders with their costs and next states.

    Parameters
    ----------
    terms
        OrderTerms with a capacity.
    laws
        Per phase of the calendar: probabilities of the demands 0, 1, .., which sum to one.
    may_order, is_open
        Per phase.
    """

    def __init__(self, terms: Any, laws: Any, may_order: Any, is_open: Any) -> None:
        self.terms, self.laws = terms, [np.asarray(law, float) for law in laws]
        self.may_order = [bool(may and opened) for may, opened in zip(may_order, is_open, strict=True)]
        self.is_open = [bool(opened) for opened in is_open]
        self.n_phases = len(laws)
        self.stocks = self._enumerate()
        self.number = {state: i for i, state in enumerate(self.stocks)}
        self.phases = [self._build(phase) for phase in range(self.n_phases)]

    def _enumerate(self):
        """Return all (stock, coming) that fit."""
        terms = self.terms
        sizes = range(0, terms.capacity + 1, terms.pack)
        found = []
        for coming in product(sizes, repeat=max(terms.lead_time - 1, 0)):
            found += [(stock, coming) for stock in range(terms.capacity - sum(coming) + 1)]
        return found

    def _build(self, phase):
        """Return state, order, cost, and next states by demand, of all state-order pairs of a phase."""
        law = self.laws[phase] if self.is_open[phase] else np.array([1.0])
        rows, orders, costs, following = [], [], [], []
        for i, (stock, coming) in enumerate(self.stocks):
            for order in orders_of(self.terms, stock + sum(coming), self.may_order[phase]):
                rows.append(i)
                orders.append(order)
                cost = 0.0
                if self.is_open[phase]:
                    cost = sum(p * cost_of(self.terms, stock, order, x) for x, p in enumerate(law))
                costs.append(cost)
                following.append(
                    [self.number[next_of(self.terms, stock, coming, order, x)] for x in range(len(law))]
                )
        return np.array(rows), np.array(orders), np.array(costs), np.array(following), law

    def step(self, phase, after):
        """Return the totals of all pairs of a phase when the next mornings are worth ``after``."""
        _, _, costs, following, law = self.phases[phase]
        return costs + after[following] @ law

    def cheapest(self, phase, totals):
        """Return the least total of each state, and the first order that attains it."""
        rows, orders, *_ = self.phases[phase]
        starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
        least = np.minimum.reduceat(totals, starts)
        near = totals <= least[rows] + 1e-9
        first = np.minimum.reduceat(np.where(near, orders, self.terms.capacity + 1), starts)
        return least, first

    def n_open(self):
        """Return the open periods of one round of the calendar."""
        return max(sum(self.is_open), 1)

    def optimum(self, precision: float = 1e-6, policy_sweeps: int = 30, rounds: int = 5000) -> tuple[float, list]:
        """Return the least average cost per open period and orders[phase][state], by modified policy iteration."""
        values = np.zeros(len(self.stocks))
        for _ in range(rounds):
            after, policy = values, [None] * self.n_phases
            for phase in range(self.n_phases - 1, -1, -1):
                after, policy[phase] = self.cheapest(phase, self.step(phase, after))
            growth = after - values
            if growth.max() - growth.min() <= precision * self.n_open():
                break
            # Half a step: a calendar of orders may come round for ever.
            values = values + 0.5 * (growth - growth[0])
            picked = self._picked(policy)
            for _ in range(policy_sweeps):
                growth = self._sweep(picked, values) - values
                values = values + 0.5 * (growth - growth[0])
        return 0.5 * (growth.max() + growth.min()) / self.n_open(), policy

    def _picked(self, policy):
        """Return costs and next states of a policy, per phase."""
        found = []
        for phase in range(self.n_phases):
            rows, orders, costs, following, law = self.phases[phase]
            chosen = np.flatnonzero(orders == np.asarray(policy[phase])[rows])
            found.append((costs[chosen], following[chosen], law))
        return found

    def _sweep(self, picked, values):
        after = values
        for costs, following, law in reversed(picked):
            after = costs + after[following] @ law
        return after

    def average_cost(self, policy: Any, start: int = 0, sweeps: int = 200_000, precision: float = 1e-7) -> float:
        """Return the average cost per open period of orders[phase][state], from a state of phase 0.

        Exact: the distribution of states, carried from round to round until the cost settles. Where orders come
        round for ever, the mean of two rounds' distributions does.
        """
        picked = self._picked(policy)
        chance = np.zeros(len(self.stocks))
        chance[start] = 1.0
        last = np.inf
        for sweep in range(sweeps):
            cost, moved = 0.0, chance
            for costs, following, law in picked:
                cost += moved @ costs
                moved = np.bincount(following.ravel(), (moved[:, None] * law).ravel(), minlength=len(self.stocks))
            change = np.abs(moved - chance).sum()
            chance = 0.5 * (chance + moved)
            if sweep % 10 == 9 and change < precision:
                return cost / self.n_open()
            last = cost
        return last / self.n_open()


def backwards(chain, phases):
    """Return the values and orders of the first of the given phases' periods, when nothing follows the last."""
    values = np.zeros(len(chain.stocks))
    policy = None
    for phase in reversed(phases):
        values, policy = chain.cheapest(phase, chain.step(phase, values))
    return values, policy

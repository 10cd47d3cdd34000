"""Lost sales with lead times that vary, as a Markov decision process, slow and plain: the oracle of late orders.

A state is (stock in the morning, units ordered 1, 2, .. periods ago that have not come). An order of L + d periods
ago comes with the hazard of delay d, each on its own. In a period: an order, demand, lost sales, holding. Then
mornings come: what was ordered may arrive.
"""

from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from tests.reference.lost_sales import orders_of


def orders_waiting(most: int, slots: int):
    """Yield all (units by age) that sum to at most so much."""
    if slots == 0:
        yield ()
        return
    for units in range(most + 1):
        for rest in orders_waiting(most - units, slots - 1):
            yield (units, *rest)


class VaryingLeads:
    """The process of one item whose orders may be placed every period.

    Parameters
    ----------
    terms
        OrderTerms with a capacity and a lead time of at least 1.
    law
        Probabilities of the demands 0, 1, ..
    hazards
        Of the delays 0, 1, .., the last of which is 1.
    """

    def __init__(self, terms: Any, law: Any, hazards: Any) -> None:
        self.terms, self.law, self.hazards = terms, np.asarray(law, float), list(hazards)
        assert self.hazards[-1] == 1.0
        self.slots = terms.lead_time + len(self.hazards) - 2  # ages that an order may have and still be out
        waiting = list(orders_waiting(terms.capacity, self.slots))
        self.states = [(s, w) for w in waiting for s in range(terms.capacity - sum(w) + 1)]
        self.number = {state: i for i, state in enumerate(self.states)}
        self._build()

    def hazard(self, age: int) -> float:
        """Return the chance that an order comes in the morning in which it has an age, if it did not before."""
        delay = age - self.terms.lead_time
        return 0.0 if delay < 0 else self.hazards[delay]

    def _build(self) -> None:
        rows, orders, costs, entries = [], [], [], ([], [], [])
        terms = self.terms
        for i, (stock, waiting) in enumerate(self.states):
            left = [(max(stock - x, 0), p) for x, p in enumerate(self.law) if p > 0]
            cost = sum(
                p * (terms.lost * max(x - stock, 0) + terms.holding * max(stock - x, 0))
                for x, p in enumerate(self.law)
            )
            for order in orders_of(terms, stock + sum(waiting), True):
                row = len(rows)
                rows.append(i)
                orders.append(order)
                costs.append(cost + terms.fixed * (order > 0) + terms.unit * order)
                for came, out, chance in self.mornings((order, *waiting)):
                    for rest, p in left:
                        entries[0].append(row)
                        entries[1].append(self.number[rest + came, out])
                        entries[2].append(p * chance)
        shape = len(rows), len(self.states)
        self.rows, self.orders, self.costs = np.array(rows), np.array(orders), np.array(costs)
        self.moves = csr_matrix((entries[2], (entries[0], entries[1])), shape)

    def mornings(self, line):
        """Yield what comes of orders by age, what is still out, and the chance."""
        there = [k for k, units in enumerate(line) if units]
        for comes in product((False, True), repeat=len(there)):
            chance, came, out = 1.0, 0, list(line)
            for k, it_comes in zip(there, comes, strict=True):
                hazard = self.hazard(k + 1)
                chance *= hazard if it_comes else 1.0 - hazard
                if it_comes:
                    came, out[k] = came + line[k], 0
            if chance > 0.0:
                yield came, tuple(out[: self.slots]), chance

    def optimum(self, precision: float = 1e-6, rounds: int = 20_000) -> tuple[float, Any]:
        """Return the least average cost per period, and the order of each state, by relative value iteration."""
        values = np.zeros(len(self.states))
        starts = np.flatnonzero(np.r_[True, self.rows[1:] != self.rows[:-1]])
        for _ in range(rounds):
            totals = self.costs + self.moves @ values
            growth = np.minimum.reduceat(totals, starts) - values
            if growth.max() - growth.min() <= precision:
                break
            values = values + 0.7 * (growth - growth[0])
        least = np.minimum.reduceat(totals, starts)
        near = totals <= least[self.rows] + 1e-9
        policy = np.minimum.reduceat(np.where(near, self.orders, self.terms.capacity + 1), starts)
        return float(0.5 * (growth.max() + growth.min())), policy

    def average_cost(self, policy: Any, sweeps: int = 20_000, precision: float = 1e-7) -> float:
        """Return the average cost per period of the orders of a policy, from an empty shelf."""
        chosen = np.flatnonzero(self.orders == np.asarray(policy)[self.rows])
        moves, costs = self.moves[chosen].T.tocsr(), self.costs[chosen]
        chance = np.zeros(len(self.states))
        chance[self.number[0, (0,) * self.slots]] = 1.0
        for _ in range(sweeps):
            moved = moves @ chance
            if np.abs(moved - chance).sum() < precision:
                break
            chance = 0.3 * chance + 0.7 * moved
        return float(chance @ costs)

"""Stock on the shelf and on order: the states of an inventory with a lead time.

=========  ====================================================  =====================================
lead time  a state, in the morning after arrivals                what there is to sell today
=========  ====================================================  =====================================
0          stock s                                               s + a: the order arrives at once
1          stock s                                               s; the order arrives tomorrow morning
2          stock s and the order q that arrives tomorrow         s; the order arrives the day after
=========  ====================================================  =====================================

What is on the shelf, on its way and ordered fits the shelf together: s + q + a <= S. So nothing is turned away.
[ZCS18] and [AJ19] write the state before the morning's arrival. Adding it to the stock loses nothing.
"""

import functools
import math

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Longs
from driftmdp.mdp import Space
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, readonly

LEAD_TIMES = (0, 1, 2)


def as_lead_time(value: int) -> int:
    """Validate that a lead time is 0, 1 or 2 days."""
    return as_integer(value, "lead_time", minimum=0, maximum=LEAD_TIMES[-1])


class Stock:
    """The states of an inventory of a capacity and a lead time, and how they follow each other.

    Parameters
    ----------
    capacity
        S, the most units on the shelf.
    lead_time
        Days from order to arrival: 0, 1 or 2.

    Attributes
    ----------
    space
        Action a in a state orders a units.
    on_hand, coming
        s and q of each state, shape (n_states,). Nothing is coming unless the lead time is 2.

    Examples
    --------
    >>> from driftmdp.problems.inventory import Stock
    >>> stock = Stock(capacity=3, lead_time=2)
    >>> stock.space.n_states, stock.index(on_hand=1, coming=2)
    (10, 6)
    >>> int(stock.on_hand[6]), int(stock.coming[6]), int(stock.space.n_actions[6])  # the shelf is full: order 0
    (1, 2, 1)
    """

    def __init__(self, capacity: int, lead_time: int = 0) -> None:
        self.capacity = as_integer(capacity, "capacity", minimum=1)
        self.lead_time = as_lead_time(lead_time)
        axes = 3 if self.lead_time == 2 else 2  # of a state and an order
        pairs = math.comb(self.capacity + axes, axes)
        require_memory(8 * pairs, f"capacity = {self.capacity:,}")
        self.space, self.on_hand, self.coming = _states(self.capacity, self.lead_time)

    def index(self, on_hand: int, coming: int = 0) -> int:
        """Return the state of a stock and of what is coming."""
        s = as_integer(on_hand, "on_hand", 0, self.capacity)
        q = as_integer(coming, "coming", 0, self.capacity - s)
        if self.lead_time < 2:
            if q:
                rule = f"coming must be 0 with a lead time of {self.lead_time}: what was ordered is here"
                raise InvalidInputError(f"{rule}; got {q}.")
            return s
        return s * (self.capacity + 1) - s * (s - 1) // 2 + q

    def on_sale(self, state: int, order: int) -> int:
        """Return y, the units that can be sold on a day that begins in a state."""
        return int(self.on_hand[state]) + (order if self.lead_time == 0 else 0)

    def sales(self, state: int, order: int, next_state: int) -> int:
        """Return Y, the units that must have been sold between two states."""
        arrived = (order, order, int(self.coming[state]))[self.lead_time]
        return int(self.on_hand[state]) + arrived - int(self.on_hand[next_state])

    def after(self, state: Longs, order: Longs, sales: Longs) -> Longs:
        """Return the next states."""
        left = self.on_hand[state] - sales
        if self.lead_time < 2:
            return np.asarray(left + order)
        s = left + self.coming[state]
        return np.asarray(s * (self.capacity + 1) - s * (s - 1) // 2 + order)


@functools.cache
def _states(capacity: int, lead_time: int) -> tuple[Space, Longs, Longs]:
    n_coming = np.arange(capacity + 1, 0, -1) if lead_time == 2 else np.ones(capacity + 1, np.int64)
    on_hand = np.repeat(np.arange(capacity + 1), n_coming)
    coming = np.concatenate([np.arange(n) for n in n_coming])
    return Space(capacity + 1 - on_hand - coming), readonly(on_hand), readonly(coming)

"""The arrays of inventories, by name, and the functions that make them. Nothing here needs the compiler."""

from typing import NamedTuple, TypeAlias

import numpy as np

from driftmdp.kernels.arrays import Floats, Ints, Longs

N_MEMORIES = 6
MAX_ELIMINATED_STATES = 1000  # of a plan that is solved by elimination where sweeps are slow


class ShelfModel(NamedTuple):
    """Costs, capacity and lead time of a shelf: numbers only.

    =========================  =====================================================
    fixed, unit, lost, holding f, c, l and h of [CSZ20] Section 7.1
    capacity, lead_time        S, and the days from an order to its arrival
    =========================  =====================================================
    """

    fixed: float
    unit: float
    lost: float
    holding: float
    capacity: int
    lead_time: int


class Demands(NamedTuple):
    """Statistics of the demand for n items, see kernels/censored_demand.py. Field names are stored in files.

    =========  ==================  ===========================================================
    at_risk    (n, memories, S)    days that asked whether demand stops at a level, fading
    stops      (n, memories, S)    days on which it did
    weights    (n, memories)       of the memories
    rhythm     (n, 2, 7)           by weekday: stops, and how many were expected
    belief     (n,)                that the weekdays differ
    days       (n,)                that were learned from
    unseen     (n,)                of these, with nothing on sale since demand was last seen to stop
    =========  ==================  ===========================================================
    """

    at_risk: Floats
    stops: Floats
    weights: Floats
    rhythm: Floats
    belief: Floats
    days: Longs
    unseen: Longs


class OrderTrace(NamedTuple):
    """The actions of a rule day by day, shape (T,) each: units ordered, units on sale, the level ordered up to."""

    orders: Ints
    on_sale: Ints
    levels: Ints


def new_order_trace(n: int) -> OrderTrace:
    """Return an empty trace of n days."""
    return OrderTrace(np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32))


class DemandWorkspace(NamedTuple):
    """Buffers for predicting one item's demand and planning its orders.

    ============================  ==============  ==================================================
    hazards                       (memories, S)   Pr(X = j | X >= j)
    stops_nearby, risks_nearby    (S,)            sums over levels nearby
    likelihoods                   (memories,)     of the sales
    tail, spread                  (S + 1,)        Pr(X >= j), and its relative deviation
    law, today                    (S + 1,)        the laws that a plan is made for
    renewals                      (S + 1,)        times that a falling stock stays at a level
    values, other                 (states,)       relative cost of the states
    policy                        (states,)       orders
    totals                        (S + 1,)        costs of the orders in one state
    offsets                       (S + 2,)        first state of each stock
    system                        (states,) * 2   of equations, empty without a lead time, or with many states
    ============================  ==============  ==================================================
    """

    hazards: Floats
    stops_nearby: Floats
    risks_nearby: Floats
    likelihoods: Floats
    tail: Floats
    spread: Floats
    law: Floats
    today: Floats
    renewals: Floats
    values: Floats
    other: Floats
    policy: Ints
    totals: Floats
    offsets: Ints
    system: Floats


OrderingArrays: TypeAlias = tuple[ShelfModel, Demands, DemandWorkspace]


def new_demands(n: int, capacity: int) -> Demands:
    """Return items that nothing was learned of yet."""
    return Demands(
        np.zeros((n, N_MEMORIES, capacity)),
        np.zeros((n, N_MEMORIES, capacity)),
        np.full((n, N_MEMORIES), 1.0 / N_MEMORIES),
        np.zeros((n, 2, 7)),
        np.full(n, 0.5),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
    )


def new_demand_workspace(capacity: int, lead_time: int) -> DemandWorkspace:
    """Return the buffers for items of a capacity and a lead time."""
    # With a lead time of two days, a stock of s has a state for each order of 0 .. S - s on its way.
    states_of = np.arange(capacity + 1, 0, -1) if lead_time == 2 else np.ones(capacity + 1, np.int64)
    offsets = np.concatenate([[0], np.cumsum(states_of)]).astype(np.int32)
    n_states = int(offsets[-1])
    n_solved = n_states if lead_time > 0 and n_states <= MAX_ELIMINATED_STATES else 0

    def levels(extra: int = 1) -> Floats:
        return np.zeros(capacity + extra)

    return DemandWorkspace(
        hazards=np.zeros((N_MEMORIES, capacity)),
        stops_nearby=levels(0),
        risks_nearby=levels(0),
        likelihoods=np.zeros(N_MEMORIES),
        tail=levels(),
        spread=levels(),
        law=levels(),
        today=levels(),
        renewals=levels(),
        values=np.zeros(n_states),
        other=np.zeros(n_states),
        policy=np.zeros(n_states, np.int32),
        totals=levels(),
        offsets=offsets,
        system=np.zeros((n_solved, n_solved)),
    )

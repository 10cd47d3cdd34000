"""The arrays of MASTER, by name, and the functions that make them. Nothing here needs the compiler.

Instances of one order never overlap, so there is one place for each order. The places of all orders lie behind each
other in every array, so that compiled code finds those of an order by slices.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.kernels.arrays import FIRST_CAPACITY, Ints, Records, TransitionCounts, new_counts, record_type
from driftmdp.kernels.plan_arrays import (
    PLAN_FACTS,
    OptimistParams,
    Phases,
    PlanState,
    PlanWorkspace,
    new_plan_state,
)
from driftmdp.kernels.posterior_arrays import Bits

TEST_1, TEST_2, WIDENING = 1, 2, 3  # what a restart is caused by

# Field names are keys of saved snapshots: never rename them.
BLOCK = record_type(
    "i8 t",  # the time of the step that comes next, from 1
    "i8 order done",  # n of a block of 2^n steps, and how many of them were taken
    "i8 begun",  # whether the schedule of the step that comes next was drawn
    "i8 active",  # the order of the instance that acts, or acted last
    "i8 blocks plans planned",  # how many there were, and when the last plan was made
    "i8 n_restarts test_1 test_2 widening",  # by cause
    "f8 bound",  # U, the least optimistic gain of the block
    "f8 excess rewards",  # the sums of g - R and of R over the block
    "f8 closest_1 closest_2",  # the largest ratio of a test's statistic to its threshold
)
INSTANCE = record_type(
    "i8 last",  # the step of the block that it ends with, from 0, and -1 where there is none
    "i8 started",  # how many instances of the order there were
    "f8 rewards",  # of the block before its first step
    "f8 widening",  # Gamma, the sum of eta - 1/T over its steps
)
RESTART = record_type("i8 t cause")


class MasterParams(NamedTuple):
    """Parameters of MASTER: numbers only.

    ==============  =========================================================================
    orders          how many orders there may be
    n_states        S
    n_pairs         SA
    diameter        D
    scale           factor of the base's radii, and so of its regret
    threshold       of the tests: rho^ over rho, times ``test_scale``
    first_widening  eta that a plan begins with, 1/T
    allowance       of Gamma over the root of an instance's steps
    ==============  =========================================================================
    """

    orders: int
    n_states: int
    n_pairs: int
    diameter: float
    scale: float
    threshold: float
    first_widening: float
    allowance: float


class MasterArrays(NamedTuple):
    """Everything that the kernels of MASTER read and write.

    ===========  ===================  ==============================================================
    params       MasterParams
    base         OptimistParams       those of every instance
    phases       Phases               of length 1: its widening is eta of the plan that is being made
    offsets      (S + 1,)             of the space
    counts       TransitionCounts     of all orders
    plan_state   PlanState            of all orders
    workspace    PlanWorkspace        for one plan at a time
    block        (1,) BLOCK
    instances    (orders,) INSTANCE
    last_plan    (1,) PLAN_FACTS      of the plan made last, in any instance
    restarts     (capacity,) RESTART
    generator    (4,)                 state of the random generator, see kernels/posterior.py
    ===========  ===================  ==============================================================
    """

    params: MasterParams
    base: OptimistParams
    phases: Phases
    offsets: Ints
    counts: TransitionCounts
    plan_state: PlanState
    workspace: PlanWorkspace
    block: Records
    instances: Records
    last_plan: Records
    restarts: Records
    generator: Bits


Stacked = TypeVar("Stacked", TransitionCounts, PlanState)


def stack(parts: list[Stacked]) -> Stacked:
    """Return the arrays of all orders behind each other."""
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def part_of(stacked: Stacked, order: int, orders: int) -> Stacked:
    """Return views of the arrays of one order."""
    rows = (array.reshape(orders, array.size // orders) for array in stacked)
    return type(stacked)(*(row[order] for row in rows))


def stack_counts(parts: list[TransitionCounts], pairs: int = 0, successors: int = 0) -> TransitionCounts:
    """Return counts behind each other, all with the capacity of the largest, or the one asked for."""
    pairs = max(pairs, *(part.slots.size - 1 for part in parts))
    successors = max(successors, *(part.entries.size - 1 for part in parts))
    larger = []
    for part in parts:
        counts = new_counts(part.slot_of.size, 0, pairs, successors)
        counts.slot_of[:], counts.tally[:] = part.slot_of, part.tally
        counts.slots[: part.slots.size], counts.entries[: part.entries.size] = part.slots, part.entries
        kernels.transition_counts.fill_table(counts)
        larger.append(counts)
    return stack(larger)


def stack_plan_states(parts: list[PlanState], capacity: int) -> PlanState:
    """Return plan states behind each other, all with the capacity for so many remembered pairs."""
    larger = []
    for part in parts:
        state = new_plan_state(part.policy.size, part.visits.size, capacity)
        for name in ("clock", "in_force", "visits", "policy", "bias"):
            getattr(state, name)[:] = getattr(part, name)
        n = min(capacity, part.touched.size)
        state.touched[:n], state.reasons[:n] = part.touched[:n], part.reasons[:n]
        larger.append(state)
    return stack(larger)


def new_instances(orders: int, n_states: int, n_pairs: int) -> tuple[TransitionCounts, PlanState]:
    """Return the arrays of all orders, of which nothing is remembered."""
    counts = [new_counts(n_pairs, 0) for _ in range(orders)]
    return stack(counts), stack([new_plan_state(n_states, n_pairs, FIRST_CAPACITY) for _ in range(orders)])


def new_block() -> Records:
    """Return the first block before its first step."""
    block = np.zeros(1, BLOCK)
    block["t"], block["blocks"], block["bound"] = 1, 1, 1.0
    block["closest_1"], block["closest_2"] = -np.inf, -np.inf
    return block


def no_instances(orders: int) -> Records:
    """Return the facts of the instances before any was started."""
    instances = np.zeros(orders, INSTANCE)
    instances["last"] = -1
    return instances


def no_plan() -> Records:
    """Return the facts of the last plan before there is one."""
    return np.zeros(1, PLAN_FACTS)


def enlarge_restarts(found: NDArray[np.void] | None = None) -> Records:
    """Return a list of restarts, at first none, with the capacity for as many more."""
    found = np.zeros(0, RESTART) if found is None else found
    return np.concatenate([found, np.zeros(max(FIRST_CAPACITY, found.size), RESTART)])

"""The arrays of plans, by name, and the functions that make them. Nothing here needs the compiler.

Optimists and ``planning`` share the plausible sets and the workspace. Optimists and posterior sampling share the
state of a plan.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from driftmdp.kernels.arrays import (
    Bools,
    Floats,
    Ints,
    Longs,
    Model,
    Records,
    TransitionCounts,
    nowhere,
    record_type,
)

Bits: TypeAlias = NDArray[np.uint64]  # the four numbers of a random generator, see kernels/posterior.py

# Field names are keys of saved snapshots: never rename them.
CLOCK = record_type(
    "i8 t",  # the time of the step that comes next, from 1
    "i8 start",  # the time before the first step since the last restart: local time is t - start
    "i8 tau",  # when the plan in force was made, 0 for none since the restart
    "i8 episode phase",  # how many plans were made, and how many restarts there were
    "i8 planned sweeps is_vacuous accelerated",  # when the last plan was made, also after a restart, and its facts
    "f8 gain residual widening",
    "i8 tried_sweeps tried_vacuous tried_accelerated",  # the facts of a plan that is being made
    "f8 tried_gain tried_residual",
    "i8 n_reasons n_touched",
    "i8 need",  # places for the rows of a plan that did not fit
    "f8 unseen",  # optimistic reward of a pair that is not remembered
    "f8 top",  # the largest bias
)
VISITS = record_type("i4 left episode")
PAIR_REASON = record_type("i8 pair", "f8 count reward radius value")


class PlanState(NamedTuple):
    """The plan in force, and when it ends.

    =========  =====================  ==================================================================
    clock      (1,) CLOCK             time, and facts of the plan in force
    visits     (pairs,) VISITS        visits left until the pair ends the episode named beside it
    policy     (S,)                   the plan in force, 0 in states of which nothing was remembered
    bias       (S,)                   its bias, relative to those states
    touched    (capacity,)            the states of which something was remembered
    reasons    (slots,) PAIR_REASON   N, optimistic reward, radius and value of every remembered pair
    =========  =====================  ==================================================================
    """

    clock: Records
    visits: Records
    policy: Ints
    bias: Floats
    touched: Ints
    reasons: Records


def new_plan_state(n_states: int, n_pairs: int, capacity: int) -> PlanState:
    """Return the state at t = 1, without a plan, with the capacity for so many remembered pairs."""
    clock = np.zeros(1, CLOCK)
    clock["t"] = 1
    return PlanState(
        clock,
        np.zeros(n_pairs, VISITS),
        np.zeros(n_states, np.int32),
        np.zeros(n_states),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, PAIR_REASON),
    )


def enlarge_plan_state(plan_state: PlanState, capacity: int) -> PlanState:
    """Return the same state with the capacity for more remembered pairs."""
    # A restored state may have a larger capacity than the counts: it is never made smaller.
    more = max(capacity - plan_state.touched.size, 0)
    touched = np.concatenate([plan_state.touched, np.zeros(more, np.int32)])
    reasons = np.concatenate([plan_state.reasons, np.zeros(more, PAIR_REASON)])
    return plan_state._replace(touched=touched, reasons=reasons)


class PlausibleSets(NamedTuple):
    """Plausible transitions of each row (a pair, or all vacuous pairs of a state together).

    =========  ============  ==============================================================================
    offsets    (n + 1,)      rows of state s are ``offsets[s] .. offsets[s + 1] - 1``
    rewards    (rows,)       optimistic rewards
    indptr     (rows + 1,)   the places of a row of p~ are ``indptr[i] .. indptr[i + 1] - 1``
    support    (rows,)       how many of those places, the first ones, hold observed successors
    indices    (stored,)     their states. Kernels reorder them within a row
    data       (stored,)     p^ of a ball, or the lower bounds of intervals
    slack      as data or 0  upper minus lower bounds of intervals, empty for balls
    radius     (rows,)       L1 radius of a ball, or the upper bound of every next state outside the support
    weight     (n,)          how many states a state stands for: 1, except the one for all unseen states
    =========  ============  ==============================================================================

    A row without support and with radius 2 (ball) or 1 (interval) is the whole simplex.
    """

    offsets: Ints
    rewards: Floats
    indptr: Ints
    support: Ints
    indices: Ints
    data: Floats
    slack: Floats
    radius: Floats
    weight: Floats


SetRows: TypeAlias = tuple[Ints, Ints, Floats, Floats]  # indptr, indices, data and slack of given sets


class PlanWorkspace(NamedTuple):
    """Buffers for making a plan. Nothing here outlives the plan.

    ===========  ==========  =========================================================================
    local_of     (S,)        -1, or the number of a remembered state during a plan
    states       (n,)        the remembered states
    first_slot   (n + 2,)    where the slots of each of them begin in slot_order
    slot_order   (slots,)    slots, grouped by state
    row_of       (slots,)    the row of each slot in the sets, -1 if its set is the whole simplex
    sets         Sets        the plausible transitions
    indices      (stored,)   the optimistic transitions p~: next states
    data         (stored,)   and their probabilities
    u, new       (n,)        values before and after a sweep
    before       (n,)        the u that ``values`` belong to
    values       (rows,)     optimistic value of every row
    actions      (n,)        the best row of each state
    order        (n,)        states by value
    scratch      (n,)        zeros
    ===========  ==========  =========================================================================
    """

    local_of: Ints
    states: Ints
    first_slot: Ints
    slot_order: Ints
    row_of: Ints
    sets: PlausibleSets
    indices: Ints
    data: Floats
    u: Floats
    new: Floats
    before: Floats
    values: Floats
    actions: Ints
    order: Ints
    scratch: Floats


def new_workspace(
    states: int,
    rows: int,
    stored: int,
    intervals: bool,
    all_states: int = 0,
    slots: int = 0,
    complete: bool = False,
    found: bool = True,
) -> PlanWorkspace:
    """Return the buffers for a plan.

    Parameters
    ----------
    states, rows, stored
        How many states, rows, and places in all rows.
    intervals
        Whether the sets are intervals.
    all_states, slots
        Agents number the states and slots that they remember.
    complete
        Whether every row has a place for every state: then it needs no indices.
    found
        Whether there are places for the optimistic transitions too, which not every plan needs: to touch memory for
        the first time costs more than to plan in it.
    """
    sets = PlausibleSets(
        offsets=np.empty(states + 1, np.int32),
        rewards=np.empty(rows),
        indptr=np.empty(rows + 1, np.int32),
        support=np.empty(rows, np.int32),
        indices=np.empty(0 if complete else stored, np.int32),
        data=np.empty(stored),
        slack=np.empty(stored if intervals else 0),
        radius=np.empty(rows),
        weight=np.empty(states),
    )
    return PlanWorkspace(
        local_of=nowhere(all_states),
        states=np.empty(states if slots else 0, np.int32),
        first_slot=np.empty(states + 2 if slots else 0, np.int32),
        slot_order=np.empty(slots, np.int32),
        row_of=np.empty(slots, np.int32),
        sets=sets,
        indices=np.empty(stored if found else 0, np.int32),
        data=np.empty(stored if found else 0),
        u=np.empty(states),
        new=np.empty(states),
        before=np.empty(states),
        values=np.empty(rows),
        actions=np.zeros(states, np.int32),
        order=np.empty(states, np.int32),
        scratch=np.zeros(states),
    )


def new_agent_workspace(n_states: int, counts: TransitionCounts, intervals: bool, stored: int = 0) -> PlanWorkspace:
    """Return the buffers for a plan from all that the counts can hold. ``stored`` asks for longer rows."""
    slots = counts.slots.size
    states = min(slots, n_states) + 1  # one state stands for all that are not remembered
    rows = slots + states  # a state's pairs with the whole simplex share a row
    stored = max(stored, counts.entries.size + rows)
    return new_workspace(states, rows, stored, intervals, all_states=n_states, slots=slots)


def with_transitions(workspace: PlanWorkspace) -> PlanWorkspace:
    """Return the workspace with places for the optimistic transitions."""
    if workspace.data.size:
        return workspace
    stored = workspace.sets.data.size
    return workspace._replace(indices=np.empty(stored, np.int32), data=np.empty(stored))


class OptimistParams(NamedTuple):
    """Parameters of an optimist: numbers only.

    ==================  ==============================================================================
    scale               factor of every radius
    reward_factor       c of rad_r = sqrt(c (log + power ln t + ln 1/delta) / N+)
    reward_log          its constant logarithm
    transition_factor   the same for rad_p
    transition_log
    power               of the time inside the logarithms
    bernstein           1: L = reward_log + ln N+ + ln 1/delta in empirical Bernstein intervals instead
    ranged              1: rewards are mapped to [0, 1] by (r - bottom) / span, and capped, 0: raw
    bottom, span        of the reward range
    first_tie           1: ties go to the lowest action, 0: to the least visited
    fast                1: warm starts and acceleration, 0: [CSZ20] alg:evi verbatim
    ==================  ==============================================================================
    """

    scale: float
    reward_factor: float
    reward_log: float
    transition_factor: float
    transition_log: float
    power: float
    bernstein: int
    ranged: int
    bottom: float
    span: float
    first_tie: int
    fast: int


class Phases(NamedTuple):
    """Restarts: what changes with each, shape (phases,).

    ================  ================================================================
    starts            times of the first step of each phase, the first is 1
    window            how many past steps count, 0 for all since the restart
    every             plan when the local time is a multiple of this, 0 for never
    log_delta         ln 1/delta
    reward_extra      widening of the reward radius
    transition_extra  widening of the transition radius: eta of [CSZ20] eq:Hp
    ================  ================================================================
    """

    starts: Longs
    window: Longs
    every: Longs
    log_delta: Floats
    reward_extra: Floats
    transition_extra: Floats


OptimistArrays: TypeAlias = tuple[OptimistParams, Phases, Ints, TransitionCounts, PlanState, PlanWorkspace]


class PosteriorParams(NamedTuple):
    """Parameters of an agent that samples its model: numbers only.

    ============  =====================================================================================
    prior         weight of every next state in the Dirichlet prior
    discount      factor of everything remembered at every step, 1 for none
    every         draw a model when the time is a multiple of this, 0 for never
    tolerance     of the gain of the model drawn
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  =====================================================================================
    """

    prior: float
    discount: float
    every: int
    tolerance: float
    bottom: float
    span: float


class SampledModel(NamedTuple):
    """A model drawn from a posterior.

    =====  =====  ==================================================================
    model  Model  its arrays, longer than the successors of any draw so far
    seen   (S,)   False, but for the seen successors of the pair that is being drawn
    =====  =====  ==================================================================
    """

    model: Model
    seen: Bools


PosteriorArrays: TypeAlias = tuple[PosteriorParams, TransitionCounts, PlanState, Longs, Bits, SampledModel]


def new_sampled_model(offsets: Ints, stored: int) -> SampledModel:
    """Return the arrays for a model with so many places in all rows."""
    n_pairs = int(offsets[-1])
    model = Model(
        offsets, np.zeros(n_pairs), np.zeros(n_pairs + 1, np.int32), np.zeros(stored, np.int32), np.zeros(stored)
    )
    return SampledModel(model, np.zeros(offsets.size - 1, np.bool_))

"""The arrays of plans, by name, and the functions that make them. Nothing here needs the compiler.

Optimists and ``planning`` share the plausible sets and the workspace. Optimists and posterior sampling share the
state of a plan.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from driftmdp.kernels.arrays import Floats, Ints, Longs, Records, TransitionCounts, nowhere, record_type

# Field names are keys of saved snapshots: never rename them.
CLOCK = record_type(
    "i8 t",  # the time of the step that comes next, from 1
    "i8 start",  # the time before the first step since the last restart: local time is t - start
    "i8 tau",  # when the plan in force was made, 0 for none since the restart
    "i8 episode phase",  # how many plans were made, and how many restarts there were
    "i8 n_reasons n_touched",
    "f8 unseen",  # optimistic reward of a pair that is not remembered
    "f8 top",  # the largest bias
    "f8 worst_residual",  # of all plans so far, in posterior sampling
)
PLAN_FACTS = record_type(
    "i8 t sweeps",  # when it was made, and how many iterations it took
    "f8 gain residual",  # rho~ of [CSZ20] alg:evi, and the width of its certificate, span(T u - u)
    "f8 widening",  # eta of [CSZ20] eq:Hp
    "? vacuous",  # nothing that is remembered mattered
    "? accelerated",  # after plain sweeps, which were too slow
    align=True,
)
VISITS = record_type("i4 left episode")
PAIR_REASON = record_type("i8 pair", "f8 count reward radius value")


class PlanState(NamedTuple):
    """The plan in force, and when it ends.

    =========  =====================  ==================================================================
    clock      (1,) CLOCK             time, episodes and restarts
    in_force   (1,) PLAN_FACTS        the plan in force, which after a restart is still the last one
    visits     (pairs,) VISITS        visits left until the pair ends the episode named beside it
    policy     (S,)                   the plan in force, 0 in states of which nothing was remembered
    bias       (S,)                   its bias, relative to those states
    touched    (capacity,)            the states of which something was remembered
    reasons    (slots,) PAIR_REASON   N, optimistic reward, radius and value of every remembered pair
    =========  =====================  ==================================================================
    """

    clock: Records
    in_force: Records
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
        np.zeros(1, PLAN_FACTS),
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


PROGRESS = record_type(
    "i8 t",  # the time of the plan that waits for its caller, 0 for none
    "i8 rounds",  # how often the caller has solved the MDP found
    "i8 n_remembered",  # states of which something is remembered
    "i8 n_states",  # and with the one that stands for all others, if there are any
    "i8 places",  # that the rows of the plausible sets take
    "f8 precision",  # that the residual must reach
)


class PlanWorkspace(NamedTuple):
    """Buffers for making a plan. Nothing here outlives the plan.

    ===========  ==========  =========================================================================
    candidate    (1,)        PLAN_FACTS of the plan that is being made
    progress     (1,)        PROGRESS: how far it is
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

    candidate: Records
    progress: Records
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
        candidate=np.zeros(1, PLAN_FACTS),
        progress=np.zeros(1, PROGRESS),
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
    """Parameters of an optimist: numbers and switches.

    ==================  ==============================================================================
    scale               factor of every radius
    reward_factor       c of rad_r = sqrt(c (log + power ln t + ln 1/delta) / N+)
    reward_log          its constant logarithm
    transition_factor   the same for rad_p
    transition_log
    power               of the time inside the logarithms
    bernstein           L = reward_log + ln N+ + ln 1/delta in empirical Bernstein intervals instead
    ranged              rewards are mapped to [0, 1] by (r - bottom) / span, and capped. If not, they are raw
    bottom, span        of the reward range
    first_tie           ties go to the lowest action. If not, to the least visited
    fast                warm starts and acceleration. If not, [CSZ20] alg:evi verbatim
    vanishing           episodes end by the vanishing multiplicative rule. If not, by doubling
    ==================  ==============================================================================
    """

    scale: float
    reward_factor: float
    reward_log: float
    transition_factor: float
    transition_log: float
    power: float
    bernstein: bool
    ranged: bool
    bottom: float
    span: float
    first_tie: bool
    fast: bool
    vanishing: bool


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


class OptimistArrays(NamedTuple):
    """Everything that an optimist's kernels read and write. ``offsets`` are those of its space."""

    params: OptimistParams
    phases: Phases
    offsets: Ints
    counts: TransitionCounts
    plan_state: PlanState
    workspace: PlanWorkspace

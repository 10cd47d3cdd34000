"""The arrays that kernels share, by name. Nothing here needs the compiler.

Kernels never write to the arrays of a :class:`Model` or a :class:`WorldArrays`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import brief

Ints: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Records: TypeAlias = Any  # an array of one of the record types below; fields are read by name


class Model(NamedTuple):
    """One MDP.

    ========  ============  =======================================================================
    offsets   (S + 1,)      the pair index of (s, a) is offsets[s] + a
    rewards   (pairs,)      r(s, a)
    indptr    (pairs + 1,)  row p is ``indptr[p] .. indptr[p + 1] - 1``; need not start at 0
    indices   (stored,)     next states
    data      (stored,)     probabilities; a stored zero is no successor
    ========  ============  =======================================================================
    """

    offsets: Ints
    rewards: Floats
    indptr: Ints
    indices: Ints
    data: Floats


class WorldArrays(NamedTuple):
    """A moving mixture of K MDPs over T steps.

    =================  ==================  ==========================================================
    offsets            (S + 1,)            the pair index of (s, a) is offsets[s] + a
    anchor_rewards     (K, pairs)          rewards of each anchor
    anchor_indptr      (K pairs + 1,)      rows k * pairs + pair: the anchors' transitions, stacked
    anchor_indices     (stored,)           next states
    anchor_data        (stored,)           probabilities
    anchor_position    (stored,) or (0,)   where an entry lies in the union of all anchors' patterns
    union_indptr       (pairs + 1,)        rows of the union
    union_indices      (union,)            its next states
    weight_*           CSR of (T, K)       weights of the transitions
    reward_weight_*    CSR of (T, K)       weights of the rewards
    =================  ==================  ==========================================================

    The weights in CSR are ``weight_indptr``, ``weight_indices``, ``weight_data`` for the transitions and
    ``reward_weight_indptr``, ``reward_weight_indices``, ``reward_weight_data`` for the rewards.

    The union is empty when every step names one anchor: then that anchor's rows *are* p_t. In kernels
    a step is a 0-based row; the public t is 1-based.
    """

    offsets: Ints
    anchor_rewards: Floats
    anchor_indptr: Ints
    anchor_indices: Ints
    anchor_data: Floats
    anchor_position: Ints
    union_indptr: Ints
    union_indices: Ints
    weight_indptr: Ints
    weight_indices: Ints
    weight_data: Floats
    reward_weight_indptr: Ints
    reward_weight_indices: Ints
    reward_weight_data: Floats


class PlausibleSets(NamedTuple):
    """Plausible transitions of each row (a pair, or all vacuous pairs of a state together).

    =========  ============  ==============================================================================
    offsets    (n + 1,)      rows of state s are ``offsets[s] .. offsets[s + 1] - 1``
    rewards    (rows,)       optimistic rewards
    indptr     (rows + 1,)   room for a row of p~ is ``indptr[i] .. indptr[i + 1] - 1``
    support    (rows,)       how many of those places, the first ones, hold observed successors
    indices    (stored,)     their states; kernels reorder them within a row
    data       (stored,)     p^ of a ball, or the lower bounds of intervals
    room       as data or 0  upper minus lower bounds of intervals; empty for balls
    radius     (rows,)       L1 radius of a ball, or the upper bound of every next state outside the support
    weight     (n,)          how many states a state stands for: 1, but all never seen ones are one together
    =========  ============  ==============================================================================

    A row without support and with radius 2 (ball) or 1 (interval) is the whole simplex.
    """

    offsets: Ints
    rewards: Floats
    indptr: Ints
    support: Ints
    indices: Ints
    data: Floats
    room: Floats
    radius: Floats
    weight: Floats


# What an agent remembers of one pair, of one successor of a pair, and of one step in a window.
SLOT = np.dtype(
    [("pair", "i4"), ("state", "i4"), ("head", "i4"), ("count", "f8"), ("total", "f8"), ("squares", "f8")],
    align=True,
)
ENTRY = np.dtype(
    [("pair", "i4"), ("next_state", "i4"), ("link", "i4"), ("back", "i4"), ("count", "f8")], align=True
)
STEP = np.dtype([("pair", "i4"), ("entry", "i4"), ("reward", "f8")], align=True)
TALLY = np.dtype(
    [
        ("n_slots", "i8"),
        ("n_entries", "i8"),
        ("vacant", "i8"),
        ("cursor", "i8"),
        ("remembered", "i8"),
        ("since", "i8"),
        ("window", "i8"),
    ]
)


class TransitionCounts(NamedTuple):
    """What is remembered, in space that grows with what is remembered (but for one integer a pair).

    =========  =============  ========================================================================
    slot_of    (pairs,)       the slot of a pair, -1 if nothing is remembered of it
    slots      (room,) SLOT   pair, state, first successor entry, N, sum of R, sum of R^2
    entries    (room,) ENTRY  pair, next state, count; linked in both directions by pair
    table      (2^k,)         open-addressed hash of (pair, next state) -> entry, -1 if vacant
    steps      (room,) STEP   ring buffer of the window; empty where nothing ever leaves
    tally      (1,) TALLY     how much of the above is in use, and the window W: 0 where nothing ever leaves
    =========  =============  ========================================================================
    """

    slot_of: Ints
    slots: Records
    entries: Records
    table: Ints
    steps: Records
    tally: Records


CLOCK = np.dtype(
    [
        ("t", "i8"),  # the time of the step that comes next, from 1
        ("start", "i8"),  # the time before the first step since the last restart: local time is t - start
        ("tau", "i8"),  # when the plan in force was made; 0 for none since the restart
        ("episode", "i8"),  # how many plans were made
        ("phase", "i8"),  # how many restarts there were
        ("planned", "i8"),  # when the last plan was made, also after a restart; and its facts
        ("sweeps", "i8"),
        ("is_vacuous", "i8"),
        ("accelerated", "i8"),
        ("gain", "f8"),
        ("residual", "f8"),
        ("widening", "f8"),
        ("tried_sweeps", "i8"),  # the facts of a plan in the making
        ("tried_vacuous", "i8"),
        ("tried_accelerated", "i8"),
        ("tried_gain", "f8"),
        ("tried_residual", "f8"),
        ("n_reasons", "i8"),
        ("n_touched", "i8"),
        ("need", "i8"),  # room for the rows of a plan that did not fit
        ("unseen", "f8"),  # optimistic reward of a pair that is not remembered
        ("top", "f8"),  # the largest bias
    ]
)
VISITS = np.dtype([("left", "i4"), ("episode", "i4")])
PAIR_REASON = np.dtype([("pair", "i8"), ("count", "f8"), ("reward", "f8"), ("radius", "f8"), ("value", "f8")])


class PlanState(NamedTuple):
    """What an optimist intends, and when it will think again.

    =========  =====================  ==================================================================
    clock      (1,) CLOCK             time, and facts of the plan in force
    visits     (pairs,) VISITS        visits left until the pair ends the episode named beside it
    policy     (S,)                   the plan in force; 0 in states of which nothing was remembered
    bias       (S,)                   its bias, relative to those states
    touched    (room,)                the states of which something was remembered
    reasons    (room,) PAIR_REASON    N, optimistic reward, radius and value of every remembered pair
    =========  =====================  ==================================================================
    """

    clock: Records
    visits: Records
    policy: Ints
    bias: Floats
    touched: Ints
    reasons: Records


class PlanWorkspace(NamedTuple):
    """Room to make a plan in; nothing here outlives the plan.

    ===========  ==========  =========================================================================
    local_of     (S,)        -1, or the number of a remembered state during a plan
    states       (room,)     the remembered states
    first_slot   (room,)     where the slots of each of them begin in slot_order
    slot_order   (room,)     slots, grouped by state
    row_of       (room,)     the row of each slot in the sets, -1 if its set is the whole simplex
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


class OptimistParams(NamedTuple):
    """How an optimist thinks: numbers only.

    ==================  ==============================================================================
    scale               factor of every radius
    reward_factor       c of rad_r = sqrt(c (log + power ln t + ln 1/delta) / N+)
    reward_log          its constant logarithm
    transition_factor   the same for rad_p
    transition_log
    power               of the time inside the logarithms
    bernstein           1: L = reward_log + ln N+ + ln 1/delta in empirical Bernstein intervals instead
    ranged              1: rewards are mapped to [0, 1] by (r - bottom) / span, and capped; 0: raw
    bottom, span        of the reward range
    first_tie           1: ties go to the lowest action; 0: to the least visited
    fast                1: warm starts and acceleration; 0: [CSZ20] alg:evi verbatim
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
    window            how many past steps count; 0 for all since the restart
    every             plan when the local time is a multiple of this; 0 for never
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


class Exp3Params(NamedTuple):
    """How a bandit with exponential weights thinks: numbers only.

    ============  =====================================================================================
    rate          factor of the estimated gains in the exponent: alpha of [CSZ20] eq:p
    bonus         what every arm's estimate grows by, over its probability: beta of eq:borl_update
    mixing        share of the draws that is uniform: gamma of eq:p
    sharing       share of all weight that is given to each arm after an update, EXP3.S; 0 for none
    batch         begin anew after so many steps, Rexp3; 0 for never
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  =====================================================================================
    """

    rate: float
    bonus: float
    mixing: float
    sharing: float
    batch: int
    bottom: float
    span: float


class ArmWeights(NamedTuple):
    """What a bandit with exponential weights believes, shape (arms,).

    =============  ==================================================================
    logits         logarithms of the weights, less that of the largest
    probabilities  of the draw to come
    =============  ==================================================================
    """

    logits: Floats
    probabilities: Floats


class UcbParams(NamedTuple):
    """How a bandit with upper confidence bounds thinks: numbers only.

    ============  =====================================================================================
    factor        c of the radius sqrt(c ln n / N), n the sum of all N
    discount      factor of everything remembered at every step; 1 for none
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span
    ============  =====================================================================================
    """

    factor: float
    discount: float
    bottom: float
    span: float


class Draws(NamedTuple):
    """The world's random numbers, one of each kind per step, drawn before anything happens.

    Whatever an agent does, step t uses the same numbers, so that two agents with one seed face the same
    chances.

    Attributes
    ----------
    anchor, successor
        Uniform in [0, 1): which anchor a step draws, and which next state, shape (T,).
    noise
        For the reward, shape (T,); 0 where the noise model needs no number of its own.
    """

    anchor: Floats
    successor: Floats
    noise: Floats

    def __repr__(self) -> str:
        return brief(self)


class Record(NamedTuple):
    """What is written down of a run, one entry a step.

    ============  ========  ==========================================================================
    states        (T + 1,)  s_1 .. s_{T+1}
    actions       (T,)
    rewards       (T,)      what was emitted
    mean_rewards  (T,)      r_t(s_t, a_t)
    sweeps        (T,)      of the plan made at a step, 0 where none was made
    vacuous       (T,)      whether that plan had vacuous radii only
    ============  ========  ==========================================================================
    """

    states: Ints
    actions: Ints
    rewards: Floats
    mean_rewards: Floats
    sweeps: Ints
    vacuous: Bools

"""The arrays of AdaptiveV1, by name, and the functions that make them. Nothing here needs the compiler."""

from typing import NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Bools, Floats, Ints, Records, TransitionCounts, record_type

FADING = 4.0 * 3.0 ** np.arange(9)  # steps that a fading memory reaches back: 4, 12, ..., 26,244
MEMORIES = FADING.size + 1  # and one that keeps everything
EXPERTS = MEMORIES + 1  # on rewards: the mean of each memory, and the line through the last two
CONTEXTS = 40  # ages of a pair's last visit: 1, 2-3, 4-7, ..., by powers of two


class AdaptiveV1Params(NamedTuple):
    """Parameters of AdaptiveV1: numbers and switches.

    ============  ==========================================================================================
    noise         deviations of the mean reward that are added to it
    drift         deviations by which rewards were seen to move while a pair was not visited
    patience      the more of these, the longer that was, ln (1 + age) / ln 31. If not, as many always
    spread        deviations of the value of the next state
    leak          weight of the belief that a step leads to a good state whatever was seen, in visits
    curiosity     growth of all of these with the logarithm of how much more often the state was seen
    boldness      deviations above the mean of the tried pairs at which untried ones are valued
    share         of all weight that is spread evenly after each step
    contexts      reward experts have weights for each age. If not, for all ages together
    line          the line through the last two rewards is an expert
    fading        there are fading memories. If not, only everything
    every         steps from plan to plan
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  ==========================================================================================
    """

    noise: float = 1.0
    drift: float = 1.0
    patience: bool = True
    spread: float = 0.5
    leak: float = 0.1
    curiosity: float = 0.5
    boldness: float = 1.0
    share: float = 0.003
    contexts: bool = True
    line: bool = True
    fading: bool = True
    every: int = 1
    bottom: float = 0.0
    span: float = 1.0


# Beside its sums, a pair keeps when it was visited last and how long after the visit before, its last two rewards,
# and what the next plan takes from it. Field names are keys of saved snapshots: never rename them.
TRACE = record_type(
    "i8 last gap",
    "f8 reward before",
    "f8 rarity",  # ln (visits of the state / visits of the pair)
    "f8 doubt",  # L of kernels/adaptive_v1.py
    "f8 mean hoped",  # r^, and its optimistic reward
    "f8 weight",  # the visits that its transitions are worth today
    align=True,
)


class FadingMemoryV1(NamedTuple):
    """Fading sums, by the slots and entries of a ``TransitionCounts``.

    =========  =================  ======================================================================
    pairs      (slots,) TRACE     see above
    sums       (slots, 3, 9)      fading visits, sum of R and of R^2 of a pair, as of its last visit
    counts     (entries, 9)       fading counts of a next state, as of the pair's last visit
    chances    (entries,)         p^ of a next state
    rates      (9,)               logarithms of the factors by which a step fades
    =========  =================  ======================================================================
    """

    pairs: Records
    sums: Floats
    counts: Floats
    chances: Floats
    rates: Floats


class ExpertWeightsV1(NamedTuple):
    """How far each memory is trusted. Field names are keys of saved snapshots.

    ===================  =====================  ===========================================================
    reward_weights       (contexts, experts)    of the experts on rewards, by the age of the last visit
    reward_errors        (contexts, experts)    their mean squared errors
    transition_weights   (memories,)            of the memories as experts on next states
    judged               (contexts, 3)          fading number of errors by age, their sum less the noise, the noise
    drift                (contexts,)            mean squared distance that rewards move in that time
    noise                (2,)                   mean squared error of all, and how many it is made of
    scratch              (experts,)             working space
    ===================  =====================  ===========================================================
    """

    reward_weights: Floats
    reward_errors: Floats
    transition_weights: Floats
    judged: Floats
    drift: Floats
    noise: Floats
    scratch: Floats


ADAPTIVE_FACTS = record_type(
    "i8 t",  # the time of the step that comes next, from 1
    "i8 thought planned",  # the last time that pairs were refreshed, and that a plan was made
    "i8 plans",  # how many were made
    "i8 cursor",  # the slot that is refreshed next
    "i8 n_touched sweeps",
    "f8 gain residual",
    "f8 elsewhere",  # the value of a state that was never met
    "f8 reward_mean reward_spread",  # over the pairs that were tried
    "f8 top mean deviation",  # of the values of all states
    align=True,
)


class AdaptiveV1Plan(NamedTuple):
    """The values that the agent plans with.

    =========  =============  ===================================================================
    facts      (1,) record    ADAPTIVE_FACTS: time, and facts of the plan
    bias       (S,)           value of a state
    swept      (S,)           after a sweep
    visits     (S,)           how often a state was acted in
    tried      (S,)           how many of its actions were tried
    touched    (S,)           the states that were met, in that order
    is_met     (S,)           whether a state is among them
    =========  =============  ===================================================================
    """

    facts: Records
    bias: Floats
    swept: Floats
    visits: Floats
    tried: Ints
    touched: Ints
    is_met: Bools


class AdaptiveV1Arrays(NamedTuple):
    """Everything that the kernels of AdaptiveV1 read and write. ``offsets`` are those of its space."""

    params: AdaptiveV1Params
    offsets: Ints
    counts: TransitionCounts
    fading: FadingMemoryV1
    experts: ExpertWeightsV1
    plan: AdaptiveV1Plan


def new_fading_memory(slots: int, entries: int) -> FadingMemoryV1:
    """Return empty memories with the capacity for so many slots and entries."""
    n = FADING.size
    return FadingMemoryV1(
        np.zeros(slots, TRACE),
        np.zeros((slots, 3, n)),
        np.zeros((entries, n)),
        np.zeros(entries),
        np.log1p(-1.0 / FADING),
    )


def enlarge_fading_memory(fading: FadingMemoryV1, slots: int, entries: int) -> FadingMemoryV1:
    """Return the same memories with the capacity for so many slots and entries."""
    larger = new_fading_memory(slots, entries)
    for array, before in zip(larger[:4], fading[:4], strict=True):  # all but the rates, which do not grow
        array[: len(before)] = before
    return larger


def new_expert_weights(params: AdaptiveV1Params) -> ExpertWeightsV1:
    """Return the weights of an agent that has seen nothing: all enabled experts are alike."""
    enabled = np.ones(EXPERTS)
    enabled[-1] = params.line
    enabled[: FADING.size] = params.fading
    return ExpertWeightsV1(
        np.tile(enabled / enabled.sum(), (CONTEXTS, 1)),
        np.full((CONTEXTS, EXPERTS), 0.1),
        enabled[:MEMORIES] / enabled[:MEMORIES].sum(),
        np.zeros((CONTEXTS, 3)),
        np.zeros(CONTEXTS),
        np.array([0.25, 1.0]),
        np.zeros(EXPERTS),
    )


def new_adaptive_plan(n_states: int) -> AdaptiveV1Plan:
    """Return the plan of an agent at t = 1."""
    facts = np.zeros(1, ADAPTIVE_FACTS)
    facts["t"] = 1
    bias, swept, visits = np.zeros((3, n_states))
    tried, touched = np.zeros((2, n_states), np.int32)
    return AdaptiveV1Plan(facts, bias, swept, visits, tried, touched, np.zeros(n_states, np.bool_))

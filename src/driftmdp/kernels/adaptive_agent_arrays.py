"""The arrays of the adaptive agent, by name, and the functions that make them. Nothing here needs the compiler."""

from typing import NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Bools, Floats, Ints, Records, TransitionCounts, record_type

FADING = 4.0 / 3.0 * 3.0 ** np.arange(10)  # steps that a fading memory reaches back: 4/3, 4, 12, ..., 26,244
MEMORIES = FADING.size + 1  # and one that keeps everything
CONTEXTS = 40  # ages of a pair's last visit: 1, 2-3, 4-7, ..., by powers of two


class AdaptiveParams(NamedTuple):
    """Parameters of the adaptive agent: numbers and switches. docs/adaptive.md says what each is worth.

    ============  ==========================================================================================
    noise         deviations of the believed reward that are added to it
    spread        deviations of the value of the next state
    caution       variances that these are, for a pair that had its share of all visits
    curiosity     and how many more for every e-fold that it had less
    boldness      deviations above the mean of the tried pairs at which untried ones are valued
    drift         deviations by which rewards were seen to move while a pair was not visited
    patience      the more of these, the longer that was, ln (1 + age) / ln 31. If not, as many always
    by_pair       a pair that moved less than others is believed to move less
    value_drift   deviations by which the values of next states were seen to move while a pair was not visited
    by_state      the pairs of a state that moved less than others are believed to move less
    trust         the weight of the memory of everything is a reason not to look for drift
    shrink        the rewards of all pairs count as a first guess of one. If 0, they do not
    most_prior    visits that the first guess of a next state counts for at most
    unmet         states that were never met are hoped for
    steady        share of the way on which the gain that they are compared with moves on, each sweep
    lean          weight of the memory of everything at the start, and in what is shared
    share         of all weight that is given back to that start after each step
    by_age        memories have weights for each age of a pair's last visit. If not, for all ages together
    fading        there are fading memories. If not, only everything
    every         steps from plan to plan
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  ==========================================================================================
    """

    noise: float = 1.0
    spread: float = 0.5
    caution: float = 0.5
    curiosity: float = 1.0
    boldness: float = 1.0
    drift: float = 1.0
    patience: bool = True
    by_pair: bool = True
    value_drift: float = 1.0
    by_state: bool = True
    trust: bool = True
    shrink: float = 1.0
    most_prior: float = 1.0
    unmet: bool = True
    steady: float = 0.1
    lean: float = 0.9
    share: float = 0.003
    by_age: bool = True
    fading: bool = True
    every: int = 1
    bottom: float = 0.0
    span: float = 1.0


# Beside its sums, a pair keeps when it was visited last, how far its rewards moved, and what the next plan takes
# from it. Field names are keys of saved snapshots: never rename them.
TRACE = record_type(
    "i8 last",
    "f8 moved foreseen",  # fading sums: by how much errors exceeded the noise, and the drift that was expected
    "f8 mean hoped",  # r^, and the optimistic reward
    "f8 variance",  # of the next reward around r^, as far as known
    "f8 doubt",  # L of kernels/adaptive_agent.py
    "f8 visits",  # that its transitions are worth today
    "f8 value_drift",  # squared distance that the value of its next state may have moved since, as far as it counts
    align=True,
)


class FadingMemories(NamedTuple):
    """Fading sums, by the slots and entries of a ``TransitionCounts``.

    =========  =================  ======================================================================
    pairs      (slots,) TRACE     see above
    sums       (slots, 3, 10)     fading visits, sum of R and of R^2 of a pair, as of its last visit
    counts     (entries, 10)      fading counts of a next state, as of the pair's last visit
    chances    (entries,)         p^ of a next state
    rates      (10,)              logarithms of the factors by which a step fades
    reaches    (10,)              steps that a memory reaches back, rounded
    =========  =================  ======================================================================
    """

    pairs: Records
    sums: Floats
    counts: Floats
    chances: Floats
    rates: Floats
    reaches: Ints


class MemoryWeights(NamedTuple):
    """How far each memory is trusted, and what errors tell about the world. Names are keys of saved snapshots.

    ============  ======================  ============================================================
    rewards       (contexts, memories)    weights of the memories on rewards, by the age of a pair
    transitions   (contexts, memories)    and on next states
    prior         (memories,)             both at the start, and what a share goes back to
    judged        (contexts, 3)           fading number of errors, their sum less the noise, its variance
    drift         (contexts,)             mean squared distance that rewards move in that time
    value_judged  (contexts, 3)           the same as judged, for the values of next states
    value_drift   (contexts,)             mean squared distance that these move in that time
    by_state      (S, 2)                  fading sums: how far they moved, and how far that was expected
    noise         (2,)                    mean squared error of all rewards, and how many it is made of
    newness       (3,)                    fading number of new next states, of chances for one, and alpha
    scratch       (memories,)             working space
    fades         (memories,)             factors by which the memories of one pair faded
    ============  ======================  ============================================================
    """

    rewards: Floats
    transitions: Floats
    prior: Floats
    judged: Floats
    drift: Floats
    value_judged: Floats
    value_drift: Floats
    by_state: Floats
    noise: Floats
    newness: Floats
    scratch: Floats
    fades: Floats


ADAPTIVE_FACTS = record_type(
    "i8 t",  # the time of the step that comes next, from 1
    "i8 thought planned",  # the last time that pairs were refreshed, and that a plan was made
    "i8 plans",  # how many were made
    "i8 cursor",  # the slot that is refreshed next
    "i8 n_met sweeps",
    "f8 gain residual",
    "f8 steady_gain",  # the gain, smoothed over sweeps
    "f8 novelty",  # the chance that a next state that is new to its pair was never met
    "f8 reward_mean reward_spread",  # over the pairs that were tried
    "f8 top mean deviation",  # of the values of the states that were met
    "f8 first_top first_mean first_square",  # of the first guess of a next state: largest value, mean, mean square
    align=True,
)


class AdaptivePlan(NamedTuple):
    """The values that the agent plans with.

    =========  =============  ===================================================================
    facts      (1,) record    ADAPTIVE_FACTS: time, and facts of the plan
    bias       (S,)           value of a state
    swept      (S,)           after a sweep
    visits     (S,)           how often a state was acted in
    tried      (S,)           how many of its actions were tried
    met        (S,)           the states that were met, in that order
    is_met     (S,)           whether a state is among them
    =========  =============  ===================================================================
    """

    facts: Records
    bias: Floats
    swept: Floats
    visits: Floats
    tried: Ints
    met: Ints
    is_met: Bools


class AdaptiveArrays(NamedTuple):
    """Everything that the adaptive agent's kernels read and write. ``offsets`` are those of its space."""

    params: AdaptiveParams
    offsets: Ints
    counts: TransitionCounts
    fading: FadingMemories
    weights: MemoryWeights
    plan: AdaptivePlan


def new_fading_memories(slots: int, entries: int) -> FadingMemories:
    """Return empty memories with the capacity for so many slots and entries."""
    n = FADING.size
    return FadingMemories(
        np.zeros(slots, TRACE),
        np.zeros((slots, 3, n)),
        np.zeros((entries, n)),
        np.zeros(entries),
        np.log1p(-1.0 / FADING),
        np.rint(FADING).astype(np.int64),
    )


def enlarge_fading_memories(fading: FadingMemories, slots: int, entries: int) -> FadingMemories:
    """Return the same memories with the capacity for so many slots and entries."""
    larger = new_fading_memories(slots, entries)
    for array, before in zip(larger[:4], fading[:4], strict=True):  # all but rates and reaches, which do not grow
        array[: len(before)] = before
    return larger


def new_memory_weights(params: AdaptiveParams, n_states: int) -> MemoryWeights:
    """Return the weights of an agent that has seen nothing: they lean to the memory of everything."""
    prior = np.full(MEMORIES, (1.0 - params.lean) / FADING.size if params.fading else 0.0)
    prior[-1] = params.lean if params.fading else 1.0
    return MemoryWeights(
        rewards=np.tile(prior, (CONTEXTS, 1)),
        transitions=np.tile(prior, (CONTEXTS, 1)),
        prior=prior,
        judged=np.zeros((CONTEXTS, 3)),
        drift=np.zeros(CONTEXTS),
        value_judged=np.zeros((CONTEXTS, 3)),
        value_drift=np.zeros(CONTEXTS),
        by_state=np.zeros((n_states, 2)),
        noise=np.array([0.25, 1.0]),
        newness=np.array([0.0, 0.0, 0.5]),
        scratch=np.zeros(MEMORIES),
        fades=np.ones(MEMORIES),
    )


def new_adaptive_plan(n_states: int) -> AdaptivePlan:
    """Return the plan of an agent at t = 1."""
    facts = np.zeros(1, ADAPTIVE_FACTS)
    facts["t"], facts["novelty"], facts["reward_mean"] = 1, 1.0, 1.0
    bias, swept, visits = np.zeros((3, n_states))
    tried, met = np.zeros((2, n_states), np.int32)
    return AdaptivePlan(facts, bias, swept, visits, tried, met, np.zeros(n_states, np.bool_))

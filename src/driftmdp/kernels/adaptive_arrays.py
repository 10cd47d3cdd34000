"""The arrays of the adaptive agent, by name. Nothing here needs the compiler."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Floats, Ints, Records

FADING = 4.0 * 3.0 ** np.arange(9)  # steps that a fading memory reaches back: 4, 12, ..., 26,244
MEMORIES = FADING.size + 1  # and one that keeps everything
EXPERTS = MEMORIES + 1  # on rewards: the mean of each memory, and the line through the last two
CONTEXTS = 40  # ages of a pair's last visit: 1, 2-3, 4-7, ..., by powers of two


class AdaptiveParams(NamedTuple):
    """How the adaptive agent thinks: numbers only; docs/adaptive.md says what each is worth.

    ============  ==========================================================================================
    noise         deviations of the mean reward that a pair is given in doubt
    drift         deviations by which rewards were seen to move while a pair was not looked at
    patience      1: the more of these, the longer that was, ln (1 + age) / ln 31; 0: as many always
    spread        deviations of the value of the next state
    leak          weight of the belief that a step leads to a good state whatever was seen, in visits
    curiosity     growth of all of these with the logarithm of how much more often the state was seen
    boldness      deviations above the mean of what is known at which the unknown is put
    share         of all weight that is dealt out evenly after each step
    contexts      1: reward experts are weighed by age apart; 0: together
    line          1: the line through the last two rewards is an expert
    fading        1: there are fading memories; 0: only everything
    every         steps from plan to plan
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    ============  ==========================================================================================
    """

    noise: float = 1.0
    drift: float = 1.0
    patience: int = 1
    spread: float = 0.5
    leak: float = 0.1
    curiosity: float = 0.5
    boldness: float = 1.0
    share: float = 0.003
    contexts: int = 1
    line: int = 1
    fading: int = 1
    every: int = 1
    bottom: float = 0.0
    span: float = 1.0


# What is kept of a pair beside its sums: when it was visited last and how long after the visit before, its last two
# rewards, how much more often than the pair its state was visited, and what the next plan takes from it.
TRACE = np.dtype(
    [
        ("last", "i8"),
        ("gap", "i8"),
        ("reward", "f8"),
        ("before", "f8"),
        ("rarity", "f8"),  # ln (visits of the state / visits of the pair)
        ("doubt", "f8"),  # L of kernels/adaptive.py
        ("mean", "f8"),  # r^
        ("hoped", "f8"),  # its optimistic reward
        ("weight", "f8"),  # the visits that its transitions are worth today
    ],
    align=True,
)


class FadingMemory(NamedTuple):
    """What fading memories hold, by the slots and entries of a ``TransitionCounts``.

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


class ExpertWeights(NamedTuple):
    """How far each memory can be trusted.

    ===================  =====================  ===========================================================
    reward_weights       (contexts, experts)    of the experts on rewards, by the age of the last visit
    reward_errors        (contexts, experts)    their mean squared errors
    transition_weights   (memories,)            of the memories as experts on next states
    judged               (contexts, 3)          fading number of errors by age, their sum less the noise, the noise
    drift                (contexts,)            mean squared distance that rewards move in that time
    noise                (2,)                   mean squared error of all, and how many it is made of
    scratch              (experts,)             room
    ===================  =====================  ===========================================================
    """

    reward_weights: Floats
    reward_errors: Floats
    transition_weights: Floats
    judged: Floats
    drift: Floats
    noise: Floats
    scratch: Floats


INTENT = np.dtype(
    [
        ("t", "i8"),  # the time of the step that comes next, from 1
        ("thought", "i8"),  # the last time that thought was given to it
        ("planned", "i8"),  # and that a plan was made, and its facts
        ("plans", "i8"),
        ("cursor", "i8"),  # the pair that is looked at next
        ("n_touched", "i8"),
        ("sweeps", "i8"),
        ("gain", "f8"),
        ("residual", "f8"),
        ("elsewhere", "f8"),  # the value of a state of which nothing is known
        ("reward_mean", "f8"),  # of the pairs known
        ("reward_spread", "f8"),
        ("top", "f8"),  # the largest value of a state, their mean, and their deviation
        ("mean", "f8"),
        ("deviation", "f8"),
    ],
    align=True,
)


class AdaptivePlan(NamedTuple):
    """What the agent makes of it.

    =========  =============  ===================================================================
    facts      (1,) INTENT    time, and the plan
    bias       (S,)           value of a state
    swept      (S,)           after a sweep
    visits     (S,)           how often a state was acted in
    tried      (S,)           how many of its actions were tried
    touched    (S,)           the states known, in the order in which they were met
    is_known   (S,)           1 if a state is among them
    =========  =============  ===================================================================
    """

    facts: Records
    bias: Floats
    swept: Floats
    visits: Floats
    tried: Ints
    touched: Ints
    is_known: Ints


def new_traces(slots: int, entries: int) -> FadingMemory:
    """Return empty traces with room for so many slots and entries."""
    n = FADING.size
    return FadingMemory(
        np.zeros(slots, TRACE),
        np.zeros((slots, 3, n)),
        np.zeros((entries, n)),
        np.zeros(entries),
        np.log1p(-1.0 / FADING),
    )


def new_judgement(params: AdaptiveParams) -> ExpertWeights:
    """Return the judgement of an agent that has seen nothing: all experts are alike."""
    able = np.ones(EXPERTS)
    able[-1] = params.line
    able[: FADING.size] = params.fading
    return ExpertWeights(
        np.tile(able / able.sum(), (CONTEXTS, 1)),
        np.full((CONTEXTS, EXPERTS), 0.1),
        able[:MEMORIES] / able[:MEMORIES].sum(),
        np.zeros((CONTEXTS, 3)),
        np.zeros(CONTEXTS),
        np.array([0.25, 1.0]),
        np.zeros(EXPERTS),
    )


def new_intent(n_states: int) -> AdaptivePlan:
    """Return the intent of an agent at t = 1."""
    facts = np.zeros(1, INTENT)
    facts["t"] = 1
    return AdaptivePlan(
        facts,
        np.zeros(n_states),
        np.zeros(n_states),
        np.zeros(n_states),
        np.zeros(n_states, np.int32),
        np.zeros(n_states, np.int32),
        np.zeros(n_states, np.int32),
    )

"""The arrays of IMED-RL, by name, and the functions that make them. Nothing here needs the compiler."""

from typing import NamedTuple

import numpy as np

from driftmdp.kernels.arrays import Bools, Floats, Ints, Records, TransitionCounts, record_type

LAW_SIZE = 17  # values that the law of a pair's rewards may have: beyond, it is moved to a grid of so many points


class ImedParams(NamedTuple):
    """Parameters of IMED-RL: numbers only.

    ============  =====================================================================
    precision     value iteration ends when no value changes by more
    max_sweeps    or after so many sweeps in one step
    bottom, span  rewards are mapped to [0, 1] by (r - bottom) / span, and clipped
    by_authors    the index of the authors' code. If not, of the paper
    ============  =====================================================================
    """

    precision: float
    max_sweeps: int
    bottom: float
    span: float
    by_authors: bool


class RewardLaws(NamedTuple):
    """The empirical law of the rewards of every slot, with the prior's one reward of 1/2.

    =======  ==============  =========================================================================
    values   (slots, LAW)    rewards in [0, 1]
    weights  (slots, LAW)    how often each was seen
    sizes    (slots,)        how many there are, or LAW + 1 where the values are those of the grid
    =======  ==============  =========================================================================
    """

    values: Floats
    weights: Floats
    sizes: Ints


IMED_FACTS = record_type(
    "i8 t",  # the time of the step that comes next, from 1
    "i8 planned plans",  # the last time that values were iterated, and how often they were
    "i8 n_touched sweeps total_sweeps",
    "f8 gain residual",
    "f8 elsewhere",  # the value of a state that was never met
    "f8 top mean",  # of the values of all states
    align=True,
)


class ImedPlan(NamedTuple):
    """The values that the agent plans with.

    =========  =============  ===================================================================
    facts      (1,) record    IMED_FACTS: time, and facts of the plan
    bias       (S,)           value of a state, phi
    swept      (S,)           after a sweep
    most       (S,)           visits of the most visited action of a state
    enough     (S,)           ln^2 of that: visits that an action of the skeleton has
    tried      (S,)           how many of its actions were tried
    touched    (S,)           the states that were met, in that order
    is_met     (S,)           whether a state is among them
    =========  =============  ===================================================================
    """

    facts: Records
    bias: Floats
    swept: Floats
    most: Floats
    enough: Floats
    tried: Ints
    touched: Ints
    is_met: Bools


class ImedArrays(NamedTuple):
    """Everything that the kernels of IMED-RL read and write. ``offsets`` are those of its space."""

    params: ImedParams
    offsets: Ints
    counts: TransitionCounts
    laws: RewardLaws
    plan: ImedPlan


def new_reward_laws(slots: int) -> RewardLaws:
    """Return laws of rewards, none of which has a value yet."""
    return RewardLaws(np.zeros((slots, LAW_SIZE)), np.zeros((slots, LAW_SIZE)), np.zeros(slots, np.int32))


def enlarge_reward_laws(laws: RewardLaws, slots: int) -> RewardLaws:
    """Return the same laws with the capacity for so many slots."""
    larger, n = new_reward_laws(slots), laws.sizes.size
    larger.values[:n], larger.weights[:n], larger.sizes[:n] = laws
    return larger


def new_imed_plan(n_states: int) -> ImedPlan:
    """Return the plan of an agent at t = 1: all values are 0."""
    facts = np.zeros(1, IMED_FACTS)
    facts["t"] = 1
    bias, swept, most, enough = np.zeros((4, n_states))
    tried, touched = np.zeros((2, n_states), np.int32)
    return ImedPlan(facts, bias, swept, most, enough, tried, touched, np.zeros(n_states, np.bool_))

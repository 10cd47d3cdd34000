"""Evaluation of a policy on a long chain: elimination in an order in which every state leads only to near ones.

States are eliminated from the last to the first, as Grassmann, Taksar and Heyman do [GTH85]: the chain is watched
only on the states that are left, and a visit to an eliminated one is followed to where it ends. Nothing is
subtracted, so every probability keeps its digits, however rare. When state k is eliminated it leads to states
k - width .. k - 1 only, so that the cost is S width^2.

========  ==================  =================================================================================
ways      (S, 2 width + 1)    ways[k, width + j - k]: the probability of going from k to j
home      (S,)                the probability of going to the reference state, or of stopping under a discount
leaving   (S,)                the sum of the ways from k to states before it, and home
rewards   (S,)                expected reward of k and of the visits to eliminated states that follow it
times     (S,)                expected steps of the same
========  ==================  =================================================================================

Here k and j are places in the order. The reference state has bias 0, and is never eliminated.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels import graph
from driftmdp.kernels.arrays import Floats, Ints, Model, StateOrder

LONG_STAY = 1e4  # steps after which a set of states is taken for the one where the chain mostly is
MAX_REFERENCES = 2  # tried after the first


class Eliminated(NamedTuple):
    """A chain after elimination: the arrays of this module, and the place of the reference state."""

    ways: Floats
    leaving: Floats
    rewards: Floats
    times: Floats
    from_reference: Floats
    reference: int


@kernel
def find_width(model: Model, place: Ints, limit: int) -> int:
    """Return how far apart the places of a state and its successor can be, or some number above ``limit``."""
    width = 0
    for s in range(place.size):
        for z in range(model.indptr[model.offsets[s]], model.indptr[model.offsets[s + 1]]):
            if model.data[z] > 0.0:
                width = max(width, abs(place[model.indices[z]] - place[s]))
        if width > limit:
            break
    return width


@kernel
def order_by_distance(model: Model, order: Ints) -> None:
    """Fill ``order`` with the states by their distance from state 0, whichever way transitions go."""
    n = order.size
    pointer, pairs = graph.reverse(model)
    owner = graph.pair_states(model.offsets)
    seen = np.zeros(n, np.bool_)
    count, head = 0, 0
    for start in range(n):
        if not seen[start]:  # the first state, or one without any connection to it
            seen[start] = True
            order[count] = start
            count += 1
        while head < count:
            s = order[head]
            head += 1
            for z in range(model.indptr[model.offsets[s]], model.indptr[model.offsets[s + 1]]):
                j = model.indices[z]
                if model.data[z] > 0.0 and not seen[j]:
                    seen[j] = True
                    order[count] = j
                    count += 1
            for y in range(pointer[s], pointer[s + 1]):
                j = owner[pairs[y]]
                if not seen[j]:
                    seen[j] = True
                    order[count] = j
                    count += 1


@kernel
def eliminate(model: Model, policy: Ints, band: StateOrder, discount: float, reference: int) -> Eliminated:
    """Eliminate all states but the one at place ``reference``.

    If that is negative, the first set of places k, k + 1, ... that holds the chain for long makes k the reference.
    If it is S, there is none, and one state of every recurrent class is left, with ``leaving`` = 0.
    """
    n, width = policy.size, band.width
    ways, home = np.zeros((n, 2 * width + 1)), np.empty(n)
    leaving, rewards, times, from_reference = np.zeros(n), np.empty(n), np.empty(n), np.zeros(n)
    for k in range(n):
        s = band.order[k]
        pair = model.offsets[s] + policy[s]
        rewards[k], times[k], home[k] = model.rewards[pair], 1.0, 1.0 - discount
        for z in range(model.indptr[pair], model.indptr[pair + 1]):
            if model.data[z] > 0.0 and model.indices[z] != s:
                ways[k, width + band.place[model.indices[z]] - k] += discount * model.data[z]
    for k in range(n - 1, -1, -1):
        first = max(0, k - width)
        leaving[k] = home[k]
        for j in range(first, k):
            leaving[k] += ways[k, width + j - k]
        if reference < 0 and times[k] > LONG_STAY * leaving[k]:
            reference = k
        if k == reference:
            for j in range(first, k):
                home[j] += ways[j, width + k - j]
                from_reference[j] = ways[k, width + j - k]
        elif leaving[k] > 0.0:
            for i in range(first, k):
                if ways[i, width + k - i] > 0.0:
                    share = ways[i, width + k - i] / leaving[k]
                    for j in range(first, k):  # what returns to i itself is never read
                        ways[i, width + j - i] += share * ways[k, width + j - k]
                    home[i] += share * home[k]
                    rewards[i] += share * rewards[k]
                    times[i] += share * times[k]
            if from_reference[k] > 0.0:
                share = from_reference[k] / leaving[k]
                for j in range(first, k):
                    from_reference[j] += share * ways[k, width + j - k]
                rewards[reference] += share * rewards[k]
                times[reference] += share * times[k]
    return Eliminated(ways, leaving, rewards, times, from_reference, reference)


@kernel
def most_visited(chain: Eliminated, width: int) -> tuple[int, float]:
    """Return the place with the most visits between two to the reference state, and how many there are."""
    n = chain.leaving.size
    visits = np.empty(n)
    best, most = chain.reference, 1.0
    for k in range(n):
        visits[k] = 1.0
        if k != chain.reference:
            total = chain.from_reference[k]
            for i in range(max(0, k - width), k):
                total += visits[i] * chain.ways[i, width + k - i]
            visits[k] = total / chain.leaving[k]
            if visits[k] > most:
                best, most = k, visits[k]
    return best, most


@kernel
def evaluate_chain(model: Model, policy: Ints, band: StateOrder, discount: float, bias: Floats) -> float:
    """Return the gain of a policy with one recurrent class and fill its ``bias``, as ``evaluate_class`` does."""
    chain = eliminate(model, policy, band, discount, -1 if discount == 1.0 else policy.size)
    if discount == 1.0:
        # From a state that is hardly ever visited, times and rewards would be too large for their digits.
        for _ in range(MAX_REFERENCES):
            place, visits = most_visited(chain, band.width)
            if visits <= LONG_STAY:
                break
            chain = eliminate(model, policy, band, discount, place)
    gain = chain.rewards[chain.reference] / chain.times[chain.reference] if discount == 1.0 else 0.0
    for k in range(policy.size):
        value = chain.rewards[k] - gain * chain.times[k]
        for j in range(max(0, k - band.width), k):
            value += chain.ways[k, band.width + j - k] * bias[band.order[j]]
        bias[band.order[k]] = value / chain.leaving[k] if k != chain.reference else 0.0
    return gain


@kernel
def best_class(model: Model, policy: Ints, band: StateOrder, labels: Ints) -> int:
    """Return the label of the recurrent class with the largest gain."""
    chain = eliminate(model, policy, band, 1.0, policy.size)
    best, best_gain = 0, -np.inf
    for k in range(policy.size):
        # The state that is left of a class. Transient states may lead nowhere else either.
        if chain.leaving[k] == 0.0 and labels[band.order[k]] >= 0:
            gain = chain.rewards[k] / chain.times[k]
            if gain > best_gain:
                best, best_gain = labels[band.order[k]], gain
    return best

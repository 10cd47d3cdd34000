"""Guarantee 2 of docs/adaptive.md: where nothing moves, the mixture predicts next states nearly as they are.

The reference plays at random, which shows what it predicted for every next state before each step.
"""

import math

import numpy as np
import pytest

import driftmdp as dm
from tests.reference.adaptive import ReferenceAdaptive, context

N_STATES, N_ACTIONS, STEPS = 4, 2, 800
N_PAIRS = N_STATES * N_ACTIONS


def predicted(oracle, pair):
    """Return the probabilities (S, 11) that the memories give to the next states, and their weights."""
    age = oracle.t - pair.last
    c = context(age)
    judged = [j for j in range(c + 1) if oracle.judged[j]]
    _, m = pair.faded(age)
    counts = pair.parts(age)
    is_new = pair.counts[:, 10] == 0
    counts[is_new] = oracle.alpha / max(1, is_new.sum())
    return counts / (m + oracle.alpha), oracle.transition_weights[judged[-1] if judged else c]


def random_walk(law, seed):
    """Yield the pair of each judged step as a number, q (S, 11), the weights, and the next state."""
    rng, state = np.random.default_rng(seed), 0
    oracle = ReferenceAdaptive(dm.Space.uniform(N_STATES, N_ACTIONS))
    for _ in range(STEPS):
        action = int(rng.integers(N_ACTIONS))
        x, oracle.doing = state * N_ACTIONS + action, (state, action)
        after = int(rng.choice(N_STATES, p=law[x]))
        if (state, action) in oracle.pairs:
            yield x, *predicted(oracle, oracle.pairs[state, action]), after
        oracle.observe(float(rng.random() < 0.5), after)
        state = after


@pytest.mark.parametrize("spread", [0.3, 5.0])
def test_next_states_are_predicted_nearly_as_they_are(spread):
    """The bound is on a mean over runs. Here it holds in each, since much of it is slack."""
    law = np.random.default_rng(7).dirichlet(np.full(N_STATES, spread), N_PAIRS)
    squares, excess, n = 0.0, 0.0, 0
    for x, q, weights, after in random_walk(law, seed=3):
        assert (q.sum(axis=0) <= 1 + 1e-9).all()
        mixed = q @ weights
        squares += np.abs(mixed / mixed.sum() - law[x]).sum() ** 2
        excess += math.log(law[x, after] / q[after, 10])
        n += 1
    starts = 5.92 * (1 + math.log2(STEPS))
    assert squares / n <= 2 * (math.log(1 / 0.9997) + (excess + starts) / n)


def test_the_memory_of_everything_soon_predicts_as_well_as_counting_can():
    """On every run: its losses, over those of the frequencies of the whole run, which no law beats."""
    law = np.random.default_rng(8).dirichlet(np.full(N_STATES, 0.5), N_PAIRS)
    lost, seen = np.zeros(N_PAIRS), np.zeros((N_PAIRS, N_STATES))
    first = {}
    for x, q, _, after in random_walk(law, seed=4):
        first.setdefault(x, int(np.argmax(q[:, 10])))  # one visit: the one state that it led to
        lost[x] -= math.log(q[after, 10])
        seen[x, after] += 1
    n = seen.sum(axis=1)
    for x, after in first.items():
        seen[x, after] += 1
    known = n > 0
    best = -(seen[known] * np.log(np.maximum(seen[known], 1) / (n[known, None] + 1))).sum()
    news = np.count_nonzero(seen[known], axis=1) - 1
    most = news @ (np.log(n[known] + 1) + math.log(2002 * N_STATES) + 1000) + (1 + np.log(n[known])).sum() / 2
    assert lost.sum() - best <= most
    # The thousand is what alpha could cost if many pairs had new next states at once. It is not what it does cost.
    assert lost.sum() - best <= news @ np.log(n[known] + 1) + news.sum() * math.log(2 * N_STATES)

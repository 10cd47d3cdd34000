"""The windowed counts equal a brute-force recount at every step."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp import kernels
from driftmdp.kernels.arrays import enlarge_counts, new_counts
from driftmdp.kernels.plan_arrays import enlarge_plan_state, new_plan_state


def recount(steps):
    """Return N, sum of R, sum of R^2 by pair, and counts by (pair, next state)."""
    pairs = Counter(pair for _, pair, _, _ in steps)
    totals = {pair: sum(r for _, p, _, r in steps if p == pair) for pair in pairs}
    squares = {pair: sum(r * r for _, p, _, r in steps if p == pair) for pair in pairs}
    return pairs, totals, squares, Counter((pair, following) for _, pair, following, _ in steps)


def contents(memory):
    """Read a memory back by its links, not by its table."""
    pairs, totals, squares, successors = {}, {}, {}, {}
    for slot in memory.slots[: memory.tally["n_slots"][0]]:
        assert memory.slot_of[slot["pair"]] >= 0
        pairs[int(slot["pair"])] = int(slot["count"])
        totals[int(slot["pair"])] = float(slot["total"])
        squares[int(slot["pair"])] = float(slot["squares"])
        found, back = int(slot["head"]), -1
        while found >= 0:
            entry = memory.entries[found]
            assert entry["pair"] == slot["pair"]
            assert entry["back"] == back
            successors[int(entry["pair"]), int(entry["next_state"])] = int(entry["count"])
            place = kernels.transition_counts.locate(memory, entry["pair"], entry["next_state"])
            assert memory.table[place] == found
            found, back = int(entry["link"]), found
    assert (memory.slot_of >= 0).sum() == len(pairs)
    assert (memory.table >= 0).sum() == len(successors)
    return pairs, totals, squares, successors


@given(
    window=st.sampled_from([0, 1, 2, 3, 7, 40]),
    n_states=st.integers(1, 12),
    n_actions=st.integers(1, 3),
    seed=st.integers(0, 10_000),
    restart=st.integers(20, 200),
)
def test_a_memory_equals_a_recount_at_every_step(window, n_states, n_actions, seed, restart):
    rng = np.random.default_rng(seed)
    memory, history = new_counts(n_states * n_actions, window), []
    favourites = rng.integers(0, n_states, 3)  # so that counts rise and fall to zero again
    for t in range(120):
        if t == restart:
            kernels.transition_counts.forget_all(memory)
            history = []
        if not kernels.transition_counts.has_space(memory):
            memory = enlarge_counts(memory)
        state = int(rng.choice(favourites) if rng.random() < 0.7 else rng.integers(n_states))
        pair, following = state * n_actions + int(rng.integers(n_actions)), int(rng.integers(n_states))
        reward = float(rng.normal())
        kernels.transition_counts.remember(memory, state, pair, following, reward)
        history.append((state, pair, following, reward))
        pairs, totals, squares, successors = recount(history[-window:] if window else history)
        got = contents(memory)
        assert got[0] == pairs
        assert got[3] == successors
        assert got[1] == pytest.approx(totals, abs=1e-12)
        assert got[2] == pytest.approx(squares, abs=1e-12)


def test_sums_do_not_drift():
    memory = new_counts(1, 10)
    for reward in [1e12, *[0.1] * 500]:
        kernels.transition_counts.remember(memory, 0, 0, 0, reward)
    assert memory.slots["total"][0] == pytest.approx(1.0, abs=1e-12)


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 5, 23, 500]))
def test_an_agent_counts_its_window(seed, window):
    rng = np.random.default_rng(seed)
    space = dm.Space([2, 1, 3])
    agent = dm.agents.SWUCRL2CW(space, 60, window=window, widening=0.1, scale=0.1)
    state, history = 0, []
    for _ in range(60):
        action = agent.act(state)
        if rng.random() < 0.3:
            action = int(rng.integers(space.n_actions[state]))
        following, reward = int(rng.integers(3)), float(rng.random())
        agent.observe(reward, following, action)
        history.append((state, space.pair(state, action), following, reward))
        pairs, totals, _, successors = recount(history[-window:])
        assert {p: n for p, n in enumerate(agent.counts().astype(int)) if n} == pairs
        table = agent.successor_counts().toarray()
        assert {(int(p), int(s)): int(table[p, s]) for p, s in np.argwhere(table)} == successors
        means = agent.mean_rewards()
        assert {p: means[p] for p in pairs} == pytest.approx({p: totals[p] / pairs[p] for p in pairs})
        state = following if rng.random() < 0.9 else int(rng.integers(3))  # a jump


def test_a_plan_state_is_never_made_smaller():
    """A restored state may have a larger capacity than the memory, which then grows."""
    plan_state = enlarge_plan_state(new_plan_state(41, 75, 35), 32)
    assert plan_state.touched.size == plan_state.reasons.size == 35

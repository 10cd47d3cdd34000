import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.kernels import graph
from driftmdp.kernels.arrays import Model
from tests.strategies import random_space


def random_model(seed: int) -> Model:
    """Return a sparse MDP, mostly not communicating, with some stored zeros."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    space = random_space(rng, n)
    rows = np.zeros((space.n_pairs, n))
    for row in rows:
        row[rng.integers(n)] = 1.0
    model = dm.Mdp(space, np.zeros(space.n_pairs), rows).arrays
    indices = np.column_stack([model.indices, (model.indices + 1) % n]).ravel().astype(np.int32)
    data = np.column_stack([model.data, np.zeros(model.data.size)]).ravel()
    return model._replace(indptr=(2 * model.indptr).astype(np.int32), indices=indices, data=data)


def edges(model: Model, policy: np.ndarray | None = None) -> np.ndarray:
    """Return the boolean matrix of possible moves, under one policy or any."""
    n = model.offsets.size - 1
    possible = np.zeros((n, n), bool)
    for s in range(n):
        pairs = range(model.offsets[s], model.offsets[s + 1]) if policy is None else [model.offsets[s] + policy[s]]
        for pair in pairs:
            for z in range(model.indptr[pair], model.indptr[pair + 1]):
                possible[s, model.indices[z]] |= model.data[z] > 0
    return possible


def closure(possible: np.ndarray) -> np.ndarray:
    reach = np.eye(len(possible), dtype=bool) | possible
    for _ in range(len(possible)):
        reach = reach | (reach @ reach)
    return reach


@given(st.integers(0, 10**6))
def test_recurrent_classes_are_the_closed_sets_of_mutual_reach(seed):
    model = random_model(seed)
    n = model.offsets.size - 1
    policy = np.random.default_rng(seed + 1).integers(0, np.diff(model.offsets)).astype(np.int32)
    labels = np.empty(n, np.int32)
    count = graph.recurrent_classes(model, policy, labels)
    reach = closure(edges(model, policy))
    recurrent = [all(reach[j, s] for j in np.flatnonzero(reach[s])) for s in range(n)]
    assert (labels >= 0).tolist() == recurrent
    assert set(labels[labels >= 0]) == set(range(count))
    for s in range(n):
        for j in range(n):
            if recurrent[s] and recurrent[j]:
                assert (labels[s] == labels[j]) == (reach[s, j] and reach[j, s])


@given(st.integers(0, 10**6))
def test_reach_finds_all_that_can_arrive_and_how(seed):
    model = random_model(seed)
    n = model.offsets.size - 1
    pointer, pairs = graph.reverse(model)
    order, policy = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    order[0] = target = seed % n
    count = graph.reach(model.offsets, pointer, pairs, order, 1, policy)
    assert set(order[:count]) == set(np.flatnonzero(closure(edges(model))[:, target]))
    place = {int(s): i for i, s in enumerate(order[:count])}
    for s in order[1:count]:
        nearer = [j for j in np.flatnonzero(edges(model, policy)[s]) if place.get(int(j), n) < place[int(s)]]
        assert nearer


@given(st.integers(0, 10**6))
def test_can_avoid_is_the_largest_set_that_can_be_kept_to(seed):
    model = random_model(seed)
    n = model.offsets.size - 1
    inside = np.zeros(n, bool)
    inside[seed % n] = True
    kept = set(np.flatnonzero(~inside))
    while True:
        smaller = {
            s
            for s in kept
            if any(
                all(model.indices[z] in kept for z in range(*model.indptr[[p, p + 1]]) if model.data[z] > 0)
                for p in range(model.offsets[s], model.offsets[s + 1])
            )
        }
        if smaller == kept:
            break
        kept = smaller
    assert graph.find_avoiding_state(model, inside) == (min(kept) if kept else -1)


@pytest.mark.parametrize("n", [1, 5000])
def test_a_long_chain_needs_no_recursion(n):
    indices = np.minimum(np.arange(n) + 1, n - 1).astype(np.int32)
    rows = np.arange(n + 1, dtype=np.int32)
    model = Model(rows, np.zeros(n), rows, indices, np.ones(n))
    labels = np.empty(n, np.int32)
    assert graph.recurrent_classes(model, np.zeros(n, np.int32), labels) == 1
    assert labels[-1] == 0
    assert (labels[:-1] == -1).all()


@given(st.integers(0, 10**6))
def test_strong_connection_is_reach_from_all_to_all(seed):
    model = random_model(seed)
    assert graph.is_strongly_connected(model) == closure(edges(model)).all()


@pytest.mark.parametrize("back", [0, 1])
def test_strong_connection_of_a_shuffled_cycle(back):
    """A random order defeats the passes up and down; without its last edge the cycle is none."""
    order = np.random.default_rng(0).permutation(300)
    indices = np.empty(300, np.int32)
    indices[order] = np.roll(order, -1)
    indices[order[-1]] = order[0] if back else order[-1]
    rows = np.arange(301, dtype=np.int32)
    assert graph.is_strongly_connected(Model(rows, np.zeros(300), rows, indices, np.ones(300))) == bool(back)


@given(st.integers(0, 10**6))
def test_where_all_states_lead_to_one_there_is_one_recurrent_class(seed):
    model = random_model(seed)
    n = model.offsets.size - 1
    rng = np.random.default_rng(seed + 1)
    policy, target = rng.integers(0, np.diff(model.offsets)).astype(np.int32), int(rng.integers(n))
    if graph.all_lead_to(model, policy, target):
        labels = np.empty(n, np.int32)
        assert closure(edges(model, policy))[:, target].all()
        assert graph.recurrent_classes(model, policy, labels) == 1
        assert labels[target] == 0


def test_a_few_passes_suffice_on_long_chains():
    model = dm.problems.river_swim(n_states=200).drifting.at(1).arrays
    for action in (0, 1):
        assert graph.all_lead_to(model, np.full(200, action, np.int32), 0)

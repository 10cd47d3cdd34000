"""Elimination along a chain against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.kernels import band, graph
from driftmdp.kernels.arrays import Model, StateOrder
from driftmdp.kernels.policy_iteration import evaluate_class


def chain_model(rng: np.random.Generator, n: int, width: int, rarest: float) -> Model:
    """Return a chain with one action per state, some ways of which are as rare as ``rarest``."""
    rows = np.zeros((n, n))
    for s in range(n):
        near = np.arange(max(0, s - width), min(n, s + width + 1))
        rows[s, near] = rng.random(near.size) * (rng.random(near.size) < 0.8) * rarest ** rng.random(near.size)
        rows[s, s] += 1e-3
    return dm.Mdp(dm.Space.uniform(n, 1), rng.normal(size=n), rows / rows.sum(axis=1, keepdims=True)).arrays


def in_order(model: Model, order: np.ndarray) -> StateOrder:
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return StateOrder(order, place, band.find_width(model, place, order.size))


def natural(model: Model) -> StateOrder:
    return in_order(model, np.arange(model.offsets.size - 1, dtype=np.int32))


def exact_gain_and_bias(model: Model) -> tuple[Fraction, list[Fraction]]:
    """Solve gain + sum_j p(j | s) (h(s) - h(j)) = r(s), h(0) = 0, in fractions."""
    n = model.offsets.size - 1
    rows = [[Fraction(0)] * n + [Fraction(float(model.rewards[s]))] for s in range(n)]
    for s in range(n):
        for z in range(model.indptr[s], model.indptr[s + 1]):
            j, p = int(model.indices[z]), Fraction(float(model.data[z]))
            rows[s][s] += p
            rows[s][j] -= p
        rows[s][0] = Fraction(1)  # h(0) = 0 leaves its column to the gain
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    solution = [rows[i][n] / rows[i][i] for i in range(n)]
    return solution[0], [Fraction(0), *solution[1:]]


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 3), st.sampled_from([1.0, 1e-4, 1e-9]))
def test_gain_and_bias_are_exact_up_to_rounding(seed, n, width, rarest):
    rng = np.random.default_rng(seed)
    model, policy, bias = chain_model(rng, n, width, rarest), np.zeros(n, np.int32), np.empty(n)
    if graph.recurrent_classes(model, policy, np.empty(n, np.int32)) > 1:
        return
    gain, expected = exact_gain_and_bias(model)
    order = rng.permutation(n).astype(np.int32)
    for arranged in (natural(model), in_order(model, order)):
        found = band.evaluate_chain(model, policy, arranged, 1.0, bias)
        scale = max(1.0, max(abs(float(h)) for h in expected))
        assert found == pytest.approx(float(gain), rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(bias - bias[0], [float(h) for h in expected], atol=1e-12 * scale)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 4))
def test_a_discounted_policy_is_the_one_of_dense_elimination(seed, n, width):
    model = chain_model(np.random.default_rng(seed), n, width, 1e-3)
    policy, states = np.zeros(n, np.int32), np.arange(n, dtype=np.int32)
    one, two = np.empty(n), np.empty(n)
    band.evaluate_chain(model, policy, natural(model), 0.99, one)
    evaluate_class(model, policy, states, 0.99, two)
    np.testing.assert_allclose(one - one[0], two, atol=1e-10)


@given(st.integers(0, 2**32 - 1), st.integers(2, 20))
def test_the_class_with_the_largest_gain_is_found(seed, n):
    model = chain_model(np.random.default_rng(seed), n, 1, 0.1)
    cut = model.data.copy()  # no way across some borders: several classes
    for s in np.random.default_rng(seed).choice(n, n // 2, replace=False):
        cut[model.indptr[s] : model.indptr[s + 1]] *= model.indices[model.indptr[s] : model.indptr[s + 1]] <= s
    model = model._replace(data=cut)
    policy, labels = np.zeros(n, np.int32), np.empty(n, np.int32)
    count = graph.recurrent_classes(model, policy, labels)
    gains = [
        evaluate_class(model, policy, np.flatnonzero(labels == c).astype(np.int32), 1.0, np.empty(n))
        for c in range(count)
    ]
    best = band.best_class(model, policy, natural(model), labels)
    assert gains[best] == pytest.approx(max(gains), abs=1e-12)


def test_a_place_hardly_ever_left_becomes_the_reference():
    """From the wrong bank of a river, the right one is 7^300 steps away: any other reference would overflow."""
    model, n = dm.problems.river_swim(n_states=300).drifting.at(1).arrays, 300
    bias = np.empty(n)
    for action, gain in ((1, 3 / 7), (0, 0.005)):
        assert band.evaluate_chain(model, np.full(n, action, np.int32), natural(model), 1.0, bias) == pytest.approx(
            gain
        )
        assert np.ptp(bias) < 1e4


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.booleans())
def test_any_numbering_of_a_chain_or_ring_is_narrow_by_distance(seed, n, closed):
    name = np.random.default_rng(seed).permutation(n)
    rows = np.zeros((n, n))
    for i in range(n if closed else n - 1):
        rows[name[i], name[(i + 1) % n]] = rows[name[(i + 1) % n], name[i]] = 0.5
    rows[np.arange(n), np.arange(n)] = 1.0 - rows.sum(axis=1)
    model, order = dm.Mdp(dm.Space.uniform(n, 1), np.zeros(n), rows).arrays, np.empty(n, np.int32)
    band.order_by_distance(model, order)
    assert sorted(order.tolist()) == list(range(n))
    assert in_order(model, order).width <= 3

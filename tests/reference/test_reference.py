"""The oracle itself, on cases done by hand."""

import math

import numpy as np
import pytest

from tests.reference import (
    best_total,
    diameter_by_enumeration,
    empirical_transitions,
    gain_by_enumeration,
    mixed_with_uniform,
    perils_trajectory,
    policy_gain,
    reward_variation,
    transition_probabilities,
    transition_variation,
)

CYCLE = [[[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]]]


def test_howards_toy_maker_earns_two():
    transitions = [[[0.5, 0.5], [0.8, 0.2]], [[0.4, 0.6], [0.7, 0.3]]]
    np.testing.assert_allclose(gain_by_enumeration([[6, 4], [-3, -5]], transitions), 2.0, atol=1e-12)


def test_a_periodic_chain_earns_its_mean():
    np.testing.assert_allclose(gain_by_enumeration([[1], [2], [6]], CYCLE), 3.0, atol=1e-12)


def test_a_policy_that_splits_the_states_earns_by_where_it_ends():
    """From the middle, 1/3 to the left end that pays 3 and 2/3 to the right one that pays 6."""
    transitions = [[[1, 0, 0]], [[1 / 6, 1 / 2, 1 / 3]], [[0, 0, 1]]]
    gains = policy_gain([[3], [0], [6]], transitions, (0, 0, 0))
    np.testing.assert_allclose(gains, [3, 5, 6], atol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_cycle_of_n_states_has_diameter_n_minus_one(n):
    cycle = [[[float(after == (s + 1) % n) for after in range(n)]] for s in range(n)]
    assert diameter_by_enumeration(cycle) == n - 1


def test_a_state_that_cannot_be_left_makes_the_diameter_infinite():
    assert diameter_by_enumeration([[[1.0, 0.0]], [[0.5, 0.5]]]) == math.inf


def test_the_slow_sure_way_is_taken_where_the_fast_one_may_fall_far_back():
    """From 0 one action risks state 2, 100 steps away from 0; the other takes 10 steps on average."""
    transitions = [
        [[0.0, 0.9, 0.1], [0.9, 0.1, 0.0]],
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0, 0.0, 1.0], [0.01, 0.0, 0.99]],
    ]
    assert diameter_by_enumeration(transitions) == pytest.approx(110.0)


def test_one_state_has_diameter_zero():
    assert diameter_by_enumeration([[[1.0]]]) == 0.0


def test_two_steps_are_planned_ahead():
    """The first step pays 1 to stay poor or 0 to become rich; being rich pays 5."""
    rewards = [[[1.0, 0.0], [5.0]]] * 2
    transitions = [[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]]]] * 2
    assert best_total(rewards, transitions, start=0) == 5.0
    assert best_total(rewards, transitions, start=1) == 10.0


def test_variation_takes_the_worst_pair_of_each_step():
    rewards = [[[0.0, 1.0]], [[0.5, 1.0]], [[0.5, 3.0]]]
    assert reward_variation(rewards) == 2.5
    transitions = [[[[1.0, 0.0]], [[1.0, 0.0]]], [[[0.0, 1.0]], [[0.9, 0.1]]]]
    assert transition_variation(transitions) == 2.0


def test_a_shelf_for_one_sells_with_the_probability_of_any_demand():
    table = transition_probabilities([0.3, 0.2, 0.5], capacity=1)
    assert table[0][0] == [1.0, 0.0]
    assert table[0][1] == pytest.approx([0.7, 0.3])


def test_mixing_keeps_the_mass():
    mixed = mixed_with_uniform([0.0, 0.0, 0.0, 1.0], capacity=2, zeta=0.1)
    assert mixed == pytest.approx([0.1, 0.1, 0.1, 0.7])


def test_the_perils_count_to_the_proofs_estimate():
    p_hat = empirical_transitions(perils_trajectory(3), [2, 2])
    assert p_hat == [[[0.75, 0.25], [1.0, 0.0]], [[0.25, 0.75], [0.0, 1.0]]]

"""Random episodic MDPs: their layers, their chances, and the optimal gain by backward induction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftmdp as dm
from tests.problems.tables import rewards_of, transitions_of


def best_return(mdp, n_states, length):
    """Return the best expected reward of an episode, layer by layer from the last, in plain loops."""
    rewards, chances = rewards_of(mdp), transitions_of(mdp)
    ahead = [0.0] * mdp.space.n_states
    for step in range(length, 0, -1):
        layer = [0] if step == 1 else range(1 + (step - 2) * n_states, 1 + (step - 1) * n_states)
        for s in layer:
            values = []
            for a in range(len(rewards[s])):
                onward = sum(chances[s][a][s2] * ahead[s2] for s2 in range(1, len(ahead)))  # 0 ends the episode
                values.append(rewards[s][a] + onward)
            ahead[s] = max(values)
    return ahead[0]


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10**6), n_states=st.integers(1, 4), n_actions=st.integers(1, 3), length=st.integers(2, 5)
)
def test_the_optimal_gain_is_the_best_return_of_an_episode_per_step(seed, n_states, n_actions, length):
    problem = dm.problems.random_mdp(n_states, n_actions, length, horizon=3, seed=seed)
    for anchor in problem.drifting.anchors:
        expected = best_return(anchor, n_states, length) / length
        assert dm.planning.optimal_gain(anchor).gain == pytest.approx(expected, abs=1e-8)


def test_every_step_leads_one_layer_on_and_after_the_last_to_the_start():
    anchor = dm.problems.random_mdp(3, 2, 4, horizon=1, drift="stationary").drifting.anchor(0)
    layer = np.array([0] + [1] * 3 + [2] * 3 + [3] * 3)
    for state in range(10):
        for action in range(2):
            reached = np.flatnonzero(anchor.successors(state, action))
            assert reached.tolist() == np.flatnonzero(layer == (layer[state] + 1) % 4).tolist()


def test_chances_have_the_variance_of_their_dirichlet_law():
    """Dirichlet(1, ..., 1) over S states has variance (S - 1) / (S^2 (S + 1)), 99 % of its mass is drawn."""
    anchor = dm.problems.random_mdp(4, 100, 20, horizon=1, drift="stationary").drifting.anchor(0)
    chances = anchor.transitions.data[anchor.transitions.data < 1]
    assert chances.mean() == pytest.approx(0.25, abs=1e-9)
    assert chances.var() == pytest.approx(0.99**2 * 3 / 80, rel=0.03)
    assert anchor.rewards.mean() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_states": 0}, "n_states must be at least 1; got 0."),
        ({"n_actions": 0}, "n_actions must be at least 1; got 0."),
        ({"length": 1}, "length must be at least 2; got 1."),
        ({"concentration": 0.01}, "concentration must be at least 0.05; got 0.01."),
        ({"n_anchors": 1}, "n_anchors must be at least 2; got 1."),
        ({"seed": -1}, "seed must be at least 0; got -1."),
    ],
)
def test_a_bad_value_is_answered_with_one_sentence(parameters, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.random_mdp(**parameters)
    assert str(caught.value) == sentence

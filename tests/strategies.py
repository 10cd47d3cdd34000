"""Random MDPs and worlds for property-based tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import driftmdp as dm


def random_space(rng: np.random.Generator, n_states: int, max_actions: int = 3) -> dm.Space:
    """Return a space with ragged actions."""
    return dm.Space(rng.integers(1, max_actions + 1, n_states))


def random_mdp(rng: np.random.Generator, space: dm.Space, branching: int, deterministic: bool = False) -> dm.Mdp:
    """Return an MDP with few successors per pair, so that periods and bottlenecks are common.

    One action of every state leads along a random cycle: it is communicating.
    """
    n_states = space.n_states
    cycle = rng.permutation(n_states)
    following = np.empty(n_states, int)
    following[cycle] = np.roll(cycle, -1)
    transitions = np.zeros((space.n_pairs, n_states))
    for pair in range(space.n_pairs):
        count = 1 if deterministic else int(rng.integers(1, min(branching, n_states) + 1))
        chosen = rng.choice(n_states, count, replace=False)
        state, action = space.state_and_action(pair)
        if action == 0 and following[state] not in chosen:
            chosen[0] = following[state]
        transitions[pair, chosen] = rng.dirichlet(np.ones(count))
    return dm.Mdp(space, rng.normal(size=space.n_pairs), transitions)


@st.composite
def communicating_mdps(draw: st.DrawFn, max_states: int = 6) -> dm.Mdp:
    """Communicating MDPs, often periodic."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    space = random_space(rng, draw(st.integers(1, max_states)))
    return random_mdp(rng, space, draw(st.integers(1, 4)), draw(st.booleans()))


@st.composite
def drifting_mdps(draw: st.DrawFn, max_horizon: int = 12, own_rewards: bool | None = None) -> dm.DriftingMdp:
    """Worlds with every kind of weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    space = random_space(rng, draw(st.integers(1, 4)))
    n_anchors, horizon = draw(st.integers(1, 4)), draw(st.integers(1, max_horizon))
    anchors = [random_mdp(rng, space, 3) for _ in range(n_anchors)]
    if draw(st.booleans()):
        weights = rng.integers(0, n_anchors, horizon)
    else:
        weights = rng.dirichlet(np.ones(n_anchors), horizon)
        weights = np.repeat(weights, rng.integers(1, 3, horizon), axis=0)[:horizon]
    free = draw(st.booleans()) if own_rewards is None else own_rewards
    return dm.DriftingMdp(anchors, weights, rng.normal(size=(horizon, n_anchors)) if free else None)

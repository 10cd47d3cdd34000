"""The optimal gain of a tiny MDP by trying every deterministic policy."""

import itertools

import numpy as np


def policy_gain(rewards, transitions, policy):
    """The long-run mean reward from each state, under `policy[s]`.

    The Cesaro limit of P^n equals the limit of ((I + P) / 2)^n, which exists for every chain; 60
    squarings are 2^60 steps. Rows are made to sum to 1 after each, so that rounding does not grow.
    """
    n = len(transitions)
    chain = np.array([transitions[s][policy[s]] for s in range(n)], dtype=float)
    limit = (np.eye(n) + chain) / 2
    for _ in range(60):
        limit = limit @ limit
        limit = limit / limit.sum(axis=1, keepdims=True)
    return limit @ np.array([rewards[s][policy[s]] for s in range(n)], dtype=float)


def gain_by_enumeration(rewards, transitions):
    """The best gain from each state over all deterministic stationary policies."""
    best = np.full(len(transitions), -np.inf)
    for policy in itertools.product(*(range(len(rows)) for rows in transitions)):
        best = np.maximum(best, policy_gain(rewards, transitions, policy))
    return best

"""The oracle speaks nested lists; these translate."""

from __future__ import annotations

import driftmdp as dm

Rewards = list[list[float]]
Transitions = list[list[list[float]]]


def rewards_of(mdp: dm.Mdp) -> Rewards:
    """Return r[s][a]."""
    return [[mdp.reward(s, a) for a in range(n)] for s, n in enumerate(mdp.space.n_actions.tolist())]


def transitions_of(mdp: dm.Mdp) -> Transitions:
    """Return p[s][a][s2]."""
    return [[mdp.successors(s, a).tolist() for a in range(n)] for s, n in enumerate(mdp.space.n_actions.tolist())]


def flat(table: list[list[float]]) -> list[float]:
    """Return a ragged [s][a] table as one entry per pair."""
    return [value for row in table for value in row]


def mdp_of(rewards: Rewards, transitions: Transitions) -> dm.Mdp:
    """Return the library's MDP of an oracle's tables."""
    rows = [row for rows in transitions for row in rows]
    return dm.Mdp(dm.Space([len(rows) for rows in transitions]), flat(rewards), rows)

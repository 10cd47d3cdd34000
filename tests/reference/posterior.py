"""Posterior sampling's memory and schedule, by definition: every count is summed again over the whole past.

Models are not drawn here: given what was done, the counts and the times of the draws follow.
"""

import math


def counts(pairs, rewards, t, window=None, discount=1.0):
    """N and the sum of rewards of each pair before step t (from 1), from lists of the steps before it."""
    n, totals = {}, {}
    for q in range(1, t):
        weight = discount ** (t - 1 - q) if window is None or q >= t - window else 0.0
        if weight > 0.0:
            pair = pairs[q - 1]
            n[pair] = n.get(pair, 0.0) + weight
            totals[pair] = totals.get(pair, 0.0) + weight * rewards[q - 1]
    return n, totals


def episode_starts(states, actions, every=0, window=None, discount=1.0):
    """When a model is drawn: at first, at multiples of `every`, and when a pair's visits reach its count.

    The pair is that of the policy in force, which is known where the state was met in the episode.
    """
    pairs = list(zip(states, actions, strict=True))
    starts, before, visits, policy = [], {}, {}, {}
    for t, (state, action) in enumerate(pairs, start=1):
        known = (state, policy[state]) if state in policy else None
        enough = max(1, math.ceil(before.get(known, 0.0) - 1e-12))
        doubled = known is not None and visits.get(known, 0) >= enough
        if t == 1 or (every and t % every == 0) or doubled:
            starts.append(t)
            before, _ = counts(pairs, [0.0] * len(pairs), t, window, discount)
            visits, policy = {}, {}
        policy[state] = action
        visits[state, action] = visits.get((state, action), 0) + 1
    return starts

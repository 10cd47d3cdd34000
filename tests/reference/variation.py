"""The variation budgets, eq. (variation_budgets) of Section 2, by loops over dense tables."""

import itertools


def reward_variation(rewards):
    """B_r = sum_t max_{s,a} |r_{t+1}(s, a) - r_t(s, a)| for `rewards[t][s][a]`."""
    total = 0.0
    for now, after in itertools.pairwise(rewards):
        worst = 0.0
        for s in range(len(now)):
            for a in range(len(now[s])):
                worst = max(worst, abs(after[s][a] - now[s][a]))
        total += worst
    return total


def transition_variation(transitions):
    """B_p = sum_t max_{s,a} ||p_{t+1}(.|s, a) - p_t(.|s, a)||_1 for `transitions[t][s][a][s2]`."""
    total = 0.0
    for now, after in itertools.pairwise(transitions):
        worst = 0.0
        for s in range(len(now)):
            for a in range(len(now[s])):
                moved = sum(abs(q - p) for p, q in zip(now[s][a], after[s][a], strict=True))
                worst = max(worst, moved)
        total += worst
    return total

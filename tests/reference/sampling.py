"""Counting what a trajectory showed: N(s, a, s') and p_hat of Section 4."""


def count_moves(trajectory):
    """N[(s, a, s2)] of a list of (state, action, next state)."""
    counts = {}
    for move in trajectory:
        counts[move] = counts.get(move, 0) + 1
    return counts


def empirical_transitions(trajectory, n_actions):
    """p_hat[s][a][s2] = N(s, a, s2) / max(1, N(s, a)), for `n_actions[s]` actions in state s."""
    counts = count_moves(trajectory)
    n = len(n_actions)
    table = []
    for s in range(n):
        rows = []
        for a in range(n_actions[s]):
            visits = [counts.get((s, a, after), 0) for after in range(n)]
            rows.append([v / max(1, sum(visits)) for v in visits])
        table.append(rows)
    return table

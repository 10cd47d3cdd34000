"""The two-state problem of Section 8.

The text prints p_t(s1|s1,a2) twice and p_t(s1|s2,a2) twice; the second of each is a slip for s2
(PAPER_NOTES 14).
"""

import math


def two_state_rewards(t, horizon, v_r):
    """r_t[s][a] as printed."""
    wave = math.cos(5 * v_r * math.pi * t / horizon)
    return [[0.2 + 3 * wave, 0.2 + wave], [0.2 - wave, 0.2 - 3 * wave]]


def two_state_transitions(t, horizon, v_p):
    """p_t[s][a][s2] as printed, with the two slips corrected."""
    beta = 0.5 + 0.3 * math.sin(5 * v_p * math.pi * t / horizon)
    return [
        [[1.0, 0.0], [1.0 - beta, beta]],
        [[0.0, 1.0], [beta, 1.0 - beta]],
    ]

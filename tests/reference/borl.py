"""The parameters of BORL, eqs. (borl_parameter) and (borl_exp3_parameter) of Section 5."""

import math
from fractions import Fraction


def borl_parameters(horizon, n_states, n_pairs):
    """H, J_W and J_eta; eta carries its scale S^(1/3) A^(1/4) (PAPER_NOTES 11).

    The floors are taken in whole numbers: H is the largest one with H^6 <= (3 S^(2/3) A^(1/2) T^(1/2))^6.
    """
    n_actions = Fraction(n_pairs, n_states)
    block = floor_root(729 * n_states**4 * n_actions**3 * horizon**3, 6)
    phi = 1 / (2 * horizon**0.5)
    delta_w = math.floor(math.log(block))
    delta_eta = math.floor(math.log(1 / phi))
    windows = [floor_root(block**j, delta_w) for j in range(delta_w + 1)]
    scale = n_states ** (1 / 3) * float(n_actions) ** 0.25
    widenings = [scale * phi ** (k / max(1, delta_eta)) for k in range(delta_eta + 1)]
    return block, windows, widenings


def exp3p_parameters(horizon, block, n_arms):
    """alpha, beta and gamma of EXP3.P."""
    n_blocks = math.ceil(horizon / block)
    alpha = 0.95 * math.sqrt(math.log(n_arms) / (n_arms * n_blocks))
    beta = math.sqrt(math.log(n_arms) / (n_arms * n_blocks))
    gamma = 1.05 * math.sqrt(n_arms * math.log(n_arms) / n_blocks)
    return alpha, beta, gamma


def floor_root(power, degree):
    """The largest whole number whose `degree`-th power is at most `power`."""
    low, high = 0, 2
    while high**degree <= power:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if middle**degree <= power:
            low = middle
        else:
            high = middle
    return low

"""The parameters of BORL, eqs. (borl_parameter) and (borl_exp3_parameter) of Section 5."""

import math


def borl_parameters(horizon, n_states, n_actions):
    """H, J_W and J_eta; eta carries its scale S^(1/3) A^(1/4) (PAPER_NOTES 11)."""
    block = math.floor(3 * n_states ** (2 / 3) * n_actions**0.5 * horizon**0.5)
    phi = 1 / (2 * horizon**0.5)
    delta_w = math.floor(math.log(block))
    delta_eta = math.floor(math.log(1 / phi))
    windows = [math.floor(block ** (j / delta_w)) for j in range(delta_w)] + [block]
    scale = n_states ** (1 / 3) * n_actions**0.25
    widenings = [scale * phi ** (k / delta_eta) for k in range(delta_eta + 1)]
    return block, windows, widenings


def exp3p_parameters(horizon, block, n_arms):
    """alpha, beta and gamma of EXP3.P."""
    n_blocks = math.ceil(horizon / block)
    alpha = 0.95 * math.sqrt(math.log(n_arms) / (n_arms * n_blocks))
    beta = math.sqrt(math.log(n_arms) / (n_arms * n_blocks))
    gamma = 1.05 * math.sqrt(n_arms * math.log(n_arms) / n_blocks)
    return alpha, beta, gamma

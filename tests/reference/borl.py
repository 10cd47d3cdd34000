"""BORL, Algorithm 2 of Section 5, and its parameters, eqs. (borl_parameter) and (borl_exp3_parameter)."""

import math
from fractions import Fraction

from tests.reference.bandits import Exp3, Exp3P, OverBlocks, exp3_gamma
from tests.reference.optimists import SWUCRL2CW


class BORL(OverBlocks):
    """[CSZ20] alg:borl: EXP3.P chooses (W, eta) of a fresh SWUCRL2-CW for every block of H steps.

    Arm (j, k) has the number j (Delta_eta + 1) + k. Time inside a block is the block's own, while T stays in the
    logarithms (PAPER_NOTES 11). `feedback_range` maps the rewards that the master sees; it is `reward_range`
    unless given.
    """

    def __init__(
        self,
        n_actions,
        horizon,
        *,
        rng,
        mode="paper",
        master="exp3p",
        reward_range=(0.0, 1.0),
        feedback_range=None,
        delta=None,
        scale=1.0,
        ties="least-visited",
        arms="corrected",
    ):
        if reward_range is None and feedback_range is None:
            raise ValueError("give feedback_range where reward_range is None")
        block, windows, widenings = borl_parameters(horizon, len(n_actions), sum(n_actions), arms)
        self.arms = [(window, widening) for window in windows for widening in widenings]
        bandit = borl_master(master, mode, horizon, block, len(self.arms), rng)
        super().__init__(bandit, block, horizon, reward_range if feedback_range is None else feedback_range)
        self.n_actions = list(n_actions)
        self.options = {"delta": delta, "reward_range": reward_range, "scale": scale, "ties": ties}

    def start(self, arm):
        window, widening = self.arms[arm]
        return SWUCRL2CW(self.n_actions, self.horizon, window, widening, **self.options)


def borl_master(master, mode, horizon, block, n_arms, rng):
    """EXP3.P or EXP3 over the arms; "paper" clips gamma to 1, "bounded" is PAPER_NOTES 12."""
    if mode not in ("paper", "bounded"):
        raise ValueError(f"mode must be 'paper' or 'bounded'; got {mode!r}")
    if master not in ("exp3p", "exp3"):
        raise ValueError(f"master must be 'exp3p' or 'exp3'; got {master!r}")
    n_blocks = math.ceil(horizon / block)
    largest = 1.0 if mode == "paper" else 0.5
    if master == "exp3":
        return Exp3([n_arms], n_blocks, gamma=min(largest, exp3_gamma(n_arms, n_blocks)), rng=rng)
    alpha, beta, gamma = exp3p_parameters(horizon, block, n_arms)
    gamma = min(largest, gamma)
    if mode == "bounded":
        alpha = min(alpha, gamma / ((1 + beta) * n_arms))
    return Exp3P([n_arms], n_blocks, alpha=alpha, beta=beta, gamma=gamma, rng=rng)


def borl_parameters(horizon, n_states, n_pairs, arms="corrected"):
    """H, J_W and J_eta; eta carries its scale S^(1/3) A^(1/4) (PAPER_NOTES 11).

    "printed" is Algorithm 2, line 6, symbol by symbol: eta_i <- floor(Phi^(k_i / Delta_eta)).
    The floors are taken in whole numbers: H is the largest one with H^6 <= (3 S^(2/3) A^(1/2) T^(1/2))^6.
    """
    n_actions = Fraction(n_pairs, n_states)
    block = floor_root(729 * n_states**4 * n_actions**3 * horizon**3, 6)
    phi = 1 / (2 * horizon**0.5)
    delta_w = math.floor(math.log(block))
    delta_eta = math.floor(math.log(1 / phi))
    windows = [floor_root(block**j, max(1, delta_w)) for j in range(delta_w + 1)]
    scale = n_states ** (1 / 3) * float(n_actions) ** 0.25
    widenings = [scale * phi ** (k / max(1, delta_eta)) for k in range(delta_eta + 1)]
    if arms == "printed":
        widenings = [math.floor(phi ** (k / max(1, delta_eta))) for k in range(delta_eta + 1)]
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

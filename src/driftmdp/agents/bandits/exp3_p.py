"""EXP3.P, for bandits against an adaptive adversary [BC12, Section 3.2], as [CSZ20] Section 5 states it.

u_i = (1 - gamma) exp(alpha q_i) / sum + gamma / K                      eq:p
q_i <- q_i + (beta + reward if i was drawn) / u_i for every arm         eq:borl_update

The bonus beta / u_i makes every q an upper bound with high probability, so that the regret of each run is bounded,
not only its mean, and the adversary may look at the draws.
"""

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.exponential_weights import ExponentialWeights, gamma_or
from driftmdp.agents.reward_range import Range
from driftmdp.formulas import Exp3pParameters, exp3p_parameters
from driftmdp.mdp import Space
from driftmdp.validation import as_number, one_of

MODES = ("paper", "bounded")


class EXP3P(ExponentialWeights):
    """EXP3 with bonuses: high-probability regret, also against adaptive adversaries.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    horizon
        T, the number of steps.
    mode
        ``"paper"``: the parameters of [CSZ20] eq:borl_exp3_parameter, gamma clipped to 1 (with a
        ``ClippedGammaWarning``). ``"bounded"``: gamma at most 1/2 and alpha at most gamma / ((1 + beta) K), the
        conditions of EXP3.P's theorem.
    alpha, beta, gamma
        In place of the computed ones: learning rate, bonus, share of uniform draws. The mode applies to them too.
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Of the generator used until ``reset(rng)`` gives another; None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="stationary", horizon=5000)
    >>> agent = dm.agents.EXP3P.for_problem(problem)
    >>> summary = dm.simulate(agent, problem, seed=7).summary
    >>> round(summary.gamma, 4), summary.clipped
    (0.0175, False)
    """

    def __init__(
        self,
        space: Space,
        horizon: int,
        mode: str = "paper",
        alpha: float | None = None,
        beta: float | None = None,
        gamma: float | None = None,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        n_arms = n_arms_of(space, self.name)
        self.mode = one_of(mode, "mode", MODES)
        self.alpha, self.beta, self.gamma = alpha, beta, gamma
        computed = exp3p_parameters(n_arms, horizon)
        given = Exp3pParameters(
            computed.alpha if alpha is None else as_number(alpha, "alpha", minimum=0.0),
            computed.beta if beta is None else as_number(beta, "beta", minimum=0.0),
            gamma_or(gamma, computed.gamma, n_arms),
        )
        used = exp3p_in_force(given, n_arms, self.mode)
        gammas, advice = (given.gamma, used.gamma), "Use mode='bounded'"
        super().__init__(space, horizon, reward_range, seed, *gammas, used.alpha, used.beta, advice=advice)


def exp3p_in_force(printed: Exp3pParameters, n_arms: int, mode: str) -> Exp3pParameters:
    """Return the printed parameters as a mode uses them."""
    return printed.clipped() if mode == "paper" else printed.bounded(n_arms)

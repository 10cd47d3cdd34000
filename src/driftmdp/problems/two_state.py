"""The paper's two-state problem, [CSZ20] Section 8."""

import math
import re

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.mdp.weights import as_horizon
from driftmdp.problems.registry import register
from driftmdp.validation import as_number


@register("two-state-v1", later={"noise": "none"})
def two_state(
    horizon: int = 5000, v_r: float | str = "T^0.2", v_p: float | str = "T^0.2", noise: str = "none"
) -> Problem:
    """Two states, two actions, cosine rewards and sine transitions: the paper's experiment.

    With c_t = cos(5 V_r pi t / T) and beta_t = 0.5 + 0.3 sin(5 V_p pi t / T),

    ======  ========  =============  =====================================
    state   action    mean reward    next state
    ======  ========  =============  =====================================
    s1      a1        0.2 + 3 c_t    s1
    s1      a2        0.2 + c_t      s2 with probability beta_t, else s1
    s2      a1        0.2 - c_t      s2
    s2      a2        0.2 - 3 c_t    s1 with probability beta_t, else s2
    ======  ========  =============  =====================================

    The paper prints p_t(s1|s1,a2) and p_t(s1|s2,a2) twice each. The second is read as the other state's
    (docs/paper-notes.md, item 14).

    It tests tracking: the better state changes with the sign of c_t. Closed form: rho*_t = 0.2 + max(3 c_t, -c_t)
    (stay in s1, or in s2), and the diameter is 1 / beta_t.

    Parameters
    ----------
    horizon
        T.
    v_r, v_p
        V_r and V_p, how fast rewards and transitions move: numbers, or powers of the horizon such as ``"T^0.5"``,
        the paper's high variation. ``"T^0.2"`` by default, its low one.
    noise
        Reward noise. The paper has none.

    The paper states the budgets B_r = 15 V_r and B_p = 12 V_p, and their orders V_r and V_p. They are
    ``budget("printed")`` and ``budget("order")``.

    Examples
    --------
    >>> from driftmdp.problems import two_state
    >>> problem = two_state(horizon=5000)
    >>> problem.reward_range
    (-2.8, 3.2)
    """
    t_max = as_horizon(horizon, n_weights=4)
    speed_r, speed_p = _speed(v_r, "v_r", t_max), _speed(v_p, "v_p", t_max)
    t = np.arange(1, t_max + 1)
    cosine = np.cos(5 * speed_r * math.pi * t / t_max)
    sine = np.sin(5 * speed_p * math.pi * t / t_max)
    # Anchors at the ends of both swings: c = 1 with beta = 0.8, and c = -1 with beta = 0.2.
    space = Space([2, 2], ["s1", "s2"], ["a1", "a2"])
    anchors = [_anchor(space, 1.0, 0.8), _anchor(space, -1.0, 0.2)]
    weights, reward_weights = (np.column_stack([0.5 * (1 + wave), 0.5 * (1 - wave)]) for wave in (sine, cosine))
    drifting = DriftingMdp(anchors, weights, reward_weights)
    budgets = {"printed": (15 * speed_r, 12 * speed_p), "order": (speed_r, speed_p)}
    return Problem(drifting, noise=noise, reward_range=(-2.8, 3.2), budgets=budgets)


def _speed(value: float | str, name: str, horizon: int) -> float:
    if not isinstance(value, str):
        return as_number(value, name, minimum=0.0)
    power = re.fullmatch(r"T\^([0-9]*\.?[0-9]+)", value)
    if power is None:
        raise InvalidInputError(f"{name} must be a number or a power of T such as 'T^0.5'; got {value!r}.")
    try:
        return float(horizon ** float(power[1]))
    except OverflowError:
        raise InvalidInputError(f"{name} must be a finite power of T; got {value!r}.") from None


def _anchor(space: Space, cosine: float, beta: float) -> Mdp:
    rewards = 0.2 + cosine * np.array([3.0, 1.0, -1.0, -3.0])
    return Mdp(space, rewards, [[1, 0], [1 - beta, beta], [0, 1], [beta, 1 - beta]])

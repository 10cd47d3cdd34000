"""The common base class of EXP3, EXP3.P, EXP3.S and Rexp3: arms drawn with exponential weights.

An arm's gain is estimated by its reward over the probability of its draw, which is right on average whatever the
world does: these bandits assume nothing of it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.bandits.bandit import Bandit
from driftmdp.agents.base import RunContext, locked
from driftmdp.agents.reward_range import Range, span_of
from driftmdp.agents.snapshot_checks import require
from driftmdp.agents.step_counter import RandomizedAgent
from driftmdp.display import brief
from driftmdp.errors import ClippedGammaWarning, InvalidInputError
from driftmdp.kernels.arrays import Exp3Params, new_arm_weights
from driftmdp.mdp import Space
from driftmdp.npz import Arrays
from driftmdp.validation import as_fraction, warn

LARGEST_STEP = 1e100  # of a logarithmic weight; sums of such steps stay finite


@dataclass(frozen=True, eq=False)
class WeightsSummary:
    """The parameters in force of a bandit with exponential weights, and where it stands.

    Attributes
    ----------
    rate
        The learning rate: alpha of EXP3.P, gamma / K of the others.
    bonus
        beta of EXP3.P; 0 for the others.
    gamma
        The share of uniform draws.
    formula_gamma
        The share that the formula gives.
    clipped
        Whether the two differ.
    sharing
        alpha of EXP3.S; 0 for the others.
    batch
        Steps after which Rexp3 restarts; 0 for the others.
    probabilities
        Of the draw to come, shape (arms,).
    """

    rate: float
    bonus: float
    gamma: float
    formula_gamma: float
    clipped: bool
    sharing: float
    batch: int
    probabilities: NDArray[np.float64]

    __repr__ = brief


class ExponentialWeights(RandomizedAgent, Bandit):
    """The base class of this family. A subclass gives the parameters."""

    def __init__(
        self,
        space: Space,
        horizon: int | None,
        reward_range: Range,
        seed: int | None,
        formula_gamma: float,
        gamma: float | None = None,
        rate: float | None = None,
        bonus: float = 0.0,
        sharing: float = 0.0,
        batch: int = 0,
        advice: str = "Use a longer horizon",
    ) -> None:
        super().__init__(space, horizon, reward_range, seed)
        n_arms = self.space.n_pairs
        gamma = min(1.0, formula_gamma) if gamma is None else gamma
        rate = gamma / n_arms if rate is None else rate
        least = gamma / n_arms if n_arms > 1 else 1.0  # the least probability
        if not rate * (1.0 + bonus) <= LARGEST_STEP * least:
            raise InvalidInputError(
                f"rate (1 + bonus) K / gamma, the largest step of {self.name}, must be at most {LARGEST_STEP:g}; "
                f"got rate {rate:g}, bonus {bonus:g}, gamma {gamma:g}. Choose a larger gamma or a smaller rate."
            )
        low, span, share = self.reward_range[0], span_of(self.reward_range), math.e * sharing / n_arms
        self._params = Exp3Params(float(rate), float(bonus), float(gamma), share, int(batch), low, span)
        self._sharing, self._formula_gamma = float(sharing), float(formula_gamma)
        self.reset()
        warn_if_clipped(self.name, formula_gamma, gamma, n_arms, batch or self.horizon or 0, advice)

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. Draws come from ``rng``, by default from ``seed``."""
        super().reset(rng)
        self._weights = new_arm_weights(self._params, self.space.n_pairs)

    @property
    @locked
    def probabilities(self) -> NDArray[np.float64]:
        """The probabilities of the draw to come, shape (arms,)."""
        return self._weights.probabilities.copy()

    def summary(self) -> WeightsSummary:
        """Return the parameters in force and the probabilities of the draw to come."""
        params, formula = self._params, self._formula_gamma
        rate, bonus, gamma, batch = params.rate, params.bonus, params.mixing, params.batch
        clipped, probabilities = formula > gamma, self.probabilities
        return WeightsSummary(rate, bonus, gamma, formula, clipped, self._sharing, batch, probabilities)

    def _decide(self, state: int) -> int:
        return int(kernels.bandits.draw_arm(self._weights, self._draw()))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        kernels.bandits.learn_exponential(self._params, self._weights, self._t, action, reward)
        super()._learn(state, action, reward, next_state)

    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code and fill its record."""
        uniforms = self._rng.random(context.record.actions.size)
        kernels.bandits.play_exponential(context.inputs, self._params, self._weights, uniforms, context.record)
        self._t += context.record.actions.size

    def _state_arrays(self) -> Arrays:
        return super()._state_arrays() | {"logits": self._weights.logits}

    def _restore(self, arrays: Arrays) -> None:
        super()._restore(arrays)
        self._weights.logits[:] = restored_logits(arrays["logits"], self.space.n_pairs)
        kernels.bandits.update_probabilities(self._params, self._weights)


def gamma_or(gamma: float | None, formula: float, n_arms: int) -> float:
    """Return a given share of uniform draws, or what the formula says, which may exceed 1.

    With several arms it must not be 0, or estimates would be unbounded.
    """
    if gamma is None:
        return formula
    share = as_fraction(gamma, "gamma")
    if share == 0.0 and n_arms > 1:
        raise InvalidInputError("gamma must be above 0; got 0. An arm must be drawn now and then to be estimated.")
    return share


def warn_if_clipped(name: str, formula_gamma: float, gamma: float, n_arms: int, rounds: int, advice: str) -> None:
    """Warn that gamma was clipped to 1, if it was, and what that means."""
    if formula_gamma > 1.0 and gamma == 1.0:
        warn(
            f"gamma of {name} is {formula_gamma:.3g} for {n_arms} arms and {rounds} round{'s' * (rounds > 1)}, and "
            f"was clipped to 1: every arm is drawn with the same probability, whatever was learned. {advice}.",
            ClippedGammaWarning,
        )


def restored_logits(logits: NDArray[Any], n_arms: int) -> NDArray[np.float64]:
    """Return the logits of a snapshot, or raise ValueError."""
    require(logits.shape == (n_arms,) and logits.dtype.kind == "f", "the weights are wrong")
    require(bool(np.isfinite(logits).all() and logits.max() == 0), "the weights are wrong")
    return logits.astype(np.float64)

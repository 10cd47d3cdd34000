"""A problem: a drifting MDP with a start state, reward noise and a reward range.

Noise scatters the emitted reward around its mean, which is always r_t(s, a):

=================  ==========================================================================
noise              what is emitted
=================  ==========================================================================
``none``           r_t(s, a) itself
``anchor``         the drawn anchor's reward (inventory: what that day's demand really earned)
``bernoulli``      the top of the reward range with the probability that makes the mean right, else
                   the bottom
``binomial(n)``    a count: how many of n trials succeed, as a share of the reward range. ``binomial(1)``
                   is ``bernoulli``
``gaussian(s)``    r_t(s, a) plus a normal error with standard deviation s
=================  ==========================================================================
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from driftmdp import kernels
from driftmdp.deprecation import warn_renamed
from driftmdp.display import brief, safely, short
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import (
    ANCHOR_NOISE,
    BERNOULLI_NOISE,
    BINOMIAL_NOISE,
    GAUSSIAN_NOISE,
    NO_NOISE,
    Draws,
)
from driftmdp.mdp.drifting import DriftingMdp
from driftmdp.mdp.notebook import problem_html
from driftmdp.mdp.space import Space
from driftmdp.mdp.sparse import blocks_of_product
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_list, as_number, check_type, nearest_name, one_of, shown

NOISE_KINDS = {
    "none": NO_NOISE,
    "anchor": ANCHOR_NOISE,
    "bernoulli": BERNOULLI_NOISE,
    "binomial": BINOMIAL_NOISE,
    "gaussian": GAUSSIAN_NOISE,
}
MAX_TRIALS = 1000  # of binomial noise: the smallest chance is still a float
RUN_BYTES_PER_STEP = 72  # random numbers and records of a run


@dataclass(frozen=True)
class Noise:
    """A noise model, also written as a word, ``"bernoulli"``, or as ``"gaussian(0.1)"`` and ``"binomial(10)"``.

    Attributes
    ----------
    kind
        ``"none"``, ``"anchor"``, ``"bernoulli"``, ``"binomial"`` or ``"gaussian"``.
    sigma
        The standard deviation of Gaussian noise, and 0 for the others.
    trials
        The number of trials of binomial noise, at most 1,000, and 0 for the others.
    """

    kind: str
    sigma: float = 0.0
    trials: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in NOISE_KINDS:
            rule = "noise must be 'none', 'anchor', 'bernoulli', 'binomial(n)' or 'gaussian(sigma)'"
            raise InvalidInputError(f"{rule}; got {shown(self.kind)}.{nearest_name(self.kind, NOISE_KINDS)}")
        fewest = 1 if self.kind == "binomial" else 0
        object.__setattr__(self, "sigma", as_number(self.sigma, "sigma", minimum=0.0))
        object.__setattr__(self, "trials", as_integer(self.trials, "trials of noise", fewest, MAX_TRIALS))

    @classmethod
    def parse(cls, text: str | Noise) -> Noise:
        """Return the noise model of a word, of ``"gaussian(0.1)"`` or ``"binomial(10)"``, or of a Noise."""
        if isinstance(text, Noise):
            return text
        check_type(text, str, "noise must be a word or a Noise")
        match = re.fullmatch(r"(gaussian|binomial)\(\s*([^()\s]+)\s*\)", text)
        if match and match[1] == "gaussian":
            try:
                return gaussian(float(match[2]))
            except ValueError:
                rule = "sigma of noise must be a finite number that is not negative"
                raise InvalidInputError(f"{rule}; got {shown(match[2])}.") from None
        if match:
            if not re.fullmatch(r"[0-9]{1,4}", match[2]):
                rule = f"trials of noise must be a whole number from 1 to {MAX_TRIALS:,}"
                raise InvalidInputError(f"{rule}; got {shown(match[2])}.")
            return binomial(int(match[2]))
        if text == "gaussian":
            raise InvalidInputError("noise 'gaussian' must name its standard deviation; write 'gaussian(0.1)'.")
        if text == "binomial":
            raise InvalidInputError("noise 'binomial' must name its number of trials; write 'binomial(10)'.")
        return cls(text)

    @property
    def code(self) -> int:
        """The number of the kind in kernels."""
        return NOISE_KINDS[self.kind]

    @property
    def spread(self) -> float:
        """The number beside the kind in kernels: sigma, or the number of trials."""
        return float(self.trials) if self.kind == "binomial" else self.sigma

    def __str__(self) -> str:
        if self.kind == "binomial":
            return f"binomial({self.trials})"
        return f"gaussian({self.sigma:g})" if self.kind == "gaussian" else self.kind


def gaussian(sigma: float) -> Noise:
    """Return normal reward noise with standard deviation ``sigma``.

    Examples
    --------
    >>> from driftmdp import gaussian
    >>> str(gaussian(0.1))
    'gaussian(0.1)'
    """
    return Noise("gaussian", sigma)


def binomial(trials: int) -> Noise:
    """Return count noise: how many of ``trials`` succeed, as a share of the reward range.

    Examples
    --------
    >>> from driftmdp import binomial
    >>> str(binomial(10))
    'binomial(10)'
    """
    return Noise("binomial", trials=trials)


class Sample(NamedTuple):
    """The outcome of one step.

    Attributes
    ----------
    reward
        The reward emitted.
    next_state
        The state reached.
    anchor
        The anchor drawn, which in inventory is the demand.
    """

    reward: float
    next_state: int
    anchor: int


@dataclass(frozen=True, eq=False)
class Problem:
    """A drifting MDP with a start state, reward noise and a reward range.

    Parameters
    ----------
    drifting
        The world.
    start
        The state at t = 1.
    noise
        ``"none"``, ``"anchor"``, ``"bernoulli"``, ``"binomial(n)"`` or ``"gaussian(sigma)"``. The mean is always
        r_t(s, a).
    reward_range
        Bounds (lo, hi) on every mean reward, which agents use to normalise. By default the exact ones.
        With noise ``"anchor"``, bounds on the emitted rewards.
    name, description
        Shown in tables and reports.
    parameters
        What a registered problem was made from.
    budgets
        Stated variation budgets (B_r, B_p) by name, which ``budget(name)`` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp import DriftingMdp, Mdp, Problem, Space
    >>> coin = Mdp(Space.uniform(1, 2), [0.4, 0.6], [[1.0], [1.0]])
    >>> problem = Problem(DriftingMdp.stationary(coin, 100), noise="bernoulli", reward_range=(0, 1))
    >>> draws = problem.draw_noise(np.random.default_rng(7))
    >>> problem.sample(1, 0, 1, draws)
    Sample(reward=..., next_state=0, anchor=0)
    """

    drifting: DriftingMdp
    start: int = 0
    noise: Noise = field(default="none")  # type: ignore[assignment]
    reward_range: tuple[float, float] = None  # type: ignore[assignment]
    name: str = "unnamed"
    description: str = field(default="", repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    budgets: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)

    if TYPE_CHECKING:  # the arguments have wider types than the fields

        def __init__(
            self,
            drifting: DriftingMdp,
            start: int = 0,
            noise: Noise | str = "none",
            reward_range: tuple[float, float] | None = None,
            name: str = "unnamed",
            description: str = "",
            parameters: Mapping[str, Any] = ...,
            budgets: Mapping[str, tuple[float, float]] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        hint = " Wrap one Mdp with DriftingMdp.stationary(mdp, horizon)."
        check_type(self.drifting, DriftingMdp, "drifting must be a DriftingMdp", hint)
        check_type(self.parameters, Mapping, "parameters must be a dict")
        check_type(self.budgets, Mapping, "budgets must be a dict")
        object.__setattr__(self, "start", as_integer(self.start, "start", 0, self.space.n_states - 1))
        object.__setattr__(self, "noise", Noise.parse(self.noise))
        object.__setattr__(self, "reward_range", self._checked_range())
        if self.noise.kind == "anchor" and not self.drifting.rewards_follow_transitions:
            rule = "noise 'anchor' must not be used with reward_weights"
            why = "the drawn anchor's reward would not have mean r_t"
            raise InvalidInputError(f"{rule}: {why}. Use 'none', 'bernoulli', 'binomial(n)' or 'gaussian(sigma)'.")

    def __repr__(self) -> str:
        made_from = f", parameters={short(self.parameters)}" if self.parameters else ""
        return f"{brief(self)[:-1]}{made_from})"

    _repr_html_ = safely(problem_html)

    def _checked_range(self) -> tuple[float, float]:
        low, high = mean_reward_range(self.drifting)
        if self.reward_range is None and self.noise.kind == "anchor":
            emitted = self.drifting.anchor_rewards[np.unique(self.drifting.weights.arrays.indices)]
            return float(emitted.min()), float(emitted.max())
        if self.reward_range is None:
            return low, high
        try:
            lo, hi = (as_number(bound, "reward_range") for bound in as_list(self.reward_range, "reward_range", ""))
        except ValueError:
            rule = "reward_range must be two finite numbers (lo, hi)"
            raise InvalidInputError(f"{rule}; got {shown(self.reward_range)}.") from None
        slack = 1e-9 * max(1.0, abs(lo), abs(hi))
        if lo > low + slack or hi < high - slack:
            rule = f"reward_range must contain every mean reward, which lie in [{low:g}, {high:g}]"
            raise InvalidInputError(f"{rule}; got ({lo:g}, {hi:g}).")
        return lo, hi

    @property
    def space(self) -> Space:
        """The states and actions."""
        return self.drifting.space

    @property
    def horizon(self) -> int:
        """The number of steps, T."""
        return self.drifting.horizon

    def budget(self, name: str = "exact") -> tuple[float, float]:
        """Return (B_r, B_p): the exact budgets, or those stated under ``name``.

        Examples
        --------
        >>> import driftmdp as dm
        >>> problem = dm.problems.two_state(horizon=5000, v_r=2, v_p=1)
        >>> problem.budget("printed")
        (30.0, 12.0)
        """
        one_of(name, "budgets", ("exact", *self.budgets))
        if name in self.budgets:
            return self.budgets[name]
        exact = self.drifting.variation()
        return exact.reward, exact.transition

    def labelled(self, name: str, description: str, parameters: Mapping[str, Any]) -> Self:
        """Return the same problem with another name, description and parameters."""
        check_type(parameters, Mapping, "parameters must be a dict")
        labelled = copy.copy(self)
        try:
            kept = copy.deepcopy(dict(parameters))
        except Exception:
            raise InvalidInputError(f"parameters must be a dict of values; got {shown(parameters)}.") from None
        for key, value in (("name", name), ("description", description), ("parameters", kept)):
            object.__setattr__(labelled, key, value)
        return labelled

    def draw_noise(self, rng: np.random.Generator) -> Draws:
        """Draw the world's random numbers for all T steps."""
        if type(self).luck is not Problem.luck:  # a subclass that still overrides the old name
            warn_renamed("Problem.luck", "Problem.draw_noise")
            return self.luck(rng)
        return self._draw(rng)

    def _draw(self, rng: np.random.Generator) -> Draws:
        hint = " Use np.random.default_rng(seed)."
        check_type(rng, np.random.Generator, "rng must be a numpy Generator", hint)
        horizon = self.horizon
        require_memory(RUN_BYTES_PER_STEP * horizon, f"A run of {horizon:,} steps")
        anchor, successor = rng.random((2, horizon))
        if self.noise.kind in ("bernoulli", "binomial"):
            noise = rng.random(horizon)
        elif self.noise.kind == "gaussian":
            noise = rng.standard_normal(horizon)
        else:
            noise = np.zeros(horizon)
        return Draws(anchor, successor, noise)

    def luck(self, rng: np.random.Generator) -> Draws:
        """Call ``draw_noise``, under its old name."""
        warn_renamed("Problem.luck", "Problem.draw_noise")
        return self.draw_noise(rng) if type(self).luck is Problem.luck else self._draw(rng)

    def sample(
        self, t: int, state: int, action: int, draws: Draws | None = None, *, luck: Draws | None = None
    ) -> Sample:
        """Return the outcome of an action in a state at step t, for the given draws; ``luck`` is their old name."""
        if luck is not None:
            warn_renamed("The parameter luck", "draws")
            draws = luck
        step = as_integer(t, "t", 1, self.horizon) - 1
        if not isinstance(draws, Draws) or any(np.shape(numbers) != (self.horizon,) for numbers in draws):
            raise InvalidInputError(f"draws must be for {self.horizon} steps; use problem.draw_noise(rng).")
        pair = self.space.pair(state, action)
        drawn = float(draws.anchor[step]), float(draws.successor[step]), float(draws.noise[step])
        noise = self.noise.code, self.noise.spread, *self.reward_range
        return Sample(*kernels.world.sample_step(self.drifting.world, step, pair, drawn, noise))


def mean_reward_range(drifting: DriftingMdp) -> tuple[float, float]:
    """Return the smallest and the largest r_t(s, a) over all steps and pairs."""
    weights, rewards = drifting.reward_weights, drifting.anchor_rewards
    if weights.index is not None:
        used = rewards[np.unique(weights.index)]
        return float(used.min()), float(used.max())
    ends = [(means.min(), means.max()) for means in blocks_of_product(weights.arrays, rewards)]
    return float(np.min(ends)), float(np.max(ends))

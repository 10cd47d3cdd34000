"""Noise of emitted rewards around their mean, which is always r_t(s, a).

=================  ==========================================================================
noise              what is emitted
=================  ==========================================================================
``none``           r_t(s, a) itself
``anchor``         the drawn anchor's reward (inventory: what that day's demand really earned)
``bernoulli``      the top of the reward range with the probability that makes the mean right, else
                   the bottom
``gaussian(s)``    r_t(s, a) plus a normal error with standard deviation s
=================  ==========================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from driftmdp.errors import InvalidInputError
from driftmdp.validation import as_number, check_type, nearest_name, shown

NOISE_KINDS = ("none", "anchor", "bernoulli", "gaussian")  # the position is the code used in kernels


@dataclass(frozen=True)
class Noise:
    """A noise model, also written as a word, ``"bernoulli"``, or as ``gaussian(0.1)``.

    Attributes
    ----------
    kind
        ``"none"``, ``"anchor"``, ``"bernoulli"`` or ``"gaussian"``.
    sigma
        The standard deviation of Gaussian noise, and 0 for the others.
    """

    kind: str
    sigma: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in NOISE_KINDS:
            rule = "noise must be 'none', 'anchor', 'bernoulli' or 'gaussian(sigma)'"
            raise InvalidInputError(f"{rule}; got {shown(self.kind)}.{nearest_name(self.kind, NOISE_KINDS)}")
        object.__setattr__(self, "sigma", as_number(self.sigma, "sigma", minimum=0.0))

    @classmethod
    def parse(cls, text: str | Noise) -> Noise:
        """Return the noise model of a word, of ``"gaussian(0.1)"``, or of a Noise."""
        if isinstance(text, Noise):
            return text
        check_type(text, str, "noise must be a word or a Noise")
        match = re.fullmatch(r"gaussian\(\s*([^()\s]+)\s*\)", text)
        if match:
            try:
                return gaussian(float(match[1]))
            except ValueError:
                rule = "sigma of noise must be a finite number that is not negative"
                raise InvalidInputError(f"{rule}; got {shown(match[1])}.") from None
        if text == "gaussian":
            raise InvalidInputError("noise 'gaussian' must name its standard deviation; write 'gaussian(0.1)'.")
        return cls(text)

    @property
    def code(self) -> int:
        """The number of the kind in kernels."""
        return NOISE_KINDS.index(self.kind)

    def __str__(self) -> str:
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

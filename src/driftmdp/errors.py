"""Errors of driftmdp: one root, and each child is a builtin error too; and warnings.

Catch :class:`DriftmdpError` for everything this library raises on purpose, or the builtin that fits
(``ValueError`` for a wrong value, ``ArithmeticError`` for a computation that did not converge).
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "CheckFailedError",
    "ClippedGammaWarning",
    "DriftmdpError",
    "InvalidInputError",
    "MissingPackageError",
    "NotCommunicatingError",
    "NotConvergedError",
    "StorageError",
    "UnknownNameError",
    "VacuousPlansWarning",
]

LONGEST = 1500  # characters of a message


def one_line(text: str, longest: int = LONGEST) -> str:
    r"""Return a text as it may stand in a message: on one line, control characters escaped, its middle cut out.

    Files and names come from anywhere, and a terminal does what escape sequences say.

    Examples
    --------
    >>> print(one_line("red\x1b[31m"), one_line("x" * 50_000, longest=13))
    red\x1b[31m xxxx ... xxxx
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    if len(text) <= longest:
        return text
    half = (longest - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def install_hint(extra: str) -> str:
    """Return how to install what an extra has; the package is installed from its clone."""
    return f"Run in your clone of driftmdp: pip install '.[{extra}]'"


class DriftmdpError(Exception):
    """The root of every error that driftmdp raises on purpose."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class ClippedGammaWarning(UserWarning):
    """A bandit's share of uniform draws came out above 1 and was clipped: every arm is as likely, for ever."""


class VacuousPlansWarning(UserWarning):
    """Every plan of a run was vacuous: the radii excluded nothing, so that ties decided every action."""


class CheckFailedError(DriftmdpError, AssertionError):
    """An agent or a problem breaks a rule that ``driftmdp.testing`` checks."""


class InvalidInputError(DriftmdpError, ValueError):
    """A value given by the user breaks a rule; the message says which, where, and what to do."""


class MissingPackageError(DriftmdpError, ImportError):
    """An optional package is needed and not installed; the message says how to install it."""


class StorageError(DriftmdpError, OSError):
    """A folder of results cannot be used: it is full, locked, or a file in it was damaged or edited."""


class UnknownNameError(DriftmdpError, LookupError):
    """A name is not known; the message suggests the nearest one that is."""


class NotCommunicatingError(DriftmdpError, ValueError):
    """Some state cannot be reached from another under any policy, so one optimal gain need not exist.

    Attributes
    ----------
    source, target
        A pair of states such that no policy leads from ``source`` to ``target``.
    """

    def __init__(self, message: str, source: int, target: int) -> None:
        super().__init__(message)
        self.source = source
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.source, self.target)


class NotConvergedError(DriftmdpError, ArithmeticError):
    """A computation could not reach the asked precision; ``best`` is the best certified result it has."""

    def __init__(self, message: str, best: Any = None) -> None:
        super().__init__(message)
        self.best = best

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.best)

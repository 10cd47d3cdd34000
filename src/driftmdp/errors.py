"""Errors and warnings of driftmdp. All errors have one root, and each is a builtin error too.

Catch :class:`DriftmdpError` for everything this library raises on purpose, or the builtin that fits
(``ValueError`` for a wrong value, ``ArithmeticError`` for a computation that did not converge).
"""

from typing import Any

__all__ = [
    "CheckFailedError", "ClippedGammaWarning", "DriftmdpError", "InvalidInputError", "MissingPackageError",
    "NotCommunicatingError", "NotConvergedError", "StorageError", "UnknownNameError", "VacuousPlansWarning",
]  # fmt: skip

MESSAGE_CHARACTERS = 1500


def one_line(text: str, longest: int = MESSAGE_CHARACTERS) -> str:
    r"""Return a text on one line for a message: control characters escaped, and the middle of a long text cut out.

    A terminal obeys escape sequences, and texts may come from any file.

    Examples
    --------
    >>> from driftmdp.errors import one_line
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
    """Return the command that installs the packages of an extra."""
    return f"Run in your clone of driftmdp: pip install '.[{extra}]'"


def missing_package(error: ModuleNotFoundError, what: str, extra: str) -> ModuleNotFoundError:
    """Return an error that says which extra has the missing package, or ``error`` if it is a module of ours."""
    if error.name is None or error.name.partition(".")[0] == "driftmdp":
        return error
    return ModuleNotFoundError(f"{what} needs the package {error.name!r}. {install_hint(extra)}", name=error.name)


class DriftmdpError(Exception):
    """The root of every error that driftmdp raises on purpose."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class ClippedGammaWarning(UserWarning):
    """A bandit's share of uniform draws was above 1 and was clipped, so every arm stays equally likely."""


class VacuousPlansWarning(UserWarning):
    """Every plan of a run was vacuous: the radii excluded nothing, and ties decided every action."""


class CheckFailedError(DriftmdpError, AssertionError):
    """An agent or a problem breaks a rule that ``driftmdp.testing`` checks."""


class InvalidInputError(DriftmdpError, ValueError):
    """A value from the user breaks a rule. The message says which, where, and what to do."""


class MissingPackageError(DriftmdpError, ImportError):
    """An optional package is needed and not installed. The message says how to install it."""


class StorageError(DriftmdpError, OSError):
    """A folder of results cannot be used: it is full, locked, or a file in it was damaged or edited."""


class UnknownNameError(DriftmdpError, LookupError):
    """There is nothing of this name. The message suggests the nearest name."""


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
    """A computation did not reach the required precision. ``best`` is its best certified result."""

    def __init__(self, message: str, best: Any = None) -> None:
        super().__init__(message)
        self.best = best

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.best)

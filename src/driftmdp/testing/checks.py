"""Run checks, and report which passed and which were skipped."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from driftmdp.errors import CheckFailedError, DriftmdpError


class Skip(Exception):  # noqa: N818, not an error
    """A check does not apply; the message says why."""


@dataclass(frozen=True)
class Check:
    """One rule, and why it was skipped, if it was."""

    rule: str
    skipped: str | None = None

    def __str__(self) -> str:
        return f"passed   {self.rule}" if self.skipped is None else f"skipped  {self.rule}: {self.skipped}"


@dataclass(frozen=True)
class CheckReport:
    """The rules that were checked; a broken one raises instead.

    Attributes
    ----------
    subject
        The name of the agent or problem.
    checks
        The rules, in order.
    """

    subject: str
    checks: tuple[Check, ...]

    @property
    def skipped(self) -> tuple[Check, ...]:
        """The rules that did not apply."""
        return tuple(check for check in self.checks if check.skipped is not None)

    def __str__(self) -> str:
        return "\n".join([self.subject, *(f"  {check}" for check in self.checks)])


def require(kept: bool, sentence: str) -> None:
    """Raise CheckFailedError with a sentence unless a rule is kept."""
    if not kept:
        raise CheckFailedError(sentence)


def run_checks(subject: str, checks: dict[str, Callable[..., None]], *args: Any) -> CheckReport:
    """Call every check with ``args``; return what passed and what was skipped, and raise at the first failure."""
    found = []
    for rule, check in checks.items():
        broken = f"{subject} breaks the rule '{rule}'"
        try:
            check(*args)
        except Skip as reason:
            found.append(Check(rule, str(reason)))
        except CheckFailedError as error:
            raise CheckFailedError(f"{broken}: {error}") from None
        except DriftmdpError:
            raise
        except Exception as error:
            raise CheckFailedError(f"{broken}: {type(error).__name__}: {error}") from error
        else:
            found.append(Check(rule))
    return CheckReport(subject, tuple(found))

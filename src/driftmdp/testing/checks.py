"""Run checks, and report which passed and which were skipped."""

from collections.abc import Callable
from dataclasses import dataclass

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
        What was checked.
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


def run_checks(subject: str, checks: dict[str, Callable[[], None]]) -> CheckReport:
    """Run every check; return what passed and what was skipped, and raise at the first broken rule."""
    found = []
    for rule, check in checks.items():
        try:
            check()
        except Skip as reason:
            found.append(Check(rule, str(reason)))
        except CheckFailedError as error:
            raise CheckFailedError(f"{subject} breaks the rule '{rule}': {error}") from None
        except DriftmdpError:
            raise
        except Exception as error:
            raise CheckFailedError(
                f"{subject} breaks the rule '{rule}': {type(error).__name__}: {error}"
            ) from error
        else:
            found.append(Check(rule))
    return CheckReport(subject, tuple(found))

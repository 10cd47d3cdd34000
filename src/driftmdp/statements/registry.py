"""The statements by name, in the order of the paper."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from driftmdp.errors import UnknownNameError
from driftmdp.statements.bench import Bench
from driftmdp.statements.finding import Evidence, Finding, Verdict
from driftmdp.validation import nearest_name

__all__ = ["Statement", "statement", "statement_named", "statements"]

Check = Callable[[Bench], Evidence]
_known: dict[str, Statement] = {}


@dataclass(frozen=True)
class Statement:
    """A statement of the paper and the function that checks it.

    Attributes
    ----------
    name
        For the command line, such as ``lemma-2``.
    title
        What it is about.
    where
        Its label in the paper's source.
    place
        Its place in the paper, for sorting.
    """

    name: str
    title: str
    where: str
    place: float
    function: Check = field(repr=False)

    @property
    def claim(self) -> str:
        """The claim in words and symbols: the docstring of the check."""
        return inspect.getdoc(self.function) or ""

    def check(self, bench: Bench) -> Finding:
        """Try it."""
        begin = time.perf_counter()
        evidence = self.function(bench)
        return Finding(
            name=self.name,
            title=self.title,
            where=self.where,
            claim=self.claim,
            verdict=evidence.verdict,
            instances=len(evidence.deciding.instances),
            vacuous=len(evidence.deciding.instances) - len(evidence.deciding.telling),
            margin=evidence.margin,
            why=evidence.why,
            counterexample=evidence.counterexample,
            correction=evidence.correction if evidence.printed.broken else "",
            test=evidence.test,
            seconds=time.perf_counter() - begin,
        )

    def could_not_be_checked(self, error: Exception | None) -> Finding:
        """Return what is found where the check itself broke down."""
        return Finding(
            name=self.name,
            title=self.title,
            where=self.where,
            claim=self.claim,
            verdict=Verdict.FAILS,
            instances=0,
            vacuous=0,
            margin=math.nan,
            why=f"the check could not be carried out: {type(error).__name__}: {error}",
        )


def statement(name: str, title: str, where: str, place: float) -> Callable[[Check], Check]:
    """Register the function below as the check of a statement.

    Examples
    --------
    >>> @statement("two-and-two", "a sum", "Appendix Z", place=1000)
    ... def two_and_two(bench):
    ...     '''Two and two are at most four: 2 + 2 <= 4.'''
    ...     evidence = Evidence()
    ...     evidence.printed.at_most("once", 2 + 2, 4)
    ...     evidence.why = "it was added up"
    ...     return evidence
    >>> statement_named("two-and-two").check(Bench()).verdict
    <Verdict.HOLDS: 'holds'>
    >>> forget = _known.pop("two-and-two")
    """

    def register(function: Check) -> Check:
        _known[name] = Statement(name, title, where, place, function)
        return function

    return register


def statements() -> list[Statement]:
    """Return all statements, in the order of the paper.

    Examples
    --------
    >>> import driftmdp.statements
    >>> [entry.name for entry in statements()][:2]
    ['remark-1', 'remark-2']
    """
    return sorted(_known.values(), key=lambda entry: entry.place)


def statement_named(name: str) -> Statement:
    """Return a statement, or say which name was meant.

    Examples
    --------
    >>> import driftmdp.statements
    >>> statement_named("lemma-2").where
    'Lemma 2 (lemma:mc)'
    """
    if name not in _known:
        raise UnknownNameError(
            f"There is no statement {name!r}.{nearest_name(name, list(_known))} "
            "`driftmdp check --list` names them all."
        )
    return _known[name]

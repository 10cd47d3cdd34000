"""The statements by name, in the order of the paper."""

from __future__ import annotations

import inspect
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.statements.context import CheckContext
from driftmdp.statements.verdict import Evidence, Finding, Verdict
from driftmdp.validation import as_number, nearest_name, quietly

Check = Callable[[CheckContext], Evidence]
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

    @quietly()  # a finding says which of its instances were vacuous
    def check(self, context: CheckContext) -> Finding:
        """Try it."""
        begin = time.perf_counter()
        evidence = self.function(context)
        if not isinstance(evidence, Evidence):
            raise InvalidInputError(
                f"The check of {self.name!r} must return Evidence; got {evidence!r}. End it with `return evidence`."
            )
        return Finding(
            name=self.name,
            title=self.title,
            where=self.where,
            claim=self.claim,
            verdict=evidence.verdict,
            instances=len(evidence.deciding.instances),
            vacuous=len(evidence.deciding.instances) - len(evidence.deciding.telling),
            margin=evidence.margin,
            why=evidence.reason,
            caveats=evidence.caveats,
            counterexample=evidence.counterexample,
            correction=evidence.correction if evidence.counterexample else "",
            test=evidence.test,
            seconds=time.perf_counter() - begin,
        )

    def not_carried_out(self, error: Exception | None, traceback: str = "") -> Finding:
        """Return what is found where the check itself broke down, and where in its code."""
        place = re.findall(r'File "[^"]*?([^/"]+)", line (\d+)', traceback)
        where = f" ({place[-1][0]}, line {place[-1][1]})" if place else ""
        return Finding(
            name=self.name,
            title=self.title,
            where=self.where,
            claim=self.claim,
            verdict=Verdict.BROKEN,
            instances=0,
            vacuous=0,
            margin=math.nan,
            why=f"the check broke down: {type(error).__name__}: {error}{where}",
        )


def statement(name: str, title: str, where: str, place: float) -> Callable[[Check], Check]:
    """Register the function below as the check of a statement.

    Its docstring is the claim, in words and symbols; it returns :class:`Evidence`.

    Parameters
    ----------
    name, title
        What ``check`` calls it, and what it is about.
    where
        Its place in the paper, with the label in the source in parentheses.
    place
        A number that sorts it among the others.

    Examples
    --------
    >>> def two_and_two(bench):
    ...     '''Two and two are at most four: 2 + 2 <= 4.'''
    ...     evidence = Evidence()
    ...     evidence.printed.at_most("once", 2 + 2, 4)
    ...     evidence.why = "it was added up"
    ...     return evidence
    >>> register = statement("two-and-two", "a sum", "Appendix Z", place=1000)  # use it as @statement(...)
    >>> Statement("two-and-two", "a sum", "Appendix Z", 1000, two_and_two).check(CheckContext()).verdict
    <Verdict.HOLDS: 'holds'>
    """
    order = as_number(place, "place")

    def register(function: Check) -> Check:
        if name in _known:
            raise InvalidInputError(f"There is a statement {name!r} already; choose another name.")
        _known[name] = Statement(name, title, where, order, function)
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
    """Return a statement by its name, or by its label in the paper; or say which name was meant.

    Examples
    --------
    >>> import driftmdp.statements
    >>> statement_named("lemma-2").where
    'Lemma 2 (lemma:mc)'
    >>> statement_named("lemma:mc").name
    'lemma-2'
    """
    if name in _known:
        return _known[name]
    by_label = [entry for entry in statements() if entry.where.endswith(f"({name})")]
    if by_label:
        return by_label[0]
    raise UnknownNameError(
        f"There is no statement {name!r}.{nearest_name(name, list(_known))} `driftmdp check --list` names them all."
    )

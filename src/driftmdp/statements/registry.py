"""The statements by name, in the order of the paper, and ``check``, which runs them."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from driftmdp import engines
from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.statements.context import CheckContext
from driftmdp.statements.verdict import Caveat, Evidence, Finding, Verdict
from driftmdp.validation import as_number, check_type, nearest_name, quietly

Check = Callable[[CheckContext], Evidence]
Fill = Callable[[CheckContext, Evidence], str]
_registered: dict[str, Statement] = {}


@dataclass(frozen=True)
class Statement:
    """A statement of the paper and the function that checks it.

    Attributes
    ----------
    name
        For the command line, such as ``lemma-2``.
    title
        Its subject.
    where
        Its place in the paper, with the label in the source in parentheses.
    place
        A number that sorts it among the others.
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

    @quietly()  # a finding counts its vacuous instances, so no warning is needed
    def check(self, context: CheckContext) -> Finding:
        """Run the check and return what it found."""
        begin = time.perf_counter()
        evidence = self.function(context)
        rule = f"The check of {self.name!r} must return Evidence"
        check_type(evidence, Evidence, rule, " End it with `return evidence`.")
        instances = len(evidence.decisive.instances)
        return self._finding(
            instances=instances,
            vacuous=instances - len(evidence.decisive.informative),
            why=evidence.reason,
            correction=evidence.correction if evidence.counterexample else "",
            seconds=time.perf_counter() - begin,
            **{
                name: getattr(evidence, name) for name in ("verdict", "margin", "caveats", "counterexample", "test")
            },
        )

    def not_carried_out(self, error: Exception | None, traceback: str = "") -> Finding:
        """Return the finding for a check that raised an error, with the place in its code."""
        place = re.findall(r'File "[^"]*?([^/"]+)", line (\d+)', traceback)
        where = f" ({place[-1][0]}, line {place[-1][1]})" if place else ""
        why = f"The check broke down: {type(error).__name__}: {error}{where}"
        return self._finding(verdict=Verdict.BROKEN, instances=0, vacuous=0, margin=math.nan, why=why)

    def _finding(self, **outcome: Any) -> Finding:
        return Finding(name=self.name, title=self.title, where=self.where, claim=self.claim, **outcome)


def statement(name: str, title: str, where: str, place: float) -> Callable[[Check], Check]:
    """Register the function below as the check of a statement.

    Its docstring is the claim, in words and symbols. It returns :class:`Evidence`.

    Parameters
    ----------
    name, title
        What ``check`` calls it, and its subject.
    where
        Its place in the paper, with the label in the source in parentheses.
    place
        A number that sorts it among the others.

    Examples
    --------
    >>> from driftmdp.statements import CheckContext, Evidence, Statement, statement
    >>> def two_and_two(context):
    ...     '''Two and two are at most four: 2 + 2 <= 4.'''
    ...     evidence = Evidence()
    ...     evidence.printed.at_most("once", 2 + 2, 4)
    ...     evidence.why = "The sum was computed"
    ...     return evidence
    >>> register = statement("two-and-two", "a sum", "Appendix Z", place=1000)  # use it as @statement(...)
    >>> Statement("two-and-two", "a sum", "Appendix Z", 1000, two_and_two).check(CheckContext()).verdict
    <Verdict.HOLDS: 'holds'>
    """
    order = as_number(place, "place")

    def register(function: Check) -> Check:
        if name in _registered:
            raise InvalidInputError(f"There is a statement {name!r} already; choose another name.")
        _registered[name] = Statement(name, title, where, order, function)
        return function

    return register


def checks(name: str, title: str, where: str, place: float, *caveats: Caveat) -> Callable[[Fill], Check]:
    """Register a function that fills the evidence of a statement and returns the reason for its verdict."""

    def register(fill: Fill) -> Check:
        @functools.wraps(fill)
        def checked(context: CheckContext) -> Evidence:
            evidence = Evidence(*caveats)
            evidence.why = fill(context, evidence)
            return evidence

        return statement(name, title, where, place)(checked)

    return register


def statements() -> list[Statement]:
    """Return all statements, in the order of the paper.

    Examples
    --------
    >>> from driftmdp.statements import statements
    >>> import driftmdp.statements
    >>> [entry.name for entry in statements()][:2]
    ['remark-1', 'remark-2']
    """
    return sorted(_registered.values(), key=lambda entry: entry.place)


def statement_named(name: str) -> Statement:
    """Return a statement by its name or by its label in the paper. The error suggests the nearest name.

    Examples
    --------
    >>> from driftmdp.statements import statement_named
    >>> import driftmdp.statements
    >>> statement_named("lemma-2").where
    'Lemma 2 (lemma:mc)'
    >>> statement_named("lemma:mc").name
    'lemma-2'
    """
    if name in _registered:
        return _registered[name]
    by_label = [entry for entry in statements() if entry.where.endswith(f"({name})")]
    if by_label:
        return by_label[0]
    hint = nearest_name(name, list(_registered))
    raise UnknownNameError(f"There is no statement {name!r}.{hint} `driftmdp check --list` names them all.")


def check(
    names: Iterable[str | Statement] = (),
    thorough: bool = False,
    workers: int | None = None,
    each: Callable[[Finding], None] | None = None,
) -> list[Finding]:
    """Check statements of the paper and return the findings, in the order of the paper.

    Parameters
    ----------
    names
        Names of statements or their labels in the paper; all of them by default. ``statements()`` lists them.
    thorough
        Whether to try more and larger instances.
    workers
        How many checks run at a time; one per core by default. The findings do not depend on it.
    each
        Called with every finding as it comes.

    Examples
    --------
    >>> from driftmdp.statements import check
    >>> found, = check(["linear-programs"])
    >>> found.verdict, found.instances, found.vacuous
    (<Verdict.HOLDS: 'holds'>, 80, 0)
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidInputError(f"names must be a list of names; got {names!r}. Write check([{names!r}]).")
    chosen = [name if isinstance(name, Statement) else statement_named(name) for name in names]
    wanted = list(dict.fromkeys(chosen)) or statements()
    context = CheckContext(thorough)
    found: dict[str, Finding] = {}
    outcomes = engines.make("threads", workers).map(lambda entry: entry.check(context), wanted)
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            finding = outcome.value or wanted[outcome.index].not_carried_out(outcome.error, outcome.traceback)
            found[finding.name] = finding
            if each is not None:
                each(finding)
    return [found[entry.name] for entry in sorted(wanted, key=lambda entry: entry.place)]

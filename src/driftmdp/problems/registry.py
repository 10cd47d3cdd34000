"""Problems by name and version, ``two-state-v1``, with their parameters checked.

A version stands for exact numbers: a change that moves any of them makes a new version, so that a published
result stays reproducible.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from driftmdp.display import facts, safely, short, table
from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.mdp import Problem
from driftmdp.validation import nearest_name

Parameters = ParamSpec("Parameters")
AnyProblem = TypeVar("AnyProblem", bound=Problem)


@dataclass(frozen=True)
class ProblemEntry:
    """A registered problem: its name with version, its parameters with defaults, its documentation.

    Attributes
    ----------
    name
        With its version, such as ``two-state-v1``.
    factory
        The function that makes it.
    """

    name: str
    factory: Callable[..., Problem]

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0]

    @property
    def documentation(self) -> str:
        """What it is, what it tests, and what its parameters mean."""
        return inspect.getdoc(self.factory) or ""

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters and their defaults."""
        return {name: p.default for name, p in inspect.signature(self.factory).parameters.items()}

    def __repr__(self) -> str:
        return f"{self.name}: {self.summary}"

    @safely
    def _repr_html_(self) -> str:
        defaults = ", ".join(f"{name}={short(value)}" for name, value in self.parameters.items())
        return facts(self.name, about=self.summary, made_from=defaults)


_entries: dict[str, ProblemEntry] = {}


def register(
    name: str,
) -> Callable[[Callable[Parameters, AnyProblem]], Callable[Parameters, AnyProblem]]:
    """Return a decorator that puts a function that makes a problem into the registry.

    The problems it makes carry the name and all parameters, defaults included.

    Parameters
    ----------
    name
        Words and a version: ``my-shop-v1``.

    Examples
    --------
    >>> from driftmdp import DriftingMdp, Mdp, Problem, Space, problems
    >>> @problems.register("doctest-coin-v1")
    ... def coin(horizon: int = 10) -> Problem:
    ...     '''One state, two arms.'''
    ...     return Problem(DriftingMdp.stationary(Mdp(Space.uniform(1, 2), [0, 1], [[1], [1]]), horizon))
    >>> problems.make("doctest-coin-v1", horizon=3).parameters
    {'horizon': 3}
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-v[1-9][0-9]*", name):
        raise InvalidInputError(f"name must be lower-case words and a version, such as 'my-shop-v1'; got {name!r}.")

    def decorate(factory: Callable[Parameters, AnyProblem]) -> Callable[Parameters, AnyProblem]:
        known = _entries.get(name)
        if known and (known.factory.__module__, known.factory.__qualname__) != (
            factory.__module__,
            factory.__qualname__,
        ):
            raise InvalidInputError(f"name must be new; {name!r} is taken. Raise the version.")

        @functools.wraps(factory)
        def named(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AnyProblem:
            bound = inspect.signature(factory).bind(*args, **kwargs)
            bound.apply_defaults()
            try:
                problem = factory(*args, **kwargs)
            except MemoryError as error:
                raise InvalidInputError(f"{name} must fit into memory; {error}. Take smaller numbers.") from None
            if not isinstance(problem, Problem):
                raise InvalidInputError(
                    f"{name} must make a Problem; its function returned {type(problem).__name__}."
                )
            summary = (inspect.getdoc(factory) or "").partition("\n")[0]
            return problem.labelled(name, problem.description or summary, dict(bound.arguments))

        _entries[name] = ProblemEntry(name, named)
        return named

    return decorate


class ProblemList(list[ProblemEntry]):
    """Entries that show themselves a line each."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "no problems"

    @safely
    def _repr_html_(self) -> str:
        return table(["problem", "what it is"], [(entry.name, entry.summary) for entry in self])


def list_problems() -> ProblemList:
    """Return every registered problem, by name.

    Examples
    --------
    >>> from driftmdp import problems
    >>> [entry.name for entry in problems.list() if "state" in entry.name]
    ['two-state-v1']
    """
    return ProblemList(_entries[name] for name in sorted(_entries))


def describe(name: str) -> ProblemEntry:
    """Return a problem's entry; without a version, that of the newest.

    Raises
    ------
    UnknownNameError
        If there is none; the message suggests the nearest.

    Examples
    --------
    >>> from driftmdp import problems
    >>> problems.describe("perils").parameters
    {'tau': 25, 'cycles': 1}
    """
    asked = name if isinstance(name, str) else ""
    if asked in _entries:
        return _entries[asked]
    versions = [known for known in _entries if known.rpartition("-v")[0] == asked]
    if versions:
        return _entries[max(versions, key=lambda known: int(known.rpartition("-v")[2]))]
    raise UnknownNameError(
        f"There is no problem {name!r}.{nearest_name(name, _entries)} problems.list() has them all."
    )


def make(name: str, **parameters: Any) -> Problem:
    """Return a problem by name.

    Parameters
    ----------
    name
        ``two-state-v1``, or ``two-state`` for the newest version.
    **parameters
        Its parameters; ``describe(name)`` has their meaning.

    Examples
    --------
    >>> from driftmdp import problems
    >>> problems.make("two-state-v1", horizon=100).horizon
    100
    >>> problems.make("two-state-v1", horizn=100)
    Traceback (most recent call last):
    driftmdp.errors.UnknownNameError: Problem 'two-state-v1' has no parameter 'horizn'. Did you mean 'horizon'?
    """
    entry = describe(name)
    for parameter in parameters:
        if parameter not in entry.parameters:
            raise UnknownNameError(
                f"Problem {entry.name!r} has no parameter {parameter!r}.{nearest_name(parameter, entry.parameters)}"
            )
    missing = [
        key
        for key, default in entry.parameters.items()
        if default is inspect.Parameter.empty and key not in parameters
    ]
    if missing:
        raise InvalidInputError(f"Problem {entry.name!r} must be given {', '.join(missing)}.")
    return entry.factory(**parameters)

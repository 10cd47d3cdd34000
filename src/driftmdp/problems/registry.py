"""Problems by name and version, ``two-state-v1``, with their parameters checked.

A version stands for exact numbers. A change that moves any of them makes a new version, so that published results
stay reproducible.
"""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from driftmdp.display import facts, safely, short, table
from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.mdp import Problem
from driftmdp.validation import check_type, nearest_name

Parameters = ParamSpec("Parameters")
AnyProblem = TypeVar("AnyProblem", bound=Problem)


@dataclass(frozen=True)
class ProblemEntry:
    """A registered problem: its name with version, its parameters with defaults, and its documentation.

    Attributes
    ----------
    name
        The name with its version, such as ``two-state-v1``.
    factory
        The function that makes it.
    later
        Parameters that are newer than stored results, with the value of those results. At this value a parameter is
        no part of a run's identity.
    """

    name: str
    factory: Callable[..., Problem]
    later: Mapping[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0]

    @property
    def documentation(self) -> str:
        """The docstring of the function that makes it."""
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
    name: str, later: Mapping[str, Any] | None = None
) -> Callable[[Callable[Parameters, AnyProblem]], Callable[Parameters, AnyProblem]]:
    """Return a decorator that registers a function that makes a problem.

    The problems it makes carry the name and all parameters, defaults included.

    Parameters
    ----------
    name
        Lower-case words and a version: ``my-shop-v1``.
    later
        Parameters that were added after results had been stored, with the value that these results have.

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
        if name in _entries and _source(_entries[name].factory) != _source(factory):
            raise InvalidInputError(f"name must be new; {name!r} is taken. Raise the version.")

        @functools.wraps(factory)
        def named(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AnyProblem:
            bound = inspect.signature(factory).bind(*args, **kwargs)
            bound.apply_defaults()
            try:
                problem = factory(*args, **kwargs)
            except MemoryError as error:
                raise InvalidInputError(f"{name} must fit into memory; {error}. Take smaller numbers.") from None
            check_type(problem, Problem, f"{name} must make a Problem")
            return problem.labelled(name, problem.description or entry.summary, dict(bound.arguments))

        entry = _entries[name] = ProblemEntry(name, named, dict(later or {}))
        return named

    return decorate


def _source(factory: Callable[..., Problem]) -> tuple[str, str]:
    return factory.__module__, factory.__qualname__


class ProblemList(list[ProblemEntry]):
    """Entries, shown one per line."""

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
    """Return the entry of a problem. Without a version in the name, that of the newest.

    Raises
    ------
    UnknownNameError
        If there is no such problem. The message suggests the nearest name.

    Examples
    --------
    >>> from driftmdp import problems
    >>> problems.describe("perils").parameters
    {'tau': 25, 'cycles': 1, 'noise': 'none'}
    """
    asked = name if isinstance(name, str) else ""
    if asked in _entries:
        return _entries[asked]
    versions = [entry for entry in _entries if entry.rpartition("-v")[0] == asked]
    if versions:
        return _entries[max(versions, key=lambda entry: int(entry.rpartition("-v")[2]))]
    nearest = nearest_name(name, _entries)
    raise UnknownNameError(f"There is no problem {name!r}.{nearest} problems.list() has them all.")


def make(name: str, **parameters: Any) -> Problem:
    """Make a problem by name.

    Parameters
    ----------
    name
        ``two-state-v1``, or ``two-state`` for the newest version.
    **parameters
        Its parameters, which ``describe(name)`` explains.

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
            nearest = nearest_name(parameter, entry.parameters)
            raise UnknownNameError(f"Problem {entry.name!r} has no parameter {parameter!r}.{nearest}")
    required = [key for key, default in entry.parameters.items() if default is inspect.Parameter.empty]
    missing = [key for key in required if key not in parameters]
    if missing:
        raise InvalidInputError(f"Problem {entry.name!r} must be given {', '.join(missing)}.")
    return entry.factory(**parameters)

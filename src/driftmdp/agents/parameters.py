"""An agent's parameters: filled in from a problem, listed by name, and shown."""

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from driftmdp.display import safely, short, table
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import DriftingMdp, Problem


class ParameterizedAgent(ABC):
    """An agent that keeps each parameter of its constructor as an attribute of the same name, and shows them."""

    later_parameters: ClassVar[Mapping[str, Any]] = {}  # newer than stored results, with the value that those have

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent with the problem's space, horizon and reward range filled in."""
        checked_problem(problem)
        takes_all = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(cls).parameters.values())
        wanted = ("space", "horizon", "reward_range")
        filled = {name: getattr(problem, name) for name in wanted if takes_all or name in parameter_names(cls)}
        return cls(**filled | parameters)

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the constructor, by name.

        One of ``later_parameters`` is left out at its value there: results and snapshots stay as they were.
        """
        given = {name: getattr(self, name) for name in parameter_names(type(self)) if hasattr(self, name)}
        return without_later(given, self.later_parameters)

    @property
    @abstractmethod
    def t(self) -> int:
        """The time of the step that comes next, from 1."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_short(value)}" for name, value in self.parameters.items() if value is not None)
        return f"{self.name}({shown})"

    @safely
    def _repr_html_(self) -> str:
        rows = [(name, short(value)) for name, value in self.parameters.items() if value is not None]
        return table([], [*rows, ("next step", f"t = {self.t:,}")], self.name)


def without_later(parameters: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those of ``later`` that have the value given there."""
    return {name: value for name, value in parameters.items() if name not in later or value != later[name]}


def checked_problem(problem: Problem) -> Problem:
    """Validate that ``problem`` is a Problem."""
    if not isinstance(problem, Problem):
        bare = isinstance(problem, DriftingMdp)
        hint = "Write Problem(it, reward_range=(lo, hi))" if bare else "Try driftmdp.problems.two_state()"
        hint = f"Write driftmdp.problems.make({problem!r})" if isinstance(problem, str) else hint
        raise InvalidInputError(f"problem must be a Problem; got {problem!r}. {hint}.")
    return problem


@functools.cache
def parameter_names(agent: type[ParameterizedAgent]) -> tuple[str, ...]:
    """Return the names of the parameters of an agent's constructor."""
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return tuple(name for name, p in inspect.signature(agent).parameters.items() if p.kind not in variable)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape}>"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)

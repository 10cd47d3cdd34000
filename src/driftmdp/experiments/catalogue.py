"""From a name and parameters to a problem or an agent: the built-in ones, or ``module:name`` for one's own.

A name of one's own is imported; a digest of its file is part of what a run is, so that edited code is run again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from driftmdp import agents, problems
from driftmdp.agents import Agent, BuiltinAgent
from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.experiments.user_code import digest_of_code, find
from driftmdp.mdp import Problem
from driftmdp.validation import nearest_name, quietly

FROM_PROBLEM = {"reward_range", "feedback_range"}  # what an agent takes from its problem, if it is not given
OF_INVENTORY = {"inventory": {"costs", "capacity", "lead_time"}}  # what the problem says of the shelf
OF_PROBLEM = {"policies", "policy_index"}  # what the oracle finds out itself
FILLED_IN = {"space", "horizon", "problem", "seed"}  # an agent's parameters that a spec does not give


@dataclass(frozen=True)
class Maker:
    """Something that makes problems or agents.

    Attributes
    ----------
    name
        In full: with the version, or ``module:name``.
    make
        The function that is called: with parameters, for agents after the problem.
    defaults
        What may be given, with defaults; ``inspect.Parameter.empty`` where there is none.
    takes_any
        Whether other names may be given too.
    source
        A digest of the file of one's own code; empty for what this package has.
    later
        Parameters that are newer than stored results, with the value that those have: no part of what a run is.
    """

    name: str
    make: Callable[..., Any]
    defaults: Mapping[str, Any]
    takes_any: bool
    source: str = ""
    later: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fixed_defaults(self) -> dict[str, Any]:
        """The defaults that do not depend on the problem."""
        unknown = inspect.Parameter.empty
        return {k: v for k, v in self.defaults.items() if v is not unknown and k not in FROM_PROBLEM}

    def check(self, parameters: Mapping[str, Any], where: str) -> None:
        """Refuse a name that is not a parameter."""
        for key, value in parameters.items():
            if key not in self.defaults and not self.takes_any:
                known = f"It has {', '.join(self.defaults) or 'none'}."
                help_ = known if self.source else f"`driftmdp show {self.name}` has them all."
                raise InvalidInputError(
                    f"{where}.{key} must be a parameter of {self.name}; got {value!r}."
                    f"{nearest_name(key, self.defaults)} {help_}"
                )


def problem_maker(name: str) -> Maker:
    """Return what makes the problems of a name.

    Examples
    --------
    >>> problem_maker("two-state").name
    'two-state-v1'
    """
    if ":" in name:
        return _own(name, is_agent=False)
    try:
        entry = problems.describe(name)
    except UnknownNameError:
        known = [entry.name for entry in problems.list()]
        raise UnknownNameError(
            f"There is no problem {name!r}.{nearest_name(name, known)} `driftmdp list problems` has them all; "
            "write 'module:name' for one of your own."
        ) from None
    return Maker(entry.name, entry.factory, entry.parameters, takes_any=False)


def spec_agents() -> dict[str, type[BuiltinAgent]]:
    """Return the agents that a spec may name: all but ``Optimist``, whose parts are Python objects.

    Examples
    --------
    >>> "Optimist" in spec_agents()
    False
    """
    return {name: kind for name, kind in agents.builtin().items() if name != "Optimist"}


def agent_maker(name: str) -> Maker:
    """Return what makes the agents of a name.

    Examples
    --------
    >>> sorted(agent_maker("Random").defaults)
    []
    """
    if ":" in name:
        return _own(name, is_agent=True)
    known = spec_agents()
    if name not in known:
        raise UnknownNameError(
            f"There is no agent {name!r}.{nearest_name(name, known)} `driftmdp list agents` has them all; write "
            "'module:name' for one of your own."
        )
    return _of_class(name, known[name])


def _of_class(name: str, kind: Any, source: str = "") -> Maker:
    filled_in = FILLED_IN | OF_INVENTORY.get(getattr(kind, "only_for", ""), set())
    if kind is agents.Oracle:
        filled_in |= OF_PROBLEM
    taken, takes_any = _parameters(kind, filled_in)
    more, _ = _parameters(kind.for_problem, FILLED_IN)
    return Maker(name, kind.for_problem, taken | more, takes_any, source, getattr(kind, "later_parameters", {}))


def _own(name: str, is_agent: bool) -> Maker:
    """Return the maker that ``module:name`` stands for."""
    found = find(name)
    source = digest_of_code(name)
    if is_agent and hasattr(found, "for_problem"):
        return _of_class(name, found, source)
    try:
        first = next(iter(inspect.signature(found).parameters.values()), None) if is_agent else None
        problem = {first.name} if first is not None and first.default is first.empty else set()
        defaults, takes_any = _parameters(found, FILLED_IN | problem if is_agent else set())
    except ValueError:
        raise InvalidInputError(f"{name} must be written in Python, so that its parameters are known.") from None
    return Maker(name, found, defaults, takes_any, source)


def _parameters(function: Callable[..., Any], hidden: set[str]) -> tuple[dict[str, Any], bool]:
    signature = inspect.signature(function).parameters.values()
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    named = {p.name: p.default for p in signature if p.kind not in variable and p.name not in hidden}
    return named, any(p.kind is p.VAR_KEYWORD for p in signature)


def make_problem(maker: Maker, parameters: Mapping[str, Any]) -> Problem:
    """Return a problem with all its parameters noted."""
    problem = maker.make(**parameters)
    if not isinstance(problem, Problem):
        raise InvalidInputError(f"{maker.name} must make a Problem; got {type(problem).__name__}.")
    return problem


def make_agent(maker: Maker, problem: Problem, parameters: Mapping[str, Any]) -> Agent:
    """Return an agent for a problem.

    Two words for what TOML cannot say: ``reward_range = "raw"`` is the raw reading, ``"problem"`` the problem's.
    """
    given = dict(parameters)
    if given.get("reward_range") == "raw":
        given["reward_range"] = None
    elif given.get("reward_range") == "problem":
        given["reward_range"] = problem.reward_range
    elif isinstance(given.get("reward_range"), str):
        raise InvalidInputError(
            f"reward_range must be two numbers, 'raw' (as they are) or 'problem' (the problem's); got "
            f"{given['reward_range']!r}."
        )
    with quietly():  # what an agent has to say of its parameters is in its summary
        agent = maker.make(problem, **given)
    if not isinstance(agent, Agent):
        raise InvalidInputError(f"{maker.name} must have reset, act and observe; got {agent!r}.")
    return agent

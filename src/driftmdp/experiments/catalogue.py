"""Makers of problems and agents by name: the built-in ones, or ``module:name`` for the user's own.

A user's module is imported. A digest of its files is part of a run's identity, so that edited code runs again.
"""

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

FROM_PROBLEM = {"reward_range", "feedback_range"}  # an agent takes these from its problem unless given
FROM_INVENTORY = {
    "costs",
    "capacity",
    "lead_time",
}  # an inventory agent takes these from an inventory problem
ORACLE_COMPUTES = {"policies", "policy_index"}
NOT_IN_SPEC = {"space", "horizon", "problem", "seed"}  # parameters of an agent that a spec does not give


@dataclass(frozen=True)
class Maker:
    """A maker of problems or agents.

    Attributes
    ----------
    name
        The full name: with the version, or ``module:name``.
    make
        The function that is called with the parameters, for agents after the problem.
    defaults
        The parameters, with defaults. ``inspect.Parameter.empty`` where there is none.
    takes_any
        Whether other parameters may be given too.
    source
        A digest of the user's own code. Empty for code of this package.
    later
        Parameters that are newer than stored results, with the value of those results. At this value a parameter is
        no part of a run's identity.
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
        missing = inspect.Parameter.empty
        return {k: v for k, v in self.defaults.items() if v is not missing and k not in FROM_PROBLEM}

    def check(self, parameters: Mapping[str, Any], where: str) -> None:
        """Refuse a name that is not a parameter."""
        for key, value in parameters.items():
            if key not in self.defaults and not self.takes_any:
                listed = f"It has {', '.join(self.defaults) or 'none'}."
                hint = listed if self.source else f"`driftmdp show {self.name}` has them all."
                raise InvalidInputError(
                    f"{where}.{key} must be a parameter of {self.name}; got {value!r}."
                    f"{nearest_name(key, self.defaults)} {hint}"
                )


def problem_maker(name: str) -> Maker:
    """Return the maker of the problems of a name.

    Examples
    --------
    >>> from driftmdp.experiments.catalogue import problem_maker
    >>> problem_maker("two-state").name
    'two-state-v1'
    """
    if ":" in name:
        return _users_maker(name, is_agent=False)
    try:
        entry = problems.describe(name)
    except UnknownNameError:
        known = [entry.name for entry in problems.list()]
        raise UnknownNameError(
            f"There is no problem {name!r}.{nearest_name(name, known)} `driftmdp list problems` has them all; "
            "write 'module:name' for one of your own."
        ) from None
    return Maker(entry.name, entry.factory, entry.parameters, takes_any=False, later=entry.later)


def spec_agents() -> dict[str, type[BuiltinAgent]]:
    """Return the agents that a spec may name: all but ``Optimist``, whose parts are Python objects.

    Examples
    --------
    >>> from driftmdp.experiments.catalogue import spec_agents
    >>> "Optimist" in spec_agents()
    False
    """
    return {name: kind for name, kind in agents.builtin().items() if name != "Optimist"}


def agent_maker(name: str) -> Maker:
    """Return the maker of the agents of a name.

    Examples
    --------
    >>> from driftmdp.experiments.catalogue import agent_maker
    >>> sorted(agent_maker("Random").defaults)
    []
    """
    if ":" in name:
        return _users_maker(name, is_agent=True)
    known = spec_agents()
    if name not in known:
        raise UnknownNameError(
            f"There is no agent {name!r}.{nearest_name(name, known)} `driftmdp list agents` has them all; write "
            "'module:name' for one of your own."
        )
    return _class_maker(name, known[name])


def _class_maker(name: str, kind: Any, source: str = "") -> Maker:
    is_inventory, is_oracle = getattr(kind, "only_for", "") == "inventory", kind is agents.Oracle
    hidden = NOT_IN_SPEC | (FROM_INVENTORY if is_inventory else set()) | (ORACLE_COMPUTES if is_oracle else set())
    taken, takes_any = _parameters(kind, hidden)
    more, _ = _parameters(kind.for_problem, NOT_IN_SPEC)
    return Maker(name, kind.for_problem, taken | more, takes_any, source, getattr(kind, "later_parameters", {}))


def _users_maker(name: str, is_agent: bool) -> Maker:
    """Return the maker for ``module:name``."""
    found, source = find(name), digest_of_code(name)
    if is_agent and hasattr(found, "for_problem"):
        return _class_maker(name, found, source)
    try:
        first = next(iter(inspect.signature(found).parameters.values()), None) if is_agent else None
        problem = {first.name} if first is not None and first.default is first.empty else set()
        defaults, takes_any = _parameters(found, NOT_IN_SPEC | problem if is_agent else set())
    except ValueError:
        raise InvalidInputError(f"{name} must be written in Python, so that its parameters are known.") from None
    return Maker(name, found, defaults, takes_any, source)


def _parameters(function: Callable[..., Any], hidden: set[str]) -> tuple[dict[str, Any], bool]:
    signature = inspect.signature(function).parameters.values()
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    named = {p.name: p.default for p in signature if p.kind not in variable and p.name not in hidden}
    return named, any(p.kind is p.VAR_KEYWORD for p in signature)


def make_problem(maker: Maker, parameters: Mapping[str, Any]) -> Problem:
    """Make a problem."""
    problem = maker.make(**parameters)
    if not isinstance(problem, Problem):
        raise InvalidInputError(f"{maker.name} must make a Problem; got {type(problem).__name__}.")
    return problem


def make_agent(maker: Maker, problem: Problem, parameters: Mapping[str, Any]) -> Agent:
    """Make an agent for a problem.

    Two words stand for what TOML cannot express: ``reward_range = "raw"`` is None, the raw reading, and
    ``"problem"`` is the problem's range.
    """
    given = dict(parameters)
    reward_range, words = given.get("reward_range"), {"raw": None, "problem": problem.reward_range}
    if isinstance(reward_range, str):
        if reward_range not in words:
            raise InvalidInputError(
                "reward_range must be two numbers, 'raw' (as they are) or 'problem' (the problem's); got "
                f"{reward_range!r}."
            )
        given["reward_range"] = words[reward_range]
    with quietly():  # an agent's remarks on its parameters are in its summary
        agent = maker.make(problem, **given)
    if not isinstance(agent, Agent):
        lacking = [name for name in ("reset", "act", "observe") if not hasattr(agent, name)]
        rule = f"{maker.name} must have the methods reset, act and observe"
        raise InvalidInputError(f"{rule}; {type(agent).__name__} lacks {' and '.join(lacking)}.")
    return agent

"""The agents of the suite, and agents of one's own, written as a call: ``my_agents:Mine(alpha=0.1)``."""

import ast
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import Field

from driftmdp.errors import InvalidInputError
from driftmdp.experiments.catalogue import agent_maker
from driftmdp.experiments.identity import check_identifiable
from driftmdp.experiments.run_plan import allow_user_modules, plan
from driftmdp.experiments.spec import Choice, Spec

EXAMPLE = "'my_agents:Mine(alpha=0.1, window=100)'"


class SuiteAgent(Choice):
    """An agent, and the problems that it meets.

    Attributes
    ----------
    groups
        The groups of problems. None listed means all.
    longest
        The largest horizon, by default any.
    """

    groups: list[str] = Field(default_factory=list)
    longest: Annotated[int, Field(ge=2)] | None = None

    def meets(self, group: str, horizon: int) -> bool:
        """Return whether it meets the problems of a group at a horizon."""
        return (not self.groups or group in self.groups) and (self.longest is None or horizon <= self.longest)

    @property
    def choice(self) -> Choice:
        """The agent of a spec."""
        return Choice(name=self.name, label=self.label, parameters=self.parameters, grid=self.grid)


def parse_agent(text: str) -> SuiteAgent:
    """Return the agent of a text: a name, or ``module:Class``, with or without parameters in brackets.

    Its label is the text without the module.

    Raises
    ------
    InvalidInputError
        If the text is no such call, or a parameter is unknown or no literal.
    UnknownNameError
        If there is no such agent or module.

    Examples
    --------
    >>> from driftmdp.suite import parse_agent
    >>> agent = parse_agent("UCRL2(scale=0.3)")
    >>> agent.name, agent.label, agent.parameters
    ('UCRL2', 'UCRL2(scale=0.3)', {'scale': 0.3})
    >>> parse_agent("UCRL2(0.3)")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: agent must have parameters by name, such as ...; got 'UCRL2(0.3)'.
    """
    module, _, _ = text.partition("(")[0].rpartition(":")
    call = _parsed(text[len(module) + 1 :] if module else text, text)
    parameters = {}
    if isinstance(call, ast.Call):
        if call.args or any(keyword.arg is None for keyword in call.keywords):
            raise InvalidInputError(f"agent must have parameters by name, such as {EXAMPLE}; got {text!r}.")
        parameters = {str(keyword.arg): _literal(keyword.value, text) for keyword in call.keywords}
        if len(parameters) < len(call.keywords):
            raise InvalidInputError(f"agent must have each parameter once; got {text!r}.")
    kind = ast.unparse(call.func if isinstance(call, ast.Call) else call)
    name = f"{module.strip()}:{kind}" if module else kind
    if module:
        allow_user_modules("suite")
    agent_maker(name).check(parameters, "agent")
    check_identifiable(parameters, "agent")
    return SuiteAgent(name=name, label=ast.unparse(call) if parameters else kind, parameters=parameters)


def _parsed(call: str, text: str) -> ast.expr:
    try:
        found = ast.parse(call.strip(), mode="eval").body
        is_named = isinstance(found.func if isinstance(found, ast.Call) else found, ast.Name | ast.Attribute)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        is_named = False
    if not is_named:
        raise InvalidInputError(
            f"agent must be a name, or a name with parameters in brackets, such as {EXAMPLE}; got {text!r}."
        )
    return found


def _literal(value: ast.expr, text: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError):
        rule = "agent must have plain values as parameters, such as 0.1 or 'fast'"
        raise InvalidInputError(f"{rule}; got {ast.unparse(value)} in {text!r}.") from None


def with_own_agents(agents: Sequence[SuiteAgent], own: Sequence[str], yardstick: str) -> list[SuiteAgent]:
    """Return the agents of a suite and those of one's own, which must differ from each other."""
    found = list(agents)
    for agent in map(parse_agent, own):
        if agent.label in {yardstick, *(other.label or other.name for other in found)}:
            advice = "Leave it out if it is the same agent, or rename the class, or give another parameter."
            raise InvalidInputError(
                f"agent must have a label that the suite does not have yet; got {agent.label!r}. {advice}"
            )
        found.append(agent)
    if own:
        agent_ids(agent.choice for agent in found)  # finds what is the same under two labels
    return found


def agent_ids(agents: Iterable[Choice]) -> dict[str, str]:
    """Return a digest of each agent by label: of its name, all its parameters and, if it is one's own, its code."""
    given = list(agents)
    if not given:
        return {}
    spec = Spec(seeds=1, problems=[Choice(name="two-state")], agents=given)
    return {cell.label: cell.id for cell in plan(spec, "suite").agents}

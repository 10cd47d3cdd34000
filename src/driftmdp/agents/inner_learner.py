"""The learner inside of another agent: made by its name, or checked, and copied for every new life."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftmdp.agents.base import Agent, BuiltinAgent
from driftmdp.agents.parameters import parameter_names
from driftmdp.agents.reward_range import Range
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Space
from driftmdp.validation import nearest_name


def as_mapping(parameters: Any, name: str) -> dict[str, Any] | None:
    """Return a copy of parameters by name, or None."""
    if not (parameters is None or isinstance(parameters, Mapping)):
        raise InvalidInputError(f"{name} must be a mapping of names to values, or None; got {parameters!r}.")
    return None if parameters is None else dict(parameters)


def made_learner(learner: Any, parameters: dict[str, Any], space: Space, horizon: int, reward_range: Range) -> Any:
    """Return a learner that fits: by its name with these parameters, or the given one."""
    if isinstance(learner, str):
        found: Any = _named_learner(learner, parameters, space, horizon, reward_range)
    elif not isinstance(learner, Agent) or isinstance(learner, type):
        rule = "learner must be the name of an agent, or an agent with reset, act and observe"
        raise InvalidInputError(f"{rule}; got {learner!r}.")
    elif parameters:
        rule = "learner_parameters must be None for a learner that is an agent"
        raise InvalidInputError(f"{rule}; got {parameters!r}.")
    else:
        found = learner
    if isinstance(found, BuiltinAgent):
        _check_fit(found, space, horizon)
    return found


def _named_learner(
    name: str, parameters: dict[str, Any], space: Space, horizon: int, reward_range: Range
) -> BuiltinAgent:
    from driftmdp.agents import builtin

    if name not in builtin():
        rule = "learner must be the name of an agent of driftmdp (`driftmdp list agents` has them all)"
        raise InvalidInputError(f"{rule}; got {name!r}.{nearest_name(name, builtin())}")
    kind = builtin()[name]
    given: dict[str, Any] = {"space": space, "horizon": horizon, "reward_range": reward_range}
    known = parameter_names(kind)
    rule = f"learner_parameters must be those of {kind.__name__}"
    for key in parameters:
        if key not in known:
            raise InvalidInputError(f"{rule}, which has no {key!r}; got {parameters!r}.{nearest_name(key, known)}")
    taken = {key: value for key, value in given.items() if key in known}
    try:
        return kind(**taken | parameters)
    except TypeError as error:  # one without a default is missing
        raise InvalidInputError(f"{rule}; got {parameters or None!r} ({error}).") from None


def _check_fit(learner: BuiltinAgent, space: Space, horizon: int) -> None:
    if learner.space != space:
        raise InvalidInputError(f"learner must have the same space; got {learner.space!r}.")
    if learner.horizon is not None and learner.horizon < horizon:
        rule = f"learner must have a horizon of at least {horizon} steps"
        raise InvalidInputError(f"{rule}; got {learner.horizon}.")


def fresh_learner(template: Any, rng: np.random.Generator) -> Any:
    """Return a copy of a learner that has learned nothing."""
    if isinstance(template, BuiltinAgent):
        return template._fresh_copy(rng)
    try:
        learner = copy.deepcopy(template)
    except Exception as error:
        rule = "learner must be copyable, so that it can be restarted"
        raise InvalidInputError(f"{rule}; copy.deepcopy says: {error}.") from None
    learner.reset(rng)
    return learner


def restarted_learner(learner: Any, template: Any, rng: np.random.Generator) -> Any:
    """Return a learner for a new life: itself, if it can be trusted to forget, so that it repeats no warning."""
    if not isinstance(learner, BuiltinAgent):
        return fresh_learner(template, rng)
    learner.reset(rng)
    return learner

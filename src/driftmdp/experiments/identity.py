"""Names of runs, problems and agents: the canonical text, its digest, a readable slug, and labels for reports."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driftmdp.agents.base import Agent
from driftmdp.agents.parameters import ParameterizedAgent
from driftmdp.errors import InvalidInputError


def plain(value: Any) -> Any:
    """Return a value as JSON types. 5.0 and 5 are one number, an agent its parameters, and an object its repr."""
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, ParameterizedAgent):  # its repr is for people: short numbers, and arrays by their shape
        return {value.name: plain({key: _listed(item) for key, item in value.parameters.items()})}
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text  # an address differs in every process


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def canonical(value: Any) -> str:
    """Return the one JSON text that represents a value.

    Examples
    --------
    >>> from driftmdp.experiments.identity import canonical
    >>> canonical({"b": 5.0, "a": (1, 2)})
    '{"a":[1,2],"b":5}'
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def check_identifiable(value: Any, where: str) -> None:
    """Refuse what has no canonical text: NaN, infinity, and agents of one's own, whose parameters nobody knows."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            check_identifiable(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            check_identifiable(item, f"{where}[{number}]")
    elif isinstance(value, Agent) and not isinstance(value, type | ParameterizedAgent):
        rule = f"{where} must be the name of an agent, or an agent of driftmdp, so that its runs can be told apart"
        raise InvalidInputError(
            f"{rule}; got a {type(value).__name__}. Or name a function that makes the whole agent."
        )
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError(f"{where} must be finite; got {value}.")


def digest(text: str) -> str:
    """Return the first sixteen hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def slug(name: str, parameters: Mapping[str, Any]) -> str:
    """Return a short readable name that is valid in file names.

    Examples
    --------
    >>> from driftmdp.experiments.identity import slug
    >>> slug("two-state-v1", {"v_r": "T^0.5", "horizon": 100})
    'two-state-v1,horizon=100,v_r=T^0.5'
    """
    words = [name, *(f"{key}={shown(parameters[key])}" for key in sorted(parameters))]
    return re.sub(r"[^A-Za-z0-9_.,=^+-]+", "_", ",".join(words))[:120]


def shown(value: Any) -> str:
    """Return a value for people: six digits of a number, text without quotes."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else canonical(value)


def labelled(base: str, varied: Mapping[str, Any]) -> str:
    """Return a label with the values of a grid, in place of ``{key}`` or appended.

    Examples
    --------
    >>> from driftmdp.experiments.identity import labelled
    >>> labelled("V_r = {v_r}", {"v_r": "T^0.5", "horizon": 100})
    'V_r = T^0.5 (horizon=100)'
    """
    label, rest = base, []
    for key, value in varied.items():
        if f"{{{key}}}" in label:
            label = label.replace(f"{{{key}}}", shown(value))
        else:
            rest.append(f"{key}={shown(value)}")
    return f"{label} ({', '.join(rest)})" if rest else label


def line_label(base: str, varied: Mapping[str, Any], split: Sequence[str]) -> str:
    """Return an agent's label in a report whose reader switches between values of the ``split`` parameters.

    Examples
    --------
    >>> from driftmdp.experiments.identity import line_label
    >>> line_label("UCRL2 {scale}", {"scale": 0.1, "ties": "first"}, split=["scale"])
    'UCRL2 (ties=first)'
    """
    for key in split:
        base = base.replace(f"{{{key}}}", "")
    return labelled(" ".join(base.split()), {key: value for key, value in varied.items() if key not in split})


def agrees(varied: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Return whether a point of a grid has these values, for the keys that it has."""
    return all(canonical(varied[key]) == canonical(value) for key, value in values.items() if key in varied)

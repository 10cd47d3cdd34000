"""What is wrong with a spec, in one sentence: the key, the rule, the value, the nearest name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from driftmdp.validation import nearest_name

SEEDS = (
    "seeds must be how many there are, a list of them, each once, or { first = 100, count = 20 }, and at most 10^7"
)
RULES = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": 'must be text, in quotes: "..."',
    "list_type": "must be a list: [...]",
    "dict_type": "must be a table: { key = value }",
    "model_type": "must be a table: { key = value }",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "finite_number": "must be finite",
}
BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("below", "lt"),
}


def complaint(errors: Sequence[ErrorDetails], model: type[BaseModel]) -> str:
    """Return the sentence on the first thing that is wrong, and how many more there are.

    A misspelt key comes first: it explains others.
    """
    found = sorted(errors, key=lambda error: error["type"] != "extra_forbidden")
    about = {_subject(error) for error in found}
    more = f" ({len(about) - 1} more wrong beside it.)" if len(about) > 1 else ""
    return f"{_sentence(found[0], model)}{more}"


def _subject(error: ErrorDetails) -> str:
    """Return what an error is about; the members of a union complain one by one of one thing."""
    return "seeds" if error["loc"][:1] == ("seeds",) else _key(error["loc"])


def _sentence(error: ErrorDetails, model: type[BaseModel]) -> str:
    key, value, kind = _key(error["loc"]), _shown(error["input"]), error["type"]
    if kind == "extra_forbidden":
        known = _fields_at(error["loc"][:-1], model)
        near = nearest_name(error["loc"][-1], known)
        hint = " Parameters go into parameters = { ... }." if not near and "parameters" in known else ""
        return f"{key} is no key here; got {value}.{near}{hint}"
    if kind == "missing":
        return f"{key} must be given."
    if error["loc"][:1] == ("seeds",):
        return f"{SEEDS}; got {value}."
    if kind == "literal_error":
        known = _literals(error["ctx"]["expected"])
        near = nearest_name(error["input"], known)
        return f"{key} must be one of {', '.join(map(repr, known))}; got {value}.{near}"
    if kind == "value_error":
        return f"{key} {error['ctx']['error']}; got {value}."
    if kind == "list_type" and key in {"problems", "agents"}:
        return f"{key} must be a list; got {value}. Write [[{key}]] above each."
    if kind in BOUNDS:
        words, bound = BOUNDS[kind]
        return f"{key} must be {words} {error['ctx'][bound]}; got {value}."
    return f"{key} {RULES.get(kind, error['msg'])}; got {value}."


def _key(location: Iterable[int | str]) -> str:
    """Return ``agents[1].grid.scale`` for its parts; what pydantic calls a member of a union is no key."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in {"SeedRange", "int"} and not part.startswith(("list[", "constrained-")):
            path += f".{part}" if path else part
    return path or "the spec"


def _fields_at(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """Return the keys that are known where an unknown one was found."""
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            annotation = model.model_fields[part].annotation
            kinds = [annotation, *get_args(annotation)]
            model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), model)
    return list(model.model_fields)


def _literals(expected: str) -> list[str]:
    return [word.strip("' ") for word in expected.replace(" or ", ",").split(",") if word.strip()]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

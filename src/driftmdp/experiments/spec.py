"""What to run, as a person writes it: problems x agents x grids x seeds, read from TOML and checked.

Here is the form only; that a name stands for a problem or an agent, and that it takes such parameters, is checked
where they are made (:mod:`driftmdp.experiments.catalogue`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from driftmdp.errors import InvalidInputError
from driftmdp.validation import nearest_name

__all__ = ["Choice", "CurveOptions", "ReportOptions", "SeedRange", "Spec", "parse_spec", "read_spec"]

Seed = Annotated[int, Field(ge=0, lt=2**63)]
Scalar = str | int | float | bool
MOST_RUNS = 10_000_000


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class CurveOptions(_Strict):
    """At how many steps a run's course is kept, and how they are spaced."""

    points: Annotated[int, Field(ge=2, le=100_000)] = 400
    spacing: Literal["linear", "log"] = "linear"


class SeedRange(_Strict):
    """Seeds in a row."""

    first: Seed = 0
    count: Annotated[int, Field(ge=1, le=MOST_RUNS)]


class Choice(_Strict):
    """A problem or an agent: a name, parameters, and a grid of further ones, of which every combination is run.

    ``label`` is what tables and figures call it; ``{key}`` in it stands for a value of the grid.
    """

    name: Annotated[str, Field(min_length=1)]
    label: Annotated[str, Field(min_length=1)] | None = None
    parameters: dict[str, Any] = {}
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}

    @model_validator(mode="after")
    def _given_once(self) -> Self:
        twice = sorted(self.parameters.keys() & self.grid.keys())
        if twice:
            raise ValueError(f"must give {twice[0]!r} in parameters or in grid, not in both")
        return self


class ReportOptions(_Strict):
    """How ``driftmdp report`` shows the results; nothing here changes a run.

    Attributes
    ----------
    title
        Of the page.
    baseline
        The label of the agent that the others are compared with, in pairs by seed.
    split
        Parameters of the agents' grids between whose values the reader switches, instead of one line for each.
    claims
        ``"csz20"``: hold the results against the sentences of the paper's numerical section.
    """

    title: str | None = None
    baseline: str | None = None
    split: list[str] = []
    claims: Literal["csz20"] | None = None


class Spec(_Strict):
    """Everything that decides what is run.

    Examples
    --------
    >>> spec = parse_spec('''
    ... seeds = 3
    ... [[problems]]
    ... name = "two-state"
    ... [[agents]]
    ... name = "UCRL2"
    ... grid = {scale = [1.0, 0.1]}
    ... ''')
    >>> spec.seed_list, spec.curve.points
    ([0, 1, 2], 400)
    """

    name: Annotated[str, Field(min_length=1)] = "experiment"
    seeds: Annotated[int, Field(ge=1, le=MOST_RUNS)] | list[Seed] | SeedRange
    curve: CurveOptions = CurveOptions()
    problems: Annotated[list[Choice], Field(min_length=1)]
    agents: Annotated[list[Choice], Field(min_length=1)]
    report: ReportOptions = ReportOptions()

    @model_validator(mode="after")
    def _distinct_seeds(self) -> Self:
        if isinstance(self.seeds, list) and (not self.seeds or len(set(self.seeds)) < len(self.seeds)):
            raise ValueError("must have seeds, each once")
        return self

    @property
    def seed_list(self) -> list[int]:
        """The seeds, in order."""
        if isinstance(self.seeds, int):
            return list(range(self.seeds))
        if isinstance(self.seeds, SeedRange):
            return list(range(self.seeds.first, self.seeds.first + self.seeds.count))
        return sorted(self.seeds)


def read_spec(path: str | Path) -> Spec:
    """Return the spec of a TOML file.

    Raises
    ------
    InvalidInputError
        If there is no such file, it is no TOML, or a key or value is wrong; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_spec(f"{folder}/spec.toml")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: .../spec.toml must be a file that can be read; ...
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InvalidInputError(
            f"{path} must be a file that can be read; {reason}. `driftmdp init` writes an example."
        ) from None
    return parse_spec(text, str(path))


def parse_spec(text: str, where: str = "spec") -> Spec:
    r"""Return the spec of a TOML text; ``where`` is what errors call it.

    Examples
    --------
    >>> parse_spec("seeds = 3\nproblem = []")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: spec: problem is no key here; got []. Did you mean 'problems'? (2 more ...)
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"{where} must be TOML; {error}.") from None
    return check_spec(content, where)


def check_spec(content: Mapping[str, Any], where: str = "spec") -> Spec:
    """Return the spec that a mapping stands for."""
    try:
        return Spec.model_validate(dict(content))
    except ValidationError as error:
        found = sorted(
            error.errors(), key=lambda e: e["type"] != "extra_forbidden"
        )  # a misspelt key explains others
        more = f" ({len(found) - 1} more wrong beside it.)" if len(found) > 1 else ""
        raise InvalidInputError(f"{where}: {_sentence(found[0])}{more}") from None


def _sentence(error: ErrorDetails) -> str:
    """Return what is wrong as one sentence: the key, the rule, the value, the nearest name."""
    key, value = _key(error["loc"]), _shown(error["input"])
    if error["type"] == "extra_forbidden":
        return f"{key} is no key here; got {value}.{nearest_name(error['loc'][-1], _fields_at(error['loc'][:-1]))}"
    if error["type"] == "missing":
        return f"{key} must be given."
    if error["type"] == "literal_error":
        known = [choice for choice in _literals(error["ctx"]["expected"]) if choice]
        return (
            f"{key} must be one of {', '.join(map(repr, known))}; got {value}.{nearest_name(error['input'], known)}"
        )
    if error["type"] == "value_error":
        return f"{key} {error['ctx']['error']}; got {value}."
    return f"{key} is wrong: {error['msg'][0].lower() + error['msg'][1:]}; got {value}."


def _key(location: Iterable[int | str]) -> str:
    """Return ``agents[1].grid.scale`` for its parts; what pydantic calls a member of a union is no key."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part.isidentifier() and part not in {"SeedRange", "int"}:
            path += f".{part}" if path else part
    return path or "the spec"


def _fields_at(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that are known where an unknown one was found."""
    model: type[BaseModel] = Spec
    for part in location:
        if part == "SeedRange":
            model = SeedRange
        elif isinstance(part, str) and part in model.model_fields:
            kinds = [model.model_fields[part].annotation, *get_args(model.model_fields[part].annotation)]
            model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, _Strict)), model)
    return list(model.model_fields)


def _literals(expected: str) -> list[str]:
    return [word.strip("' ") for word in expected.replace(" or ", ",").split(",")]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

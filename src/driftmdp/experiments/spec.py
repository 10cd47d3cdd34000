"""The spec of an experiment: problems x agents x grids x seeds, read from TOML and checked.

This module checks the form only. Names of problems, agents and their parameters are checked where they are made
(:mod:`driftmdp.experiments.catalogue`). An error is one sentence: the key, the rule, the value, the nearest name.
"""

import contextlib
import errno
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from driftmdp.display import brief, counted
from driftmdp.errors import InvalidInputError
from driftmdp.validation import nearest_name

Seed = Annotated[int, Field(ge=0, lt=2**63)]
MAX_RUNS = 10_000_000
MAX_SPEC_BYTES = 16 << 20
MAX_DEPTH = 50  # brackets within brackets

SEEDS_RULE = (
    "seeds must be how many there are, a list of them, each once, or { first = 100, count = 20 }, and at most 10^7"
)
TYPE_RULES = {
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
BOUND_RULES = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("below", "lt"),
}


class Strict(BaseModel):
    """A form that allows no other keys, and no other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    __repr__ = brief


Form = TypeVar("Form", bound=Strict)


class CurveOptions(Strict):
    """How many points of a run's curve are stored, and how they are spaced."""

    points: Annotated[int, Field(ge=2, le=100_000)] = 400
    spacing: Literal["linear", "log"] = "linear"


class SeedRange(Strict):
    """Seeds in a row."""

    first: Annotated[int, Field(ge=0, lt=2**62)] = 0
    count: Annotated[int, Field(ge=1, le=MAX_RUNS)]


class Choice(Strict):
    """A problem or an agent: a name, parameters, and a grid of further parameters, all combinations of which run.

    ``label`` is its name in tables and figures, where ``{key}`` stands for a value of the grid.
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


class ReportOptions(Strict):
    """How ``driftmdp report`` shows the results. Nothing here changes a run.

    Attributes
    ----------
    title
        Of the page.
    baseline
        The label of the agent that the others are compared with, in pairs by seed.
    split
        Parameters of the agents' grids between whose values the reader switches, instead of one line for each.
    names
        Names of values of split parameters on the page: ``{scale = {"0.1" = "narrow radii"}}``.
    about
        Paragraphs at the top of the page.
    claims
        ``"csz20"``: check the sentences of the paper's numerical section on the results.
    """

    title: str | None = None
    baseline: str | None = None
    split: list[str] = []
    names: dict[str, dict[str, str]] = {}
    about: list[str] = []
    claims: Literal["csz20"] | None = None


class Spec(Strict):
    """Everything that decides what is run.

    Examples
    --------
    >>> from driftmdp.experiments import parse_spec
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
    seeds: Annotated[int, Field(ge=1, le=MAX_RUNS)] | list[Seed] | SeedRange
    curve: CurveOptions = CurveOptions()
    problems: Annotated[list[Choice], Field(min_length=1)]
    agents: Annotated[list[Choice], Field(min_length=1)]
    report: ReportOptions = ReportOptions()

    @field_validator("seeds", mode="after")
    @classmethod
    def _each_once(cls, seeds: Any) -> Any:
        if isinstance(seeds, list) and (not seeds or len(set(seeds)) < len(seeds)):
            raise ValueError("each once")
        return seeds

    @property
    def n_seeds(self) -> int:
        """The number of seeds."""
        return len(self._seeds())

    @property
    def seed_list(self) -> list[int]:
        """The seeds, in order."""
        return sorted(self._seeds())

    def _seeds(self) -> Sequence[int]:
        if isinstance(self.seeds, SeedRange):
            return range(self.seeds.first, self.seeds.first + self.seeds.count)
        return range(self.seeds) if isinstance(self.seeds, int) else self.seeds


def read_spec(path: str | Path) -> Spec:
    """Return the spec of a TOML file.

    Raises
    ------
    InvalidInputError
        If there is no such file, it is no TOML, or a key or value is wrong.

    Examples
    --------
    >>> from driftmdp.experiments import read_spec
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_spec(f"{folder}/spec.toml")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: .../spec.toml must be a file that can be read; ...
    """
    try:
        if Path(path).is_fifo() and not Path(path).is_relative_to("/dev"):  # /dev has standard input
            raise OSError(errno.EINVAL, "it is a named pipe, which may never be written to")
        with open(path, "rb") as file:
            content = file.read(MAX_SPEC_BYTES + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        is_no_text = isinstance(error, UnicodeDecodeError)
        reason = "it is not UTF-8 text" if is_no_text else getattr(error, "strerror", None) or str(error)
        raise InvalidInputError(f"{path} must be a file that can be read; {reason}. {_meant(path)}") from None
    if len(content) > MAX_SPEC_BYTES:
        raise InvalidInputError(f"{path} must have at most {MAX_SPEC_BYTES >> 20} MiB; it has more. Is it a spec?")
    return parse_spec(text, str(path))


def _meant(path: str | Path) -> str:
    """Return a hint: the file that was perhaps meant, or how to get an example."""
    with contextlib.suppress(OSError, ValueError):
        meant = Path(path).with_suffix(".toml")
        if meant.is_file():
            return f"Did you mean {meant}?"
    return "`driftmdp init` writes an example."


def parse_spec(text: str, where: str = "spec") -> Spec:
    r"""Return the spec of a TOML text. ``where`` is its name in errors.

    Examples
    --------
    >>> from driftmdp.experiments import parse_spec
    >>> parse_spec("seeds = 3\nproblem = []")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: spec: problem is no key here; got []. Did you mean 'problems'? (2 more ...)
    """
    return parse_form(Spec, text, where)


def parse_form(form: type[Form], text: str, where: str) -> Form:
    """Return the TOML text as a form; ``where`` is its name in errors."""
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # a TOMLDecodeError, or a number of too many digits
        raise InvalidInputError(f"{where} must be TOML; {error}.") from None
    except RecursionError:
        raise InvalidInputError(f"{where} must be TOML; its brackets are nested too deep.") from None
    _check_depth_and_numbers(content, where)
    try:
        return form.model_validate(content)
    except ValidationError as error:
        raise InvalidInputError(f"{where}: {_error_sentence(error.errors(), form)}") from None


def _check_depth_and_numbers(value: Any, where: str, depth: int = 0) -> None:
    """Refuse whole numbers beyond 64 bits and very deep nesting, which other TOML readers may not support."""
    if isinstance(value, int) and abs(value) >= 2**63:
        bits = value.bit_length()
        raise InvalidInputError(f"{where} must have whole numbers below 2^63 only; one has {bits} bits.")
    if depth > MAX_DEPTH:
        raise InvalidInputError(f"{where} must not be nested deeper than {MAX_DEPTH} brackets.")
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            _check_depth_and_numbers(item, where, depth + 1)


def _error_sentence(errors: Sequence[ErrorDetails], model: type[BaseModel]) -> str:
    """Return a sentence on the first error, and how many more there are.

    A misspelt key comes first, because it explains others.
    """
    found = sorted(errors, key=lambda error: error["type"] != "extra_forbidden")
    # The members of a union report one wrong value of seeds one by one.
    about = {"seeds" if error["loc"][:1] == ("seeds",) else _key(error["loc"]) for error in found}
    more = f" ({counted(len(about) - 1, 'more error')}.)" if len(about) > 1 else ""
    return f"{_sentence(found[0], model)}{more}"


def _sentence(error: ErrorDetails, model: type[BaseModel]) -> str:
    key, value, kind = _key(error["loc"]), repr(error["input"]), error["type"]
    value = value if len(value) <= 80 else f"{value[:77]}..."
    if kind == "extra_forbidden":
        known = _fields_at(error["loc"][:-1], model)
        near = nearest_name(error["loc"][-1], known)
        hint = " Parameters go into parameters = { ... }." if not near and "parameters" in known else ""
        return f"{key} is no key here; got {value}.{near}{hint}"
    if kind == "missing":
        return f"{key} must be given."
    if error["loc"][:1] == ("seeds",):
        return f"{SEEDS_RULE}; got {value}."
    if kind == "literal_error":
        expected = error["ctx"]["expected"].replace(" or ", ",").split(",")
        known = [word.strip("' ") for word in expected if word.strip()]
        near = nearest_name(error["input"], known)
        return f"{key} must be one of {', '.join(map(repr, known))}; got {value}.{near}"
    if kind == "value_error":
        return f"{key} {error['ctx']['error']}; got {value}."
    if kind == "list_type" and key in {"problems", "agents"}:
        return f"{key} must be a list; got {value}. Write [[{key}]] above each."
    if kind in BOUND_RULES:
        words, bound = BOUND_RULES[kind]
        return f"{key} must be {words} {error['ctx'][bound]}; got {value}."
    return f"{key} {TYPE_RULES.get(kind, error['msg'])}; got {value}."


def _key(location: Iterable[int | str]) -> str:
    """Return ``agents[1].grid.scale`` for its parts; pydantic's name for a member of a union is no key."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in {"SeedRange", "int"} and not part.startswith(("list[", "constrained-")):
            path += f".{part}" if path else part
    return path or "the spec"


def _fields_at(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """Return the valid keys at the place of an invalid one."""
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            annotation = model.model_fields[part].annotation
            kinds = [annotation, *get_args(annotation)]
            model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), model)
    return list(model.model_fields)

"""What to run, as a person writes it: problems x agents x grids x seeds, read from TOML and checked.

Here is the form only; that a name stands for a problem or an agent, and that it takes such parameters, is checked
where they are made (:mod:`driftmdp.experiments.catalogue`).
"""

from __future__ import annotations

import contextlib
import errno
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.experiments.spec_errors import complaint

Seed = Annotated[int, Field(ge=0, lt=2**63)]
MOST_RUNS = 10_000_000
MOST_BYTES = 16 << 20  # of a spec
DEEPEST = 50  # brackets within brackets


class Strict(BaseModel):
    """A form in which every key is known and every value is what it says."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    __repr__ = brief


class CurveOptions(Strict):
    """At how many steps a run's course is kept, and how they are spaced."""

    points: Annotated[int, Field(ge=2, le=100_000)] = 400
    spacing: Literal["linear", "log"] = "linear"


class SeedRange(Strict):
    """Seeds in a row."""

    first: Annotated[int, Field(ge=0, lt=2**62)] = 0
    count: Annotated[int, Field(ge=1, le=MOST_RUNS)]


class Choice(Strict):
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


class ReportOptions(Strict):
    """How ``driftmdp report`` shows the results; nothing here changes a run.

    Attributes
    ----------
    title
        Of the page.
    baseline
        The label of the agent that the others are compared with, in pairs by seed.
    split
        Parameters of the agents' grids between whose values the reader switches, instead of one line for each.
    names
        What the page calls values of split parameters: ``{scale = {"0.1" = "narrow radii"}}``.
    about
        Paragraphs that stand at the top of the page.
    claims
        ``"csz20"``: hold the results against the sentences of the paper's numerical section.
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

    @field_validator("seeds", mode="after")
    @classmethod
    def _each_once(cls, seeds: Any) -> Any:
        if isinstance(seeds, list) and (not seeds or len(set(seeds)) < len(seeds)):
            raise ValueError("each once")
        return seeds

    @property
    def n_seeds(self) -> int:
        """How many seeds there are."""
        if isinstance(self.seeds, SeedRange):
            return self.seeds.count
        return self.seeds if isinstance(self.seeds, int) else len(self.seeds)

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
        if Path(path).is_fifo() and not Path(path).is_relative_to("/dev"):  # /dev has standard input
            raise OSError(errno.EINVAL, "it is a named pipe, which may never be written to")
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        is_no_text = isinstance(error, UnicodeDecodeError)
        reason = "it is not UTF-8 text" if is_no_text else getattr(error, "strerror", None) or str(error)
        raise InvalidInputError(f"{path} must be a file that can be read; {reason}. {_meant(path)}") from None
    if len(content) > MOST_BYTES:
        raise InvalidInputError(f"{path} must have at most {MOST_BYTES >> 20} MiB; it has more. Is it a spec?")
    return parse_spec(text, str(path))


def _meant(path: str | Path) -> str:
    """Return the file that was perhaps meant, or what to do without one."""
    with contextlib.suppress(OSError, ValueError):
        meant = Path(path).with_suffix(".toml")
        if meant.is_file():
            return f"Did you mean {meant}?"
    return "`driftmdp init` writes an example."


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
    except ValueError as error:  # a TOMLDecodeError, or a number of too many digits
        raise InvalidInputError(f"{where} must be TOML; {error}.") from None
    except RecursionError:
        raise InvalidInputError(f"{where} must be TOML; its brackets are nested too deep.") from None
    return check_spec(content, where)


def check_spec(content: Mapping[str, Any], where: str = "spec") -> Spec:
    """Return the spec that a mapping stands for."""
    _check_depth_and_numbers(content, where)
    try:
        return Spec.model_validate(dict(content))
    except ValidationError as error:
        raise InvalidInputError(f"{where}: {complaint(error.errors(), Spec)}") from None


def _check_depth_and_numbers(value: Any, where: str, depth: int = 0) -> None:
    """Refuse what TOML need not be able to say: whole numbers beyond 64 bits, and very deep nesting."""
    if isinstance(value, int) and abs(value) >= 2**63:
        raise InvalidInputError(
            f"{where} must have whole numbers below 2^63 only; one has {value.bit_length()} bits."
        )
    if depth > DEEPEST:
        raise InvalidInputError(f"{where} must not be nested deeper than {DEEPEST} brackets.")
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            _check_depth_and_numbers(item, where, depth + 1)

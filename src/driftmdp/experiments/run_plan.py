"""From a spec to the runs that it asks for: every problem x agent x point of their grids, and every seed.

A *cell* is one problem and one agent with all parameters. A run is a cell and a seed.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from driftmdp._version import NUMERICS
from driftmdp.agents.parameters import without_later
from driftmdp.display import brief
from driftmdp.errors import DriftmdpError, InvalidInputError
from driftmdp.experiments import catalogue
from driftmdp.experiments.catalogue import Maker
from driftmdp.experiments.identity import canonical, check_identifiable, digest, labelled, line_label, plain, slug
from driftmdp.experiments.spec import MAX_RUNS, Choice, CurveOptions, ReportOptions, Spec
from driftmdp.system import is_own, require_memory
from driftmdp.validation import nearest_name, warn

MAX_CELLS = 100_000
CELL_SECONDS = 1e-3  # to make a problem and an agent once
RUN_BYTES = 900  # per run in the list of what is to be done (docs/scale.md)


@dataclass(frozen=True)
class NamedCell:
    """A problem or an agent with all its parameters.

    Attributes
    ----------
    id
        A digest of everything that decides its numbers.
    name, parameters
        The name of its maker, and the parameters as given.
    slug, label
        Readable names.
    varied
        The values of its grid.
    """

    id: str
    name: str
    parameters: Mapping[str, Any]
    slug: str
    label: str
    varied: Mapping[str, Any]


@dataclass(frozen=True)
class ProblemCell(NamedCell):
    """A problem, and the ``points`` and ``spacing`` of its stored curves."""

    points: int
    spacing: str


@dataclass(frozen=True)
class AgentCell(NamedCell):
    """An agent; ``base`` is its label without the values of its grid."""

    base: str


AnyCell = TypeVar("AnyCell", ProblemCell, AgentCell)


@dataclass(frozen=True)
class PlannedCell:
    """An agent in a problem.

    Attributes
    ----------
    id
        A digest of everything that decides its numbers.
    problem, agent
        Each with all its parameters.
    """

    id: str
    problem: ProblemCell
    agent: AgentCell

    def key(self, seed: int) -> RunKey:
        """Return the run with a seed."""
        return RunKey(digest(f"{self.id}/{seed}"), self, seed)


@dataclass(frozen=True)
class RunKey:
    """One run, identified by its digest.

    Attributes
    ----------
    digest
        Of everything that decides its numbers.
    cell, seed
        The agent in its problem, and the seed.
    """

    digest: str
    cell: PlannedCell
    seed: int

    @property
    def id(self) -> str:
        """A readable slug, and the digest."""
        return f"{self.cell.problem.slug}/{self.cell.agent.slug}/{self.seed}#{self.digest}"


@dataclass(frozen=True)
class RunPlan:
    """Everything that a spec asks for.

    Attributes
    ----------
    spec
        The spec.
    problems, agents
        With all their parameters, grids written out, in the order of the spec.
    cells
        Every agent in every problem.
    places
        Where the spec has a problem or an agent, by id.
    """

    spec: Spec
    problems: list[ProblemCell]
    agents: list[AgentCell]
    cells: list[PlannedCell] = field(repr=False)
    places: Mapping[str, str] = field(repr=False)

    __repr__ = brief

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return len(self.cells) * len(self.spec.seed_list)

    def runs(self) -> Iterator[RunKey]:
        """Return the runs: problem by problem, agent by agent, seed by seed."""
        seeds = self.spec.seed_list
        return (cell.key(seed) for cell in self.cells for seed in seeds)


def plan(spec: Spec, where: str = "spec") -> RunPlan:
    r"""Return what a spec asks for, with every name and parameter checked.

    Parameters
    ----------
    spec
        From ``read_spec``.
    where
        The file of the spec: its name in errors, and the folder in which the user's own modules are searched.

    Examples
    --------
    >>> from driftmdp.experiments import plan
    >>> from driftmdp.experiments import parse_spec
    >>> asked = plan(parse_spec('seeds = 2\nproblems = [{name = "two-state"}]\nagents = [{name = "Random"}]'))
    >>> [run.id for run in asked.runs()]
    ['two-state-v1/Random/0#...', 'two-state-v1/Random/1#...']
    """
    _check_size(spec, where)
    if any(":" in choice.name for choice in [*spec.problems, *spec.agents]):
        allow_user_modules(where)
    places: dict[str, str] = {}
    problem_cell = functools.partial(_problem_cell, spec.curve)
    problems = _cells(spec.problems, catalogue.problem_maker, problem_cell, f"{where}: problems", places)
    agents = _cells(spec.agents, catalogue.agent_maker, _agent_cell, f"{where}: agents", places)
    cells = [PlannedCell(digest(f"{p.id}/{a.id}"), p, a) for p in problems for a in agents]
    _check_report(spec.report, agents, where)
    return RunPlan(spec, problems, agents, cells, places)


def _check_size(spec: Spec, where: str) -> None:
    """Refuse a spec that asks for too much, before its grids are spread out."""
    problems, agents = (
        sum(math.prod(len(values) for values in choice.grid.values()) for choice in choices)
        for choices in (spec.problems, spec.agents)
    )
    cells, runs = problems * agents, problems * agents * spec.n_seeds
    if runs > MAX_RUNS:
        raise InvalidInputError(
            f"{where} must ask for at most {MAX_RUNS:,} runs; it asks for {_thousands(runs)}, and to list them "
            f"takes {_thousands(runs * RUN_BYTES >> 30)} GiB. Split it into several specs."
        )
    if cells > MAX_CELLS:
        raise InvalidInputError(
            f"{where} must ask for at most {MAX_CELLS:,} combinations of a problem and an agent; it asks for "
            f"{cells:,}, and to make each once, before anything runs, takes about {cells * CELL_SECONDS / 60:,.0f} "
            "minutes. Leave out values of its grids, or split it into several specs."
        )
    require_memory(runs * RUN_BYTES, f"{where}, which asks for {runs:,} runs,")


def _thousands(number: int) -> str:
    return f"{number:,}" if number < 10**15 else "more than 10^15"


def allow_user_modules(where: str) -> None:
    """Make modules beside the spec and in the current folder importable; warn if others can change them."""
    file, here = Path(where).absolute(), Path.cwd()
    for folder in (str(here), str(file.parent)):
        if folder not in sys.path:
            sys.path.append(folder)
    foreign = []
    for path in (file, file.parent, here):
        with contextlib.suppress(OSError, ValueError):  # there is no such file if the spec is a text
            foreign += [] if is_own(path) else [path]
    if foreign:
        warn(
            f"{where} has names with a colon, which are code that is run now, and {foreign[0]} is not yours or can "
            "be changed by others. Run such a spec only if you trust whoever can."
        )


def _cells(
    choices: list[Choice],
    find_maker: Callable[[str], Maker],
    make_cell: Callable[[Maker, Choice, dict[str, Any]], AnyCell],
    where: str,
    places: dict[str, str],
) -> list[AnyCell]:
    """Return the cell of every point of every grid, all checked; ``places`` gets each cell's place in the spec."""
    cells: dict[str, AnyCell] = {}
    labels: set[str] = set()
    for number, choice in enumerate(choices):
        place = f"{where}[{number}]"
        try:
            maker = find_maker(choice.name)
        except DriftmdpError as error:
            raise InvalidInputError(f"{place}.name: {error}") from None
        for part, given in (("parameters", choice.parameters), ("grid", choice.grid)):
            maker.check(given, f"{place}.{part}")
            check_identifiable(given, f"{place}.{part}")
        for key in re.findall(r"\{([A-Za-z_]+)\}", choice.label or ""):
            if key not in choice.grid:
                raise InvalidInputError(
                    f"{place}.label must name keys of its grid in braces; got '{{{key}}}'."
                    f"{nearest_name(key, choice.grid)}"
                )
        for values in itertools.product(*choice.grid.values()):
            cell = make_cell(maker, choice, dict(zip(choice.grid, values, strict=True)))
            if cell.id in cells:
                same = cells[cell.id].label
                raise InvalidInputError(f"{where} must be different; {cell.label!r} is the same as {same!r}.")
            if cell.label in labels:
                raise InvalidInputError(f"{where} must have different labels; two are called {cell.label!r}.")
            cells[cell.id] = cell
            labels.add(cell.label)
            places[cell.id] = place
    return list(cells.values())


def _problem_cell(curve: CurveOptions, maker: Maker, choice: Choice, varied: dict[str, Any]) -> ProblemCell:
    given = choice.parameters | varied
    identity = _identity(maker, given) | {"curve": curve.model_dump(), "numerics": NUMERICS}
    names = (slug(maker.name, given), labelled(choice.label or maker.name, varied))
    return ProblemCell(digest(canonical(identity)), maker.name, given, *names, varied, curve.points, curve.spacing)


def _agent_cell(maker: Maker, choice: Choice, varied: dict[str, Any]) -> AgentCell:
    given = choice.parameters | varied
    if given.get("reward_range") == "problem" and not maker.source:  # the default of our agents
        given = {key: value for key, value in given.items() if key != "reward_range"}
    base = choice.label or maker.name
    names = (slug(maker.name, given), labelled(base, varied))
    return AgentCell(digest(canonical(_identity(maker, given))), maker.name, given, *names, varied, base)


def _identity(maker: Maker, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that decides what is made. A default counts as if it had been given."""
    decisive = without_later(maker.fixed_defaults | dict(given), maker.later)
    return {"name": maker.name, "source": maker.source, "parameters": plain(decisive)}


def _check_report(options: ReportOptions, agents: Sequence[AgentCell], where: str) -> None:
    """Refuse a baseline or a split that no agent has, and a split that gives two agents one label."""
    varied = {key for cell in agents for key in cell.varied}
    for key in options.split:
        if key not in varied:
            raise InvalidInputError(
                f"{where}: report.split must name parameters of the agents' grids; got {key!r}."
                f"{nearest_name(key, varied)}"
            )
    lines = [line_label(cell.base, cell.varied, options.split) for cell in agents]
    clash = _shared_line(lines, agents, options.split)
    if clash is not None:
        raise InvalidInputError(f"{where}: report.split leaves two agents the label {clash!r}; name them apart.")
    known = list(dict.fromkeys([*lines, *(cell.base for cell in agents)]))
    if options.baseline is not None and options.baseline not in known:
        raise InvalidInputError(
            f"{where}: report.baseline must be the label of an agent; got {options.baseline!r}."
            f"{nearest_name(options.baseline, known)} There are {', '.join(map(repr, lines[:12]))}."
        )


def _shared_line(lines: Sequence[str], agents: Sequence[AgentCell], split: Sequence[str]) -> str | None:
    """Return a label that two agents have at the same values of the split parameters that both have, if any."""
    # Label -> split parameters -> the agents that have these. Comparing groups is fast where pairs would be slow.
    by_line: dict[str, dict[frozenset[str], list[AgentCell]]] = {}
    for line, cell in zip(lines, agents, strict=True):
        by_line.setdefault(line, {}).setdefault(frozenset(cell.varied).intersection(split), []).append(cell)
    for line, groups in by_line.items():
        for (some, first), (others, second) in itertools.combinations_with_replacement(groups.items(), 2):
            one, other = (
                [canonical({key: cell.varied[key] for key in some & others}) for cell in cells]
                for cells in (first, second)
            )
            if len(set(one)) < len(one) if first is second else set(one) & set(other):
                return line
    return None

"""From a spec to the runs that it asks for: every problem x agent x point of their grids, and every seed.

A *cell* is one problem and one agent with all parameters; a run is a cell and a seed.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from driftmdp._version import NUMERICS
from driftmdp.agents.base import without_later
from driftmdp.display import brief
from driftmdp.errors import DriftmdpError, InvalidInputError
from driftmdp.experiments import catalogue
from driftmdp.experiments.catalogue import Maker
from driftmdp.experiments.identity import canonical, check_finite, digest, plain, slug
from driftmdp.experiments.labels import check_label, check_report, labelled
from driftmdp.experiments.spec import MOST_RUNS, Choice, CurveOptions, Spec
from driftmdp.system import is_own, require_memory
from driftmdp.validation import warn

MOST_CELLS = 100_000
CELL_SECONDS = 1e-3  # to make a problem and an agent once
RUN_BYTES = 900  # of a run in the list of what is to be done (docs/scale.md)


@dataclass(frozen=True)
class ProblemCell:
    """A problem with all its parameters, and the curve that is kept in it.

    Attributes
    ----------
    id
        A digest of everything that decides its numbers.
    name, parameters
        What makes it; ``parameters`` as they were given.
    slug, label
        For people.
    varied
        The values of its grid.
    points, spacing
        The curve.
    """

    id: str
    name: str
    parameters: Mapping[str, Any]
    slug: str
    label: str
    varied: Mapping[str, Any]
    points: int
    spacing: str


@dataclass(frozen=True)
class AgentCell:
    """An agent with all its parameters; ``base`` is its label without the values of its grid."""

    id: str
    name: str
    parameters: Mapping[str, Any]
    slug: str
    label: str
    base: str
    varied: Mapping[str, Any]


AnyCell = TypeVar("AnyCell", ProblemCell, AgentCell)


@dataclass(frozen=True)
class PlannedCell:
    """An agent in a problem.

    Attributes
    ----------
    id
        A digest of everything that decides its numbers.
    problem, agent
        Which; each with all its parameters.
    """

    id: str
    problem: ProblemCell
    agent: AgentCell

    def key(self, seed: int) -> RunKey:
        """Return the run with a seed."""
        return RunKey(digest(f"{self.id}/{seed}"), self, seed)


@dataclass(frozen=True)
class RunKey:
    """One run; ``digest`` says what it is.

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
        """A slug for people, and the digest."""
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
        """How many runs there are."""
        return len(self.cells) * len(self.spec.seed_list)

    def runs(self) -> Iterator[RunKey]:
        """Yield the runs: problem by problem, agent by agent, seed by seed."""
        seeds = self.spec.seed_list
        for cell in self.cells:
            for seed in seeds:
                yield cell.key(seed)


def plan(spec: Spec, where: str = "spec") -> RunPlan:
    r"""Return what a spec asks for, with every name and parameter checked.

    Parameters
    ----------
    spec
        From ``read_spec``.
    where
        The file of the spec: what errors call it, and beside which modules of one's own are looked for.

    Examples
    --------
    >>> from driftmdp.experiments import parse_spec
    >>> asked = plan(parse_spec('seeds = 2\nproblems = [{name = "two-state"}]\nagents = [{name = "Random"}]'))
    >>> [run.id for run in asked.runs()]
    ['two-state-v1/Random/0#...', 'two-state-v1/Random/1#...']
    """
    _check_size(spec, where)
    if any(":" in choice.name for choice in [*spec.problems, *spec.agents]):
        _see_own_modules(where)
    places: dict[str, str] = {}
    problems = [
        _placed(_problem_cell(maker, choice, varied, spec.curve), place, places)
        for maker, choice, varied, place in _points(spec.problems, catalogue.problem_maker, f"{where}: problems")
    ]
    agents = [
        _placed(_agent_cell(maker, choice, varied), place, places)
        for maker, choice, varied, place in _points(spec.agents, catalogue.agent_maker, f"{where}: agents")
    ]
    problems, agents = _distinct(problems, f"{where}: problems"), _distinct(agents, f"{where}: agents")
    cells = [PlannedCell(digest(f"{p.id}/{a.id}"), p, a) for p in problems for a in agents]
    check_report(spec.report, agents, where)
    return RunPlan(spec, problems, agents, cells, places)


def _check_size(spec: Spec, where: str) -> None:
    """Refuse a spec that asks for too much, before its grids are spread out."""
    problems, agents = (
        sum(math.prod(len(values) for values in choice.grid.values()) for choice in choices)
        for choices in (spec.problems, spec.agents)
    )
    cells, runs = problems * agents, problems * agents * spec.n_seeds
    if runs > MOST_RUNS:
        raise InvalidInputError(
            f"{where} must ask for at most {MOST_RUNS:,} runs; it asks for {_counted(runs)}, and to list them "
            f"takes {_counted(runs * RUN_BYTES >> 30)} GiB. Split it into several specs."
        )
    if cells > MOST_CELLS:
        raise InvalidInputError(
            f"{where} must ask for at most {MOST_CELLS:,} combinations of a problem and an agent; it asks for "
            f"{cells:,}, and to make each once, before anything runs, takes about {cells * CELL_SECONDS / 60:,.0f} "
            "minutes. Leave out values of its grids, or split it into several specs."
        )
    require_memory(runs * RUN_BYTES, f"{where}, which asks for {runs:,} runs,")


def _counted(number: int) -> str:
    return f"{number:,}" if number < 10**15 else "more than 10^15"


def _placed(cell: AnyCell, place: str, places: dict[str, str]) -> AnyCell:
    places.setdefault(cell.id, place)
    return cell


def _see_own_modules(where: str) -> None:
    """Let modules beside the spec, and in the current folder, be imported; say so if others can change them."""
    file, here = Path(where).absolute(), Path.cwd()
    for folder in (str(here), str(file.parent)):
        if folder not in sys.path:
            sys.path.append(folder)
    foreign = [path for path in (file, file.parent, here) if _is_foreign(path)]
    if foreign:
        warn(
            f"{where} has names with a colon, which are code that is run now, and {foreign[0]} is not yours or can "
            "be changed by others. Run such a spec only if you trust whoever can."
        )


def _is_foreign(path: Path) -> bool:
    try:
        return not is_own(path)
    except (OSError, ValueError):  # there is no such file: the spec is a text
        return False


def _points(
    choices: list[Choice], find: Callable[[str], Maker], where: str
) -> Iterator[tuple[Maker, Choice, dict[str, Any], str]]:
    """Yield every point of every grid, its names checked, and its place in the spec."""
    for number, choice in enumerate(choices):
        place = f"{where}[{number}]"
        try:
            maker = find(choice.name)
        except DriftmdpError as error:
            raise InvalidInputError(f"{place}.name: {error}") from None
        maker.check(choice.parameters, f"{place}.parameters")
        maker.check(choice.grid, f"{place}.grid")
        check_finite(choice.parameters, f"{place}.parameters")
        check_finite(choice.grid, f"{place}.grid")
        check_label(choice, place)
        for values in itertools.product(*choice.grid.values()):
            yield maker, choice, dict(zip(choice.grid, values, strict=True)), place


def _problem_cell(maker: Maker, choice: Choice, varied: dict[str, Any], curve: CurveOptions) -> ProblemCell:
    given = choice.parameters | varied
    what = _what(maker, given) | {"curve": curve.model_dump(), "numerics": NUMERICS}
    return ProblemCell(
        digest(canonical(what)),
        maker.name,
        given,
        slug(maker.name, given),
        labelled(choice.label or maker.name, varied),
        varied,
        curve.points,
        curve.spacing,
    )


def _agent_cell(maker: Maker, choice: Choice, varied: dict[str, Any]) -> AgentCell:
    given = choice.parameters | varied
    if given.get("reward_range") == "problem" and not maker.source:  # what ours have if nothing is said
        given = {key: value for key, value in given.items() if key != "reward_range"}
    return AgentCell(
        digest(canonical(_what(maker, given))),
        maker.name,
        given,
        slug(maker.name, given),
        labelled(choice.label or maker.name, varied),
        choice.label or maker.name,
        varied,
    )


def _what(maker: Maker, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that decides what is made: a default counts as if it had been given."""
    decisive = without_later(maker.fixed_defaults | dict(given), maker.later)
    return {"name": maker.name, "source": maker.source, "parameters": plain(decisive)}


def _distinct(cells: list[AnyCell], where: str) -> list[AnyCell]:
    """Refuse one thing twice, and one label for two."""
    by_id: dict[str, str] = {}
    labels: set[str] = set()
    for cell in cells:
        if cell.id in by_id:
            raise InvalidInputError(f"{where} must be different; {cell.label!r} is the same as {by_id[cell.id]!r}.")
        if cell.label in labels:
            raise InvalidInputError(f"{where} must have different labels; two are called {cell.label!r}.")
        by_id[cell.id] = cell.label
        labels.add(cell.label)
    return cells

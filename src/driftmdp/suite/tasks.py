"""The tasks of the drift suite: many problems at several horizons, many agents, and a yardstick.

``suite.toml`` lists them. It becomes *tasks*, one per problem and horizon. Each task becomes two ordinary specs. In
``tuning`` the yardstick tries every window and scale. In ``fresh`` all agents and the winning arm meet on seeds
that nothing was chosen on.
"""

import itertools
import re
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import Field

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.experiments.best_window import geometric_windows
from driftmdp.experiments.identity import labelled
from driftmdp.experiments.spec import Choice, CurveOptions, SeedRange, Spec, Strict, parse_form

Horizon = Annotated[int, Field(ge=2)]
CURVE = CurveOptions(points=50)


class SuiteProblem(Choice):
    """A problem, or a grid of them, at several horizons.

    Attributes
    ----------
    family
        ``"tuning"`` if constants may be chosen on it, otherwise ``"reported"``.
    group
        The kind of problem, by which agents are admitted and tables sorted.
    stationary
        Whether it does not drift.
    horizons
        The values of T.
    length
        The parameter that makes it so long, and how many steps a unit of it is.
    """

    family: Literal["tuning", "reported"]
    group: str
    stationary: bool = False
    horizons: Annotated[list[Horizon], Field(min_length=1)]
    length: dict[str, Annotated[int, Field(ge=1)]] = Field({"horizon": 1}, min_length=1, max_length=1)


class SuiteAgent(Choice):
    """An agent, and the ``groups`` of problems that it meets. No groups means all."""

    groups: list[str] = Field(default_factory=list)


class Yardstick(Strict):
    """An agent with a window and a scale, both chosen in hindsight."""

    name: str
    label: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    windows: Annotated[int, Field(ge=1)]
    shortest: Annotated[int, Field(ge=1)]
    scales: Annotated[list[float], Field(min_length=1)]


class Seeds(Strict):
    """The seeds that are reported, and those that the yardstick is chosen on."""

    fresh: SeedRange
    tuning: SeedRange


class Quick(Seeds):
    """What ``--quick`` does: some problems, at one horizon, on fewer seeds and windows."""

    windows: Annotated[int, Field(ge=1)]
    horizon: Horizon
    problems: Annotated[list[str], Field(min_length=1)]


@dataclass(frozen=True)
class SuiteTask:
    """One problem at one horizon.

    Attributes
    ----------
    slug
        The name of its folder.
    label, family, group, stationary
        As the suite has them.
    horizon
        T.
    problem, agents
        What is run.
    yardstick, seeds
        How the yardstick is chosen.
    timed
        Whether steps are timed here: at the shortest horizon of a problem.
    """

    slug: str
    label: str
    family: str
    group: str
    stationary: bool
    horizon: int
    problem: Choice
    agents: list[Choice]
    yardstick: Yardstick
    seeds: Seeds
    timed: bool

    __repr__ = brief

    def tuning_spec(self) -> Spec:
        """Return what the yardstick is chosen on: every window and scale."""
        windows = geometric_windows(self.yardstick.shortest, self.horizon, self.yardstick.windows)
        return self._spec("tuning", [], {}, {"window": windows, "scale": list(self.yardstick.scales)})

    def fresh_spec(self, arm: dict[str, Any]) -> Spec:
        """Return what is reported: all agents, and the yardstick with its best window and scale."""
        return self._spec("fresh", self.agents, arm, {})

    def _spec(self, seeds: str, agents: list[Choice], arm: dict[str, Any], grid: dict[str, list[Any]]) -> Spec:
        given, name = self.yardstick, f"{self.label}, T = {self.horizon:,}: {seeds}"
        yardstick = Choice(name=given.name, label=given.label, parameters=given.parameters | arm, grid=grid)
        seed_range, problems = getattr(self.seeds, seeds), [self.problem]
        return Spec(name=name, seeds=seed_range, curve=CURVE, problems=problems, agents=[*agents, yardstick])


class Suite(Strict):
    """Everything that the suite has.

    Examples
    --------
    >>> from driftmdp.suite import packaged_suite
    >>> suite = packaged_suite()
    >>> suite.tasks(quick=True)[0].slug
    'two-state-v-r-t-0-2-v-p-t-0-2-5000'
    """

    name: Annotated[str, Field(min_length=1)]
    seeds: Seeds
    yardstick: Yardstick
    quick: Quick
    agents: Annotated[list[SuiteAgent], Field(min_length=1)]
    problems: Annotated[list[SuiteProblem], Field(min_length=1)]

    def tasks(self, quick: bool = False) -> list[SuiteTask]:
        """Return every problem at every horizon, short ones first; or those that are quick."""
        found = [task for block in self.problems for task in self._tasks_of(block, quick)]
        if quick:
            unknown = set(self.quick.problems) - {task.label for task in found}
            if unknown:
                raise InvalidInputError(f"quick.problems must be labels of problems; got {min(unknown)!r}.")
            chosen = {(label, self.quick.horizon) for label in self.quick.problems}
            found = [task for task in found if (task.label, task.horizon) in chosen]
        slugs = [task.slug for task in found]
        for slug in slugs:
            if slugs.count(slug) > 1:
                raise InvalidInputError(f"problems must have different labels; two would be kept in {slug!r}.")
        return sorted(found, key=lambda task: task.horizon)

    def _tasks_of(self, block: SuiteProblem, quick: bool) -> list[SuiteTask]:
        seeds: Seeds = self.quick if quick else self.seeds
        windows = self.quick.windows if quick else self.yardstick.windows
        yardstick = self.yardstick.model_copy(update={"windows": windows})
        agents = [
            Choice(**agent.model_dump(exclude={"groups"}))
            for agent in self.agents
            if not agent.groups or block.group in agent.groups
        ]
        tasks = []
        for values in itertools.product(*block.grid.values()):
            varied = dict(zip(block.grid, values, strict=True))
            label = labelled(block.label or block.name, varied)
            for horizon in block.horizons:
                [(length, unit)] = block.length.items()
                if horizon % unit:
                    raise InvalidInputError(f"horizons of {label!r} must be multiples of {unit}; got {horizon}.")
                parameters = block.parameters | varied | {length: horizon // unit}
                problem = Choice(name=block.name, label=label, parameters=parameters)
                slug = re.sub(r"[^a-z0-9]+", "-", f"{label} {horizon}".lower()).strip("-")
                kind = (slug, label, block.family, block.group, block.stationary, horizon)
                chosen_on = Seeds(fresh=seeds.fresh, tuning=seeds.tuning)
                is_timed = horizon == min(block.horizons)
                tasks.append(SuiteTask(*kind, problem, agents, yardstick, chosen_on, is_timed))
        return tasks


def packaged_suite() -> Suite:
    """Return the drift suite.

    Examples
    --------
    >>> from driftmdp.suite import packaged_suite
    >>> sorted({problem.group for problem in packaged_suite().problems})[:3]
    ['bandit', 'bidding', 'garnet']
    """
    return parse_suite(resources.files("driftmdp.suite").joinpath("suite.toml").read_text(encoding="utf-8"))


def parse_suite(text: str, where: str = "suite") -> Suite:
    """Return the suite of a TOML text. ``where`` is its name in errors.

    Examples
    --------
    >>> from driftmdp.suite import parse_suite
    >>> parse_suite('name = "mine"')
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: suite: seeds must be given. (4 more errors.)
    """
    return parse_form(Suite, text, where)

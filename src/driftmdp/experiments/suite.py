"""The drift suite: many problems at several horizons, many agents, and a yardstick chosen in hindsight.

``suite.toml`` says what it has. It becomes *tasks*, one for each problem and horizon, and each task two ordinary
specs: ``tuning``, in which the yardstick tries every window and scale, and ``fresh``, in which all agents and the
arm that won meet on seeds that nothing was chosen on.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.experiments.labels import labelled
from driftmdp.experiments.spec import Choice, CurveOptions, SeedRange, Spec, Strict
from driftmdp.experiments.spec_errors import complaint

Horizon = Annotated[int, Field(ge=2)]
CURVE = CurveOptions(points=50)


class SuiteProblem(Choice):
    """A problem, or a grid of them, at several horizons.

    Attributes
    ----------
    family
        ``"tuning"``: constants may be chosen on it; ``"reported"``: they may not.
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
    """An agent; ``groups`` are those of the problems that it meets, all if there are none."""

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
        arms = Choice(
            name=self.yardstick.name,
            label=self.yardstick.label,
            parameters=self.yardstick.parameters,
            grid={"window": windows, "scale": list(self.yardstick.scales)},
        )
        return self._spec("tuning", self.seeds.tuning, [arms])

    def fresh_spec(self, arm: dict[str, Any]) -> Spec:
        """Return what is reported: all agents, and the yardstick with its best window and scale."""
        best = Choice(
            name=self.yardstick.name, label=self.yardstick.label, parameters=self.yardstick.parameters | arm
        )
        return self._spec("fresh", self.seeds.fresh, [*self.agents, best])

    def _spec(self, what: str, seeds: SeedRange, agents: list[Choice]) -> Spec:
        name = f"{self.label}, T = {self.horizon:,}: {what}"
        return Spec(name=name, seeds=seeds, curve=CURVE, problems=[self.problem], agents=agents)


class Suite(Strict):
    """Everything that the suite has.

    Examples
    --------
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
        agents = [_bare(agent) for agent in self.agents if not agent.groups or block.group in agent.groups]
        tasks = []
        for values in itertools.product(*block.grid.values()):
            varied = dict(zip(block.grid, values, strict=True))
            label = labelled(block.label or block.name, varied)
            for horizon in block.horizons:
                length = {name: _units(horizon, unit, label) for name, unit in block.length.items()}
                problem = Choice(name=block.name, label=label, parameters=block.parameters | varied | length)
                tasks.append(
                    SuiteTask(
                        _slug(f"{label} {horizon}"),
                        label,
                        block.family,
                        block.group,
                        block.stationary,
                        horizon,
                        problem,
                        agents,
                        self.yardstick.model_copy(update={"windows": windows}),
                        Seeds(fresh=seeds.fresh, tuning=seeds.tuning),
                        timed=horizon == min(block.horizons),
                    )
                )
        return tasks


def packaged_suite() -> Suite:
    """Return the drift suite.

    Examples
    --------
    >>> sorted({problem.group for problem in packaged_suite().problems})[:3]
    ['bandit', 'bidding', 'garnet']
    """
    return parse_suite(resources.files("driftmdp.experiments").joinpath("suite.toml").read_text(encoding="utf-8"))


def parse_suite(text: str, where: str = "suite") -> Suite:
    """Return the suite of a TOML text; ``where`` is what errors call it.

    Examples
    --------
    >>> parse_suite('name = "mine"')
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: suite: seeds must be given. (4 more wrong beside it.)
    """
    try:
        return Suite.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"{where} must be TOML; {error}.") from None
    except ValidationError as error:
        raise InvalidInputError(f"{where}: {complaint(error.errors(), Suite)}") from None


def geometric_windows(shortest: int, longest: int, count: int) -> list[int]:
    """Return up to so many different windows, each about the same factor longer than the one before.

    Examples
    --------
    >>> geometric_windows(4, 5000, 6)
    [4, 17, 69, 289, 1201, 5000]
    """
    lengths = np.geomspace(min(shortest, longest), longest, count)
    return [int(window) for window in np.unique(np.rint(lengths).astype(np.int64))]


def _bare(agent: SuiteAgent) -> Choice:
    return Choice(**agent.model_dump(exclude={"groups"}))


def _units(horizon: int, unit: int, label: str) -> int:
    if horizon % unit:
        raise InvalidInputError(f"horizons of {label!r} must be multiples of {unit}; got {horizon}.")
    return horizon // unit


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")

"""The tasks of the drift suite: many problems at several horizons, many agents, and a yardstick.

``suite.toml`` lists them. It becomes *tasks*, one per problem and horizon. Each task becomes ordinary specs. In
``tuning`` the yardstick tries its arms, and in ``finals`` the best of them meet again. In ``fresh`` all agents and
the winning arm meet on seeds that nothing was chosen on.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Annotated, Any

from pydantic import Field

from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.experiments.identity import labelled
from driftmdp.experiments.spec import Choice, CurveOptions, SeedRange, Spec, Strict, parse_form
from driftmdp.suite.agents import SuiteAgent, agent_ids, with_own_agents
from driftmdp.suite.yardstick import Arm, Yardstick

Horizon = Annotated[int, Field(ge=2)]
CURVE = CurveOptions(points=50)


class SuiteProblem(Choice):
    """A problem, or a grid of them, at several horizons.

    Attributes
    ----------
    group
        The kind of problem, by which agents are admitted and tables sorted. By default its name.
    horizons
        The values of T.
    length
        The parameter that makes it so long, and how many steps a unit of it is.
    """

    group: str = ""
    horizons: Annotated[list[Horizon], Field(min_length=1)]
    length: dict[str, Annotated[int, Field(ge=1)]] = Field({"horizon": 1}, min_length=1, max_length=1)


class Families(Strict):
    """The problems that are reported, and those on which constants may be chosen."""

    reported: Annotated[list[SuiteProblem], Field(min_length=1)]
    tuning: list[SuiteProblem] = Field(default_factory=list)


class LongSeeds(Strict):
    """How many seeds there are from a horizon on, where runs take longer."""

    horizon: Horizon
    fresh: Annotated[int, Field(ge=1)]
    tuning: Annotated[int, Field(ge=1)]
    finals: Annotated[int, Field(ge=1)]


class Seeds(Strict):
    """The seeds of a task.

    Attributes
    ----------
    fresh
        Those that are reported.
    tuning, finals
        Those on which the yardstick's arms are tried, and on which the best of them meet again.
    long
        How many of each there are at long horizons.
    """

    fresh: SeedRange
    tuning: SeedRange
    finals: SeedRange
    long: LongSeeds | None = None

    def at(self, horizon: int) -> dict[str, SeedRange]:
        """Return the seeds at a horizon, by what they are for."""
        found = {"fresh": self.fresh, "tuning": self.tuning, "finals": self.finals}
        if self.long is None or horizon < self.long.horizon:
            return found
        return {key: SeedRange(first=seeds.first, count=getattr(self.long, key)) for key, seeds in found.items()}


class Quick(Seeds):
    """What ``--quick`` does: some problems, at one horizon, on fewer seeds, windows, refinements and finalists."""

    windows: Annotated[int, Field(ge=1)]
    refinements: Annotated[int, Field(ge=0)] = 0
    finalists: Annotated[int, Field(ge=1)] = 1
    horizon: Horizon
    problems: Annotated[list[str], Field(min_length=1)]

    def simplified(self, yardstick: Yardstick) -> Yardstick:
        """Return a yardstick with at most so many windows and refinements."""
        kinds = []
        for kind in yardstick.arms:
            grid = kind.windows and kind.windows.model_copy(update={"count": min(self.windows, kind.windows.count)})
            kinds.append(kind.model_copy(update={"windows": grid}))
        fewer = {key: min(getattr(self, key), getattr(yardstick, key)) for key in ("refinements", "finalists")}
        return yardstick.model_copy(update={"arms": kinds} | fewer)


@dataclass(frozen=True)
class SuiteTask:
    """One problem at one horizon.

    Attributes
    ----------
    slug
        The name of its folder.
    label, family, group
        As the suite has them.
    horizon
        T.
    problem, agents
        What is run.
    yardstick
        How the best arm in hindsight is found.
    seeds
        For ``"fresh"`` runs, for ``"tuning"`` and for ``"finals"``.
    timed
        Whether steps are timed here: on the first problem of each reported group.
    """

    slug: str
    label: str
    family: str
    group: str
    horizon: int
    problem: Choice
    agents: list[Choice]
    yardstick: Yardstick
    seeds: dict[str, SeedRange]
    timed: bool = False

    __repr__ = brief

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the problem."""
        return self.problem.parameters

    @property
    def n_runs(self) -> int:
        """About how many runs it takes, if no kind of arm is given up."""
        yardstick = self.yardstick
        finer = sum(2 * (kind.windows is not None) + 2 * bool(kind.scales) for kind in yardstick.arms)
        n_arms = len(yardstick.coarse_arms(self.horizon)) + yardstick.refinements * finer
        n_finalists = yardstick.finalists if yardstick.finalists > 1 else 0
        counts = {"tuning": n_arms, "finals": n_finalists, "fresh": len(self.agents) + 1}
        return sum(count * self.seeds[part].count for part, count in counts.items())

    def tuning_spec(self, arms: Iterable[Arm] | None = None, part: str = "tuning") -> Spec:
        """Return what the yardstick is chosen on: some arms, by default those of the coarse grid."""
        tried = self.yardstick.coarse_arms(self.horizon) if arms is None else arms
        return self._spec(part, [arm.choice for arm in tried])

    def fresh_spec(self, arm: Choice) -> Spec:
        """Return what is reported: all agents, and the best arm under the yardstick's label.

        If an agent of the suite is that arm, its runs are the yardstick's too.
        """
        best = arm.model_copy(update={"label": self.yardstick.label})
        alike = agent_ids(agent for agent in self.agents if agent.name == arm.name)
        is_there = agent_ids([best])[self.yardstick.label] in alike.values()
        return self._spec("fresh", self.agents if is_there else [*self.agents, best])

    def _spec(self, seeds: str, agents: list[Choice]) -> Spec:
        name = f"{self.label}, T = {self.horizon:,}: {seeds}"
        return Spec(name=name, seeds=self.seeds[seeds], curve=CURVE, problems=[self.problem], agents=agents)


class Suite(Strict):
    """Everything that the suite has.

    Examples
    --------
    >>> from driftmdp.suite import packaged_suite
    >>> suite = packaged_suite()
    >>> suite.tasks(quick=True)[0].slug
    'two-state-v-r-t-0-5-v-p-t-0-5-5000'
    """

    name: Annotated[str, Field(min_length=1)]
    seeds: Seeds
    yardstick: Yardstick
    quick: Quick
    agents: Annotated[list[SuiteAgent], Field(min_length=1)]
    problems: Families

    def __repr__(self) -> str:
        blocks = len(self.problems.reported) + len(self.problems.tuning)
        return f"<Suite {self.name!r}: {len(self.agents)} agents, {blocks} rows of problems>"

    def tasks(self, quick: bool = False, agents: Sequence[str] = ()) -> list[SuiteTask]:
        """Return every problem at every horizon, short ones first; or those that are quick.

        Parameters
        ----------
        quick
            Whether only the problems of ``--quick``, on fewer seeds.
        agents
            Agents of one's own that join, as texts that ``parse_agent`` reads.
        """
        joined = self.model_copy(update={"agents": with_own_agents(self.agents, agents, self.yardstick.label)})
        families = (("reported", self.problems.reported), ("tuning", self.problems.tuning))
        found = [
            task
            for family, blocks in families
            for block in blocks
            for task in joined._tasks_of(family, block, quick)
        ]
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
        first = {task.group: task.slug for task in reversed(found) if task.family == "reported"}
        timed = [replace(task, timed=first.get(task.group) == task.slug) for task in found]
        return sorted(timed, key=lambda task: task.horizon)

    def _tasks_of(self, family: str, block: SuiteProblem, quick: bool) -> list[SuiteTask]:
        seeds: Seeds = self.quick if quick else self.seeds
        yardstick = self.quick.simplified(self.yardstick) if quick else self.yardstick
        tasks, group = [], block.group or block.name
        for values in itertools.product(*block.grid.values()):
            varied = dict(zip(block.grid, values, strict=True))
            label = labelled(block.label or block.name, varied)
            for horizon in block.horizons:
                [(length, unit)] = block.length.items()
                if horizon % unit:
                    raise InvalidInputError(f"horizons of {label!r} must be multiples of {unit}; got {horizon}.")
                parameters = block.parameters | varied | {length: horizon // unit}
                problem = Choice(name=block.name, label=label, parameters=parameters)
                agents = [agent.choice for agent in self.agents if agent.meets(group, horizon)]
                slug = re.sub(r"[^a-z0-9]+", "-", f"{label} {horizon}".lower()).strip("-")
                kind = (slug, label, family, group, horizon)
                tasks.append(SuiteTask(*kind, problem, agents, yardstick, seeds.at(horizon)))
        return tasks


def packaged_suite() -> Suite:
    """Return the drift suite.

    Examples
    --------
    >>> from driftmdp.suite import packaged_suite
    >>> [problem.name for problem in packaged_suite().problems.reported[:3]]
    ['two-state', 'two-state', 'river-swim']
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

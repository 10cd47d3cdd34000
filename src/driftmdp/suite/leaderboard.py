"""The leaderboard's numbers: regrets by problem, horizon, agent and seed, and how they compare.

A ratio to the yardstick is a ratio of mean regrets. Where the yardstick's regret is below the *slack*, 0.5% of T
times the range of rewards, the ratio is to the slack instead and at least 1, because a regret may be 0 or less.
So a ratio below 1 always means less regret than the yardstick's.
"""

import functools
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import StorageError
from driftmdp.experiments import Results, load
from driftmdp.experiments.spec import Choice
from driftmdp.statistics import Interval, mean_interval, ratio_interval
from driftmdp.suite.agents import agent_ids
from driftmdp.suite.json_files import read_json

SLACK = 0.005
ROUNDING = 1e-9  # of the slack: regrets that differ by less are equal
TASK_FACTS = ("slug", "label", "family", "group", "horizon", "parameters")  # of each task in suite.json
# The three kinds of contests that results are given for, and how a sentence names some of them.
KINDS = {
    "exact": "drifting problems without noise",
    "noisy": "drifting problems with noise",
    "stationary": "stationary problems",
}
ROWS = """
    SELECT agent, seed, regret, n_states, n_pairs, reward_high - reward_low AS span, b_r + b_p AS variation,
        problems.parameters AS made_from
    FROM runs JOIN problems USING (problem_id) ORDER BY position, seed
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contest:
    """One problem at one horizon, and how every agent did.

    Attributes
    ----------
    slug, label, family, group, horizon, parameters
        As the suite has them.
    stationary, noisy
        Whether its variation budgets are 0, and whether its rewards are noisy.
    n_states, n_pairs
        Its size.
    span
        The width of the range of rewards.
    regrets
        By agent, one number per seed.
    seeds
        By agent.
    yardstick
        The label of the agent that all are compared with.
    arm
        What was best in hindsight: the name of an ``"agent"``, and its parameters.
    on_edge
        Whether it lies on the edge of the grid, so that a wider one might have a better arm.
    microseconds
        Time per step by agent, empty where none was timed.
    n_missing
        How many runs it lacks, because they failed.
    """

    slug: str
    label: str
    family: str
    group: str
    stationary: bool
    noisy: bool
    horizon: int
    parameters: Mapping[str, Any]
    n_states: int
    n_pairs: int
    span: float
    regrets: Mapping[str, Floats] = field(repr=False)
    seeds: Mapping[str, NDArray[np.int64]] = field(repr=False)
    yardstick: str
    arm: Mapping[str, Any]
    on_edge: bool
    microseconds: Mapping[str, float] = field(repr=False)
    n_missing: int = 0
    _ratios: dict[tuple[str, str], Interval] = field(default_factory=dict, init=False, repr=False)

    @property
    def title(self) -> str:
        """The problem and its horizon."""
        return f"{self.label}, T = {self.horizon:,}"

    @property
    def kind(self) -> str:
        """Which of the ``KINDS`` it is."""
        return "stationary" if self.stationary else "noisy" if self.noisy else "exact"

    @property
    def slack(self) -> float:
        """The regret that does not count."""
        return SLACK * self.horizon * self.span

    def mean(self, agent: str) -> float:
        """Return an agent's mean regret."""
        return float(self.regrets[agent].mean())

    def regret(self, agent: str) -> Interval:
        """Return an agent's mean regret with its interval over seeds."""
        return mean_interval(self.regrets[agent])

    def ratio(self, agent: str, other: str | None = None) -> Interval:
        """Return an agent's mean regret over another's, or over the yardstick's; paired by seed."""
        pair = (agent, other or self.yardstick)
        if pair not in self._ratios:
            self._ratios[pair] = self._ratio(*pair)
        return self._ratios[pair]

    def _ratio(self, agent: str, other: str) -> Interval:
        if self.mean(other) < self.slack:
            found = self.regret(agent)
            ends = np.maximum(np.array([found.estimate, found.low, found.high]) / self.slack, 1.0)
            estimate, low, high = ends.tolist()
            return Interval(estimate, low, high, found.level)
        return ratio_interval(*self.paired(agent, other))

    def paired(self, agent: str, other: str) -> tuple[Floats, Floats]:
        """Return the regrets of two agents on the seeds that both have."""
        both = np.intersect1d(self.seeds[agent], self.seeds[other])
        mine, theirs = (self.regrets[who][np.isin(self.seeds[who], both)] for who in (agent, other))
        return mine, theirs

    def differences(self, agent: str, other: str) -> Floats:
        """Return an agent's regrets minus another's, paired by seed. Rounding errors are no differences."""
        found = np.subtract(*self.paired(agent, other))
        return np.where(np.abs(found) < ROUNDING * self.slack, 0.0, found)

    @functools.cached_property
    def ranks(self) -> Mapping[str, int]:
        """Place by mean regret, 1 the least. Equals share the better place. The yardstick has none."""
        means = {agent: self.mean(agent) for agent in self.regrets if agent != self.yardstick}
        least = ROUNDING * self.slack
        return {agent: 1 + sum(mean - other > least for other in means.values()) for agent, mean in means.items()}


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """All finished contests, in order.

    Attributes
    ----------
    name, yardstick
        Of the suite.
    contests
        By family, problem and horizon.
    agents
        In the order of the suite, the yardstick last.
    asked
        How many contests the suite asks for.
    results
        Where each contest comes from.
    """

    name: str
    yardstick: str
    contests: list[Contest]
    agents: list[str]
    asked: int
    results: list[Results] = field(repr=False)

    def family(self, name: str) -> list[Contest]:
        """Return the contests of a family."""
        return [contest for contest in self.contests if contest.family == name]

    @property
    def n_missing(self) -> int:
        """How many runs failed."""
        return sum(contest.n_missing for contest in self.contests)

    @property
    def horizons(self) -> list[int]:
        """The horizons of what is reported."""
        return sorted({contest.horizon for contest in self.family("reported")})

    @property
    def rivals(self) -> list[str]:
        """The agents without the yardstick."""
        return [agent for agent in self.agents if agent != self.yardstick]

    @functools.cached_property
    def choices(self) -> dict[str, Mapping[str, Any]]:
        """By agent, its name and parameters as the results have them."""
        return {agent["label"]: agent for results in self.results for agent in results.manifest["agents"]}

    @property
    def featured(self) -> list[str]:
        """The agents that the page compares with each other one: the first of the suite, and the user's own."""
        own = [agent for agent in self.rivals if ":" in self.choices.get(agent, {}).get("name", "")]
        return list(dict.fromkeys([*self.rivals[:1], *own]))


def read_leaderboard(folder: str | Path) -> Leaderboard:
    """Read the finished contests of a suite's folder.

    Raises
    ------
    StorageError
        If it is no folder of the suite, or nothing in it is finished.

    Examples
    --------
    >>> from driftmdp.suite import read_leaderboard
    >>> read_leaderboard("nowhere")
    Traceback (most recent call last):
    driftmdp.errors.StorageError: nowhere must be a folder that `driftmdp suite` wrote; it has no suite.json.
    """
    path = Path(folder)
    try:
        asked = json.loads((path / "suite.json").read_text(encoding="utf-8"))
        tasks = [{name: task[name] for name in TASK_FACTS} for task in asked["tasks"]]
    except (OSError, ValueError, LookupError, TypeError):
        raise StorageError(f"{path} must be a folder that `driftmdp suite` wrote; it has no suite.json.") from None
    contests, sources = [], []
    for task in tasks:
        place = path / task["slug"]
        if not (place / "fresh" / "manifest.json").exists():
            continue
        results = load(place / "fresh")
        labels = _shown(results.manifest["agents"], asked)
        contest = _contest(task, results, asked["yardstick"], place, labels)
        if contest is not None:
            contests.append(contest)
            sources.append(results)
    if not contests:
        raise StorageError(f"{path} has no finished problem yet. Run `driftmdp suite` again.")
    agents = list(dict.fromkeys(agent for contest in contests for agent in contest.regrets))
    agents.sort(key=lambda agent: agent == asked["yardstick"])
    return Leaderboard(asked["name"], asked["yardstick"], contests, agents, len(tasks), sources)


def _shown(agents: Sequence[Mapping[str, Any]], asked: Mapping[str, Any]) -> set[str]:
    """Return the labels that the page shows: the yardstick, and agents as the last command had them."""
    ids = asked.get("agents") or {agent["label"]: agent["id"] for agent in agents}
    return {agent["label"] for agent in agents if ids.get(agent["label"]) == agent["id"]} | {asked["yardstick"]}


def _contest(
    task: Mapping[str, Any], results: Results, yardstick: str, place: Path, labels: Set[str]
) -> Contest | None:
    """Return the contest of a task among the agents with these labels, or None if it is not finished."""
    runs, chosen = results.query(ROWS), read_json(place / "yardstick.json")
    by_agent = {str(agent): rows for agent, rows in runs.groupby("agent", sort=False)}
    stand_in = _stand_in(results.manifest["agents"], chosen)
    n_missing = len(results.manifest["cells"]) * len(results.manifest["seeds"]) - len(runs)
    if stand_in is None or stand_in["label"] not in by_agent or n_missing > len(results.failures):
        return None
    by_agent[yardstick] = by_agent[stand_in["label"]]  # an agent that is not shown may be the best arm
    by_agent = {agent: rows for agent, rows in by_agent.items() if agent in labels}
    times = {agent: found["microseconds"] for agent, found in read_json(place / "timing.json").items()}
    if stand_in["label"] in times:
        times[yardstick] = times[stand_in["label"]]
    row = runs.iloc[0]
    return Contest(
        **task,
        stationary=bool(row["variation"] == 0),
        noisy=json.loads(row["made_from"]).get("noise", "none") != "none",
        n_states=int(row["n_states"]),
        n_pairs=int(row["n_pairs"]),
        span=float(row["span"]),
        regrets={agent: rows["regret"].to_numpy(float) for agent, rows in by_agent.items()},
        seeds={agent: rows["seed"].to_numpy() for agent, rows in by_agent.items()},
        yardstick=yardstick,
        arm={"agent": stand_in["name"], **stand_in["parameters"]},
        on_edge=bool(chosen.get("on_edge")),
        microseconds=times,
        n_missing=n_missing,
    )


def _stand_in(agents: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the agent that is the best arm, under the yardstick's label or under its own."""
    if not chosen:
        return None
    [best] = agent_ids([Choice(name=chosen["agent"], parameters=chosen["parameters"])]).values()
    return next((agent for agent in agents if agent["id"] == best), None)

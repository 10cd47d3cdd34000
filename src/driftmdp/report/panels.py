"""Which results appear where: a panel per problem, a line per agent, and settings that the reader chooses from."""

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp.experiments import CellCurves, Results
from driftmdp.experiments.identity import agrees, canonical, line_label, shown
from driftmdp.report.content import Line, Panel, Setting
from driftmdp.statistics import Interval, mean_interval, median_interval


class Estimates(NamedTuple):
    """Means and medians of one cell at the horizon, over its seeds."""

    n_seeds: int
    reward_mean: Interval
    reward_median: Interval
    regret_mean: Interval
    regret_median: Interval


@dataclass(frozen=True, eq=False)
class Layout:
    """Results, sorted into panels, lines and settings.

    Attributes
    ----------
    results
        The loaded results.
    panels, lines, settings
        The parts of the page. ``settings[i].curves[panel.id][line.id]`` is the id of a cell that has runs.
    problems
        The stored row of each panel's problem, by panel id.
    curves
        By cell.
    """

    results: Results
    panels: list[Panel]
    lines: list[Line]
    settings: list[Setting]
    problems: Mapping[str, Mapping[Any, Any]]
    curves: Mapping[str, CellCurves] = field(repr=False)
    _estimates: dict[str, Estimates] = field(default_factory=dict, repr=False)

    def cell(self, setting: Setting, panel: Panel, line: Line) -> str | None:
        """Return the cell that a line shows in a panel, or None if it has no runs."""
        return setting.curves.get(panel.id, {}).get(line.id)

    def totals(self, cell: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Return rewards, regrets and seeds at the horizon, by seed."""
        curves = self.curves[cell]
        return curves.rewards[:, -1], curves.regrets[:, -1], curves.seeds

    def estimates(self, cell: str) -> Estimates:
        """Return means and medians at the horizon with their intervals, computed once per cell."""
        if cell not in self._estimates:
            rewards, regrets, seeds = self.totals(cell)
            of_rewards = mean_interval(rewards), median_interval(rewards)
            of_regrets = mean_interval(regrets), median_interval(regrets)
            self._estimates[cell] = Estimates(seeds.size, *of_rewards, *of_regrets)
        return self._estimates[cell]

    @functools.cached_property
    def agent_of(self) -> Mapping[str, Mapping[str, Any]]:
        """The agent of each cell, as in the manifest."""
        agents = {agent["id"]: agent for agent in self.results.manifest["agents"]}
        return {cell: agents[agent] for cell, _, agent in self.results.manifest["cells"]}

    def is_oracle(self, cell: str) -> bool:
        """Return whether a cell holds the runs of the Oracle."""
        return bool(self.agent_of[cell]["name"] == "Oracle")

    def line(self, label: str) -> Line | None:
        """Return the line with a label, or None."""
        return next((line for line in self.lines if line.label == label), None)


def layout_of(results: Results) -> Layout:
    """Return the layout that the spec's ``report.split`` asks for."""
    manifest, curves = results.manifest, results.curves_by_cell()
    split, names = list(manifest["spec"]["report"]["split"]), manifest["spec"]["report"]["names"]
    rows = results.problems.set_index("problem_id").to_dict("index")
    panels, panel_ids = [], {}
    for number, problem in enumerate(manifest["problems"]):
        horizon = rows[problem["id"]]["horizon"] if problem["id"] in rows else 0
        panels.append(Panel(f"p{number}", problem["label"], int(horizon)))
        panel_ids[problem["id"]] = f"p{number}"
    agents = {agent["id"]: agent for agent in manifest["agents"]}
    labels = {key: line_label(agent["base"], agent["varied"], split) for key, agent in agents.items()}
    lines = [Line(f"a{number}", label) for number, label in enumerate(dict.fromkeys(labels.values()))]
    line_ids = {line.label: line.id for line in lines}
    settings = []
    for number, values in enumerate(_split_values(manifest["agents"], split)):
        cells: dict[str, dict[str, str]] = {panel.id: {} for panel in panels}
        for cell, problem_id, agent_id in manifest["cells"]:
            if cell in curves and agrees(agents[agent_id]["varied"], values):
                cells[panel_ids[problem_id]][line_ids[labels[agent_id]]] = cell
        settings.append(Setting(f"s{number}", _setting_label(values, names), cells))
    problems = {panel_ids[key]: row for key, row in rows.items()}
    return Layout(results, panels, lines, settings, problems, curves)


def _split_values(agents: list[Mapping[str, Any]], split: list[str]) -> list[dict[str, Any]]:
    """Return every combination of the split parameters' values, in the order of the spec."""
    choices = []
    for key in split:
        given = [agent["varied"][key] for agent in agents if key in agent["varied"]]
        choices.append([(key, value) for value in {canonical(value): value for value in given}.values()])
    return [dict(combination) for combination in itertools.product(*choices)]


def _setting_label(values: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]) -> str:
    """Return the names that the spec gives to the values, or else key and value."""
    parts = [names.get(key, {}).get(shown(value), f"{key} = {shown(value)}") for key, value in values.items()]
    return "; ".join(parts) or "all"

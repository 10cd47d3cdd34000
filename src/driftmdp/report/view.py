"""How results are looked at: problems as panels, agents as lines, and settings that the reader switches between."""

from __future__ import annotations

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
    """What a cell amounts to at the horizon, over its seeds."""

    n_seeds: int
    reward_mean: Interval
    reward_median: Interval
    regret_mean: Interval
    regret_median: Interval


@dataclass(frozen=True, eq=False)
class View:
    """Results, sorted into panels, lines and settings.

    Attributes
    ----------
    results
        What was loaded.
    panels, lines, settings
        What is shown; ``settings[i].curves[panel.id][line.id]`` is the id of a cell that has runs.
    problems
        The problem of each panel: its row of the store.
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
        """Return the cell that a line shows in a panel, or None if there are no runs of it."""
        return setting.curves.get(panel.id, {}).get(line.id)

    def totals(self, cell: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Return rewards, regrets and seeds at the horizon, by seed."""
        found = self.curves[cell]
        return found.rewards[:, -1], found.regrets[:, -1], found.seeds

    def estimates(self, cell: str) -> Estimates:
        """Return means and medians at the horizon, with their intervals; a cell may be shown in many settings."""
        if cell not in self._estimates:
            rewards, regrets, seeds = self.totals(cell)
            self._estimates[cell] = Estimates(
                seeds.size,
                mean_interval(rewards),
                median_interval(rewards),
                mean_interval(regrets),
                median_interval(regrets),
            )
        return self._estimates[cell]

    @functools.cached_property
    def agent_of(self) -> Mapping[str, Mapping[str, Any]]:
        """The agent of each cell, as the manifest has it."""
        agents = {agent["id"]: agent for agent in self.results.manifest["agents"]}
        return {cell: agents[agent] for cell, _, agent in self.results.manifest["cells"]}

    def line(self, name: str) -> Line | None:
        """Return the line with a label."""
        return next((line for line in self.lines if line.label == name), None)


def view(results: Results) -> View:
    """Return the view that the spec's ``report.split`` asks for."""
    manifest = results.manifest
    split = list(manifest["spec"]["report"]["split"])
    curves = results.curves_by_cell()
    panels = [
        Panel(f"p{number}", problem["label"], _horizon(results, problem["id"]))
        for number, problem in enumerate(manifest["problems"])
    ]
    labels = list(dict.fromkeys(_line_label(agent, split) for agent in manifest["agents"]))
    lines = [Line(f"a{number}", label) for number, label in enumerate(labels)]
    by_label = {line.label: line.id for line in lines}
    panel_of = {problem["id"]: panel.id for problem, panel in zip(manifest["problems"], panels, strict=True)}
    agents = {agent["id"]: agent for agent in manifest["agents"]}
    settings = []
    for number, values in enumerate(_settings(manifest["agents"], split)):
        shown_in: dict[str, dict[str, str]] = {panel.id: {} for panel in panels}
        for cell, problem, agent in manifest["cells"]:
            if cell in curves and agrees(agents[agent]["varied"], values):
                shown_in[panel_of[problem]][by_label[_line_label(agents[agent], split)]] = cell
        settings.append(
            Setting(f"s{number}", _setting_label(values, manifest["spec"]["report"]["names"]), shown_in)
        )
    rows = results.problems.set_index("problem_id").to_dict("index")
    problems = {panel_of[key]: row for key, row in rows.items()}
    return View(results, panels, lines, settings, problems, curves)


def _horizon(results: Results, problem_id: str) -> int:
    rows = results.problems[results.problems["problem_id"] == problem_id]
    return int(rows["horizon"].iloc[0]) if len(rows) else 0


def _line_label(agent: Mapping[str, Any], split: list[str]) -> str:
    return line_label(agent["base"], agent["varied"], split)


def _settings(agents: list[Mapping[str, Any]], split: list[str]) -> list[dict[str, Any]]:
    """Return every combination of the split parameters' values, in the order of the spec."""
    choices = []
    for key in split:
        values = {
            canonical(agent["varied"][key]): agent["varied"][key] for agent in agents if key in agent["varied"]
        }
        choices.append([(key, value) for value in values.values()])
    return [dict(combination) for combination in itertools.product(*choices)]


def _setting_label(values: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]) -> str:
    """Return a setting by the names that the spec gives to values, or else by key and value."""
    words = [names.get(key, {}).get(shown(value), f"{key} = {shown(value)}") for key, value in values.items()]
    return "; ".join(words) or "all"

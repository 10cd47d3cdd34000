"""The tables of a report: what was collected and missed, ranks, paired differences, slopes, parameters."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import Results
from driftmdp.experiments.identity import shown
from driftmdp.experiments.schema import read_json
from driftmdp.report.content import Line, Panel, Setting, Table, TableCell
from driftmdp.report.text import interval_cell, number_cell, p_cell
from driftmdp.report.view import View
from driftmdp.simulation.run import VACUOUS_ADVICE
from driftmdp.statistics import (
    difference_interval,
    holm,
    log_log_slope,
    mean_interval,
    rank_shares,
    sign_flip_test,
)

LEVEL = 0.05
NEARLY_ALL = 0.99  # of an agent's plans
MOST_NAMES = 6  # in a sentence
ROUNDING = 1e-9  # a variation below this is that of sums in floating point


def outcome_rows(results: Results) -> tuple[list[str], list[list[str]]]:
    """Return a short table of results, for a terminal: problem, agent, seeds, mean reward and mean regret.

    Examples
    --------
    ``header, rows = outcome_rows(driftmdp.experiments.load(folder))``
    """
    rows = []
    for (problem, agent), runs in results.runs.groupby(["problem", "agent"], sort=False):
        reward, regret = mean_interval(runs["reward"].to_numpy()), mean_interval(runs["regret"].to_numpy())
        rows.append(
            [str(problem), str(agent), str(len(runs)), interval_cell(reward).text, interval_cell(regret).text]
        )
    return ["problem", "agent", "seeds", "reward [95%]", "dynamic regret [95%]"], rows


def outcomes(found: View, setting: Setting) -> Table:
    """Return cumulative reward and dynamic regret at the horizon, for every problem and agent."""
    rows = []
    for panel in found.panels:
        cells = [(line, cell) for line in found.lines if (cell := found.cell(setting, panel, line))]
        learners = [cell for line, cell in cells if not _is_oracle(found, setting, panel, line)]
        best = min((found.estimates(cell).regret_mean.estimate for cell in learners), default=math.nan)
        for line, cell in cells:
            known = found.estimates(cell)
            rows.append(
                [
                    TableCell(panel.label),
                    TableCell(line.label),
                    interval_cell(known.reward_mean),
                    interval_cell(known.reward_median),
                    interval_cell(known.regret_mean, "best" if known.regret_mean.estimate == best else ""),
                    interval_cell(known.regret_median),
                ]
            )
    columns = [
        "Problem",
        "Agent",
        "Reward, mean",
        "Reward, median",
        "Dynamic regret, mean",
        "Dynamic regret, median",
    ]
    return Table(
        f"outcomes-{setting.id}",
        f"Cumulative reward and dynamic regret at the horizon; 95% bootstrap intervals, {_seeds(found, setting)}",
        columns,
        rows,
        setting.id,
        "Regret is measured with mean rewards against the optimal gain of every step. The least mean regret of "
        "each problem is marked, the Oracle's aside.",
    )


def _seeds(found: View, setting: Setting) -> str:
    counts = {found.estimates(cell).n_seeds for cells in setting.curves.values() for cell in cells.values()}
    return counted(min(counts), "seed") if len(counts) == 1 else f"{min(counts)} to {max(counts)} seeds"


def ranking(found: View, setting: Setting) -> Table:
    """Return every agent's rank by mean dynamic regret in every problem, with intervals over seeds."""
    ranks: dict[str, dict[str, TableCell]] = defaultdict(dict)
    values: dict[str, list[float]] = defaultdict(list)
    for panel in found.panels:
        lines, table = _by_seed(found, setting, panel)
        if not lines or not len(table):
            continue
        ranked, order = rank_shares(-table), _rank_of_means(table)
        learners = [k for k, line in enumerate(lines) if not _is_oracle(found, setting, panel, line)]
        best = min((order[k] for k in learners), default=math.nan)
        for k, line in enumerate(lines):
            values[line.id].append(order[k])
            text = f"{order[k]:g} [{ranked.low[k]:g}, {ranked.high[k]:g}]" if len(table) > 1 else f"{order[k]:g}"
            ranks[line.id][panel.id] = TableCell(text, float(order[k]), "best" if order[k] == best else "")
    present = sorted((line for line in found.lines if line.id in ranks), key=lambda line: np.mean(values[line.id]))
    rows = [
        [
            TableCell(line.label),
            number_cell(float(np.mean(values[line.id])), 3),
            *(ranks[line.id].get(panel.id, TableCell("–")) for panel in found.panels),  # noqa: RUF001
        ]
        for line in present
    ]
    return Table(
        f"ranking-{setting.id}",
        "Rank by mean dynamic regret; in brackets 95% of its resamples over seeds",
        ["Agent", "Mean rank", *(panel.label for panel in found.panels)],
        rows,
        setting.id,
        "1 is best; equal means share a rank. Seeds are resampled whole, so agents are compared on the same luck.",
    )


def _is_oracle(found: View, setting: Setting, panel: Panel, line: Line) -> bool:
    cell = found.cell(setting, panel, line)
    return cell is not None and found.agent_of[cell]["name"] == "Oracle"


def _by_seed(found: View, setting: Setting, panel: Panel) -> tuple[list[Line], NDArray[np.float64]]:
    """Return the lines of a panel and their regrets, one row for each seed that all of them have."""
    lines = [line for line in found.lines if found.cell(setting, panel, line)]
    cells = [found.totals(str(found.cell(setting, panel, line))) for line in lines]
    if not cells:
        return [], np.empty((0, 0))
    common = cells[0][2]
    for _, _, seeds in cells[1:]:
        common = np.intersect1d(common, seeds)
    return lines, np.column_stack([regrets[np.isin(seeds, common)] for _, regrets, seeds in cells])


def _rank_of_means(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each column's mean, 1 the least; equal means share the average rank."""
    means = table.mean(axis=0)
    ahead, tolerance = means[:, None] - means[None, :], 1e-12 * float(np.abs(table).max())
    below, equal = (ahead > tolerance).sum(axis=1), (np.abs(ahead) <= tolerance).sum(axis=1)
    return np.asarray(below + (equal + 1) / 2)


def paired_differences(found: View, setting: Setting, baseline: Line) -> Table | None:
    """Return how much less every agent regrets than the baseline with the same seeds, tested and corrected."""
    compared: list[tuple[Panel, Line, NDArray[np.float64]]] = []
    for panel in found.panels:
        base = found.cell(setting, panel, baseline)
        for line in found.lines:
            cell = found.cell(setting, panel, line)
            if base is None or cell is None or line.id == baseline.id:
                continue
            (_, theirs, their_seeds), (_, ours, our_seeds) = found.totals(base), found.totals(cell)
            common = np.intersect1d(their_seeds, our_seeds)
            if common.size:
                less = theirs[np.isin(their_seeds, common)] - ours[np.isin(our_seeds, common)]
                compared.append((panel, line, less))
    if not compared:
        return None
    flips = max(9999, 200 * len(compared))  # so many that Holm's correction leaves something to find
    adjusted = holm([sign_flip_test(less, flips) if less.size > 1 else math.nan for _, _, less in compared])
    rows = []
    for (panel, line, less), p in zip(compared, adjusted, strict=True):
        rows.append(
            [
                TableCell(panel.label),
                TableCell(line.label),
                TableCell(str(less.size), float(less.size)),
                interval_cell(difference_interval(less, np.zeros(less.size))),
                p_cell(float(p)),
                TableCell(_verdict(less, float(p))),
            ]
        )
    return Table(
        f"paired-{setting.id}",
        f"How much less dynamic regret than {baseline.label}, seed by seed",
        ["Problem", "Agent", "Seeds", f"Less regret than {baseline.label}, mean", "p, corrected", "Finding"],
        rows,
        setting.id,
        "Both agents of a pair face the same luck. A sign-flip test of no difference, corrected for the "
        f"{counted(len(rows), 'comparison')} of this table (Holm); a finding is given at 5%. An interval is for "
        f"its own row only, so one that excludes 0 need not be a finding.{_out_of_reach(compared)}",
    )


def _out_of_reach(compared: list[tuple[Panel, Line, NDArray[np.float64]]]) -> str:
    """Say so where there are too few seeds for any finding: all signs alike have probability 2 / 2^n."""
    n = max(less.size for _, _, less in compared)
    seeds = counted(n, "seed")
    return f" With {seeds} nothing can be found here; run more." if 2.0 ** (1 - n) * len(compared) > LEVEL else ""


def _verdict(less: NDArray[np.float64], p: float) -> str:
    if math.isnan(p) or p > LEVEL:
        return "none shown" if np.any(less != 0) else "identical"
    return "less regret" if less.mean() > 0 else "more regret"


def slopes(found: View, setting: Setting) -> Table | None:
    """Return how regret grows with the horizon, where several horizons of one problem are there."""
    families: dict[str, list[Panel]] = defaultdict(list)
    for panel in found.panels:
        row = found.problems.get(panel.id)
        if row is not None:
            families[_described(row, without="horizon")].append(panel)
    rows = []
    for name, panels in families.items():
        horizons = [panel.horizon for panel in panels]
        if len(set(horizons)) < 2:
            continue
        for line in found.lines:
            cells = [found.cell(setting, panel, line) for panel in panels]
            if any(cell is None for cell in cells):
                continue
            rows.append([TableCell(name), TableCell(line.label), *_slope_cells(found, horizons, cells)])
    if not rows:
        return None
    return Table(
        f"slopes-{setting.id}",
        "How dynamic regret grows: the exponent of T",
        ["Problem", "Agent", "Horizons", "Log-log slope"],
        rows,
        setting.id,
        "The least-squares slope of log mean regret on log T, with a 95% interval by resampling seeds at every "
        "horizon. 1 is what never learning gives.",
    )


def _slope_cells(found: View, horizons: list[int], cells: list[Any]) -> list[TableCell]:
    shown_horizons = TableCell(", ".join(f"{horizon:,}" for horizon in sorted(set(horizons))))
    try:
        return [shown_horizons, interval_cell(log_log_slope(horizons, [found.totals(cell)[1] for cell in cells]))]
    except InvalidInputError:
        return [shown_horizons, TableCell("none: a mean regret is not positive")]


def problems_table(found: View) -> Table:
    """Return every problem with its size, its exact variation budgets and its optimum."""
    rows = []
    for panel in found.panels:
        row = found.problems.get(panel.id)
        if row is None:
            rows.append([TableCell(panel.label), *[TableCell("–")] * 6])  # noqa: RUF001
            continue
        rows.append(
            [
                TableCell(panel.label),
                TableCell(_described(row)),
                TableCell(f"{counted(row['n_states'], 'state')}, {counted(row['n_pairs'], 'pair')}"),
                number_cell(_unless_rounding(row["b_r"])),
                number_cell(_unless_rounding(row["b_p"])),
                TableCell(f"[{row['reward_low']:g}, {row['reward_high']:g}]"),
                number_cell(float(row["optimum"][-1])),
            ]
        )
    columns = ["Problem", "Made by", "Size", "B_r", "B_p", "Rewards in", "Sum of optimal gains"]
    return Table("problems", "The problems", columns, rows, "", "B_r and B_p are the exact variation budgets.")


def _described(row: Mapping[Any, Any], without: str = "") -> str:
    """Return a problem's name and parameters; those that are not set are left out."""
    given = {k: v for k, v in read_json(row["parameters"], dict).items() if v is not None and k != without}
    words = ", ".join(f"{key} = {shown(value)}" for key, value in given.items())
    return f"{row['name']} ({words})" if words else str(row["name"])


def _unless_rounding(budget: float) -> float:
    return 0.0 if budget < ROUNDING else budget


def agents_table(found: View, setting: Setting) -> Table:
    """Return every agent with its parameters, how often it planned, and how many plans had only vacuous radii."""
    grouped = found.results.runs.groupby("cell", sort=False)
    runs, in_force = grouped[["plans", "vacuous_share"]].mean(), grouped["parameters"].first()
    rows = []
    for line in found.lines:
        cells = [cell for panel in found.panels if (cell := found.cell(setting, panel, line))]
        if not cells:
            continue
        agent = found.agent_of[cells[0]]
        used = _in_force([read_json(in_force[cell], dict) or agent["parameters"] for cell in cells])
        plans, vacuous = runs.loc[cells, "plans"], runs.loc[cells, "vacuous_share"]
        share = float(vacuous.mean())
        rows.append(
            [
                TableCell(line.label),
                TableCell(agent["name"]),
                TableCell(used or ("its defaults" if ":" in agent["name"] else "none")),
                number_cell(float(plans.mean())),
                TableCell("–") if math.isnan(share) else TableCell(f"{100 * share:.1f}%", share),  # noqa: RUF001
            ]
        )
    return Table(
        f"agents-{setting.id}",
        "The agents",
        ["Agent", "Class", "Parameters, by problem where they differ", "Plans a run", "Vacuous plans"],
        rows,
        setting.id,
        "A plan is vacuous when neither its reward radii nor its transition radii exclude anything: what was "
        "remembered then does not matter. Rewards without a cap always count for something. Of agents that are not "
        "driftmdp's own, the parameters are those that the spec gave.",
    )


def vacuous_agents(results: Results) -> list[str]:
    """Return a sentence on the agents whose plans were all vacuous, or nearly so, and what to do; or none.

    Examples
    --------
    ``vacuous_agents(driftmdp.experiments.load(folder))``
    """
    keys = ["agent_base", "agent", "problem"]
    vacuous = results.runs.groupby(keys, sort=False)["vacuous_share"].mean().dropna() >= NEARLY_ALL
    names = []
    for base, of_base in vacuous.groupby("agent_base", sort=False):
        everywhere = of_base.groupby("agent", sort=False).all()
        labels = everywhere.index[everywhere].tolist()
        if len(labels) == len(everywhere):
            labels = [str(base)]
        elif len(labels) > 1:
            labels = [f"{base} with {len(labels)} of {len(everywhere)} choices of parameters"]
        elsewhere = of_base[of_base & ~everywhere.reindex(of_base.index, level="agent")]
        names += labels + [f"{agent} in {problem}" for _, agent, problem in elsewhere.index]
    if not names:
        return []
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return [f"All plans, or nearly all, of {', '.join(names[:MOST_NAMES])}{more} were {VACUOUS_ADVICE}"]


def _in_force(parameters: list[dict[str, Any]]) -> str:
    """Return an agent's parameters; one that differs between problems has a value for each."""
    said = []
    for key in parameters[0]:
        values = list(dict.fromkeys(shown(found.get(key)) for found in parameters))
        if values != ["null"] and key not in {"policies", "policy_index"}:
            each = [shown(found.get(key)) for found in parameters]
            said.append(f"{key} = {values[0] if len(values) == 1 else ' / '.join(each)}")
    return ", ".join(said)

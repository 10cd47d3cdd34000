"""The tables of a report: outcomes, ranks, paired differences, slopes, problems and agents."""

import functools
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import statistics
from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import Results
from driftmdp.experiments.identity import shown
from driftmdp.experiments.schema import read_json
from driftmdp.report.content import Line, Panel, Setting, Table, TableCell
from driftmdp.report.panels import Layout
from driftmdp.report.text import interval_cell, interval_text, note, number_cell, p_cell, table_row
from driftmdp.simulation.run import VACUOUS_ADVICE

Floats = NDArray[np.float64]
SIGNIFICANCE_LEVEL = 0.05
VACUOUS_SHARE = 0.99  # of an agent's plans: all or nearly all
MAX_NAMES_IN_SENTENCE = 6
LEAST_VARIATION = 1e-9  # a variation below this is an artefact of sums in floating point
DASH = TableCell("–")  # noqa: RUF001


def outcome_rows(results: Results) -> tuple[list[str], list[list[str]]]:
    """Return a short table of results for a terminal: problem, agent, seeds, mean reward and mean regret.

    Examples
    --------
    ``header, rows = outcome_rows(driftmdp.experiments.load(folder))``
    """
    rows = []
    for (problem, agent), runs in results.runs.groupby(["problem", "agent"], sort=False):
        means = [interval_text(statistics.mean_interval(runs[name].to_numpy())) for name in ("reward", "regret")]
        rows.append([str(problem), str(agent), str(len(runs)), *means])
    return ["problem", "agent", "seeds", "reward [95%]", "dynamic regret [95%]"], rows


def outcomes(layout: Layout, setting: Setting) -> Table:
    """Return cumulative reward and dynamic regret at the horizon, per problem and agent."""
    rows = []
    for panel in layout.panels:
        cells = [(line, cell) for line in layout.lines if (cell := layout.cell(setting, panel, line))]
        learners = [layout.estimates(cell).regret_mean for _, cell in cells if not layout.is_oracle(cell)]
        best = min((regret.estimate for regret in learners), default=math.nan)
        for line, cell in cells:
            _, *rewards, regret, median_regret = layout.estimates(cell)
            marked = interval_cell(regret, "best" if regret.estimate == best else "")
            rows.append(table_row(panel.label, line.label, *rewards, marked, median_regret))
    columns = ["Problem", "Agent", "Reward, mean", "Reward, median"]
    columns += ["Dynamic regret, mean", "Dynamic regret, median"]
    seeds = _seeds(layout, setting)
    caption = f"Cumulative reward and dynamic regret at the horizon; 95% bootstrap intervals, {seeds}"
    return Table(f"outcomes-{setting.id}", caption, columns, rows, setting.id, note("outcomes"))


def _seeds(layout: Layout, setting: Setting) -> str:
    counts = {layout.estimates(cell).n_seeds for cells in setting.curves.values() for cell in cells.values()}
    return counted(min(counts), "seed") if len(counts) == 1 else f"{min(counts)} to {max(counts)} seeds"


def ranking(layout: Layout, setting: Setting) -> Table:
    """Return every agent's rank by mean dynamic regret per problem, with intervals over seeds."""
    ranks: dict[str, dict[str, TableCell]] = defaultdict(dict)
    values: dict[str, list[float]] = defaultdict(list)
    for panel in layout.panels:
        lines, regrets, learners = _regrets_by_seed(layout, setting, panel)
        if not len(regrets):
            continue
        resampled, order = statistics.rank_shares(-regrets), _rank_of_means(regrets)
        best = min(order[learners], default=math.nan)
        for k, line in enumerate(lines):
            values[line.id].append(order[k])
            bounds = f" [{resampled.low[k]:g}, {resampled.high[k]:g}]" if len(regrets) > 1 else ""
            kind = "best" if order[k] == best else ""
            ranks[line.id][panel.id] = TableCell(f"{order[k]:g}{bounds}", float(order[k]), kind)
    means = {line_id: float(np.mean(of_line)) for line_id, of_line in values.items()}
    present = sorted((line for line in layout.lines if line.id in means), key=lambda line: means[line.id])
    rows = []
    for line in present:
        by_panel = [ranks[line.id].get(panel.id, DASH) for panel in layout.panels]
        rows.append(table_row(line.label, number_cell(means[line.id], 3), *by_panel))
    caption = "Rank by mean dynamic regret; in brackets 95% of its resamples over seeds"
    columns = ["Agent", "Mean rank", *(panel.label for panel in layout.panels)]
    return Table(f"ranking-{setting.id}", caption, columns, rows, setting.id, note("ranking"))


def _regrets_by_seed(layout: Layout, setting: Setting, panel: Panel) -> tuple[list[Line], Floats, list[bool]]:
    """Return a panel's lines, their regrets (one row per common seed), and which lines are not the Oracle."""
    cells = [(line, cell) for line in layout.lines if (cell := layout.cell(setting, panel, line))]
    if not cells:
        return [], np.empty((0, 0)), []
    totals = [layout.totals(cell) for _, cell in cells]
    common = functools.reduce(np.intersect1d, [seeds for _, _, seeds in totals])
    regrets = np.column_stack([regrets[np.isin(seeds, common)] for _, regrets, seeds in totals])
    return [line for line, _ in cells], regrets, [not layout.is_oracle(cell) for _, cell in cells]


def _rank_of_means(regrets: Floats) -> Floats:
    """Return the rank of each column's mean, 1 the lowest; equal means share the average rank."""
    means = regrets.mean(axis=0)
    ahead, tolerance = means[:, None] - means[None, :], 1e-12 * float(np.abs(regrets).max())
    below, equal = (ahead > tolerance).sum(axis=1), (np.abs(ahead) <= tolerance).sum(axis=1)
    return np.asarray(below + (equal + 1) / 2)


def paired_differences(layout: Layout, setting: Setting, baseline: Line) -> Table | None:
    """Return how much less every agent regrets than the baseline with the same seeds, tested and corrected."""
    compared: list[tuple[Panel, Line, Floats]] = []
    for panel in layout.panels:
        base = layout.cell(setting, panel, baseline)
        for line in layout.lines:
            cell = layout.cell(setting, panel, line)
            if base is None or cell is None or line.id == baseline.id:
                continue
            (_, theirs, their_seeds), (_, ours, our_seeds) = layout.totals(base), layout.totals(cell)
            common = np.intersect1d(their_seeds, our_seeds)
            if common.size:
                less = theirs[np.isin(their_seeds, common)] - ours[np.isin(our_seeds, common)]
                compared.append((panel, line, less))
    if not compared:
        return None
    flips = max(9999, 200 * len(compared))  # enough for a p-value that survives Holm's correction
    tests = [statistics.sign_flip_test(less, flips) if less.size > 1 else math.nan for _, _, less in compared]
    adjusted = statistics.holm(tests)
    rows = []
    for (panel, line, less), p in zip(compared, adjusted.tolist(), strict=True):
        difference = statistics.difference_interval(less, np.zeros(less.size))
        rows.append(table_row(panel.label, line.label, less.size, difference, p_cell(p), _finding(less, p)))
    caption = f"How much less dynamic regret than {baseline.label}, paired by seed"
    columns = ["Problem", "Agent", "Seeds", f"Less regret than {baseline.label}, mean", "p, corrected", "Finding"]
    below = note("paired", comparisons=counted(len(rows), "comparison")) + _too_few_seeds(compared)
    return Table(f"paired-{setting.id}", caption, columns, rows, setting.id, below)


def _too_few_seeds(compared: list[tuple[Panel, Line, Floats]]) -> str:
    """Return a warning where there are too few seeds for any finding: all signs alike have probability 2 / 2^n."""
    n = max(less.size for _, _, less in compared)
    possible = 2.0 ** (1 - n) * len(compared) <= SIGNIFICANCE_LEVEL
    return "" if possible else f" With {counted(n, 'seed')} no finding is possible here; run more."


def _finding(less: Floats, p: float) -> str:
    if math.isnan(p) or p > SIGNIFICANCE_LEVEL:
        return "none shown" if np.any(less != 0) else "identical"
    return "less regret" if less.mean() > 0 else "more regret"


def slopes(layout: Layout, setting: Setting) -> Table | None:
    """Return how regret grows with the horizon, where one problem was run at several horizons."""
    families: dict[str, list[Panel]] = defaultdict(list)
    for panel in layout.panels:
        if panel.id in layout.problems:
            families[_described(layout.problems[panel.id], without="horizon")].append(panel)
    rows = []
    for name, panels in families.items():
        horizons = [panel.horizon for panel in panels]
        if len(set(horizons)) < 2:
            continue
        listed = ", ".join(f"{horizon:,}" for horizon in sorted(set(horizons)))
        for line in layout.lines:
            cells = [cell for panel in panels if (cell := layout.cell(setting, panel, line))]
            if len(cells) == len(panels):
                regrets = [layout.totals(cell)[1] for cell in cells]
                rows.append(table_row(name, line.label, listed, _slope_cell(horizons, regrets)))
    if not rows:
        return None
    columns = ["Problem", "Agent", "Horizons", "Log-log slope"]
    caption = "How dynamic regret grows: the exponent of T"
    return Table(f"slopes-{setting.id}", caption, columns, rows, setting.id, note("slopes"))


def _slope_cell(horizons: list[int], regrets: list[Floats]) -> TableCell:
    try:
        return interval_cell(statistics.log_log_slope(horizons, regrets))
    except InvalidInputError:
        return TableCell("none: a mean regret is not positive")


def problems_table(layout: Layout) -> Table:
    """Return every problem with its size, its exact variation budgets and its optimum."""
    rows = []
    for panel in layout.panels:
        row = layout.problems.get(panel.id)
        if row is None:
            rows.append(table_row(panel.label, *[DASH] * 6))
            continue
        size = f"{counted(row['n_states'], 'state')}, {counted(row['n_pairs'], 'pair')}"
        budgets = [0.0 if row[name] < LEAST_VARIATION else float(row[name]) for name in ("b_r", "b_p")]
        reward_range = f"[{row['reward_low']:g}, {row['reward_high']:g}]"
        optimum = float(row["optimum"][-1])
        rows.append(table_row(panel.label, _described(row), size, *budgets, reward_range, optimum))
    columns = ["Problem", "Made by", "Size", "B_r", "B_p", "Rewards in", "Sum of optimal gains"]
    return Table("problems", "The problems", columns, rows, "", note("problems"))


def _described(row: Mapping[Any, Any], without: str = "") -> str:
    """Return a problem's name with the parameters that are set."""
    given = {k: v for k, v in read_json(row["parameters"], dict).items() if v is not None and k != without}
    values = ", ".join(f"{key} = {shown(value)}" for key, value in given.items())
    return f"{row['name']} ({values})" if values else str(row["name"])


def agents_table(layout: Layout, setting: Setting) -> Table:
    """Return every agent with its parameters, how often it planned, and the share of vacuous plans."""
    grouped = layout.results.runs.groupby("cell", sort=False)
    runs, stored = grouped[["plans", "vacuous_share"]].mean(), grouped["parameters"].first()
    rows = []
    for line in layout.lines:
        cells = [cell for panel in layout.panels if (cell := layout.cell(setting, panel, line))]
        if not cells:
            continue
        agent = layout.agent_of[cells[0]]
        used = _parameters([read_json(stored[cell], dict) or agent["parameters"] for cell in cells])
        plans, share = (float(mean) for mean in runs.loc[cells].mean())
        vacuous = DASH if math.isnan(share) else TableCell(f"{100 * share:.1f}%", share)
        used = used or ("its defaults" if ":" in agent["name"] else "none")
        rows.append(table_row(line.label, agent["name"], used, plans, vacuous))
    columns = ["Agent", "Class", "Parameters, per problem where they differ", "Plans per run", "Vacuous plans"]
    return Table(f"agents-{setting.id}", "The agents", columns, rows, setting.id, note("agents"))


def _parameters(by_problem: list[dict[str, Any]]) -> str:
    """Return an agent's parameters; one that differs between problems has a value per problem."""
    parts = []
    for key in by_problem[0]:
        values = [shown(parameters.get(key)) for parameters in by_problem]
        if set(values) != {"null"} and key not in {"policies", "policy_index"}:
            parts.append(f"{key} = {values[0] if len(set(values)) == 1 else ' / '.join(values)}")
    return ", ".join(parts)


def vacuous_agents(results: Results) -> list[str]:
    """Return one sentence on the agents whose plans were all or nearly all vacuous, with advice; or nothing.

    Examples
    --------
    ``vacuous_agents(driftmdp.experiments.load(folder))``
    """
    keys = ["agent_base", "agent", "problem"]
    vacuous = results.runs.groupby(keys, sort=False)["vacuous_share"].mean().dropna() >= VACUOUS_SHARE
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
    left_out = len(names) - MAX_NAMES_IN_SENTENCE
    more = f" and {left_out} more" if left_out > 0 else ""
    return [f"All plans, or nearly all, of {', '.join(names[:MAX_NAMES_IN_SENTENCE])}{more} were {VACUOUS_ADVICE}"]

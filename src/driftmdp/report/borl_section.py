"""Which arms a master drew over time: BORL's windows and widenings, from the agents' own summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.experiments.identity import shown
from driftmdp.experiments.schema import read_json
from driftmdp.report.content import Figure, Line, Section
from driftmdp.report.figures import draw_arms
from driftmdp.report.rendered_figure import RenderedFigure
from driftmdp.report.view import View

DESCRIPTION = "Heat maps: blocks from left to right, values of the arms upwards; the brighter, the more often."
UNIFORM = ": all are as likely, whatever was earned, so one seed draws the same in every problem."
KEYS = {"names", "arms", "chosen"}


def shares_of_draws(runs: Sequence[dict[str, Any]]) -> dict[str, tuple[list[str], NDArray[np.float64]]]:
    """Return for each part of a master's arms its values, and the share of seeds that drew each in each block.

    Parameters
    ----------
    runs
        The runs' summaries: ``names``, ``arms`` and ``chosen`` of each.

    Returns
    -------
    dict
        By name (``"window"``): the values as text, and shares of shape (values, blocks).

    Examples
    --------
    >>> shares = shares_of_draws([{"names": ["window"], "arms": [[1], [8]], "chosen": [0, 1, 1]}])
    >>> shares["window"][0], shares["window"][1].tolist()
    (['1', '8'], [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    """
    shares = {}
    for part, name in enumerate(runs[0]["names"]):
        values = sorted({arm[part] for arm in runs[0]["arms"]})
        place = {value: number for number, value in enumerate(values)}
        counts = np.zeros((len(values), max(len(run["chosen"]) for run in runs)))
        for run in runs:
            for block, arm in enumerate(run["chosen"]):
                counts[place[run["arms"][arm][part]], block] += 1
        shares[name] = [f"{value:.3g}" for value in values], counts / len(runs)
    return shares


def arms_section(found: View, drawings: dict[str, RenderedFigure]) -> Section | None:
    """Return the section on agents that draw arms block by block, if there are any; their drawings are added.

    It shows the first setting.
    """
    drawn: list[Figure] = []
    for line in found.lines:
        cells = {p.label: cell for p in found.panels if (cell := found.cell(found.settings[0], p, line))}
        runs = {label: read for label, cell in cells.items() if (read := _runs_with_arms(found, cell))}
        if runs:
            name = f"arms-{line.id}"
            shares = {label: shares_of_draws(read) for label, read in runs.items()}
            drawings[name] = draw_arms(shares)
            caption = _caption(found, line, next(iter(cells.values())), next(iter(runs.values()))[0])
            drawn.append(Figure(name, caption, DESCRIPTION, drawings[name].svg))
    return Section("arms", "What was drawn, block by block", [], [], drawn) if drawn else None


def _runs_with_arms(found: View, cell: str) -> list[dict[str, Any]]:
    runs = [read_json(text) for text in found.results.summaries(cell)]
    return runs if runs and isinstance(runs[0], dict) and runs[0].keys() >= KEYS else []


def _caption(found: View, line: Line, cell: str, run: dict[str, Any]) -> str:
    varied = ", ".join(f"{key} = {shown(value)}" for key, value in found.agent_of[cell]["varied"].items())
    caption = (
        f"{line.label}{f' ({varied})' if varied else ''}: the share of seeds that drew each value in each block."
    )
    if run.get("clipped"):
        caption += f" Its share of uniform draws, {run['formula_gamma']:.3g}, is clipped to {run['gamma']:.3g}"
        caption += UNIFORM if run["gamma"] >= 1 else "."
    return caption

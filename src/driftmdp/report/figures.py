"""Draw the static figures of a report. The data they show are computed elsewhere."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.report.charts import LIGHT_COLOURS, line_style
from driftmdp.report.content import Curve, Setting
from driftmdp.report.panels import Layout
from driftmdp.report.rendered_figure import STYLE, RenderedFigure, styled

MAX_PANELS = 12
MAX_POINTS_PER_LINE = 200  # more cannot be seen at this size
LEGEND_COLUMNS = 4
MAX_SWINGS = 15


@styled(STYLE)
def draw_curves(layout: Layout, setting: Setting, curves: Mapping[str, Curve], what: str) -> RenderedFigure:
    """Draw cumulative ``"reward"`` or ``"regret"``: one panel per problem, one line per agent, intervals shaded."""
    shown = layout.panels[:MAX_PANELS]
    columns, legend_rows = min(len(shown), 2), math.ceil(len(layout.lines) / LEGEND_COLUMNS)
    rows = math.ceil(len(shown) / columns)
    figure, grid = _figure(rows, columns, (4.2, 3.0), bottom=0.6 + 0.22 * legend_rows)
    axes = grid.ravel()
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    for panel, ax in zip(shown, axes, strict=False):
        for number, line in enumerate(layout.lines):
            cell = layout.cell(setting, panel, line)
            if cell is not None:
                _draw_line(ax, curves[cell], what, line.label, number)
        ax.set_title(panel.label, fontsize=9)
        ax.set_xlabel("t")
    axes[0].set_ylabel("cumulative reward" if what == "reward" else "dynamic regret")
    handles, labels = axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="lower center", ncols=min(LEGEND_COLUMNS, len(labels)), frameon=False)
    return RenderedFigure(figure)


def _draw_line(ax: Any, curve: Curve, what: str, label: str, number: int) -> None:
    index, dash = line_style(number)
    colour = LIGHT_COLOURS[index]
    band = curve.reward if what == "reward" else curve.regret
    pattern = (0, tuple(dash)) if dash else "-"
    shown = np.unique(np.linspace(0, len(curve.t) - 1, MAX_POINTS_PER_LINE).astype(int))
    t = np.array(curve.t)[shown]
    ax.plot(t, np.array(band.mean)[shown], color=colour, linestyle=pattern, linewidth=1.4, label=label)
    if curve.n_seeds > 1:
        low, high = (np.array(bound, float)[shown] for bound in (band.low, band.high))
        ax.fill_between(t, low, high, color=colour, alpha=0.18, linewidth=0)


@styled(STYLE)
def draw_drift(layout: Layout) -> RenderedFigure:
    """Draw the mean reward and the transition probability that change most, and the optimal gain, per problem."""
    shown = [panel for panel in layout.panels if panel.id in layout.problems][:MAX_PANELS]
    figure, axes = _figure(2, len(shown), (3.1, 2.4))
    for column, panel in enumerate(shown):
        row = layout.problems[panel.id]
        top, bottom = axes[0][column], axes[1][column]
        rewards = {row["drift_reward_name"]: row["drift_reward"], "optimal gain": row["drift_gain"]}
        transitions = {row["drift_transition_name"]: row["drift_transition"]}
        _draw_series(top, row["drift_t"], rewards, first_colour=0)
        _draw_series(bottom, row["drift_t"], transitions, first_colour=2)
        bottom.set_ylim(-0.02, 1.02)
        top.set_title(_short(panel.label), fontsize=8)
    return RenderedFigure(figure)


def _draw_series(ax: Any, t: Any, series: Mapping[str, Any], first_colour: int) -> None:
    last = readable_length(np.asarray(next(iter(series.values()))))
    for number, (name, values) in enumerate(series.items()):
        colour, dash = LIGHT_COLOURS[first_colour + number], "--" if number else "-"
        ax.plot(t[:last], values[:last], color=colour, linestyle=dash, linewidth=1.2, label=name)
    ax.set_xlabel("t" if last == len(t) else f"t, the first {t[last - 1]:,} of {t[-1]:,} steps", fontsize=8)
    ax.legend(fontsize=7, loc="upper right")


def readable_length(values: NDArray[np.float64]) -> int:
    """Return how many points to show so that a series swings some fifteen times at most.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.report.figures import readable_length
    >>> readable_length(np.arange(100.0)), readable_length(np.sin(np.arange(2000.0)))
    (100, 94)
    """
    turns = np.flatnonzero(np.diff(np.sign(np.diff(values))) != 0) + 2
    return int(turns[2 * MAX_SWINGS - 1]) if turns.size >= 2 * MAX_SWINGS else values.size


@styled(STYLE)
def draw_arms(draws: Mapping[str, Mapping[str, tuple[list[str], NDArray[np.float64]]]]) -> RenderedFigure:
    """Draw which arms a master drew over time: one column per problem, one row per part of the arms."""
    parts = list(next(iter(draws.values())))
    figure, axes = _figure(len(parts), min(len(draws), MAX_PANELS), (3.0, 2.4), right=1.0)
    top = max(float(shares.max()) for by_part in draws.values() for _, shares in by_part.values())
    for column, (title, by_part) in enumerate(list(draws.items())[:MAX_PANELS]):
        axes[0][column].set_title(_short(title), fontsize=8)
        for row, part in enumerate(parts):
            values, shares = by_part[part]
            ax = axes[row][column]
            edges = (0.5, shares.shape[1] + 0.5, -0.5, len(values) - 0.5)  # blocks count from 1
            image = ax.imshow(shares, aspect="auto", origin="lower", cmap="cividis", vmin=0, vmax=top, extent=edges)
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.set_yticks(range(len(values)), values, fontsize=7)
            ax.grid(visible=False)
            if column == 0:
                ax.set_ylabel(part)
            if row == len(parts) - 1:
                ax.set_xlabel("block")
    width, height = figure.get_size_inches()
    bar = figure.add_axes((1 - 0.8 / width, 0.5 / height, 0.15 / width, 1 - 0.85 / height))
    figure.colorbar(image, cax=bar, label="share of seeds")
    return RenderedFigure(figure)


def _short(label: str) -> str:
    return label if len(label) <= 42 else f"{label[:39]}..."


def _figure(
    rows: int, columns: int, size: tuple[float, float], bottom: float = 0.5, right: float = 0.15
) -> tuple[Any, Any]:
    """Return a figure without a window, and its axes as an array of rows and columns.

    Margins are in inches and fixed, because matplotlib's own layout takes longer than all the drawing.
    """
    from matplotlib.figure import Figure

    left, top, gap = 0.75, 0.35, (0.6, 0.65)
    width = left + right + columns * size[0] - gap[0]
    height = top + bottom + rows * size[1] - gap[1]
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        bottom=bottom / height,
        top=1 - top / height,
        wspace=gap[0] / (size[0] - gap[0]),
        hspace=gap[1] / (size[1] - gap[1]),
    )
    return figure, figure.subplots(rows, columns, squeeze=False)

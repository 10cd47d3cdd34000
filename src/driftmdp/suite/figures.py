"""The figures of the leaderboard: all ratios of each agent, and a map of them at each horizon."""

from typing import Any

import numpy as np

from driftmdp.report.charts import LIGHT_COLOURS
from driftmdp.report.rendered_figure import STYLE, RenderedFigure, stacked_axes, styled
from driftmdp.suite.leaderboard import Contest, Leaderboard, standings

LARGEST_RATIO = 16.0  # ratios beyond this, or below one over it, are drawn at the edge
TICKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)
LABELS = ("≤ 1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8", "≥ 16")
GREY = "#5a6069"
WIDTH = 9.6  # inches


def _axis_position(ratio: Any) -> Any:
    """Return where a ratio, or an array of ratios, is drawn, in powers of two."""
    return np.log2(np.clip(ratio, 1 / LARGEST_RATIO, LARGEST_RATIO))


@styled(STYLE)
def draw_spread(board: Leaderboard) -> RenderedFigure:
    """Draw the ratio of each agent to the yardstick: a dot per problem and horizon, a bar for the median."""
    agents = [one for one in standings(board) if one.agent != board.yardstick]
    contests = board.family("reported")
    groups = list(dict.fromkeys(contest.group for contest in contests))
    heights = [0.36 * max(2, len(agents))]
    figure, (ax,) = stacked_axes(heights, left=1.9, right=0.55, bottom=0.35 + 0.45, width=WIDTH)
    for row, one in enumerate(agents):
        met = [contest for contest in contests if one.agent in contest.regrets]
        shifts = np.linspace(-0.3, 0.3, len(met)) if len(met) > 1 else [0.0]
        for contest, shift in zip(met, shifts, strict=True):
            colour = LIGHT_COLOURS[groups.index(contest.group) % len(LIGHT_COLOURS)]
            ratio = _axis_position(contest.ratio(one.agent).estimate)
            ax.plot(ratio, row + shift, "o", color=colour, markersize=3.6)
        middle = _axis_position(one.median.estimate)
        ax.plot([middle, middle], [row - 0.38, row + 0.38], color="black", linewidth=2.0, zorder=3)
    for group, colour in zip(groups, LIGHT_COLOURS, strict=False):
        ax.plot([], [], "o", color=colour, markersize=4, label=group)
    ax.axvline(0.0, color=GREY, linewidth=1.0, zorder=1)
    ax.set_yticks(range(len(agents)), [one.agent for one in agents])
    ax.set_ylim(len(agents) - 0.4, -0.6)
    ax.set_xticks(np.log2(TICKS), LABELS)
    ax.grid(visible=False, axis="y")
    ax.set_title(f"regret over {board.yardstick}'s: left of 1 is less", fontsize=9, loc="left")
    figure.legend(loc="lower center", ncols=min(8, len(groups)), frameon=False, fontsize=8)
    return RenderedFigure(figure)


@styled(STYLE)
def draw_map(board: Leaderboard, contests: list[Contest]) -> RenderedFigure:
    """Draw the ratios of all agents on some problems as a map with numbers."""
    agents = [a for a in board.rivals if any(a in contest.regrets for contest in contests)]
    ratios = [[c.ratio(agent).estimate if agent in c.regrets else np.nan for agent in agents] for c in contests]
    found = np.array(ratios)
    heights = [0.21 * max(2, len(contests))]
    figure, (ax,) = stacked_axes(heights, left=2.35, right=0.55, top=1.15, bottom=0.35, width=WIDTH)
    image = _axis_position(found)
    most = np.log2(LARGEST_RATIO)
    ax.imshow(image, aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most)
    for (row, column), ratio in np.ndenumerate(found):
        if np.isfinite(ratio):
            colour = "white" if abs(image[row, column]) > 0.62 * most else "black"
            weight = "bold" if contests[row].ranks.get(agents[column]) == 1 else "normal"
            text = f"{ratio:.2f}" if abs(ratio) < 10 else f"{ratio:.0f}"
            ax.text(column, row, text, ha="center", va="center", fontsize=7, color=colour, fontweight=weight)
    ax.set_yticks(range(len(contests)), [contest.label for contest in contests], fontsize=7.5)
    ax.set_xticks(range(len(agents)), agents, rotation=35, ha="left", fontsize=8)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return RenderedFigure(figure)

"""The figures of the leaderboard: all ratios of each agent, performance profiles, and regret against time.

All are narrow, so that two stand side by side on a wide screen and one is legible on a phone.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftmdp.report.charts import LIGHT_COLOURS
from driftmdp.report.rendered_figure import STYLE, Axes, RenderedFigure, stacked_axes, styled
from driftmdp.suite.leaderboard import KINDS, Floats, Leaderboard
from driftmdp.suite.standings import Standing, mean_time, profile, standings

LARGEST_RATIO = 16.0  # ratios beyond this, or below one over it, are drawn at the edge
TICKS = (1 / 16, 1 / 4, 1, 4, 16)
LABELS = ("≤ 1/16", "1/4", "1", "4", "≥ 16")
GREY, PALE = "#5a6069", "#b9bec6"
WIDTH = 4.9  # inches
LONGEST_NAME = 20  # letters
COLOURED = 8  # lines in colour, the others are grey
NAMED = 20  # agents of the profiles, the best ones
BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}


def _short(agent: str) -> str:
    """Return the name of an agent, cut where a figure has no room for it, but with its scale."""
    if len(agent) <= LONGEST_NAME:
        return agent
    _, times, scale = agent.rpartition(" x ")
    end = f"{times}{scale}" if times and len(scale) < LONGEST_NAME // 2 else ""
    return f"{agent[: LONGEST_NAME - 1 - len(end)].rstrip()}…{end}"


def _axis_position(ratio: Any) -> Any:
    """Return where a ratio, or an array of ratios, is drawn, in powers of two."""
    return np.log2(np.clip(ratio, 1 / LARGEST_RATIO, LARGEST_RATIO))


@styled(STYLE)
def draw_spread(board: Leaderboard) -> RenderedFigure:
    """Draw the ratio of each agent to the yardstick: a dot per problem and horizon, a bar for the median."""
    agents = [one for one in standings(board) if one.agent != board.yardstick]
    contests = board.family("reported")
    figure, (ax,) = stacked_axes([0.3 * max(2, len(agents))], left=1.55, right=0.25, bottom=0.8, width=WIDTH)
    for row, one in enumerate(agents):
        for place, kind in enumerate(KINDS):
            met = [c for c in contests if c.kind == kind and one.agent in c.regrets]
            ratios = _axis_position([c.ratio(one.agent).estimate for c in met])
            heights = row + (place - 1) * 0.25 + np.linspace(-0.1, 0.1, len(met)) if len(met) > 1 else row
            ax.plot(ratios, np.broadcast_to(heights, ratios.shape), "o", color=LIGHT_COLOURS[place], markersize=2.2)
        middle = _axis_position(one.median.estimate)
        ax.plot([middle, middle], [row - 0.42, row + 0.42], color="black", linewidth=2.0, zorder=3)
    for place, (kind, label) in enumerate(KINDS.items()):
        if any(contest.kind == kind for contest in contests):
            ax.plot([], [], "o", color=LIGHT_COLOURS[place], markersize=4, label=label.replace(" problems", ""))
    ax.axvline(0.0, color=GREY, linewidth=1.0, zorder=1)
    ax.set_yticks(range(len(agents)), [_short(one.agent) for one in agents])
    ax.set_ylim(len(agents) - 0.4, -0.6)
    ax.set_xticks(np.log2(TICKS), LABELS)
    ax.grid(visible=False, axis="y")
    ax.set_title(f"regret over {board.yardstick}'s: left of 1 is less", fontsize=9, loc="left")
    figure.legend(loc="lower center", ncols=3, frameon=False, fontsize=8, columnspacing=1.0, handletextpad=0.2)
    return RenderedFigure(figure)


@styled(STYLE)
def draw_profiles(board: Leaderboard) -> RenderedFigure:
    """Draw for each agent the share of contests where its regret is within a factor of the best agent's."""
    contests = board.family("reported")
    factors = np.geomspace(1, LARGEST_RATIO, 161)
    agents = {one.agent: one.everywhere for one in standings(board) if one.agent != board.yardstick}
    shares = {agent: profile(contests, agent, factors) for agent in agents}
    ranked = sorted(agents, key=lambda agent: (not agents[agent], -float(shares[agent].mean())))
    figure, (ax,) = stacked_axes([4.2], left=0.55, right=1.6, bottom=0.5, width=WIDTH)
    colours = [LIGHT_COLOURS[i] if i < COLOURED and agents[agent] else PALE for i, agent in enumerate(ranked)]
    for agent, colour in zip(ranked, colours, strict=True):
        is_coloured = colour != PALE
        width, order = (1.6, 3) if is_coloured else (1.0, 2)
        ax.plot(np.log2(factors), shares[agent], color=colour, linewidth=width, zorder=order)
    # More names than fit would lie on each other.
    ends = spread_labels([float(shares[agent][-1]) for agent in ranked[:NAMED]], gap=0.045)
    far = np.log2(LARGEST_RATIO)
    for agent, colour, end in zip(ranked, colours, ends, strict=False):
        ax.plot([far, far + 0.15], [shares[agent][-1], end], color=colour, linewidth=0.7, clip_on=False)
        ax.text(far + 0.2, end, _short(agent), color=GREY if colour == PALE else colour, fontsize=8, va="center")
    ax.set_xlim(0, np.log2(LARGEST_RATIO))
    ax.set_ylim(0, 1.01)
    ax.set_xticks(range(5), [str(2**power) for power in range(5)])
    ax.set_yticks(np.linspace(0, 1, 6), [f"{percent}%" for percent in range(0, 101, 20)])
    ax.set_xlabel("factor")
    ax.set_title("share of problems within a factor of the best agent", fontsize=9, loc="left")
    return RenderedFigure(figure)


def spread_labels(positions: Sequence[float], gap: float, highest: float = 1.0) -> Floats:
    """Return positions near the given ones that are at least ``gap`` apart, and at most ``highest``."""
    order = np.argsort(-np.asarray(positions), kind="stable")
    placed = np.array(positions, float)
    ceiling = highest + gap
    for place in order:
        placed[place] = ceiling = min(placed[place], ceiling - gap)
    floor = -gap
    for place in order[::-1]:  # what was pushed below 0 comes back up
        placed[place] = floor = max(placed[place], floor + gap)
    return placed


@styled(STYLE)
def draw_times(board: Leaderboard) -> RenderedFigure:
    """Draw the median ratio of each agent against its time per step, and those that no other is better in both."""
    contests = board.family("reported")
    found = [one for one in standings(board) if one.agent != board.yardstick]
    timed = [(mean_time(contests, one.agent), one) for one in found]
    points = [(time, _least(one), one) for time, one in timed if time is not None]
    figure, (ax,) = stacked_axes([4.2], left=0.55, right=0.2, bottom=0.5, width=WIDTH)
    ax.set_xscale("log")
    ax.set_yscale("log", base=2)
    ax.axhline(1.0, color=GREY, linewidth=1.0)
    front = pareto_front([(x, y) for x, y, one in points if one.everywhere])
    if front:
        ax.step(*np.array(front).T, where="post", color=LIGHT_COLOURS[0], linewidth=1.2, zorder=1)
    for x, y, one in points:
        colour = LIGHT_COLOURS[0] if (x, y) in front else GREY
        ax.plot(x, y, "o", color=colour, markersize=5, fillstyle="full" if one.everywhere else "none")
    ax.margins(0.12, 0.08)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel("microseconds per step, geometric mean")
    ax.set_title(f"median regret over {board.yardstick}'s", fontsize=9, loc="left")
    _label_points(ax, sorted(points, key=lambda point: (point[:2] not in front, point[1])))
    return RenderedFigure(figure)


def _least(one: Standing) -> float:
    return max(float(one.median.estimate), 1 / LARGEST_RATIO)


def pareto_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other is below in both coordinates, from left to right."""
    front: list[tuple[float, float]] = []
    for point in sorted(points):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    return front


# Where a label may stand, in points from its point, and how it is aligned there.
PLACES = [
    (6, 0, "left", "center"), (-6, 0, "right", "center"), (0, 6, "center", "bottom"), (0, -6, "center", "top"),
    (5, 6, "left", "bottom"), (5, -6, "left", "top"), (-5, 6, "right", "bottom"), (-5, -6, "right", "top"),
    (8, 13, "left", "bottom"), (8, -13, "left", "top"), (-8, 13, "right", "bottom"), (-8, -13, "right", "top"),
    (8, 22, "left", "bottom"), (8, -22, "left", "top"), (-8, 22, "right", "bottom"), (-8, -22, "right", "top"),
]  # fmt: skip


def _label_points(ax: Axes, points: Sequence[tuple[float, float, Standing]]) -> None:
    """Write the name of each agent at the first place where it covers nothing, if there is one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    figure: Any = ax.figure
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in ax.transData.transform([p[:2] for p in points])]
    inside = ax.get_window_extent()
    for x, y, one in points:
        for place in PLACES:
            label = _label(ax, _short(one.agent), (x, y), place)
            box = _text_box(label, canvas)
            if inside.x0 <= box.x0 and box.x1 <= inside.x1 and not any(map(box.overlaps, taken)):
                taken.append(box)
                break
            label.remove()


def _label(ax: Axes, text: str, point: tuple[float, float], place: tuple[int, int, str, str]) -> Any:
    """Write a label at a place beside its point, with a line between them if it is far."""
    x, y, across, down = place
    style: dict[str, Any] = {"ha": across, "va": down, "fontsize": 8, "bbox": BEHIND}
    if abs(y) > 6:
        style["arrowprops"] = {"arrowstyle": "-", "color": PALE, "linewidth": 0.7}
    return ax.annotate(text, point, (x, y), textcoords="offset points", **style)


def _text_box(label: Any, canvas: Any) -> Any:
    """Return the box of a label's text, without its line."""
    from matplotlib.text import Text

    label.update_positions(canvas.get_renderer())
    return Text.get_window_extent(label, canvas.get_renderer())

"""[CSZ20] fig:borl_int, the structure of BORL, from a run: the blocks, the master's draws and its feedback."""

from collections import defaultdict

from driftmdp import problems
from driftmdp.agents import BORL, BlockSummary
from driftmdp.formulas import BorlSchedule
from driftmdp.report.paper import style
from driftmdp.report.rendered_figure import Axes, Figure, stacked_axes, styled
from driftmdp.simulation import simulate
from driftmdp.validation import quietly

# Lower and upper edge of each row of boxes.
MASTER, DRAWS, BLOCKS, WINDOWS = (0.86, 1.0), (0.56, 0.78), (0.0, 0.27), (0.015, 0.055)
DRAWN_COLOUR, OTHER_COLOUR = "#dcebf5", "#f1f2f4"
ROW_LABELS = (
    (0.72, "window $W_i$", style.BLACK),
    (0.62, "widening $\\eta_i$", style.BLACK),
    (0.455, "draw", style.BLUE),
    (0.375, "feed back", style.RED),
    (0.21, "block $i$", style.BLACK),
    (0.125, "reward $/\\,H$", style.BLACK),
    (0.035, "$W_i$ to scale", style.BLACK),
)


def borl_run(horizon: int = 5000, seed: int = 0) -> tuple[BorlSchedule, BlockSummary]:
    """Run BORL on the paper's two-state problem; return its schedule and the summary of the run.

    Examples
    --------
    >>> from driftmdp.report.paper.borl_structure import borl_run
    >>> plan, summary = borl_run()
    >>> plan.n_blocks, len(summary.chosen), summary.chosen_arms[0]
    (11, 11, (60, 0.03653...))
    """
    problem = problems.two_state(horizon=horizon)
    with quietly():  # the figure itself says that gamma is clipped
        agent = BORL.for_problem(problem)
        summary = simulate(agent, problem, seed).summary
    return BORL.schedule(problem.space, horizon), summary


@styled(style.PAPER_STYLE)
def borl_structure(horizon: int = 5000, seed: int = 0) -> Figure:
    """Draw the blocks of a run of BORL: the arm drawn for each, its window to scale, and what was fed back.

    Examples
    --------
    >>> from driftmdp.report.paper.borl_structure import borl_structure
    >>> figure = borl_structure()
    >>> len(figure.axes)
    2
    """
    plan, summary = borl_run(horizon, seed)
    figure, (top, bottom) = stacked_axes([2.75, 1.45], left=0.95, right=0.22, top=0.2, bottom=0.5, gap=0.95)
    _draw_run(top, summary, horizon)
    _draw_arms(bottom, plan, summary)
    return figure


def _draw_run(ax: Axes, summary: BlockSummary, horizon: int) -> None:
    style.remove_frame(ax)
    ax.set(xlim=(0, horizon), ylim=(-0.02, 1.0))
    ends = [*(int(start) - 1 for start in summary.starts), horizon]
    labels = [str(end) for end in ends]
    if summary.sizes[-1] < 0.6 * summary.block_length:
        labels[-2] = ""  # it would touch the last one
    ax.set_xticks(ends, labels, fontsize=8)
    ax.set_xlabel(f"step; blocks have $H$ = {summary.block_length} steps, the last one {summary.sizes[-1]}")
    _draw_master(ax, summary, horizon)
    for block in range(len(summary.chosen)):
        _draw_block(ax, summary, block)
    for height, text, colour in ROW_LABELS:
        ax.text(-60, height, text, ha="right", va="center", fontsize=8.5, color=colour)


def _draw_master(ax: Axes, summary: BlockSummary, horizon: int) -> None:
    _draw_box(ax, 0, horizon, MASTER, style.BLUE, "master")
    clipped = f", clipped from {summary.formula_gamma:.2f}: every arm as likely" if summary.clipped else ""
    text = f"master: {summary.master} over {len(summary.arms)} arms, $\\gamma$ = {summary.gamma:.3g}{clipped}"
    ax.text(horizon / 2, sum(MASTER) / 2, text, color="white", fontsize=10, **style.CENTRED)


def _draw_block(ax: Axes, summary: BlockSummary, block: int) -> None:
    """Draw one block as a column: the arm that was drawn, the block, and the feedback to the master."""
    start, size = int(summary.starts[block]) - 1, int(summary.sizes[block])
    window, widening = summary.chosen_arms[block]
    _draw_box(ax, start, size, DRAWS, DRAWN_COLOUR, "draw")
    _draw_box(ax, start, size, BLOCKS, OTHER_COLOUR, "block")
    _draw_box(ax, start, min(int(window), size), WINDOWS, style.GREEN, "window", edge=style.GREEN)
    middle = start + size / 2
    font = 8.5 if size > 0.6 * summary.block_length else 6.5
    ax.text(middle, 0.72, f"{window:g}", fontsize=font, **style.CENTRED)
    ax.text(middle, 0.62, f"{widening:.2g}", fontsize=font, **style.CENTRED)
    ax.text(middle, 0.21, str(block + 1), fontsize=font, fontweight="bold", **style.CENTRED)
    ax.text(middle, 0.125, f"{summary.feedback[block]:.2f}", fontsize=font, gid="feedback", **style.CENTRED)
    _draw_arrow(ax, middle, MASTER[0], DRAWS[1], style.BLUE)
    _draw_arrow(ax, middle, DRAWS[0], BLOCKS[1], style.BLUE)
    _draw_arrow(ax, start + size, BLOCKS[1], MASTER[0], style.RED)


def _draw_box(
    ax: Axes,
    start: float,
    size: float,
    heights: tuple[float, float],
    face: str,
    name: str,
    edge: str = "white",
) -> None:
    """Draw a box. A white edge separates it from the next. An edge of its own colour shows even a narrow box."""
    from matplotlib.patches import Rectangle

    low, high = heights
    width = 2.0 if edge == "white" else 0.8
    box = Rectangle((start, low), size, high - low, facecolor=face, edgecolor=edge, linewidth=width, gid=name)
    ax.add_patch(box)


def _draw_arrow(ax: Axes, x: float, begin: float, end: float, colour: str) -> None:
    arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.2, "shrinkA": 1, "shrinkB": 1}
    ax.annotate("", (x, end), (x, begin), arrowprops=arrow, annotation_clip=False)


def _draw_arms(ax: Axes, plan: BorlSchedule, summary: BlockSummary) -> None:
    """Draw the set J of arms as a table, with the blocks that drew each arm."""
    drew: dict[tuple[float, ...], list[str]] = defaultdict(list)
    for block, arm in enumerate(summary.chosen_arms):
        drew[arm].append(str(block + 1))
    for column, window in enumerate(plan.windows):
        for row, widening in enumerate(plan.widenings):
            blocks = drew[window, widening]
            _draw_box(ax, column - 0.5, 1, (row - 0.5, row + 0.5), DRAWN_COLOUR if blocks else OTHER_COLOUR, "arm")
            ax.text(column, row, ", ".join(blocks), fontsize=8.5, fontweight="bold", **style.CENTRED)
    ax.grid(visible=False)
    ax.set(xlim=(-0.5, len(plan.windows) - 0.5), ylim=(-0.5, len(plan.widenings) - 0.5))
    ax.set_xticks(range(len(plan.windows)), [str(window) for window in plan.windows])
    ax.set_yticks(range(len(plan.widenings)), [f"{widening:.2g}" for widening in plan.widenings])
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set(xlabel="window $W$", ylabel="widening $\\eta$")
    ax.set_title("the set $J$ of arms, and the blocks that drew each", fontsize=9, loc="left")

"""[CSZ20] fig:Q: the episodes of Q_T and of its cover on a run, and why they are in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftmdp import problems
from driftmdp.report.paper.sheet import BLACK, BLUE, PALE, PAPER, RED, bare, stacked
from driftmdp.report.rendered_figure import styled
from driftmdp.statements.run_trace import RunTrace, trace_run
from driftmdp.statements.verdict import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Theory's radii contain every transition here, and Q_T is empty: 0.4 of them do not.
WINDOW, WIDENING, SCALE, SEED = 500, 0.05, 0.4, 1
LOWEST = -1.1  # of what is shown: the first episodes know too little to be worth the room
LOOKS = (  # label, colour, marker
    ("in $Q_T$: outside, and more than $W$ after the last", RED, "D"),
    ("in $\\tilde{Q}_T$ only: begins within $W$ steps after one in $Q_T$", "#f5c97f", "s"),
    ("in neither: $p_{\\tau(m)}$ is inside $H_p(\\eta)$", BLUE, "o"),
)


def q_run(seed: int = SEED) -> RunTrace:
    """Return a run of SWUCRL2-CW on the two-state problem that has episodes of all three kinds.

    Examples
    --------
    >>> trace = q_run()
    >>> trace.window, len(trace.q_set), int(trace.q_cover.sum()), len(trace.starts)
    (500, 5, 52, 106)
    """
    problem = problems.two_state(horizon=5000)
    return trace_run("two-state", problem, seed, window=WINDOW, widening=WIDENING, scale=SCALE)


def excess(trace: RunTrace) -> Floats:
    """Return by how much p_tau(m) lies outside of H_p(eta), shape (M,).

    That is the largest ||p_tau(m) - p^||_1 - rad_p - eta of any pair.

    A pair that was never seen excludes nothing; where none was seen it is NaN.
    """
    beyond = np.abs(trace.p_at_start - trace.p_hat).sum(axis=2) - trace.rad_p - trace.widening
    worst = np.where(trace.counts > 0, beyond, -np.inf).max(axis=1)
    return np.where(np.isinf(worst), np.nan, worst)


def kinds(trace: RunTrace) -> NDArray[np.int64]:
    """Return of every episode whether it is in Q_T (0), in its cover only (1), or in neither (2)."""
    found = np.where(trace.q_cover, 1, 2)
    found[trace.q_set] = 0
    return found


@styled(PAPER)
def q_sets(seed: int = SEED) -> Figure:
    """Draw the episodes in time, coloured by kind, the window after each of Q_T, and how far outside each was.

    Examples
    --------
    >>> len(q_sets().axes)
    2
    """
    trace = q_run(seed)
    figure, (top, bottom) = stacked([0.85, 2.2], left=0.85, right=0.4, top=0.75, bottom=0.5, gap=0.2)
    _draw_episodes(top, trace)
    _draw_excess(bottom, trace)
    handles, labels = bottom.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(0.1, 1.0), frameon=False, fontsize=8.5)
    return figure


def _draw_episodes(ax: Axes, trace: RunTrace) -> None:
    """Draw the episodes as bars, as long as they are, and the window after each of Q_T."""
    from matplotlib.patches import Rectangle

    for start, length, kind in zip(trace.starts, trace.lengths, kinds(trace), strict=True):
        bar = Rectangle((start, 0), length, 1, facecolor=LOOKS[kind][1], edgecolor="white", linewidth=0.4)
        bar.set_gid(f"episode-{kind}")
        ax.add_patch(bar)
    ends = {"arrowstyle": "|-|,widthA=0.25,widthB=0.25", "shrinkA": 0, "shrinkB": 0}
    for m in trace.q_set:
        first, last = int(trace.starts[m]), int(trace.starts[m]) + trace.window
        ax.annotate("", (last, 1.25), (first, 1.25), arrowprops=ends)
        ax.text((first + last) / 2, 1.4, "$W$", ha="center", va="bottom", fontsize=9)
    bare(ax)
    ax.spines["bottom"].set_visible(False)
    ax.set_xlim(1, trace.horizon)
    ax.set_ylim(-0.05, 1.9)
    ax.set_xticks([])
    ax.text(-60, 0.5, "episodes", ha="right", va="center")


def _draw_excess(ax: Axes, trace: RunTrace) -> None:
    """Draw how far outside of its region the world was when each episode began."""
    distance, kind = excess(trace), kinds(trace)
    ax.axhline(0.0, color=BLACK, linewidth=1.0)
    ax.vlines(trace.starts, 0.0, distance, color=PALE, linewidth=0.8, zorder=1)
    for number, (label, colour, marker) in enumerate(LOOKS):
        at, size = np.flatnonzero(kind == number), 4.5 if number else 6.5
        (drawn,) = ax.plot(trace.starts[at], distance[at], marker, color=colour, markersize=size, label=label)
        drawn.set(markeredgecolor=BLACK, markeredgewidth=0.5, gid=f"kind-{number}")
    below = int((distance < LOWEST).sum())
    ax.text(260, LOWEST + 0.05, f"{below} of the first episodes lie below", fontsize=8, va="bottom")
    ax.set_xlim(1, trace.horizon)
    ax.set_ylim(LOWEST, 0.4)
    ax.set_xlabel(
        f"start of the episode, $\\tau(m)$;  $W$ = {trace.window}, $\\eta$ = {trace.widening:g}, "
        f"radii times {trace.agent.scale:g}"
    )
    for height, side in ((0.2, "outside"), (LOWEST / 2, "inside")):
        ax.text(1.015, height, side, rotation=90, va="center", transform=ax.get_yaxis_transform())
    ax.set_ylabel("$\\|p_{\\tau(m)} - \\hat{p}\\|_1 - rad_p - \\eta$")

"""[CSZ20] fig:sim_reward: the mean reward of (s2, a2) of the two-state problem, slow and fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driftmdp import problems
from driftmdp.mdp import Problem
from driftmdp.report.paper.sheet import BLUE, PAPER, RED, stacked
from driftmdp.report.rendered_figure import styled
from driftmdp.statements.verdict import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPEEDS = ("T^0.2", "T^0.5")
COLOURS = (BLUE, RED)
ZOOM = 400
RANGE = problems.two_state(horizon=1).reward_range


def reward_course(problem: Problem, state: int = 1, action: int = 1) -> Floats:
    """Return r_t of a pair, shape (T,).

    Examples
    --------
    >>> reward_course(problems.two_state(horizon=5000)).round(2)[:2]
    array([-2.8, -2.8])
    """
    drifting, pair = problem.drifting, problem.space.pair(state, action)
    return np.array([drifting.rewards_at(t)[pair] for t in range(1, problem.horizon + 1)])


@styled(PAPER)
def reward_process(horizon: int = 5000) -> Figure:
    """Draw r_t(s2, a2) for V_r = T^0.2 and T^0.5 over the horizon, and both over its beginning.

    Examples
    --------
    >>> len(reward_process(horizon=500).axes)
    3
    """
    figure, axes = stacked([1.25, 1.25, 1.25], top=0.35, gap=0.62)
    for ax, speed, colour in zip(axes, SPEEDS, COLOURS, strict=False):
        problem = problems.two_state(horizon=horizon, v_r=speed)
        course = reward_course(problem)
        _draw_course(ax, course, colour, 0.6)
        _draw_course(axes[2], course[:ZOOM], colour, 1.4, _power(speed))
        ax.set_title(_title(problem, speed), fontsize=9, loc="left")
        ax.set_xlim(1, horizon)
    axes[2].set_title(f"both, the first {min(ZOOM, horizon)} steps", fontsize=9, loc="left")
    axes[2].set_xlim(1, min(ZOOM, horizon))
    axes[2].set_xlabel("$t$")
    axes[2].legend(loc="lower right", ncols=2, frameon=False, bbox_to_anchor=(1.0, 0.97), borderaxespad=0.0)
    return figure


def _draw_course(ax: Axes, course: Floats, colour: str, width: float, label: str = "") -> None:
    ax.plot(np.arange(1, course.size + 1), course, color=colour, linewidth=width, label=label or None)
    low, high = RANGE
    ax.set_ylim(low - 0.4, high + 0.4)
    ax.set_yticks([low, (low + high) / 2, high])
    ax.set_ylabel("$r_t(s_2, a_2)$")


def _power(speed: str) -> str:
    base, _, exponent = speed.partition("^")
    return f"$V_r = {base}^{{{exponent}}}$"


def _title(problem: Problem, speed: str) -> str:
    printed, exact = problem.budget("printed")[0], problem.drifting.variation().reward
    v_r = problem.budget("order")[0]
    variation = f"total variation $B_r$ = {exact:,.1f} (printed: $15 V_r$ = {printed:,.1f})"
    return f"{_power(speed)} = {v_r:.2f}; {variation}"

"""[CSZ20] fig:peril1: the latent MDPs, policies, actions and states of Proposition 3's trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from driftmdp import problems
from driftmdp.report.paper.sheet import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PAPER,
    PURPLE,
    RED,
    bare,
    stacked,
    symbol,
)
from driftmdp.report.rendered_figure import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "$p^1$": GREEN,
    "$p^2$": ORANGE,
    "$\\pi^1$": PURPLE,
    "$\\pi^2$": GREY,
    "$a_{1}$": BLUE,
    "$a_{2}$": BLUE,
    "$b_{1}$": RED,
    "$b_{2}$": RED,
}
Value = TypeVar("Value")


@dataclass(frozen=True)
class Course:
    """What happens at each step 1 .. 4 tau: the names of MDP, policy and action, and the state's number."""

    tau: int
    worlds: list[str]
    policies: list[str]
    actions: list[str]
    states: list[int]


def course(tau: int) -> Course:
    """Return the scripted trajectory in the paper's names.

    Examples
    --------
    >>> found = course(tau=2)
    >>> found.states
    [1, 1, 1, 2, 2, 2, 2, 1]
    >>> found.actions[2], found.worlds[2]
    ('$a_{1}$', '$p^2$')
    """
    problem = problems.perils(tau=tau)
    states, actions = problem.scripted_trajectory()
    names = problem.space.action_names or ()
    anchors = problem.drifting.weights.arrays.indices  # one anchor a step
    policies = [tuple(problem.scripted_policy(t).tolist()) for t in range(1, problem.horizon + 1)]
    order = list(dict.fromkeys(policies))
    return Course(
        tau,
        [f"$p^{int(anchor) + 1}$" for anchor in anchors],
        [f"$\\pi^{order.index(policy) + 1}$" for policy in policies],
        [symbol(names[s][a]) for s, a in zip(states[:-1].tolist(), actions.tolist(), strict=True)],
        (states[:-1] + 1).tolist(),
    )


def stretches(values: Sequence[Value]) -> list[tuple[int, int, Value]]:
    """Return the runs of equal values as (first step, last step, value), steps from 1.

    Examples
    --------
    >>> stretches("aab")
    [(1, 2, 'a'), (3, 3, 'b')]
    """
    found: list[tuple[int, int, Value]] = []
    for step, value in enumerate(values, start=1):
        if found and found[-1][2] == value:
            found[-1] = (found[-1][0], step, value)
        else:
            found.append((step, step, value))
    return found


@styled(PAPER)
def peril_trajectory(tau: int = 8) -> Figure:
    """Draw what is latent, what is played and where that leads over the window of W = 4 tau steps.

    Examples
    --------
    >>> len(peril_trajectory(tau=4).axes)
    2
    """
    shown = course(tau)
    figure, (top, bottom) = stacked([1.3, 0.95], left=1.05, top=0.4, bottom=0.55, gap=0.1)
    _draw_rows(top, shown)
    _draw_states(bottom, shown)
    return figure


def _draw_rows(ax: Axes, shown: Course) -> None:
    """Draw the actions, the policies and the MDPs as bars, with the first steps of the MDPs above."""
    rows = {"action": shown.actions, "policy": shown.policies, "latent MDP": shown.worlds}
    for row, (text, values) in enumerate(rows.items()):
        _draw_row(ax, row, values)
        ax.text(0.1, row, text, ha="right", va="center")
    bare(ax)
    ax.spines["bottom"].set_visible(False)
    ax.set_ylim(-0.5, 2.42)
    ax.xaxis.tick_top()
    _mark_steps(ax, [first for first, _, _ in stretches(shown.worlds)], shown.tau)


def _mark_steps(ax: Axes, steps: Sequence[int], tau: int) -> None:
    ax.set_xlim(0.5, 4 * tau + 0.5)
    ax.set_xticks(steps, [_in_tau(t, tau) for t in steps])


def _draw_row(ax: Axes, row: int, values: Sequence[str]) -> None:
    from matplotlib.patches import Rectangle

    for first, last, name in stretches(values):
        box = (first - 0.5, row - 0.4), last - first + 1, 0.8
        ax.add_patch(
            Rectangle(
                *box, facecolor=COLOURS[name], alpha=0.22, edgecolor="white", linewidth=2, gid=f"stretch-{row}"
            )
        )
        ax.text((first + last) / 2, row, name, ha="center", va="center", fontsize=12, color=BLACK)


def _draw_states(ax: Axes, shown: Course) -> None:
    """Draw the states, and the few steps that are no self-loop."""
    t, states = np.arange(1, len(shown.states) + 1), np.array(shown.states)
    ax.plot(t, states, color=BLACK, linewidth=1.0, marker="o", markersize=4, gid="states")
    moving = np.flatnonzero(np.diff(states))
    (rings,) = ax.plot(t[moving], states[moving], "o", color=RED, markersize=8, fillstyle="none", gid="moves")
    rings.set_markeredgewidth(1.6)
    for step in moving:
        ax.annotate(
            "moves",
            (t[step], states[step]),
            (-4, 5),
            textcoords="offset points",
            color=RED,
            ha="right",
            va="bottom",
            fontsize=8.5,
        )
    ax.set_yticks([1, 2], ["state 1", "state 2"])
    ax.set_ylim(0.65, 2.6)
    _mark_steps(ax, [*(first for first, _, _ in stretches(shown.actions)), 4 * shown.tau], shown.tau)
    ax.set_xlabel(
        f"step; here $\\tau$ = {shown.tau}, $W = 4\\tau$ = {4 * shown.tau}; every step but two is a self-loop"
    )


def _in_tau(t: int, tau: int) -> str:
    """Return a step as the paper writes it: 1, tau + 2, 4 tau."""
    many, rest = divmod(t, tau)
    if t < tau:
        return str(t)
    head = "\\tau" if many == 1 else f"{many}\\tau"
    return f"${head} + {rest}$" if rest else f"${head}$"

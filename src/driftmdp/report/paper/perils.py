"""The figures of Proposition 3 in [CSZ20]: the MDPs that take turns, the trajectory, and the diameters.

``peril_instances`` is fig:peril and ``peril_trajectory`` is fig:peril1. ``diameter_inside`` is not in the paper.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

import numpy as np

from driftmdp import formulas, planning, problems
from driftmdp.mdp import Mdp, Space
from driftmdp.report.paper import style
from driftmdp.report.rendered_figure import Axes, Figure, stacked_axes, styled
from driftmdp.statements.perils import InsideRegion, diameters_inside

Value = TypeVar("Value")

STATE_X = (0.0, 2.0)  # where the two states are drawn
STATE_RADIUS = 0.32
STATE_COLOURS = (style.BLUE, style.RED)  # of the actions in each state

ROW_COLOURS = {"$p^1$": style.GREEN, "$p^2$": style.ORANGE, "$\\pi^1$": style.PURPLE, "$\\pi^2$": style.GREY}
ROW_COLOURS |= {"$a_{1}$": style.BLUE, "$a_{2}$": style.BLUE, "$b_{1}$": style.RED, "$b_{2}$": style.RED}

TAUS = (12, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
WIDENINGS = (0.0, 0.2, 0.5)
WIDENING_STYLES = ((style.RED, "o"), (style.BLUE, "s"), (style.GREEN, "^"))


def arrows(mdp: Mdp) -> dict[tuple[int, int], list[str]]:
    """Return the actions of a deterministic MDP that lead from one state to another.

    Examples
    --------
    >>> from driftmdp import problems
    >>> from driftmdp.report.paper.perils import arrows
    >>> arrows(problems.perils(tau=2).drifting.anchors[0])
    {(0, 0): ['a1'], (0, 1): ['a2'], (1, 1): ['b1'], (1, 0): ['b2']}
    """
    names = mdp.space.action_names
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for state, count in enumerate(mdp.space.n_actions.tolist()):
        for action in range(count):
            following = int(mdp.successors(state, action).argmax())
            found[state, following].append(names[state][action] if names else str(action + 1))
    return dict(found)


@styled(style.PAPER_STYLE)
def peril_instances(tau: int = 2) -> Figure:
    """Draw the two MDPs of Proposition 3 as state graphs.

    Examples
    --------
    >>> from driftmdp.report.paper.perils import peril_instances
    >>> len(peril_instances().axes)
    2
    """
    figure, (ax,) = stacked_axes([1.75], left=0.1, right=0.1, top=0.3, bottom=0.05)
    figure.delaxes(ax)
    for number, mdp in enumerate(problems.perils(tau=tau).drifting.anchors):
        ax = figure.add_axes((0.01 + 0.5 * number, 0.02, 0.48, 0.83))
        ax.set(xlim=(-1.35, 3.35), ylim=(-0.95, 0.95), aspect="equal")
        ax.set_axis_off()
        ax.set_title(f"$p^{number + 1}$, diameter {float(planning.diameter(mdp)):g}", fontsize=11)
        _draw_graph(ax, mdp)
    return figure


def _draw_graph(ax: Axes, mdp: Mdp) -> None:
    from matplotlib.patches import Circle

    for state, x in enumerate(STATE_X):
        circle = Circle((x, 0), STATE_RADIUS, facecolor="white", edgecolor=style.BLACK, linewidth=1.4, gid="state")
        ax.add_patch(circle)
        name = mdp.space.state_names[state] if mdp.space.state_names else str(state + 1)
        ax.text(x, 0, name, fontsize=11, **style.CENTRED)
    for (state, following), actions in arrows(mdp).items():
        _draw_arrow(ax, state, following, ", ".join(map(style.symbol, actions)))


def _draw_arrow(ax: Axes, state: int, following: int, label: str) -> None:
    """Draw one arrow: a loop on the outer side, or an arc, above to the right and below to the left."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    x, y = STATE_X[state], STATE_X[following]
    if state == following:
        out = -1 if state == 0 else 1
        points = [(x + 0.22 * out, 0.25), (x + out, 0.62), (x + out, -0.62), (x + 0.24 * out, -0.25)]
        where = (x + 1.02 * out, 0.0)
    else:
        up = 1 if following > state else -1
        points = [(x + 0.25 * up, 0.22 * up), (x + 0.7 * up, 0.66 * up)]
        points += [(y - 0.7 * up, 0.66 * up), (y - 0.27 * up, 0.22 * up)]
        where = (1.0, 0.76 * up)
    path, colour = Path(points, [Path.MOVETO, *[Path.CURVE4] * 3]), STATE_COLOURS[state]
    arrow = FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=14, linewidth=1.5, color=colour)
    arrow.set_gid(f"arrow-{state}-{following}")
    ax.add_patch(arrow)
    ax.text(*where, label, fontsize=12, color=colour, **style.CENTRED)


@dataclass(frozen=True)
class ScriptedSteps:
    """The steps 1 .. 4 tau of the trajectory: the names of MDP, policy and action, and the state's number."""

    tau: int
    mdps: list[str]
    policies: list[str]
    actions: list[str]
    states: list[int]


def scripted_steps(tau: int) -> ScriptedSteps:
    """Return the scripted trajectory in the paper's names.

    Examples
    --------
    >>> from driftmdp.report.paper.perils import scripted_steps
    >>> steps = scripted_steps(tau=2)
    >>> steps.states
    [1, 1, 1, 2, 2, 2, 2, 1]
    >>> steps.actions[2], steps.mdps[2]
    ('$a_{1}$', '$p^2$')
    """
    problem = problems.perils(tau=tau)
    states, actions = problem.scripted_trajectory()
    names = problem.space.action_names or ()
    anchors = problem.drifting.weights.arrays.indices  # one anchor per step
    policies = [tuple(problem.scripted_policy(t).tolist()) for t in range(1, problem.horizon + 1)]
    order = list(dict.fromkeys(policies))
    return ScriptedSteps(
        tau,
        [f"$p^{int(anchor) + 1}$" for anchor in anchors],
        [f"$\\pi^{order.index(policy) + 1}$" for policy in policies],
        [style.symbol(names[s][a]) for s, a in zip(states[:-1].tolist(), actions.tolist(), strict=True)],
        (states[:-1] + 1).tolist(),
    )


def runs_of_equal(values: Sequence[Value]) -> list[tuple[int, int, Value]]:
    """Return the runs of equal values as (first step, last step, value), steps from 1.

    Examples
    --------
    >>> from driftmdp.report.paper.perils import runs_of_equal
    >>> runs_of_equal("aab")
    [(1, 2, 'a'), (3, 3, 'b')]
    """
    runs = []
    for value, group in groupby(enumerate(values, start=1), key=lambda pair: pair[1]):
        steps = [step for step, _ in group]
        runs.append((steps[0], steps[-1], value))
    return runs


@styled(style.PAPER_STYLE)
def peril_trajectory(tau: int = 8) -> Figure:
    """Draw the MDPs, the policies, the actions and the states over the window of W = 4 tau steps.

    Examples
    --------
    >>> from driftmdp.report.paper.perils import peril_trajectory
    >>> len(peril_trajectory(tau=4).axes)
    2
    """
    steps = scripted_steps(tau)
    figure, (top, bottom) = stacked_axes([1.3, 0.95], left=1.05, top=0.4, bottom=0.55, gap=0.1)
    rows = {"action": steps.actions, "policy": steps.policies, "latent MDP": steps.mdps}
    for row, (text, values) in enumerate(rows.items()):
        _draw_row(top, row, values)
        top.text(0.1, row, text, ha="right", va="center")
    style.remove_frame(top, "bottom")
    top.set_ylim(-0.5, 2.42)
    top.xaxis.tick_top()
    _mark_steps(top, [first for first, _, _ in runs_of_equal(steps.mdps)], tau)
    _draw_states(bottom, steps)
    return figure


def _mark_steps(ax: Axes, steps: Sequence[int], tau: int) -> None:
    ax.set_xlim(0.5, 4 * tau + 0.5)
    ax.set_xticks(steps, [_in_tau(t, tau) for t in steps])


def _draw_row(ax: Axes, row: int, values: Sequence[str]) -> None:
    from matplotlib.patches import Rectangle

    for first, last, name in runs_of_equal(values):
        box = Rectangle((first - 0.5, row - 0.4), last - first + 1, 0.8, alpha=0.22, gid=f"stretch-{row}")
        box.set(facecolor=ROW_COLOURS[name], edgecolor="white", linewidth=2)
        ax.add_patch(box)
        ax.text((first + last) / 2, row, name, fontsize=12, color=style.BLACK, **style.CENTRED)


def _draw_states(ax: Axes, steps: ScriptedSteps) -> None:
    """Draw the states, and mark the two steps that are not self-loops."""
    t, states = np.arange(1, len(steps.states) + 1), np.array(steps.states)
    ax.plot(t, states, color=style.BLACK, linewidth=1.0, marker="o", markersize=4, gid="states")
    moving = np.flatnonzero(np.diff(states))
    (rings,) = ax.plot(t[moving], states[moving], "o", color=style.RED, markersize=8, fillstyle="none", gid="moves")
    rings.set_markeredgewidth(1.6)
    for step in moving:
        label = ax.annotate("moves", (t[step], states[step]), (-4, 5), textcoords="offset points", color=style.RED)
        label.set(ha="right", va="bottom", fontsize=8.5)
    ax.set_yticks([1, 2], ["state 1", "state 2"])
    ax.set_ylim(0.65, 2.6)
    tau = steps.tau
    _mark_steps(ax, [*(first for first, _, _ in runs_of_equal(steps.actions)), 4 * tau], tau)
    ax.set_xlabel(f"step; here $\\tau$ = {tau}, $W = 4\\tau$ = {4 * tau}; every step but two is a self-loop")


def _in_tau(t: int, tau: int) -> str:
    """Return a step as the paper writes it: 1, tau + 2, 4 tau."""
    many, rest = divmod(t, tau)
    if t < tau:
        return str(t)
    head = "\\tau" if many == 1 else f"{many}\\tau"
    return f"${head} + {rest}$" if rest else f"${head}$"


def region_radii(tau: int) -> style.Floats:
    """Return the transition radii of the four pairs after the scripted trajectory, without widening.

    Examples
    --------
    >>> from driftmdp.report.paper.perils import region_radii
    >>> region_radii(tau=40).round(2)
    array([2.12, 2.18, 2.12, 2.18])
    """
    window = 4 * tau
    visits = np.array([tau + 1, tau - 1, tau + 1, tau - 1])
    return formulas.paper_radii(visits, Space.uniform(2, 2), window + 1, 1 / window).transition


def last_vacuous_window() -> int:
    """Return the largest W = 4 tau at which every radius is at least 2: the region contains every MDP.

    Examples
    --------
    >>> from driftmdp.report.paper.perils import last_vacuous_window
    >>> last_vacuous_window()
    184
    """
    tau = 2
    while region_radii(tau + 1).min() >= 2:
        tau += 1
    return 4 * tau


@styled(style.PAPER_STYLE)
def diameter_inside(taus: Sequence[int] = TAUS, widenings: Sequence[float] = WIDENINGS) -> Figure:
    """Draw the empirical diameter, the latent one, and the smallest in H_p(eta), by window.

    Examples
    --------
    >>> from driftmdp.report.paper.perils import diameter_inside
    >>> len(diameter_inside(taus=[10, 40], widenings=[0.0]).axes)
    1
    """
    found = {eta: [diameters_inside(tau, eta) for tau in taus] for eta in widenings}
    plain = found[widenings[0]]
    windows = [inside.window for inside in plain]
    figure, (ax,) = stacked_axes([3.8], right=2.0, top=0.15)
    ax.set(xscale="log", yscale="log", xlabel="window $W = 4\\tau$", ylabel="diameter")
    _draw_vacuous(ax, plain)
    lines = [([inside.empirical for inside in plain], "empirical MDP, $\\tau + 1$", style.PURPLE, "D")]
    for (eta, regions), (colour, marker) in zip(found.items(), WIDENING_STYLES, strict=False):
        name = f"smallest in $H_p({eta:g})$" + (f", below {2 / eta:g}" if eta else "")
        lines.append(([inside.smallest for inside in regions], name, colour, marker))
    lines.append(([inside.latent for inside in plain], "every MDP that was met", style.BLACK, "."))
    for values, name, colour, marker in lines:
        ax.plot(windows, values, color=colour, marker=marker, markersize=4.5, linewidth=1.5, label=name)
        label = ax.annotate(name, (windows[-1], values[-1]), (8, 0), textcoords="offset points", color=colour)
        label.set(va="center", fontsize=8.5, annotation_clip=False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    return figure


def _draw_vacuous(ax: Axes, inside: Sequence[InsideRegion]) -> None:
    """Shade the windows at which the region excludes nothing, and draw the order that Proposition 3 states."""
    left, right = 0.75 * inside[0].window, last_vacuous_window()
    ax.axvspan(left, right, color=style.GREY, alpha=0.15, linewidth=0, gid="vacuous")
    ax.set_xlim(left, 1.25 * inside[-1].window)
    note = f"$W \\leq$ {right}:\nevery radius is\n2 or more, all\nis allowed"
    ax.text(np.sqrt(left * right), 1.5, note, ha="center", va="bottom", fontsize=8, color=style.BLACK)
    windows = np.geomspace(right, inside[-1].window, 50)
    order = np.sqrt(windows / np.log(windows))
    ax.plot(windows, order, color=style.GREY, linestyle="--", linewidth=1.0)
    name = "the order $\\sqrt{W / \\ln W}$"
    ax.text(windows[30], 1.25 * order[30], name, color=style.GREY, ha="right", va="bottom")

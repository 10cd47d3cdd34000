"""[CSZ20] fig:peril: the two deterministic MDPs that take turns, drawn from their transitions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from driftmdp import planning, problems
from driftmdp.mdp import Mdp
from driftmdp.report.paper.sheet import BLACK, BLUE, PAPER, RED, stacked, symbol
from driftmdp.report.rendered_figure import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLACES = {0: 0.0, 1: 2.0}  # where the states stand
RADIUS = 0.32
COLOURS = (BLUE, RED)  # of what is done in state 1, in state 2


def arrows(mdp: Mdp) -> dict[tuple[int, int], list[str]]:
    """Return the actions of a deterministic MDP that lead from one state to another.

    Examples
    --------
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


@styled(PAPER)
def peril_instances(tau: int = 2) -> Figure:
    """Draw the two MDPs of Proposition 3 as state graphs.

    Examples
    --------
    >>> len(peril_instances().axes)
    2
    """
    anchors = problems.perils(tau=tau).drifting.anchors
    figure, (ax,) = stacked([1.75], left=0.1, right=0.1, top=0.3, bottom=0.05)
    figure.delaxes(ax)
    for number, mdp in enumerate(anchors):
        ax = figure.add_axes((0.01 + 0.5 * number, 0.02, 0.48, 0.83))
        ax.set_xlim(-1.35, 3.35)
        ax.set_ylim(-0.95, 0.95)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.set_title(f"$p^{number + 1}$, diameter {float(planning.diameter(mdp)):g}", fontsize=11)
        _draw_graph(ax, mdp)
    return figure


def _draw_graph(ax: Axes, mdp: Mdp) -> None:
    from matplotlib.patches import Circle

    for state, x in PLACES.items():
        ax.add_patch(Circle((x, 0), RADIUS, facecolor="white", edgecolor=BLACK, linewidth=1.4, gid="state"))
        name = mdp.space.state_names[state] if mdp.space.state_names else str(state + 1)
        ax.text(x, 0, name, ha="center", va="center", fontsize=11)
    for (state, following), actions in arrows(mdp).items():
        _draw_arrow(ax, state, following, ", ".join(map(symbol, actions)))


def _draw_arrow(ax: Axes, state: int, following: int, label: str) -> None:
    """Draw one arrow: a loop on the outer side, or an arc, above to the right and below to the left."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    x, y = PLACES[state], PLACES[following]
    if state == following:
        out = -1 if state == 0 else 1
        points = [(x + 0.22 * out, 0.25), (x + out, 0.62), (x + out, -0.62), (x + 0.24 * out, -0.25)]
        where = (x + 1.02 * out, 0.0)
    else:
        up = 1 if following > state else -1
        points = [
            (x + 0.25 * up, 0.22 * up),
            (x + 0.7 * up, 0.66 * up),
            (y - 0.7 * up, 0.66 * up),
            (y - 0.27 * up, 0.22 * up),
        ]
        where = (1.0, 0.76 * up)
    path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    arrow = FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=14, linewidth=1.5, color=COLOURS[state])
    arrow.set_gid(f"arrow-{state}-{following}")
    ax.add_patch(arrow)
    ax.text(*where, label, ha="center", va="center", fontsize=12, color=COLOURS[state])

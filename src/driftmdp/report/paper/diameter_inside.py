"""Not in [CSZ20]: how Proposition 3 looks in numbers, the diameters inside confidence regions by window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from driftmdp import formulas
from driftmdp.mdp import Space
from driftmdp.report.paper.sheet import BLACK, BLUE, GREEN, GREY, PAPER, PURPLE, RED, stacked
from driftmdp.report.rendered_figure import styled
from driftmdp.statements.perils import InsideRegion, diameters_inside
from driftmdp.statements.verdict import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TAUS = (12, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
WIDENINGS = (0.0, 0.2, 0.5)
LOOKS = ((RED, "o"), (BLUE, "s"), (GREEN, "^"))


def region_radii(tau: int) -> Floats:
    """Return the transition radii of the four pairs after the scripted trajectory, without widening.

    Examples
    --------
    >>> region_radii(tau=40).round(2)
    array([2.12, 2.18, 2.12, 2.18])
    """
    window = 4 * tau
    visits = np.array([tau + 1, tau - 1, tau + 1, tau - 1])
    return formulas.paper_radii(visits, Space.uniform(2, 2), window + 1, 1 / window).transition


def last_vacuous_window() -> int:
    """Return the largest W = 4 tau at which every radius is at least 2: the region holds every MDP.

    Examples
    --------
    >>> last_vacuous_window()
    184
    """
    tau = 2
    while region_radii(tau + 1).min() >= 2:
        tau += 1
    return 4 * tau


@styled(PAPER)
def diameter_inside(taus: Sequence[int] = TAUS, widenings: Sequence[float] = WIDENINGS) -> Figure:
    """Draw the empirical diameter, the latent one, and the smallest in H_p(eta), by window.

    Examples
    --------
    >>> len(diameter_inside(taus=[10, 40], widenings=[0.0]).axes)
    1
    """
    found = {eta: [diameters_inside(tau, eta) for tau in taus] for eta in widenings}
    plain = found[widenings[0]]
    figure, (ax,) = stacked([3.8], right=2.0, top=0.15)
    ax.set_xscale("log")
    ax.set_yscale("log")
    _draw_vacuous(ax, plain)
    _draw_line(ax, plain, [one.empirical for one in plain], "empirical MDP, $\\tau + 1$", PURPLE, "D")
    for (eta, inside), (colour, marker) in zip(found.items(), LOOKS, strict=False):
        limit = f", below {2 / eta:g}" if eta else ""
        _draw_line(
            ax, inside, [one.smallest for one in inside], f"smallest in $H_p({eta:g})${limit}", colour, marker
        )
    _draw_line(ax, plain, [one.latent for one in plain], "every MDP that was met", BLACK, ".")
    ax.set_xlabel("window $W = 4\\tau$")
    ax.set_ylabel("diameter")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    return figure


def _draw_line(
    ax: Axes, inside: Sequence[InsideRegion], values: Sequence[float], name: str, colour: str, marker: str
) -> None:
    """Draw one line, with its name at its end."""
    ax.plot(
        [one.window for one in inside],
        values,
        color=colour,
        marker=marker,
        markersize=4.5,
        linewidth=1.5,
        label=name,
    )
    ax.annotate(
        name,
        (inside[-1].window, values[-1]),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        color=colour,
        fontsize=8.5,
        annotation_clip=False,
    )


def _draw_vacuous(ax: Axes, inside: Sequence[InsideRegion]) -> None:
    """Shade the windows at which the region excludes nothing, and draw the order that Proposition 3 states."""
    left, right = 0.75 * inside[0].window, last_vacuous_window()
    ax.axvspan(left, right, color=GREY, alpha=0.15, linewidth=0, gid="vacuous")
    ax.set_xlim(left, 1.25 * inside[-1].window)
    ax.text(
        np.sqrt(left * right),
        1.5,
        f"$W \\leq$ {right}:\nevery radius is\n2 or more, all\nis allowed",
        ha="center",
        va="bottom",
        fontsize=8,
        color=BLACK,
    )
    windows = np.geomspace(right, inside[-1].window, 50)
    ax.plot(windows, np.sqrt(windows / np.log(windows)), color=GREY, linestyle="--", linewidth=1.0)
    middle = windows[30]
    ax.text(
        middle,
        1.25 * np.sqrt(middle / np.log(middle)),
        "the order $\\sqrt{W / \\ln W}$",
        color=GREY,
        ha="right",
        va="bottom",
    )

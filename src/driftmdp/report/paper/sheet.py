"""The paper on which the figures are drawn: their style, their colours, and axes at fixed places."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.report.charts import LIGHT_COLOURS
from driftmdp.report.rendered_figure import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER: dict[Any, Any] = STYLE | {"text.parse_math": True, "mathtext.fontset": "dejavuserif"}
WIDTH = 7.4  # inches

BLUE, RED, GREEN, PURPLE, ORANGE = LIGHT_COLOURS[:5]
BLACK, GREY, PALE = "#222222", "#767676", "#d9dde2"


def stacked(
    heights: Sequence[float],
    left: float = 0.75,
    right: float = 0.2,
    top: float = 0.35,
    bottom: float = 0.5,
    gap: float = 0.6,
) -> tuple[Figure, list[Axes]]:
    """Return a figure that belongs to no window, and axes below each other; all sizes in inches."""
    from matplotlib.figure import Figure

    height = top + bottom + sum(heights) + gap * (len(heights) - 1)
    figure = Figure(figsize=(WIDTH, height))
    axes, ceiling = [], height - top
    for tall in heights:
        place = (left / WIDTH, (ceiling - tall) / height, 1 - (left + right) / WIDTH, tall / height)
        axes.append(figure.add_axes(place))
        ceiling -= tall + gap
    return figure, axes


def bare(ax: Axes) -> None:
    """Take the grid, the frame and the y axis away."""
    ax.grid(visible=False)
    ax.set_yticks([])
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)


def symbol(name: str) -> str:
    """Return a name such as ``a1`` as a formula.

    Examples
    --------
    >>> symbol("a1")
    '$a_{1}$'
    """
    return f"${name[0]}_{{{name[1:]}}}$"


def choices(figure: Figure, ax: Axes, best: NDArray[np.int64], levels: NDArray[np.int64], label: str) -> None:
    """Draw a table of choices over one round, a colour a level; with a label, add the scale at its right."""
    from matplotlib.colors import BoundaryNorm

    edges = np.append(levels, 2 * levels[-1] - levels[-2]) - 0.5 * (levels[1] - levels[0])
    image = ax.imshow(
        best,
        origin="lower",
        aspect="auto",
        extent=(0, 1, -0.5, best.shape[0] - 0.5),
        cmap="YlGnBu",
        norm=BoundaryNorm(edges, 256),
        interpolation="nearest",
    )
    ax.grid(visible=False)
    if label:
        place = ax.get_position()
        scale = figure.add_axes((place.x1 + 0.02, place.y0, 0.02, place.height))
        figure.colorbar(image, cax=scale, ticks=levels, label=label)


def name_turns(ax: Axes, names: Collection[str]) -> None:
    """Write above a round where it passes each of its anchors."""
    for k, name in enumerate(names):
        place = k / len(names)
        ax.axvline(place, color=GREY, linewidth=0.8, linestyle=":")
        align = "center" if k else "left"
        ax.text(place, 1.03, name, transform=ax.get_xaxis_transform(), fontsize=8.5, ha=align)

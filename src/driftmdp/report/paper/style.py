"""Common parts of the paper's figures: style, colours, and axes at fixed positions."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.report.charts import LIGHT_COLOURS
from driftmdp.report.rendered_figure import STYLE, Axes, Figure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PAPER_STYLE: dict[Any, Any] = STYLE | {"text.parse_math": True, "mathtext.fontset": "dejavuserif"}
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}

BLUE, RED, GREEN, PURPLE, ORANGE = LIGHT_COLOURS[:5]
BLACK, GREY, PALE = "#222222", "#767676", "#d9dde2"


def remove_frame(ax: Axes, *sides: str) -> None:
    """Remove the grid, the y axis and the frame, except for the bottom side unless it is among ``sides``."""
    ax.grid(visible=False)
    ax.set_yticks([])
    for side in ("left", "right", "top", *sides):
        ax.spines[side].set_visible(False)


def symbol(name: str) -> str:
    """Return a name such as ``a1`` as a formula.

    Examples
    --------
    >>> from driftmdp.report.paper.style import symbol
    >>> symbol("a1")
    '$a_{1}$'
    """
    return f"${name[0]}_{{{name[1:]}}}$"


def draw_choices(figure: Figure, ax: Axes, best: Ints, levels: Ints, label: str) -> None:
    """Draw a table of choices over one cycle, one colour per level; with a label, add the scale at its right."""
    from matplotlib.colors import BoundaryNorm

    edges = np.append(levels, 2 * levels[-1] - levels[-2]) - 0.5 * (levels[1] - levels[0])
    norm, extent = BoundaryNorm(edges, 256), (0, 1, -0.5, best.shape[0] - 0.5)
    image = ax.imshow(best, "YlGnBu", norm, aspect="auto", interpolation="nearest", origin="lower", extent=extent)
    ax.grid(visible=False)
    if label:
        place = ax.get_position()
        scale = figure.add_axes((place.x1 + 0.02, place.y0, 0.02, place.height))
        figure.colorbar(image, cax=scale, ticks=levels, label=label)


def draw_cycle(ax: Axes, lines: dict[str, tuple[Floats, str]], anchors: Collection[str]) -> None:
    """Draw named lines (values and colour) over one cycle of the world, and mark where it passes each anchor."""
    draw_lines(ax, lines)
    mark_places(ax, {name: k / len(anchors) for k, name in enumerate(anchors)})


def draw_lines(ax: Axes, lines: dict[str, tuple[Floats, str]]) -> None:
    """Draw named lines (values and colour) from 0 to 1, with a legend at the right."""
    for name, (values, colour) in lines.items():
        ax.plot(np.linspace(0, 1, values.size, endpoint=False), values, color=colour, linewidth=1.8, label=name)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)
    ax.set_xlim(0, 1)


def mark_places(ax: Axes, places: Mapping[str, float]) -> None:
    """Mark named places between 0 and 1."""
    for name, place in places.items():
        ax.axvline(place, color=GREY, linewidth=0.8, linestyle=":")
        align = "center" if place else "left"
        ax.text(place, 1.03, name, transform=ax.get_xaxis_transform(), fontsize=8.5, ha=align)

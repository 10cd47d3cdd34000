"""Rendered figures: one style whatever the user's is, and files whose bytes depend on the data only."""

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftmdp.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # matplotlib is imported only to draw
    Axes = Figure = Any

STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9.0,
    "grid.alpha": 0.3,
    "svg.hashsalt": "driftmdp",
    "text.parse_math": False,  # a dollar in a name is a dollar
}


@contextlib.contextmanager
def styled(style: Mapping[Any, Any]) -> Iterator[None]:
    """Draw and save in ``style``, whatever the user's matplotlib settings are; a decorator or a context manager."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(style)
        yield


def stacked_axes(
    heights: Sequence[float],
    left: float = 0.75,
    right: float = 0.2,
    top: float = 0.35,
    bottom: float = 0.5,
    gap: float = 0.6,
    width: float = 7.4,
    columns: int = 1,
) -> tuple[Figure, list[Axes]]:
    """Return a figure without a window, and its axes row by row; all sizes in inches."""
    from matplotlib.figure import Figure

    height = top + bottom + sum(heights) + gap * (len(heights) - 1)
    wide = (1 - (left + right + gap * (columns - 1)) / width) / columns
    figure = Figure(figsize=(width, height))
    axes, ceiling = [], height - top
    for tall in heights:
        for column in range(columns):
            place = left / width + column * (wide + gap / width), (ceiling - tall) / height
            axes.append(figure.add_axes((*place, wide, tall / height)))
        ceiling -= tall + gap
    return figure, axes


class RenderedFigure:
    """A finished figure: ``svg`` text and ``png`` bytes. Make it in the style that the figure was drawn in."""

    def __init__(self, figure: Any) -> None:
        svg, png = io.StringIO(), io.BytesIO()
        figure.savefig(png, format="png", dpi=110, metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        self.svg = svg.getvalue()
        self.png = png.getvalue()

    def write(self, folder: Path, name: str, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
        """Write the figure to ``folder`` in each format, and return the paths."""
        content = {"svg": self.svg.encode(), "png": self.png}
        paths = [folder / f"{name}.{suffix}" for suffix in formats]
        for path, suffix in zip(paths, formats, strict=True):
            write_whole(path, content[suffix])
        return paths

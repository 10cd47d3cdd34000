"""Rendered figures: one style whatever the user's is, and files whose bytes depend on the data only."""

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from driftmdp.files import write_whole

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

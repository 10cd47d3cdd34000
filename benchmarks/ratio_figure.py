"""The figure of ratios in the documentation, drawn from the stored table.

``python -m benchmarks.ratio_figure`` reads ``docs/benchmarks-table.md``, which ``make bench`` writes, and draws
``docs/_static/ratios.svg``: a bar for each row that has a ratio and a target.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Ratio", "draw", "main", "stored"]

DOCS = Path(__file__).parents[1] / "docs"
TABLE, FIGURE = DOCS / "benchmarks-table.md", DOCS / "_static" / "ratios.svg"
PEERS = ("statisticalrl", "mdpsolver", "pymdptoolbox")
PEER, YARDSTICK = "#1f6f8b", "#b9c7cc"


class Ratio(NamedTuple):
    """A row of the table: the measurement, its baseline, and how many times as fast ours is."""

    what: str
    baseline: str
    ratio: float

    @property
    def is_peer(self) -> bool:
        """Whether the baseline is a public library, and not a yardstick of our own."""
        return self.baseline.startswith(PEERS)


def main() -> int:
    """Draw the stored table."""
    draw(stored(TABLE.read_text()))
    return 0


def stored(text: str) -> list[Ratio]:
    """Return the rows of a table in Markdown that have a ratio and a target.

    Examples
    --------
    >>> stored("| a plan | 1 ms | NumPy: 6 ms | 6.2x | > 5x | yes | note |")
    [Ratio(what='a plan', baseline='NumPy', ratio=6.2)]
    """
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) > 4 and cells[4] != "-" and (ratio := re.fullmatch(r"([\d.]+)x", cells[3])):
            found.append(Ratio(cells[0], cells[2].split(":")[0], float(ratio[1])))
    return found


def draw(ratios: Sequence[Ratio]) -> None:
    """Draw the ratios as bars on a logarithmic axis, the largest at the top."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "driftmdp", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plt

    rows = sorted(ratios, key=lambda row: row.ratio)
    figure, axis = plt.subplots(figsize=(9, 0.34 * len(rows) + 1), layout="constrained")
    colours = [PEER if row.is_peer else YARDSTICK for row in rows]
    bars = axis.barh(
        [f"{row.what}\nagainst {_short(row.baseline)}" for row in rows], [r.ratio for r in rows], color=colours
    )
    axis.bar_label(bars, [f"{row.ratio:g}x" for row in rows], padding=3)
    axis.set(xscale="log", xlim=(1, 2.2 * rows[-1].ratio), xlabel="times as fast (logarithmic)")
    axis.margins(y=0.01)
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)


def _short(name: str) -> str:
    return name.split(" algorithm=")[0].split(",")[0]


if __name__ == "__main__":
    sys.exit(main())

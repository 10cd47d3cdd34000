"""The paper's figures by name, and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from driftmdp.errors import UnknownNameError
from driftmdp.experiments.store import writing
from driftmdp.files import write_whole
from driftmdp.report.paper.bidding_example import bidding_example
from driftmdp.report.paper.borl_structure import borl_structure
from driftmdp.report.paper.diameter_inside import diameter_inside
from driftmdp.report.paper.peril_instances import peril_instances
from driftmdp.report.paper.peril_trajectory import peril_trajectory
from driftmdp.report.paper.q_sets import q_sets
from driftmdp.report.paper.remarketing_example import remarketing_example
from driftmdp.report.paper.reward_process import reward_process
from driftmdp.report.paper.sheet import PAPER
from driftmdp.report.rendered_figure import RenderedFigure, styled
from driftmdp.validation import nearest_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# In the order of the paper; the last one is not in it.
FIGURES: dict[str, Callable[[], Figure]] = {
    "borl-structure": borl_structure,
    "peril-instances": peril_instances,
    "peril-trajectory": peril_trajectory,
    "reward-process": reward_process,
    "q-sets": q_sets,
    "diameter-inside": diameter_inside,
}

# The worlds of the paper's two examples, which it describes and does not draw; only by name.
EXAMPLES: dict[str, Callable[[], Figure]] = {"remarketing": remarketing_example, "bidding": bidding_example}


def figure_named(name: str) -> Callable[[], Figure]:
    """Return what draws a figure, or say which name was meant."""
    known = FIGURES | EXAMPLES
    if name not in known:
        raise UnknownNameError(
            f"There is no figure {name!r}.{nearest_name(name, known)} There are: {', '.join(known)}."
        )
    return known[name]


def write_figures(folder: str | Path, names: Iterable[str] | None = None) -> list[Path]:
    """Compute and draw figures of the paper, and write each as PNG and SVG; the same bytes every time.

    Parameters
    ----------
    folder
        Where to write; it is made if it is not there.
    names
        Of ``driftmdp figures``; the paper's by default, without those of its two examples.

    Returns
    -------
    list of Path
        The files, PNG then SVG, in the order of the names.

    Raises
    ------
    UnknownNameError
        If there is no such figure; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_figures(folder, ["peril-instances"])]
    ['peril-instances.png', 'peril-instances.svg']
    """
    wanted = {name: figure_named(name) for name in (FIGURES if names is None else names)}
    target, written = Path(folder), []
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
        for name, draw in wanted.items():
            drawing = _finish(draw())
            for suffix, content in (("png", drawing.png), ("svg", drawing.svg.encode())):
                path = target / f"{name}.{suffix}"
                write_whole(path, content)
                written.append(path)
    return written


@styled(PAPER)
def _finish(figure: Figure) -> RenderedFigure:
    return RenderedFigure(figure)

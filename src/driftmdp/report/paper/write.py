"""The paper's figures and the pictures of problems by name, and their files."""

from collections.abc import Callable, Iterable
from pathlib import Path

from driftmdp.errors import UnknownNameError
from driftmdp.experiments.store import writing
from driftmdp.report.paper.borl_structure import borl_structure
from driftmdp.report.paper.examples import bidding_example, remarketing_example
from driftmdp.report.paper.perils import diameter_inside, peril_instances, peril_trajectory
from driftmdp.report.paper.style import PAPER_STYLE
from driftmdp.report.paper.two_state import q_sets, reward_process
from driftmdp.report.problem_picture import problem_pictures
from driftmdp.report.rendered_figure import Figure, RenderedFigure, styled
from driftmdp.validation import nearest_name

# In the order of the paper; the last one is not in it.
FIGURES: dict[str, Callable[[], Figure]] = {
    "borl-structure": borl_structure,
    "peril-instances": peril_instances,
    "peril-trajectory": peril_trajectory,
    "reward-process": reward_process,
    "q-sets": q_sets,
    "diameter-inside": diameter_inside,
}

# The worlds of the paper's two examples, which it describes and does not draw. Written only if named.
EXAMPLES: dict[str, Callable[[], Figure]] = {"remarketing": remarketing_example, "bidding": bidding_example}


def write_figures(folder: str | Path, names: Iterable[str] | None = None) -> list[Path]:
    """Compute and draw figures, and write each as PNG and SVG; the same bytes every time.

    Parameters
    ----------
    folder
        The folder to write to, which is made if needed.
    names
        The names of figures, or of registered problems that have a horizon, as in ``driftmdp figures``. By default
        all of the paper's figures, without its two examples.

    Returns
    -------
    list of Path
        The files, PNG then SVG, in the order of the names.

    Raises
    ------
    UnknownNameError
        If there is no such figure. Nothing is written then.
    InvalidInputError
        If a problem has more than 150 states.

    Examples
    --------
    >>> from driftmdp.report import write_figures
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_figures(folder, ["peril-instances"])]
    ['peril-instances.png', 'peril-instances.svg']
    """
    available, wanted = problem_pictures() | FIGURES | EXAMPLES, list(FIGURES if names is None else names)
    for name in wanted:
        if name not in available:
            raise UnknownNameError(
                f"There is no figure {name!r}.{nearest_name(name, available)} There are: {', '.join(available)}."
            )
    target, paths = Path(folder), []
    with writing(target), styled(PAPER_STYLE):
        target.mkdir(parents=True, exist_ok=True)
        for name in dict.fromkeys(wanted):
            paths += RenderedFigure(available[name]()).write(target, name, ("png", "svg"))
    return paths

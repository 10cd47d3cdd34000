"""How a long piece of work is going: a bar in a terminal or in a notebook, plain lines elsewhere."""

from driftmdp.progress.base import Progress, Silent, watched
from driftmdp.progress.lines import Lines
from driftmdp.progress.notebook import NotebookBar
from driftmdp.progress.select import as_progress, make_progress

__all__ = ["Lines", "NotebookBar", "Progress", "Silent", "as_progress", "make_progress", "watched"]

"""From a spec to stored results: what to run, running it, keeping it, reading it back.

>>> from driftmdp import experiments
>>> spec = experiments.parse_spec('''
... seeds = 20
... [[problems]]
... name = "two-state"
... [[agents]]
... name = "UCRL2"
... grid = {scale = [1.0, 0.1]}
... ''')

``experiments.run(spec, "out/mine")`` runs it, ``experiments.load("out/mine").runs`` is the table of its runs. On
the command line: ``driftmdp run spec.toml --out out/mine``, then ``driftmdp report out/mine``.
"""

from driftmdp.deprecation import renamed
from driftmdp.experiments.best_window import BestWindow, WindowScore, best_window
from driftmdp.experiments.results import CellCurves, Results, load
from driftmdp.experiments.run_plan import PlannedCell, RunKey, RunPlan, plan
from driftmdp.experiments.runner import Failure, Session, run
from driftmdp.experiments.spec import Spec, parse_spec, read_spec
from driftmdp.progress import Progress

__all__ = [
    "BestWindow",
    "CellCurves",
    "Failure",
    "PlannedCell",
    "Progress",
    "Results",
    "RunKey",
    "RunPlan",
    "Session",
    "Spec",
    "WindowScore",
    "best_window",
    "load",
    "parse_spec",
    "plan",
    "read_spec",
    "run",
]

_TO_SUITE = ("Suite", "SuiteTask", "packaged_suite", "parse_suite", "run_suite", "write_tasks")
_MOVED = {name: f"driftmdp.suite.{name}" for name in _TO_SUITE}

__getattr__ = renamed(__name__, None, Cell="PlannedCell", Plan="RunPlan", **_MOVED)

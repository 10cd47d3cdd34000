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

``experiments.run(spec, "out/mine")`` runs it, ``experiments.load("out/mine").runs`` is a table of it. On the
command line: ``driftmdp run spec.toml --out out/mine``, then ``driftmdp report out/mine``.
"""

from driftmdp.deprecation import renamed
from driftmdp.experiments.best_window import BestWindow, WindowScore, best_window
from driftmdp.experiments.failures import Failure
from driftmdp.experiments.results import CellCurves, Results, load
from driftmdp.experiments.run_plan import PlannedCell, RunKey, RunPlan, plan
from driftmdp.experiments.runner import Session, run
from driftmdp.experiments.spec import Spec, parse_spec, read_spec
from driftmdp.experiments.suite import Suite, SuiteTask, packaged_suite, parse_suite
from driftmdp.experiments.suite_running import run_suite, write_tasks
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
    "Suite",
    "SuiteTask",
    "WindowScore",
    "best_window",
    "load",
    "packaged_suite",
    "parse_spec",
    "parse_suite",
    "plan",
    "read_spec",
    "run",
    "run_suite",
    "write_tasks",
]

__getattr__ = renamed(__name__, Cell="PlannedCell", Plan="RunPlan")

"""Running the drift suite: for each task the yardstick's arms, the choice among them, all agents, and the clock.

================================  ==================================================================
in the folder                     what it is
================================  ==================================================================
``suite.json``                    the tasks that were asked for, in order
``<task>/tuning``                 results of the yardstick's arms, on the tuning seeds
``<task>/fresh``                  results of all agents and of the arm that won, on fresh seeds
``<task>/timing.json``            microseconds a step by agent; not part of the results
================================  ==================================================================
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import Any

from driftmdp.errors import StorageError
from driftmdp.experiments.failures import Failure
from driftmdp.experiments.problem_cache import agent_of, world_of
from driftmdp.experiments.results import Results, load
from driftmdp.experiments.run_plan import PlannedCell, plan
from driftmdp.experiments.runner import run
from driftmdp.experiments.spec import Spec
from driftmdp.experiments.store import writing
from driftmdp.experiments.suite import SuiteTask
from driftmdp.files import write_whole
from driftmdp.progress import Progress, Silent
from driftmdp.simulation import simulate
from driftmdp.validation import quietly

TIMED_SEED = 0
TIMED_RUNS = 3  # the least of at least so many counts: what disturbs a clock only adds to it
ENOUGH_SECONDS = 0.05  # and of as many as fit into this
MOST_SECONDS = 1.0  # but no further one is begun after this

Watch = Callable[[SuiteTask, str], Progress]


def run_suite(
    tasks: Sequence[SuiteTask], out: str | Path, workers: int | None = None, watch: Watch | None = None
) -> list[Failure]:
    """Run what the tasks ask for and a folder does not have yet.

    Parameters
    ----------
    tasks
        From ``Suite.tasks``.
    out
        The folder of the suite; each task has one of its own in it.
    workers
        How many runs at a time; by default one a core. The results are the same.
    watch
        Is called with a task and ``"tuning"`` or ``"fresh"``, and returns what is told how it goes.

    Returns
    -------
    list
        The runs that failed.

    Examples
    --------
    >>> import tempfile
    >>> from driftmdp.experiments import packaged_suite
    >>> task = next(task for task in packaged_suite().tasks(quick=True) if task.group == "bandit")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     failures = run_suite([task], folder)
    ...     sorted(path.name for path in Path(folder, task.slug).iterdir())
    ['fresh', 'timing.json', 'tuning']
    """
    failures: list[Failure] = []
    for task in tasks:
        folder = Path(out) / task.slug
        watcher = (lambda what, task=task: watch(task, what)) if watch else (lambda what: Silent())
        failures += run(task.tuning_spec(), folder / "tuning", workers, "auto", watcher("tuning")).failures
        spec = task.fresh_spec(best_arm(load(folder / "tuning")))
        failed = run(spec, folder / "fresh", workers, "auto", watcher("fresh")).failures
        if task.timed:
            _time_steps(spec, folder / "timing.json", {failure.agent for failure in failed})
        failures += failed
    return failures


def best_arm(tuning: Results) -> dict[str, Any]:
    """Return the window and the scale with the least mean regret; of equals, the first."""
    means = tuning.query(
        'SELECT "agent.window" AS win, "agent.scale" AS scale, avg(regret) AS regret, count(*) AS n, '
        "min(position) AS place FROM runs GROUP BY ALL ORDER BY n DESC, regret, place LIMIT 1"
    )
    if means.empty:
        raise StorageError(f"{tuning.folder} must have runs; every one failed, see failures.json.")
    return {"window": int(means["win"][0]), "scale": float(means["scale"][0])}


def write_tasks(tasks: Sequence[SuiteTask], name: str, out: str | Path) -> None:
    """Say in the suite's folder what it is to have, whether or not all of it is run now.

    Parameters
    ----------
    tasks
        From ``Suite.tasks``: all of them.
    name
        What the page is called.
    out
        The folder of the suite, made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> from driftmdp.experiments import packaged_suite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tasks(packaged_suite().tasks(), "The drift suite", folder)
    ...     Path(folder, "suite.json").exists()
    True
    """
    facts = [
        {
            "slug": task.slug,
            "label": task.label,
            "family": task.family,
            "group": task.group,
            "stationary": task.stationary,
            "horizon": task.horizon,
            "parameters": task.problem.parameters,
        }
        for task in tasks
    ]
    _write_json(Path(out) / "suite.json", {"name": name, "yardstick": tasks[0].yardstick.label, "tasks": facts})


def _time_steps(spec: Spec, path: Path, failed: Set[str]) -> None:
    """Note how long a step of each agent takes that did not fail, in this thread, compiled; what is noted stays."""
    known = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(path.read_text(encoding="utf-8"))
    cells = {cell.agent.label: cell for cell in plan(spec).cells if cell.agent.label not in failed}
    missing = {label: cell for label, cell in cells.items() if known.get(label, {}).get("cell") != cell.id}
    if missing:
        found = {label: _microseconds(cell) for label, cell in missing.items()}
        _write_json(path, {label: found.get(label) or known[label] for label in cells})


@quietly()
def _microseconds(cell: PlannedCell) -> dict[str, Any]:
    problem, agent = world_of(cell.problem).problem, agent_of(cell)
    simulate(agent, problem, TIMED_SEED)  # compiles, and fills caches
    spent: list[float] = []
    while sum(spent) < (MOST_SECONDS if len(spent) < TIMED_RUNS else ENOUGH_SECONDS):
        start = time.perf_counter()
        simulate(agent, problem, TIMED_SEED)
        spent.append(time.perf_counter() - start)
    return {"cell": cell.id, "microseconds": 1e6 * min(spent) / problem.horizon, "steps": problem.horizon}


def _write_json(path: Path, content: Any) -> None:
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(content, indent=1, ensure_ascii=False).encode())

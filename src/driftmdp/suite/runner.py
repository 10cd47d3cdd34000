"""Runs the drift suite: for each task the yardstick's arms, the choice among them, all agents, and the timing.

================================  ==================================================================
in the folder                     what it is
================================  ==================================================================
``suite.json``                    the tasks that were asked for, in order
``<task>/tuning``                 results of the yardstick's arms, on the tuning seeds
``<task>/fresh``                  results of all agents and of the arm that won, on fresh seeds
``<task>/timing.json``            microseconds per step by agent, no part of the results
================================  ==================================================================
"""

import contextlib
import functools
import json
import time
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import Any

from driftmdp.errors import StorageError
from driftmdp.experiments import Failure, PlannedCell, Results, Spec, load, plan, run
from driftmdp.experiments.problem_cache import cached_agent, cached_problem
from driftmdp.experiments.store import writing
from driftmdp.files import write_whole
from driftmdp.progress import Progress
from driftmdp.simulation import simulate
from driftmdp.suite.tasks import SuiteTask
from driftmdp.validation import quietly

TIMED_SEED = 0
TIMED_RUNS = 3  # the fastest counts, because a disturbance only adds to the time
FAST_AGENT_SECONDS = 0.05  # a fast agent is run more often, up to this time
SLOW_AGENT_SECONDS = 1.0  # no further run begins after this time

Watch = Callable[[SuiteTask, str], Progress]


def run_suite(
    tasks: Sequence[SuiteTask], out: str | Path, workers: int | None = None, watch: Watch | None = None
) -> list[Failure]:
    """Run what the tasks ask for and the folder does not have yet.

    Parameters
    ----------
    tasks
        From ``Suite.tasks``.
    out
        The folder of the suite. Each task has a folder in it.
    workers
        How many runs at a time, by default one per core. The results are the same.
    watch
        A function of a task and ``"tuning"`` or ``"fresh"`` that returns a Progress for these runs.

    Returns
    -------
    list
        The runs that failed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from driftmdp.suite import run_suite
    >>> import tempfile
    >>> from driftmdp.suite import packaged_suite
    >>> task = next(task for task in packaged_suite().tasks(quick=True) if task.group == "bandit")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     failures = run_suite([task], folder)
    ...     sorted(path.name for path in Path(folder, task.slug).iterdir())
    ['fresh', 'timing.json', 'tuning']
    """
    failures: list[Failure] = []
    for task in tasks:
        folder = Path(out) / task.slug
        run_here = functools.partial(run, workers=workers, engine="auto")
        watching = functools.partial(watch, task) if watch else (lambda seeds: None)
        failures += run_here(task.tuning_spec(), folder / "tuning", progress=watching("tuning")).failures
        spec = task.fresh_spec(best_arm(load(folder / "tuning")))
        failed = run_here(spec, folder / "fresh", progress=watching("fresh")).failures
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
    """List all tasks of the suite in its folder, whether or not all of them are run now.

    Parameters
    ----------
    tasks
        From ``Suite.tasks``: all of them.
    name
        The title of the page.
    out
        The folder of the suite, made if missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from driftmdp.suite import write_tasks
    >>> import tempfile
    >>> from driftmdp.suite import packaged_suite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tasks(packaged_suite().tasks(), "The drift suite", folder)
    ...     Path(folder, "suite.json").exists()
    True
    """
    columns = ("slug", "label", "family", "group", "stationary", "horizon")
    facts = [
        {name: getattr(task, name) for name in columns} | {"parameters": task.problem.parameters} for task in tasks
    ]
    _write_json(Path(out) / "suite.json", {"name": name, "yardstick": tasks[0].yardstick.label, "tasks": facts})


def _time_steps(spec: Spec, path: Path, failed: Set[str]) -> None:
    """Time a compiled step of each agent that did not fail, in this thread; times already in the file stay."""
    stored = {}
    with contextlib.suppress(OSError, ValueError):
        stored = json.loads(path.read_text(encoding="utf-8"))
    cells = {cell.agent.label: cell for cell in plan(spec).cells if cell.agent.label not in failed}
    missing = {label: cell for label, cell in cells.items() if stored.get(label, {}).get("cell") != cell.id}
    if missing:
        found = {label: _microseconds(cell) for label, cell in missing.items()}
        _write_json(path, {label: found.get(label) or stored[label] for label in cells})


@quietly()
def _microseconds(cell: PlannedCell) -> dict[str, Any]:
    problem, agent = cached_problem(cell.problem).problem, cached_agent(cell)
    simulate(agent, problem, TIMED_SEED)  # compiles, and fills caches
    spent: list[float] = []
    while sum(spent) < (SLOW_AGENT_SECONDS if len(spent) < TIMED_RUNS else FAST_AGENT_SECONDS):
        start = time.perf_counter()
        simulate(agent, problem, TIMED_SEED)
        spent.append(time.perf_counter() - start)
    return {"cell": cell.id, "microseconds": 1e6 * min(spent) / problem.horizon, "steps": problem.horizon}


def _write_json(path: Path, content: Any) -> None:
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(content, indent=1, ensure_ascii=False).encode())

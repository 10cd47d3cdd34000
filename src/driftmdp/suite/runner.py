"""Runs the drift suite: for each task the search for the yardstick's best arm, all agents, and the timing.

================================  ==================================================================
in the folder                     what it is
================================  ==================================================================
``suite.json``                    the tasks that were asked for, in order
``<task>/tuning``, ``finals``     results of the yardstick's arms and of the best of them, on seeds of their own
``<task>/yardstick.json``         the arm that won, and whether it lies on the edge of the grid
``<task>/fresh``                  results of all agents and of the arm that won, on fresh seeds
``<task>/timing.json``            microseconds per step by agent, no part of the results
================================  ==================================================================
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.experiments import Failure, Results, Session, Spec, load, plan, run
from driftmdp.experiments.execute import check_values
from driftmdp.experiments.identity import canonical, digest
from driftmdp.experiments.spec import Choice
from driftmdp.progress import Progress
from driftmdp.suite.agents import agent_ids
from driftmdp.suite.json_files import read_json, write_json
from driftmdp.suite.leaderboard import TASK_FACTS
from driftmdp.suite.tasks import SuiteTask
from driftmdp.suite.timing import time_steps
from driftmdp.suite.yardstick import Arm, ranked_arms

PROCESS_SECONDS = 20.0  # from this much plain Python on, processes gain more than their start costs

Watch = Callable[[SuiteTask, str], Progress]


def run_suite(
    tasks: Sequence[SuiteTask],
    out: str | Path,
    workers: int | None = None,
    watch: Watch | None = None,
    engine: str = "auto",
    scheduler: str | None = None,
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
        A function of a task and of what runs, such as ``"fresh"``, that returns a Progress for these runs.
    engine, scheduler
        As for ``experiments.run``. The results are the same.

    Returns
    -------
    list
        The runs that failed. They stop nothing.

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
    ['finals', 'fresh', 'timing.json', 'tuning', 'yardstick.json']
    """
    suite = _SuiteRun(Path(out), workers, watch, engine, scheduler)
    for task in tasks:
        suite.run_task(task)
    return suite.failures


@dataclass
class _SuiteRun:
    """One call of ``run_suite``: how things are run, what failed, and the time per step of each agent so far."""

    out: Path
    workers: int | None
    watch: Watch | None
    engine: str
    scheduler: str | None
    failures: list[Failure] = field(default_factory=list)
    microseconds: dict[str, float] = field(default_factory=dict)

    def run_task(self, task: SuiteTask) -> None:
        """Search the yardstick's best arm, run all agents, and time them."""
        spec = task.fresh_spec(self._best_in_hindsight(task))
        failures: list[Failure] = []
        try:
            failures += self._run(task, spec, "fresh").failures
        except InvalidInputError:
            spec, failures = _without_misfits(spec)
            if not failures or not spec.agents:
                raise
            failures += self._run(task, spec, "fresh").failures
        if task.timed:
            failed = {failure.agent for failure in failures}
            self.microseconds |= time_steps(spec, self.out / task.slug / "timing.json", failed)
        self.failures += failures

    def _best_in_hindsight(self, task: SuiteTask) -> Choice:
        """Return the yardstick's best arm: the stored one, or what a search finds. Its rounds share a folder."""
        yardstick, coarse, folder = task.yardstick, task.tuning_spec(), self.out / task.slug
        cells = [cell.id for cell in plan(coarse).cells]
        rules = [coarse.seed_list, yardstick.refinements, yardstick.finalists, task.seeds["finals"].model_dump()]
        search = digest(canonical([cells, *rules]))
        stored = read_json(folder / "yardstick.json")
        if stored.get("search") == search:
            return Choice(name=stored["agent"], parameters=stored["parameters"])
        tried: list[Arm] = []
        added = yardstick.coarse_arms(task.horizon)
        for number in range(1 + yardstick.refinements):
            tried += added
            session = self._run(task, task.tuning_spec(tried), "tuning", f", round {number + 1}")
            regrets = mean_regrets(load(folder / "tuning"))
            added = yardstick.finer_arms(tried, regrets)
            if not added:
                break
        failures, finalists = session.failures, ranked_arms(tried, regrets)[: yardstick.finalists]
        if len(finalists) > 1:
            failures = failures + self._run(task, task.tuning_spec(finalists, "finals"), "finals").failures
            regrets = mean_regrets(load(folder / "finals"))
        best = ranked_arms(finalists, regrets)[0]
        facts: dict[str, Any] = {"agent": best.choice.name, "parameters": best.choice.parameters}
        facts |= {"on_edge": best.on_edge(task.horizon), "search": None if failures else search}
        write_json(folder / "yardstick.json", facts)
        self.failures += failures
        return best.choice

    def _run(self, task: SuiteTask, spec: Spec, part: str, detail: str = "") -> Session:
        progress = self.watch(task, part + detail) if self.watch else None
        engine = self._engine(task, spec)
        return run(spec, self.out / task.slug / part, self.workers, engine, progress, "suite", self.scheduler)

    def _engine(self, task: SuiteTask, spec: Spec) -> str:
        """Return the engine. For "auto", processes must be worth their start, as every task starts them again."""
        if self.engine != "auto" or self.scheduler is not None:
            return self.engine
        own = [agent.label or agent.name for agent in spec.agents if ":" in agent.name]
        steps = task.horizon * spec.n_seeds
        seconds = 1e-6 * steps * sum(self.microseconds.get(label, 0.0) for label in own)
        return "processes" if seconds > PROCESS_SECONDS else "threads"


def _without_misfits(spec: Spec) -> tuple[Spec, list[Failure]]:
    """Return a spec without the agents that cannot be made for its problem, and these as failures."""
    asked, failures = plan(spec, "suite"), []
    for cell in asked.cells:
        try:
            check_values([cell], dict.fromkeys(asked.places, "agent"))
        except InvalidInputError as error:
            failures.append(Failure(cell.id, cell.problem.label, cell.agent.label, 0, str(error), ""))
    failed = {failure.agent for failure in failures}
    others = [agent for agent in spec.agents if (agent.label or agent.name) not in failed]
    return spec.model_copy(update={"agents": others}), failures


def mean_regrets(tuning: Results) -> dict[str, float]:
    """Return the mean regret of every arm, by label. An arm that failed more often than others is left out."""
    runs = tuning.query("SELECT agent, regret FROM runs ORDER BY position, seed")
    if runs.empty:
        raise StorageError(f"{tuning.folder} must have runs; every one failed, see failures.json.")
    found = {str(agent): rows.to_numpy(float) for agent, rows in runs.groupby("agent", sort=False)["regret"]}
    most = max(regrets.size for regrets in found.values())
    return {agent: float(regrets.mean()) for agent, regrets in found.items() if regrets.size == most}


def write_tasks(tasks: Sequence[SuiteTask], name: str, out: str | Path) -> None:
    """List all tasks and agents of the suite in its folder, whether or not all of them are run now.

    The page shows these agents only. So it leaves out what an agent of one's own did before its code changed.

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
    facts = [{name: getattr(task, name) for name in TASK_FACTS} for task in tasks]
    agents = {agent.label or agent.name: agent for task in tasks for agent in task.agents}
    asked = {"name": name, "yardstick": tasks[0].yardstick.label, "agents": agent_ids(agents.values())}
    write_json(Path(out) / "suite.json", asked | {"tasks": facts})

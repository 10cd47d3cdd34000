"""What only processes can do wrong: die, not start, not be understood."""

import os
import signal
import subprocess
import sys
import time

import pytest

from driftmdp import engines
from driftmdp.engines import WorkerDiedError
from driftmdp.errors import DriftmdpError, InvalidInputError
from tests.engines import functions
from tests.engines.test_conformance import collect, is_alive

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@posix
@pytest.mark.parametrize(
    ("function", "workers", "how"),
    [(functions.kill_on_three, 2, "was killed by SIGKILL"), (functions.exit_on_three, 1, "ended with exit code 5")],
)
def test_a_dead_worker_costs_its_task_only(function, workers, how):
    outcomes = collect(engines.make("processes", workers), function, range(12))
    assert [outcome.value for outcome in outcomes] == [task if task != 3 else None for task in range(12)]
    error = outcomes[3].error
    assert isinstance(error, WorkerDiedError)
    assert isinstance(error, DriftmdpError)
    assert isinstance(error, RuntimeError)
    assert str(error) == f"The worker process of task 3 must outlive it; it {how}."
    assert str(error) in outcomes[3].traceback


def test_an_exit_within_a_task_is_a_death():
    outcomes = collect(engines.make("processes", 1), functions.leave_on_odd, range(3))
    assert [outcome.value for outcome in outcomes] == [0, None, 2]
    assert "ended with exit code 4" in str(outcomes[1].error)


@posix
def test_a_worker_killed_while_idle_is_replaced_and_costs_nothing():
    feed = Feed()
    outcomes = engines.make("processes", 1).map(functions.process_id, feed)
    feed.put(1)
    first = next(outcomes).value
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not is_running(first))
    feed.put(2)
    second = next(outcomes)
    assert second.error is None
    assert second.value != first
    outcomes.close()


@posix
def test_ctrl_c_is_the_parents_matter():
    outcomes = collect(engines.make("processes", 2), functions.interrupt_self, range(6))
    assert [outcome.value for outcome in outcomes] == list(range(6))


@posix
def test_workers_end_with_their_parent():
    command = [sys.executable, "-m", "tests.engines.functions", "processes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as script:
        pids = [int(script.stdout.readline().split()[1]) for _ in range(2)]
        script.kill()
        wait_until(lambda: not any(is_running(pid) for pid in pids))


def test_large_tasks_and_values_pass():
    outcomes = collect(engines.make("processes", 2), functions.large, [bytes(2**20)] * 20)
    assert all(outcome.value == bytes(2**20) for outcome in outcomes)


def test_what_cannot_be_pickled_fails_alone():
    engine = engines.make("processes", 1)
    first, second = collect(engine, functions.square, [lambda: 0, 3])
    assert first.error is not None
    assert second.value == 9
    [outcome] = collect(engine, functions.make_lock, [0])
    assert isinstance(outcome.error, RuntimeError)
    assert "must be picklable" in str(outcome.error)


def test_a_function_that_is_not_importable_is_refused():
    with pytest.raises(InvalidInputError, match="function must be importable from a module; got <function"):
        engines.make("processes", 1).map(lambda task: task, [1])


SPEC = """'seeds = 4\\nproblems = [{name = "two-state"}]\\nagents = [{name = "Random"}]'"""
DATES = "np.datetime64('2026-01-01') + np.arange(70)"
UNGUARDED = {
    "map": "from driftmdp import engines\nprint(list(engines.make('processes', 2).map(abs, [1, 2])))\n",
    "experiments.run": f"""from driftmdp import experiments
experiments.run(experiments.parse_spec({SPEC}), "out", workers=2, engine="processes")
""",
    "backtest": f"""import numpy as np
from driftmdp import inventory, problems
sales = inventory.Sales((inventory.Series("a", {DATES}, np.full(70, 4)),))
inventory.backtest(sales, problems.Costs(), 20, rules=["base-stock"], engine="processes")
""",
}


def run_script(folder, text, stdin=False):
    """Run a script in a folder; return its exit code and the lines that it wrote to standard error."""
    (folder / "script.py").write_text(text)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-" if stdin else "script.py"]
    given = text if stdin else None
    found = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=60, cwd=folder, env=environment
    )
    return found.returncode, found.stderr.splitlines()


@pytest.mark.parametrize("script", UNGUARDED.values(), ids=UNGUARDED)
def test_a_script_without_a_guard_is_told_so_in_one_sentence(script, tmp_path):
    code, lines = run_script(tmp_path, script)
    assert code == 1
    assert "WorkerDiedError: Worker processes must be started under `if __name__ == '__main__':`" in lines[-1]
    assert "\n".join(lines).count("Traceback") == 1, "the workers must not say anything"
    assert len(lines) < 20


def test_a_map_at_module_level_may_be_made_there_and_used_under_the_guard(tmp_path):
    guarded = """from driftmdp import engines
engine = engines.make("processes", 1)
sorted(outcome.value for outcome in engines.make("threads", 2).map(abs, [1, 2]))
if __name__ == "__main__":
    assert sorted(outcome.value for outcome in engine.map(abs, [-1, 2])) == [1, 2]
"""
    assert run_script(tmp_path, guarded) == (0, [])
    code, lines = run_script(tmp_path, guarded, stdin=True)
    assert code == 1
    assert lines[-1].endswith("The script must be a file, which worker processes run; got <stdin>. Save it.")
    assert len(lines) < 10


class Feed:
    """Tasks that a test gives one by one; between them there is none."""

    def __init__(self):
        self._tasks = []

    def put(self, task):
        self._tasks.append(task)

    def __iter__(self):
        return self

    def __next__(self):
        if not self._tasks:
            raise StopIteration
        return self._tasks.pop(0)


def is_running(pid):
    """Return whether the process lives; one that is dead but not yet waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return is_alive(pid) if not os.path.isdir("/proc") else False


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)

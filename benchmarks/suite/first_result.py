"""What a new user waits for: the first result of every agent and of two commands, from an empty kernel cache.

Machines differ, so a small function that numba compiles in the same process stands beside each agent. numba is
loaded, and has compiled something, before that clock starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import driftmdp as dm
from benchmarks.child import call_in_child
from benchmarks.rows import Row, Speed, as_time
from benchmarks.suite.inventory import DAYS, SHELF, write_sales
from benchmarks.timing import seconds_of

__all__ = ["first_result", "run"]

HORIZON = 5000
AGENTS = sorted(name for name in dm.agents.builtin() if name != "Optimist")  # which is UCRL2 and its kin
QUICK_AGENTS = ["SWUCRL2CW", "UCB1"]
MOST_SECONDS, MOST_RATIO = 10.0, 2.5
BACKTEST_SECONDS, BACKTEST_ITEMS = 12.0, 20
CHECK_RATIO = 1.5


def run(quick: bool) -> list[Row]:
    """Return a row per agent, and with the full sizes one for the first backtest and the first check."""
    rows: list[Row] = [_agent_row(name) for name in (QUICK_AGENTS if quick else AGENTS)]
    return rows if quick else [*rows, _backtest_row(), _check_row()]


def first_result(name: str) -> dict[str, float]:
    """Return the seconds of an agent's first result, piece by piece, and of numba's small function."""
    kind = dm.agents.builtin()[name]
    problem = _problem_for(kind)
    clock = [time.perf_counter()]
    agent = kind.for_problem(problem)
    clock.append(time.perf_counter())
    run = dm.simulate(agent, problem, seed=1)
    clock.append(time.perf_counter())
    run.dynamic_regret(problem)
    clock.append(time.perf_counter())
    make, simulate, regret = np.diff(clock).tolist()
    return {"make": make, "simulate": simulate, "dynamic_regret": regret, "numba": _seconds_of_numba()}


def _problem_for(agent: type[dm.agents.BuiltinAgent]) -> dm.Problem:
    if agent.only_for == "inventory":
        return dm.problems.inventory(capacity=10, horizon=HORIZON)
    if agent.only_for == "bandits":
        return dm.problems.bandit(horizon=HORIZON)
    return dm.problems.two_state(horizon=HORIZON)


def _seconds_of_numba() -> float:
    import numba

    def half(number: float) -> float:
        return 0.5 * number

    def total_in_order(numbers: np.ndarray) -> float:
        ordered = np.sort(numbers)
        total = 0.0
        for number in ordered:
            total += number
        return total

    compiler: Any = numba.njit
    compiler(half)(1.0)
    return seconds_of(lambda: compiler(total_in_order)(np.arange(5.0)))


def _agent_row(name: str) -> Speed:
    with _empty_cache() as environment:
        seconds = call_in_child(first_result, name, environment=environment).result
    numba = seconds.pop("numba")
    note = ", ".join(f"{what} {as_time(time)}" for what, time in seconds.items())
    what = f"first result from an empty cache, {name}, T = {HORIZON:,}"
    whole = sum(seconds.values())
    return Speed.within(what, whole, MOST_SECONDS, "a small function by numba", numba, MOST_RATIO, note)


def _backtest_row() -> Speed:
    with _empty_cache() as environment, tempfile.TemporaryDirectory() as folder:
        sales = Path(folder) / "sales.csv"
        write_sales(sales, BACKTEST_ITEMS)
        command = ["inventory", "backtest", str(sales), *SHELF, "--out", f"{folder}/page"]
        first, later = (_seconds_of_command(command, environment) for _ in range(2))
    what = f"first inventory backtest from an empty cache, {BACKTEST_ITEMS} items x {DAYS} days"
    return Speed.under(what, first, BACKTEST_SECONDS, f"from then on: {as_time(later)}")


def _check_row() -> Speed:
    with _empty_cache() as environment, tempfile.TemporaryDirectory() as folder:
        command = ["check", "--page", f"{folder}/page.md"]
        first, later = (_seconds_of_command(command, environment) for _ in range(2))
    what, note = "first driftmdp check from an empty cache", "The whole command, compiling included"
    return Speed.growth(what, first, "from then on", later, CHECK_RATIO, note)


def _seconds_of_command(words: list[str], environment: dict[str, str]) -> float:
    command = [sys.executable, "-m", "driftmdp", *words]
    call = partial(subprocess.run, command, check=True, capture_output=True, env={**os.environ, **environment})
    return seconds_of(call)


@contextmanager
def _empty_cache() -> Iterator[dict[str, str]]:
    """Give the variable that leads to an empty kernel cache, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield {"NUMBA_CACHE_DIR": folder}

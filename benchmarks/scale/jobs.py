"""The jobs whose costs are measured: runs of a spec, and the backtest of many items."""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.child import call_in_child
from benchmarks.rows import require

if TYPE_CHECKING:
    from driftmdp.inventory import Sales

__all__ = ["ITEMS", "KINDS", "Kind", "memory_of_a_run", "memory_of_an_item", "reading_a_line"]

DAYS = 365
SPEC = """
seeds = {seeds}
curve = {{ points = {points} }}
problems = [{problem}]
agents = [{agent}]
"""


@dataclass(frozen=True)
class Kind:
    """A kind of task, the numbers that are measured, few and many, and the function that does them.

    ``work`` takes a scheduler's address and a number of tasks, and returns their seconds on workers.
    """

    name: str
    what: str
    few: int
    many: int
    work: Callable[[str, int], float]


def _runs(problem: str, agent: str, points: int, scheduler: str, tasks: int) -> float:
    from driftmdp.experiments import parse_spec
    from driftmdp.experiments import run as run_spec

    spec = parse_spec(SPEC.format(seeds=tasks, points=points, problem=problem, agent=agent))
    with tempfile.TemporaryDirectory() as folder:
        session = run_spec(spec, folder, engine="dask", scheduler=scheduler)
    require(session.done == tasks and not session.failures, "Every run must be done.")
    return session.compute_seconds


def _items(scheduler: str, tasks: int) -> float:
    from driftmdp.inventory import backtest
    from driftmdp.problems.inventory import Costs

    found = backtest(_invented(tasks), Costs(4, 0.5, 4, 0.5), 20, engine="dask", scheduler=scheduler)
    require(len(found.skus) == tasks, "Every item must be scored.")
    return tasks * _seconds_of_an_item()


@functools.cache
def _seconds_of_an_item() -> float:
    few = 200
    _scored(few)
    began = time.perf_counter()
    _scored(few)
    return (time.perf_counter() - began) / few


@functools.cache  # so that the second measurement does not pay for it
def _invented(items: int) -> Sales:
    from driftmdp.inventory import Sales, Series

    rng = np.random.default_rng(20261116)
    dates = np.datetime64("2025-01-01") + np.arange(DAYS)
    rates = rng.gamma(2.0, 2.0, items)
    return Sales(tuple(Series(f"item-{i}", dates, rng.poisson(rate, DAYS)) for i, rate in enumerate(rates)))


_TWO_STATE = '{name = "two-state", parameters = {horizon = 5000}}'
_PAPER = '{name = "SWUCRL2CW"}'
_LARGE = '{name = "garnet", parameters = {n_states = 100, n_actions = 5, horizon = 20000}}'

KINDS = (
    Kind(
        "short",
        "SWUCRL2-CW, two states, T = 5,000, 400 points kept",
        3000,
        15_000,
        partial(_runs, _TWO_STATE, _PAPER, 400),
    ),
    Kind("lean", "the same, 20 points kept", 3000, 15_000, partial(_runs, _TWO_STATE, _PAPER, 20)),
    Kind("long", "Adaptive, 100 states, T = 20,000", 6, 46, partial(_runs, _LARGE, '{name = "Adaptive"}', 400)),
)
ITEMS = Kind("items", f"six ordering rules on an item of {DAYS} days", 1000, 8000, _items)


def memory_of_a_run() -> float:
    """Return the bytes that the client keeps per run of a spec."""
    few, many = 2_000, 22_000
    peaks = [call_in_child(_tiny_runs, number).peak_bytes for number in (few, many)]
    return (peaks[1] - peaks[0]) / (many - few)


def _tiny_runs(seeds: int) -> None:
    from driftmdp.experiments import parse_spec
    from driftmdp.experiments import run as run_spec

    problem = '{name = "two-state", parameters = {horizon = 20}}'
    with tempfile.TemporaryDirectory() as folder:
        spec = SPEC.format(seeds=seeds, points=20, problem=problem, agent='{name = "Random"}')
        run_spec(parse_spec(spec), folder, workers=1)


def reading_a_line() -> tuple[float, float]:
    """Return the seconds and the bytes of memory that a line of a sales file costs while it is read."""
    few, many = 100, 1100
    reports = [call_in_child(_read, number) for number in (few, many)]
    lines = (many - few) * DAYS
    return (
        (reports[1].result - reports[0].result) / lines,
        (reports[1].peak_bytes - reports[0].peak_bytes) / lines,
    )


def _read(items: int) -> float:
    from driftmdp.inventory import read_sales

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "sales.csv")
        with open(file, "w") as out:
            out.write("date,sku,units\n")
            for item in range(items):
                out.writelines(
                    f"{np.datetime64('2025-01-01') + day},item-{item},{day % 7}\n" for day in range(DAYS)
                )
        began = time.perf_counter()
        read_sales(file)
        return time.perf_counter() - began


def memory_of_an_item() -> float:
    """Return the bytes that a backtest's client keeps for an item: its sales and its scores."""
    few, many = 200, 1200
    peaks = [call_in_child(_scored, number).peak_bytes for number in (few, many)]
    return (peaks[1] - peaks[0]) / (many - few)


def _scored(items: int) -> None:
    from driftmdp.inventory import backtest
    from driftmdp.problems.inventory import Costs

    backtest(_invented(items), Costs(4, 0.5, 4, 0.5), 20, workers=1)

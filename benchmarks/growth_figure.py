"""The growth figure of the documentation: the time of a plan by remembered steps and by states.

``python -m benchmarks.growth_figure`` measures, writes ``docs/_static/plan-growth.csv`` and draws
``docs/_static/plan-growth.svg`` from it. ``--draw`` only draws what was measured before. ``--quick`` measures small
sizes and writes nothing.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.remembered import Steps, fed, learner
from benchmarks.timing import medians, timed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Point", "draw", "main", "measure"]

STATIC = Path(__file__).parents[1] / "docs" / "_static"
TABLE, FIGURE = STATIC / "plan-growth.csv", STATIC / "plan-growth.svg"
VISITS = 10  # steps per visited state
PLANNER = "paper"  # every plan starts from zero


class Point(NamedTuple):
    """One plan: the quantity that varies, the sizes, the number of visited states, and the median seconds."""

    varies: str
    remembered: int
    states: int
    visited: int
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, keep and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth_figure", description=__doc__)
    parser.add_argument("--draw", action="store_true", help="draw the stored measurements again")
    parser.add_argument("--quick", action="store_true", help="small sizes, and write nothing")
    options = parser.parse_args(arguments)
    if options.quick:
        print(*measure(largest=10_000, repeats=3), sep="\n")
        return 0
    if not options.draw:
        _store(measure(largest=1_000_000, repeats=7))
    draw(_stored())
    return 0


def measure(largest: int, repeats: int) -> list[Point]:
    """Return the time of a plan for sizes from 1,000 to the largest, by steps and by states."""
    sizes = [1000]
    while sizes[-1] < largest:
        sizes.append(min(largest, sizes[-1] * 10))
    by_steps = [_point("remembered", n, largest, n // VISITS, repeats) for n in sizes]
    by_states = [_point("states", min(100_000, largest), n, 900, repeats) for n in sizes]
    return by_steps + by_states


def _point(varies: str, remembered: int, states: int, visited: int, repeats: int) -> Point:
    agent = fed(learner(states, remembered, PLANNER), Steps.drawn(remembered, visited))
    seconds = medians({varies: timed(agent.plan)}, repeats)[varies]
    return Point(varies, remembered, states, visited, seconds)


def _store(points: Sequence[Point]) -> None:
    STATIC.mkdir(parents=True, exist_ok=True)
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows([*point[:-1], f"{point.seconds:.3g}"] for point in points)


def _stored() -> list[Point]:
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Point(row["varies"], int(row["remembered"]), int(row["states"]), int(row["visited"]), float(row["seconds"]))
        for row in rows
    ]


def draw(points: Sequence[Point]) -> None:
    """Draw the two curves, with the same axis of time."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "driftmdp", "svg.fonttype": "none", "font.size": 10})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.4), sharey=True, layout="constrained")
    by_steps = [point for point in points if point.varies == "remembered"]
    by_states = [point for point in points if point.varies == "states"]
    _curve(axes[0], [p.remembered for p in by_steps], by_steps, "remembered steps")
    _curve(axes[1], [p.states for p in by_states], by_states, "states, S")
    axes[0].set_title(f"S = {by_steps[0].states:,}, {VISITS} steps a visited state", fontsize=10)
    axes[1].set_title(f"{by_states[0].remembered:,} steps in {by_states[0].visited} states", fontsize=10)
    axes[0].set_ylabel("milliseconds per plan")
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)


def _curve(axis: Axes, sizes: Sequence[int], points: Sequence[Point], label: str) -> None:
    axis.loglog(sizes, [1e3 * point.seconds for point in points], "o-", color="#1f6f8b")
    axis.set_xlabel(label)
    axis.grid(True, which="major", color="#dddddd", linewidth=0.6)


if __name__ == "__main__":
    sys.exit(main())

"""Learning curves in gymnasium's toy-text worlds, for docs/gymnasium.md.

``python -m benchmarks.learning_curves`` tunes the yardstick, measures, writes
``docs/_static/gymnasium/learning-curves.csv``, draws ``learning-curves.png`` from it, and prints the table of the
last fifths. ``--draw`` only draws what was measured before. ``--quick`` measures short runs and writes nothing.

Q-learning gets the best of 8 settings for each world, by the mean reward of whole runs over 3 seeds that the figure
does not use. The others get only the range of the rewards, without tuning.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from benchmarks.q_learning import QLearning
from benchmarks.toy_text import WORLDS, ToyWorld, optimum
from driftmdp.gymnasium import learn
from driftmdp.statistics import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Point", "draw", "main"]

STATIC = Path(__file__).parents[1] / "docs" / "_static" / "gymnasium"
TABLE, FIGURE = STATIC / "learning-curves.csv", STATIC / "learning-curves.png"
SEEDS, TUNING_SEEDS = range(5), range(100, 103)
POINTS = 25  # of a curve
SETTINGS = list(itertools.product((0.1, 0.5), (0.05, 0.1), (0.95, 0.99)))  # step, epsilon, discount
COLOURS = {"Adaptive": "#1f6f8b", "PSRL": "#c8553d", "UCRL2, scale 0.1": "#7a9e3f", "Q-learning": "#777777"}

Setting = tuple[float, float, float]


class Point(NamedTuple):
    """The mean reward of a stretch of steps that ends at ``step``, over seeds, with its 95 % interval."""

    world: str
    agent: str
    step: int
    mean: float
    low: float
    high: float
    optimum: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, keep and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning_curves", description=__doc__)
    parser.add_argument("--draw", action="store_true", help="draw the stored measurements again")
    parser.add_argument("--quick", action="store_true", help="short runs, and write nothing")
    options = parser.parse_args(arguments)
    if options.quick:
        print(*measure(shorter=100), sep="\n")
        return 0
    if not options.draw:
        _store(measure())
    draw(_stored())
    return 0


def measure(shorter: int = 1) -> list[Point]:
    """Return the points of all curves."""
    points: list[Point] = []
    with ProcessPoolExecutor(2) as pool:
        for name, world in WORLDS.items():
            best, steps = optimum(world), world.steps // shorter
            setting = _tuned(pool, name, steps)
            for agent in COLOURS:
                tasks = [(name, agent, setting, steps, seed) for seed in SEEDS]
                curves = list(pool.map(_curve, *zip(*tasks, strict=True)))
                points += _points(name, agent, np.array(curves), steps, best)
    return points


def _tuned(pool: ProcessPoolExecutor, name: str, steps: int) -> Setting:
    """Return Q-learning's best setting in a world."""
    tries = [(name, "Q-learning", setting, steps, seed) for setting in SETTINGS for seed in TUNING_SEEDS]
    means = np.array([curve.mean() for curve in pool.map(_curve, *zip(*tries, strict=True))])
    scores = means.reshape(len(SETTINGS), -1).mean(axis=1)
    best = SETTINGS[int(scores.argmax())]
    print(f"{name}: Q-learning with step, epsilon, discount = {best}", file=sys.stderr, flush=True)
    return best


def _curve(name: str, agent: str, setting: Setting, steps: int, seed: int) -> NDArray[np.float64]:
    world = WORLDS[name]

    def make(space: dm.Space) -> Any:
        return _agent(agent, space, world, setting, steps)

    learning = learn(world.make(), make, steps, progress=False, seed=seed)
    return learning.learning_curve(steps // POINTS)


def _agent(name: str, space: dm.Space, world: ToyWorld, setting: Setting, steps: int) -> Any:
    if name == "Adaptive":
        return dm.agents.Adaptive(space, reward_range=world.reward_range)
    if name == "PSRL":
        return dm.agents.PSRL(space, reward_range=world.reward_range)
    if name == "Q-learning":
        return QLearning(space, *setting)
    return dm.agents.UCRL2(space, horizon=steps, reward_range=world.reward_range, scale=0.1, planner="fast")


def _points(name: str, agent: str, curves: NDArray[np.float64], steps: int, best: float) -> list[Point]:
    band, end = mean_interval(curves), mean_interval(curves[:, -POINTS // 5 :].mean(axis=1))
    ends = np.arange(1, curves.shape[1] + 1) * (steps // POINTS)
    print(f"| {name} | {agent} | {end.estimate:.4f} [{end.low:.4f}, {end.high:.4f}] | {best:.4f} |", flush=True)
    rows = zip(ends, band.estimate, band.low, band.high, strict=True)
    return [Point(name, agent, int(end), float(mid), float(low), float(high), best) for end, mid, low, high in rows]


def _store(points: Sequence[Point]) -> None:
    STATIC.mkdir(parents=True, exist_ok=True)
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows([*point[:3], *(f"{number:.6g}" for number in point[3:])] for point in points)


def _stored() -> list[Point]:
    with TABLE.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [Point(row[0], row[1], int(row[2]), *map(float, row[3:])) for row in rows]


def draw(points: Sequence[Point]) -> None:
    """Draw one panel per world: the mean reward per step by steps, and the optimum."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for axis, name in zip(axes.flat, WORLDS, strict=True):
        _panel(axis, name, [point for point in points if point.world == name])
    axes[0, 1].legend(frameon=False, fontsize=9, loc="lower right")
    figure.savefig(FIGURE, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _panel(axis: Axes, name: str, points: Sequence[Point]) -> None:
    for agent, colour in COLOURS.items():
        own = [point for point in points if point.agent == agent]
        steps = [point.step for point in own]
        axis.plot(steps, [point.mean for point in own], color=colour, label=agent)
        axis.fill_between(steps, [p.low for p in own], [p.high for p in own], color=colour, alpha=0.2, linewidth=0)
    axis.axhline(points[0].optimum, color="black", linewidth=1, linestyle=":", label="the best there is")
    axis.set_title(WORLDS[name].title, fontsize=10)
    axis.set_xlabel("steps")
    axis.set_ylabel("mean reward of a step")
    if name == "cliff":
        axis.set_ylim(-3, -0.8)


if __name__ == "__main__":
    sys.exit(main())

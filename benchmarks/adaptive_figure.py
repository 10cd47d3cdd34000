"""The figure of Adaptive in the documentation: what it trusts while a noisy world stands still, jumps and drifts.

``python -m benchmarks.adaptive_figure`` runs and draws ``docs/_static/adaptive/memories.png``. ``--quick`` runs
one seed for a tenth of the time and writes nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.kernels.adaptive_agent_arrays import FADING, MEMORIES
from driftmdp.problems.garnet import garnet_mdp

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Course", "draw", "main", "measure", "world"]

FIGURE = Path(__file__).parents[1] / "docs" / "_static" / "adaptive" / "memories.png"
PHASES = ("stands still", "stands still", "drifts slowly")  # after a jump, the second
LENGTHS = (1, 1, 2)  # of the phases, in units of STRETCH
STRETCH, SEEDS, EVERY = 10_000, 20, 100
WORLD_SEED, N_STATES, N_ACTIONS, BRANCHING, SPARSITY = 5, 6, 3, 3, 0.3
COLOURS = {"Adaptive": "#1f6f8b", "PSRL": "#c0662b"}


class Course(NamedTuple):
    """What happened: times, mean weights of the memories (times, memories), and mean regret of each agent."""

    times: NDArray[np.int64]
    weights: NDArray[np.float64]
    regrets: dict[str, NDArray[np.float64]]


class Weights(dm.Callback):
    """Keep the weights of the memories on rewards, averaged over ages by how often each was judged."""

    every = EVERY

    def __init__(self) -> None:
        self.seen: list[NDArray[np.float64]] = []

    def on_steps(self, steps: dm.callbacks.StepRecord) -> None:
        """Keep those of now."""
        weights = steps.agent._weights
        self.seen.append(weights.judged[:, 0] @ weights.rewards / weights.judged[:, 0].sum())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adaptive_figure", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, a tenth of the time, and write nothing")
    if parser.parse_args(arguments).quick:
        print(measure(STRETCH // 10, 1).weights[:, -1].round(2))
    else:
        draw(measure(STRETCH, SEEDS))
    return 0


def world(stretch: int) -> dm.Problem:
    """Return a noisy Garnet: it stands still, jumps to another, stands still, and drifts to a third and back."""
    rng = np.random.default_rng(WORLD_SEED)
    anchors = [garnet_mdp(N_STATES, N_ACTIONS, BRANCHING, SPARSITY, rng) for _ in range(3)]
    weights = np.zeros((sum(LENGTHS) * stretch, 3))
    weights[:stretch, 0] = weights[stretch : 2 * stretch, 1] = 1.0
    moved = 1.0 - np.abs(np.linspace(-1.0, 1.0, 2 * stretch))
    weights[2 * stretch :, 1], weights[2 * stretch :, 2] = 1.0 - moved, moved
    return dm.Problem(dm.DriftingMdp(anchors, sp.csr_array(weights)), noise="bernoulli", reward_range=(0.0, 1.0))


def measure(stretch: int, seeds: int) -> Course:
    """Run Adaptive and PSRL on the same seeds."""
    problem = world(stretch)
    gains = dm.planning.optimal_gains(problem.drifting)
    agents = {"Adaptive": dm.agents.Adaptive.for_problem(problem), "PSRL": dm.agents.PSRL.for_problem(problem)}
    weights, regrets = [], {name: np.zeros(problem.horizon) for name in agents}
    for seed in range(seeds):
        for name, agent in agents.items():
            watch = Weights() if name == "Adaptive" else dm.Callback()
            run = dm.simulate(agent, problem, seed, callbacks=[watch])
            regrets[name] += run.dynamic_regret(problem, gains) / seeds
            if isinstance(watch, Weights):
                weights.append(watch.seen)
    times = np.arange(EVERY, problem.horizon + 1, EVERY)
    return Course(times, np.mean(weights, axis=0), {name: r[times - 1] for name, r in regrets.items()})


def draw(course: Course) -> None:
    """Draw the weights over the time, stacked, and the regrets below."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams.update({"font.size": 9})
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(
        2, 1, figsize=(7.5, 4.6), sharex=True, layout="constrained", height_ratios=(1.2, 1)
    )
    _weights(above, course)
    for name, regret in course.regrets.items():
        below.plot(course.times, regret, color=COLOURS[name], label=name)
    below.set(xlabel="step", ylabel="regret so far", ylim=(0, None))
    below.legend(loc="upper left", frameon=False)
    for axis in (above, below):
        for at in np.cumsum(LENGTHS)[:-1] * STRETCH:
            axis.axvline(at, color="black", linewidth=0.8, linestyle=":")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _weights(axis: Axes, course: Course) -> None:
    """Draw the weights, the longest memory at the bottom."""
    from matplotlib import colormaps

    shades = [colormaps["YlOrRd"](x) for x in np.linspace(0.15, 0.85, MEMORIES - 1)]
    labels = ["everything", *(f"{int(m):,}" for m in FADING[::-1])]
    axis.stackplot(course.times, course.weights.T[::-1], colors=["#b9c7cc", *shades], labels=labels)
    axis.set(ylabel="weight of a memory", ylim=(0, 1), xlim=(0, course.times[-1]))
    handles, names = axis.get_legend_handles_labels()
    axis.legend(
        handles[::-1],
        names[::-1],
        title="steps it keeps",
        loc="center left",
        bbox_to_anchor=(1, 0.5),
        frameon=False,
    )
    starts = np.cumsum((0, *LENGTHS)) * STRETCH
    for name, start, stop in zip(PHASES, starts[:-1], starts[1:], strict=True):
        axis.text((start + stop) / 2, 1.03, name, ha="center")


if __name__ == "__main__":
    sys.exit(main())

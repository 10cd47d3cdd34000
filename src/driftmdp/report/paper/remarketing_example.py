"""[CSZ20] Example 1, not drawn there: how the market turns, and how many cars it is best to list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftmdp import planning, problems
from driftmdp.mdp import Problem
from driftmdp.problems.remarketing import MARKETS
from driftmdp.report.paper.sheet import BLUE, GREEN, ORANGE, PAPER, choices, name_turns, stacked
from driftmdp.report.rendered_figure import styled
from driftmdp.statements.verdict import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def market_course(problem: Problem) -> Floats:
    """Return mean demand, mean arrivals and margin at each step, shape (T, 3).

    Examples
    --------
    >>> market_course(problems.remarketing(horizon=3, cycles=1))
    array([[ 7.   ,  5.5  ,  3.   ],
           [ 2.1  ,  1.925,  6.   ],
           [14.   ,  8.8  ,  1.5  ]])
    """
    usual = [problem.parameters[name] for name in ("demand", "arrivals", "margin")]
    return np.asarray(problem.drifting.weights.matrix @ (np.array([*MARKETS.values()]) * usual))


def best_listings(problem: Problem) -> NDArray[np.int64]:
    """Return how many cars the oracle lists with s on the lot, in whole batches, shape (T, S).

    Examples
    --------
    >>> best_listings(problems.remarketing(horizon=3, cycles=1))[:, [3, 50]]
    array([[ 4,  8],
           [ 4,  4],
           [ 4, 12]])
    """
    path = planning.gain_path(problem.drifting)
    return np.asarray(problem.parameters["batch"] * path.policies[path.policy_index].astype(np.int64))


@styled(PAPER)
def remarketing_example(steps: int = 240) -> Figure:
    """Draw one round of the market, and the optimal number of cars to list by stock along it.

    Examples
    --------
    >>> len(remarketing_example(steps=3).axes)
    3
    """
    problem = problems.remarketing(horizon=steps, cycles=1)
    figure, (above, below) = stacked([1.5, 2.6], right=1.25, gap=0.45)
    course = market_course(problem)
    names = ("demand, cars", "arrivals, cars", "margin, k\\$")
    for name, values, colour in zip(names, course.T, (BLUE, ORANGE, GREEN), strict=True):
        above.plot(np.linspace(0, 1, steps, endpoint=False), values, color=colour, linewidth=1.8, label=name)
    above.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)
    above.set_xlim(0, 1)
    above.set_ylim(0, None)
    name_turns(above, MARKETS)
    levels = problem.parameters["batch"] * np.arange(problem.parameters["n_batches"] + 1)
    choices(figure, below, best_listings(problem).T, levels, "cars to list")
    below.set_ylabel("cars on the lot")
    below.set_xlabel("share of a round of the market")
    return figure

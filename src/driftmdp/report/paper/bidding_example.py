"""[CSZ20] Example 2, not drawn there: how competition turns, and what it is best to bid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftmdp import planning, problems
from driftmdp.mdp import Problem
from driftmdp.problems.bidding import AUDIENCES
from driftmdp.report.paper.sheet import BLUE, GREEN, ORANGE, PAPER, RED, choices, name_turns, stacked
from driftmdp.report.rendered_figure import styled
from driftmdp.statements.verdict import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, GREEN, ORANGE, RED)


def win_course(problem: Problem) -> Floats:
    """Return the chance that each bid wins at each step, shape (T, n_bids).

    Examples
    --------
    >>> win_course(problems.bidding(horizon=3, cycles=1))[:, [0, 3]].round(2)
    array([[0.08, 0.94],
           [0.69, 1.  ],
           [0.02, 0.39]])
    """
    per_click = problem.parameters["clicks"] * np.array([audience.clicks for audience in AUDIENCES.values()])
    bids = problem.space.pair(problem.start, 0) + np.arange(1, problem.parameters["n_bids"] + 1)
    chances = problem.drifting.anchor_rewards[:, bids] / per_click[:, None]  # a fresh ad: r = c w(x)
    return np.asarray(problem.drifting.weights.matrix @ chances)


def best_bids(problem: Problem) -> NDArray[np.int64]:
    """Return what the oracle bids, shape (T, B + 1, E + 1).

    Examples
    --------
    >>> best_bids(problems.bidding(horizon=3, cycles=1))[:, 24, 0]
    array([3, 1, 4])
    """
    path = planning.gain_path(problem.drifting)
    shape = (problem.horizon, problem.parameters["budget"] + 1, problem.parameters["exposures"] + 1)
    return path.policies[path.policy_index].astype(np.int64).reshape(shape)


@styled(PAPER)
def bidding_example(steps: int = 240) -> Figure:
    """Draw one round of the audience, and the optimal bid by budget along it, for a fresh and for a tired ad.

    Examples
    --------
    >>> len(bidding_example(steps=3).axes)
    4
    """
    problem = problems.bidding(horizon=steps, cycles=1)
    figure, (above, fresh, tired) = stacked([1.5, 1.9, 1.9], right=1.25, gap=0.45)
    when = np.linspace(0, 1, steps, endpoint=False)
    for bid, (wins, colour) in enumerate(zip(win_course(problem).T, COLOURS, strict=True), start=1):
        above.plot(when, wins, color=colour, linewidth=1.8, label=f"bid {bid}")
    above.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)
    above.set_xlim(0, 1)
    above.set_ylim(0, 1.02)
    above.set_ylabel("chance to win")
    name_turns(above, AUDIENCES)
    best, most = best_bids(problem), problem.parameters["exposures"]
    levels = np.arange(problem.parameters["n_bids"] + 1)
    for ax, shown, label in ((fresh, 0, ""), (tired, most, "best bid")):
        choices(figure, ax, best[:, :, shown].T, levels, label)
        ax.set_ylabel("budget left")
        ax.set_title(f"best bid after {shown} recent exposures", fontsize=9, loc="left")
    tired.set_xlabel("share of a round of the audience")
    return figure

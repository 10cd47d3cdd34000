"""[CSZ20] Examples 1 and 2, not drawn there: the cycle of each world, and the best actions along it."""

import numpy as np

from driftmdp import planning, problems
from driftmdp.mdp import Problem
from driftmdp.problems.bidding import AUDIENCES
from driftmdp.problems.remarketing import MARKETS
from driftmdp.report.paper import style
from driftmdp.report.rendered_figure import Figure, stacked_axes, styled


def oracle_actions(problem: Problem) -> style.Ints:
    """Return the action of the optimal policy of each step, shape (T, S)."""
    path = planning.gain_path(problem.drifting)
    return path.policies[path.policy_index].astype(np.int64)


def market_means(problem: Problem) -> style.Floats:
    """Return mean demand, mean arrivals and margin at each step, shape (T, 3).

    Examples
    --------
    >>> from driftmdp import problems
    >>> from driftmdp.report.paper.examples import market_means
    >>> market_means(problems.remarketing(horizon=3, cycles=1))
    array([[ 7.   ,  5.5  ,  3.   ],
           [ 2.1  ,  1.925,  6.   ],
           [14.   ,  8.8  ,  1.5  ]])
    """
    usual = [problem.parameters[name] for name in ("demand", "arrivals", "margin")]
    return np.asarray(problem.drifting.weights.matrix @ (np.array([*MARKETS.values()]) * usual))


def best_listings(problem: Problem) -> style.Ints:
    """Return how many cars the oracle lists with s on the lot, in whole batches, shape (T, S).

    Examples
    --------
    >>> from driftmdp import problems
    >>> from driftmdp.report.paper.examples import best_listings
    >>> best_listings(problems.remarketing(horizon=3, cycles=1))[:, [3, 50]]
    array([[ 4,  8],
           [ 4,  4],
           [ 4, 12]])
    """
    return np.asarray(problem.parameters["batch"] * oracle_actions(problem))


@styled(style.PAPER_STYLE)
def remarketing_example(steps: int = 240) -> Figure:
    """Draw one cycle of the market, and the optimal number of cars to list by stock along it.

    Examples
    --------
    >>> from driftmdp.report.paper.examples import remarketing_example
    >>> len(remarketing_example(steps=3).axes)
    3
    """
    problem = problems.remarketing(horizon=steps, cycles=1)
    figure, (above, below) = stacked_axes([1.5, 2.6], right=1.25, gap=0.45)
    names = ("demand, cars", "arrivals, cars", "margin, k\\$")
    means = zip(market_means(problem).T, (style.BLUE, style.ORANGE, style.GREEN), strict=True)
    style.draw_cycle(above, dict(zip(names, means, strict=True)), MARKETS)
    above.set_ylim(0, None)
    levels = problem.parameters["batch"] * np.arange(problem.parameters["n_batches"] + 1)
    style.draw_choices(figure, below, best_listings(problem).T, levels, "cars to list")
    below.set(xlabel="share of a round of the market", ylabel="cars on the lot")
    return figure


def win_chances(problem: Problem) -> style.Floats:
    """Return the chance that each bid wins at each step, shape (T, n_bids).

    Examples
    --------
    >>> from driftmdp import problems
    >>> from driftmdp.report.paper.examples import win_chances
    >>> win_chances(problems.bidding(horizon=3, cycles=1))[:, [0, 3]].round(2)
    array([[0.08, 0.94],
           [0.69, 1.  ],
           [0.02, 0.39]])
    """
    per_click = problem.parameters["clicks"] * np.array([audience.clicks for audience in AUDIENCES.values()])
    bids = problem.space.pair(problem.start, 0) + np.arange(1, problem.parameters["n_bids"] + 1)
    chances = problem.drifting.anchor_rewards[:, bids] / per_click[:, None]  # a fresh ad: r = c w(x)
    return np.asarray(problem.drifting.weights.matrix @ chances)


def best_bids(problem: Problem) -> style.Ints:
    """Return the oracle's bids, shape (T, B + 1, E + 1).

    Examples
    --------
    >>> from driftmdp import problems
    >>> from driftmdp.report.paper.examples import best_bids
    >>> best_bids(problems.bidding(horizon=3, cycles=1))[:, 24, 0]
    array([3, 1, 4])
    """
    shape = (problem.horizon, problem.parameters["budget"] + 1, problem.parameters["exposures"] + 1)
    return oracle_actions(problem).reshape(shape)


@styled(style.PAPER_STYLE)
def bidding_example(steps: int = 240) -> Figure:
    """Draw one cycle of the audience, and the optimal bid by budget along it, for a fresh and for a tired ad.

    Examples
    --------
    >>> from driftmdp.report.paper.examples import bidding_example
    >>> len(bidding_example(steps=3).axes)
    4
    """
    problem = problems.bidding(horizon=steps, cycles=1)
    figure, (above, fresh, tired) = stacked_axes([1.5, 1.9, 1.9], right=1.25, gap=0.45)
    chances = zip(win_chances(problem).T, (style.BLUE, style.GREEN, style.ORANGE, style.RED), strict=True)
    style.draw_cycle(above, {f"bid {bid}": line for bid, line in enumerate(chances, start=1)}, AUDIENCES)
    above.set(ylim=(0, 1.02), ylabel="chance to win")
    best, most = best_bids(problem), problem.parameters["exposures"]
    levels = np.arange(problem.parameters["n_bids"] + 1)
    for ax, exposures, label in ((fresh, 0, ""), (tired, most, "best bid")):
        style.draw_choices(figure, ax, best[:, :, exposures].T, levels, label)
        ax.set_ylabel("budget left")
        ax.set_title(f"best bid after {exposures} recent exposures", fontsize=9, loc="left")
    tired.set_xlabel("share of a round of the audience")
    return figure

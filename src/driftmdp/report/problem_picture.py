"""A picture of any registered problem: what drift changes along one cycle, and what it is best to do there.

All of it is computed and nothing is simulated. ``problem_path`` has the arrays and ``draw_problem`` draws them.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from driftmdp import planning, problems
from driftmdp.display import brief
from driftmdp.errors import InvalidInputError
from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.report.paper import style
from driftmdp.report.rendered_figure import Axes, Figure, stacked_axes, styled

MAX_STATES = 150  # more rows than this are too thin to be seen
MAX_LABELS = 16  # of states, and of actions
STEPS = 240  # of the cycle that is drawn


@dataclass(frozen=True, eq=False)
class ProblemPath:
    """Gains and best actions along a problem.

    Attributes
    ----------
    optimal, fixed, random
        The gain at each step of that step's optimal policy, of the average world's and of uniformly random play,
        each as if the step's world stayed for ever, shape (T,).
    actions
        The optimal action by step and state as an index into ``action_names``, shape (T, S).
    action_names
        The names of the actions that are optimal somewhere, in the order of the states' lists.
    regimes
        The step, from 0, at which each named regime is first nearest.
    """

    optimal: style.Floats
    fixed: style.Floats
    random: style.Floats
    actions: style.Ints = field(repr=False)
    action_names: tuple[str, ...]
    regimes: dict[str, int]

    __repr__ = brief


def problem_path(problem: Problem) -> ProblemPath:
    """Compute the gains and the best actions along a problem, exactly.

    Examples
    --------
    >>> from driftmdp.problems import bidding
    >>> from driftmdp.report.problem_picture import problem_path
    >>> path = problem_path(bidding(budget=4, exposures=0, horizon=3, cycles=1))
    >>> path.optimal.round(3), path.regimes
    (array([0.064, 0.084, 0.041]), {'usual': 0, 'quiet': 1, 'fierce': 2})
    >>> path.action_names
    ('no bid', 'bid 1', 'bid 2', 'bid 3', 'bid 4')
    """
    drifting, space = problem.drifting, problem.space
    best = planning.gain_path(drifting)
    worlds = [drifting.at(t) for t in range(1, problem.horizon + 1)]
    fixed = planning.optimal_gain(average_world(drifting)).policy
    random = np.repeat(1.0 / space.n_actions, space.n_actions)
    actions, names = _named_actions(space, best.policies)
    return ProblemPath(
        optimal=best.gains,
        fixed=np.array([planning.policy_gain(world, fixed)[problem.start] for world in worlds]),
        random=np.array([planning.policy_gain(world, random)[problem.start] for world in worlds]),
        actions=actions[best.policy_index],
        action_names=names,
        regimes=_regime_steps(problem),
    )


def average_world(drifting: DriftingMdp) -> Mdp:
    """Return the MDP with the mean rewards and the mean transitions of all steps.

    Examples
    --------
    >>> from driftmdp.problems import two_state
    >>> from driftmdp.report.problem_picture import average_world
    >>> average_world(two_state(horizon=1000).drifting)
    <Mdp: 2 states, 4 pairs, 6 successors, rewards in [0.185884, 0.214116]>
    """
    shares, reward_shares = (
        np.asarray(weights.arrays.mean(axis=0)).reshape(1, -1)
        for weights in (drifting.weights, drifting.reward_weights)
    )
    return DriftingMdp(drifting.anchors, shares, reward_shares).at(1)


def _named_actions(space: Space, policies: Any) -> tuple[style.Ints, tuple[str, ...]]:
    """Return policies as indices into the names of the actions that they use: an action may move between lists."""
    pair_names = [space.action_name(*space.state_and_action(pair)) for pair in range(space.n_pairs)]
    order = {name: rank for rank, name in enumerate(dict.fromkeys(pair_names))}
    ranks = np.array([order[name] for name in pair_names])[space.offsets[:-1] + policies]
    used, actions = np.unique(ranks, return_inverse=True)
    return actions.reshape(policies.shape), tuple(np.array(list(order))[used].tolist())


def _regime_steps(problem: Problem) -> dict[str, int]:
    weights = problem.drifting.weights.arrays.toarray() if regime_names(problem) else np.empty((0, 0))
    return {
        name: int(column.argmax())
        for name, column in zip(regime_names(problem), weights.T, strict=True)
        if column.any()
    }


def regime_names(problem: Problem) -> tuple[str, ...]:
    """Return the names of a registered problem's anchors, if its module has a dict of one named tuple per anchor.

    Examples
    --------
    >>> from driftmdp.problems import bidding, garnet
    >>> from driftmdp.report.problem_picture import regime_names
    >>> regime_names(bidding(horizon=3)), regime_names(garnet(horizon=3))
    (('usual', 'quiet', 'fierce'), ())
    """
    if problem.name not in [entry.name for entry in problems.list()]:
        return ()
    module = sys.modules[problems.describe(problem.name).factory.__module__]
    tables = [value for value in vars(module).values() if isinstance(value, dict)]
    named = [table for table in tables if table and all(hasattr(entry, "_fields") for entry in table.values())]
    return next((tuple(table) for table in named if len(table) == problem.drifting.n_anchors), ())


@styled(style.PAPER_STYLE)
def draw_problem(problem: Problem) -> Figure:
    """Draw the gains along a problem, and the best action by state under them.

    Raises
    ------
    InvalidInputError
        If it has more than 150 states.

    Examples
    --------
    >>> from driftmdp.problems import bidding
    >>> from driftmdp.report.problem_picture import draw_problem
    >>> len(draw_problem(bidding(budget=4, exposures=0, horizon=3, cycles=1)).axes)
    2
    """
    n_states = problem.space.n_states
    if n_states > MAX_STATES:
        raise InvalidInputError(f"problem must have at most {MAX_STATES} states to be drawn; got {n_states}.")
    path = problem_path(problem)
    labels = [problem.space.state_name(state) for state in range(n_states)]
    left = 0.65 + 0.065 * max(map(len, labels))
    figure, (above, below) = stacked_axes([1.5, 2.9], left=left, right=1.55, gap=0.45)
    _draw_gains(above, path)
    _draw_actions(figure, below, path, labels)
    has_one_cycle = problem.parameters.get("cycles") == 1
    below.set_xlabel("share of one cycle of the drift" if has_one_cycle else "share of the horizon")
    return figure


def _draw_gains(ax: Axes, path: ProblemPath) -> None:
    lines = {
        "best of each step": (path.optimal, style.BLUE),
        "best of the\naverage world": (path.fixed, style.ORANGE),
        "random play": (path.random, style.GREY),
    }
    style.draw_lines(ax, lines)
    style.mark_places(ax, {name: step / path.optimal.size for name, step in path.regimes.items()})
    ax.set_ylabel("average reward")


def _draw_actions(figure: Figure, ax: Axes, path: ProblemPath, labels: list[str]) -> None:
    from matplotlib.patches import Patch

    levels = np.arange(max(2, len(path.action_names)))  # a scale has two ends
    style.draw_choices(figure, ax, path.actions.T, levels, "")
    every = ceil(len(labels) / MAX_LABELS)
    ax.set_yticks(range(0, len(labels), every), labels[::every], fontsize=8)
    image, shown = ax.images[0], range(0, len(path.action_names), ceil(len(path.action_names) / MAX_LABELS))
    keys = [
        Patch(facecolor=tuple(colour), edgecolor=style.GREY, linewidth=0.5, label=path.action_names[level])
        for level, colour in zip(shown, image.cmap(image.norm(np.array(shown))), strict=True)
    ]
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "alignment": "left"}
    ax.legend(handles=keys, title="best action", title_fontsize=8.5, fontsize=8, frameon=False, **place)


def problem_pictures() -> dict[str, Callable[[], Figure]]:
    """Return a function that draws each registered problem that has a horizon, by its name without version.

    Examples
    --------
    >>> from driftmdp.report.problem_picture import problem_pictures
    >>> "garnet" in problem_pictures(), "perils" in problem_pictures()
    (True, False)
    """
    entries = [entry for entry in problems.list() if "horizon" in entry.parameters]
    return {entry.name.rpartition("-v")[0]: partial(_draw_one_cycle, entry.name) for entry in entries}


def _draw_one_cycle(name: str) -> Figure:
    short = {"horizon": STEPS, "cycles": 1}
    accepted = problems.describe(name).parameters
    return draw_problem(problems.make(name, **{key: value for key, value in short.items() if key in accepted}))

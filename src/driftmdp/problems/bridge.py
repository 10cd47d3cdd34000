"""NS-Gym's Bridge [KLB25], after [LR19]: two goals, and a storm that moves from one side to the other."""

from typing import NamedTuple

import numpy as np

from driftmdp.mdp import Problem
from driftmdp.problems.grids import SlipperyGrid, drifting_grid, slip_towards
from driftmdp.problems.registry import register
from driftmdp.validation import as_number

MAP = ("HHHHHHHH", "FFFFFHHH", "GFHFSFFG", "FFFFFHHH", "HHHHHHHH")
PRIZES = {"H": -1.0, "G": 1.0}


class BridgeRegime(NamedTuple):
    """A regime: whether there is storm on the left half and on the right one."""

    left: bool
    right: bool


REGIMES = {"storm left": BridgeRegime(True, False), "storm right": BridgeRegime(False, True)}


@register("bridge-v1")
def bridge(
    calm: float = 0.02,
    storm: float = 0.5,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "none",
) -> Problem:
    """Which of two goals to walk to while the storm moves: NS-Gym's Bridge, each half with its own slip.

    The goal on the right is 3 moves away over a narrow bridge, the one on the left 6 moves on wider ground. A move
    may turn aside to the left or right, more often in the storm. A goal pays 1, a fall costs 1, and both lead to
    the start.

    The cell is endogenous. The slip of each half drifts, and with it transitions and mean rewards. It tests a
    change of goal, and whether an agent tries again the way on which it fell. By default rewards are their means.

    The tables are those of NS-Gym 1.0.12 in its split mode (``P_left`` and ``P_right``), which need not be
    installed. Its clock restarts with each Gymnasium episode. Here there is one clock.

    Parameters
    ----------
    calm
        Chance that a move turns aside in the calm, in [0, 0.6].
    storm
        The same in the storm, in [0, 0.6].
    horizon
        T, at least 1.
    drift
        ``gradual`` (linear from one regime to the other, once), ``abrupt`` (jumps), ``slow``, ``seasonal`` and
        ``fast`` (linear there and back, 1, 5 or 20 times), ``reward-only`` and ``transition-only`` (twice, with the
        other fixed) or ``stationary``.
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import bridge
    >>> problem = bridge(horizon=1000, calm=0.0)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 2 anchors, 15 states, 60 pairs>
    >>> best = [planning.optimal_gain(anchor) for anchor in problem.drifting.anchors]
    >>> [problem.space.action_names[problem.start][optimum.policy[problem.start]] for optimum in best]
    ['right', 'left']
    """
    grid = SlipperyGrid(MAP, PRIZES)
    calm, storm = as_number(calm, "calm", 0.0, 0.6), as_number(storm, "storm", 0.0, 0.6)
    is_left = np.array([column < len(MAP[0]) // 2 for _, column in grid.cells])
    anchors = []
    for regime in REGIMES.values():
        left, right = (slip_towards(0, storm if stormy else calm) for stormy in regime)
        anchors.append(grid.world(np.where(is_left[:, None], left, right)))
    drifting = drifting_grid(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, start=grid.start, noise=noise, reward_range=(-1.0, 1.0))

"""FrozenLake on which moves turn aside by changing chances, as in NS-Gym [KLB25], as a world without end."""

from typing import NamedTuple

from driftmdp.mdp import Problem
from driftmdp.problems.grids import SlipperyGrid, drifting_grid, slip_towards
from driftmdp.problems.registry import register
from driftmdp.validation import as_number, one_of

MAPS = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}  # Gymnasium's


class LakeRegime(NamedTuple):
    """A regime: which of the grid's turns is the usual one."""

    turn: int


REGIMES = {"straight": LakeRegime(0), "turned left": LakeRegime(1), "turned right": LakeRegime(2)}


@register("frozen-lake-v1")
def frozen_lake(
    map_name: str = "4x4",
    slip: float = 0.1,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "bernoulli",
) -> Problem:
    """How to cross a frozen lake to its goal while the wind turns: NS-Gym's FrozenLake.

    Each step is a move left, down, right or up. In the ``straight`` regime a move mostly does what it should. In
    the other two it mostly does what the next action should (``turned left``) or the one before (``turned right``).
    Who falls into a hole, or reaches the goal, is at the start again. The goal pays 1.

    The cell is endogenous. The chances of the turns drift, and with them transitions and mean rewards: the mean
    reward of a pair is its chance to reach the goal, and by default it is paid as 1 or 0. It tests sparse rewards
    and the same actions with other effects.

    The tables are those of NS-Gym 1.0.12, which need not be installed. Its clock restarts with each Gymnasium
    episode. Here there is one clock. ``abrupt`` is NS-Gym's PeriodicScheduler with DistributionCyclicUpdate.
    ``gradual`` is its ContinuousScheduler with DistributionLinearInterpolation.

    Parameters
    ----------
    map_name
        ``4x4`` (11 states) or ``8x8`` (53 states).
    slip
        Chance of the two turns that a regime does not favour, together, in [0, 0.6].
    horizon
        T, at least 1.
    drift
        ``gradual`` (linear from the first regime to the last, once), ``abrupt`` (jumps), ``slow``, ``seasonal`` and
        ``fast`` (linear from regime to regime and back, 1, 5 or 20 times), ``reward-only`` and ``transition-only``
        (twice, with the other fixed) or ``stationary``.
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import frozen_lake
    >>> lake = frozen_lake(horizon=1000, slip=0.0)
    >>> lake.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 11 states, 44 pairs>
    >>> round(planning.optimal_gain(lake.drifting.anchor(0)).gain, 4)  # six steps to the goal
    0.1667
    """
    grid = SlipperyGrid(MAPS[one_of(map_name, "map_name", MAPS)], {"G": 1.0})
    slip = as_number(slip, "slip", 0.0, 0.6)
    anchors = [grid.world(slip_towards(regime.turn, slip)) for regime in REGIMES.values()]
    drifting = drifting_grid(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, start=grid.start, noise=noise, reward_range=(0.0, 1.0))

"""The parts of MASTER: the radii of its instances, the diameter that it is given, and its summary."""

import math
from dataclasses import dataclass, field

from driftmdp import planning
from driftmdp.agents.optimist_parts import Confidence, RadiusConstants
from driftmdp.mdp import Problem, Space

LARGEST_DIAMETER = 1e9
MOST_STATES_MEASURED = 300  # beyond, a diameter takes longer than a run
MOST_STEPS_MEASURED = 50  # of a problem whose transitions differ at every step


class AdaptiveWideningRadii(Confidence):
    """rad_r = 8 sqrt(ln(SAT/delta) / N+), rad_p = sqrt(S) rad_r; [WL21] Algorithm 4."""

    def constants(self, space: Space, horizon: int) -> RadiusConstants:
        """Return the numbers that kernels compute the radii from."""
        log = math.log(space.n_pairs * horizon)
        return RadiusConstants(64.0, log, 64.0 * space.n_states, log, 0.0)


@dataclass(frozen=True)
class MasterSummary:
    """What MASTER started, and what its tests found.

    Attributes
    ----------
    blocks
        How many blocks were begun.
    instances
        How many instances of each order m were started, those of 2^m steps.
    test_1, test_2, widening
        How often each cause led to a restart.
    restarts, causes
        The time of the step after which each restart came, and its cause.
    closest_1, closest_2
        The largest ratio of each test's statistic to its threshold so far. A test fires at 1. Where the statistic
        was never positive, neither is the ratio, and before the first test it is minus infinity.
    """

    blocks: int
    instances: tuple[int, ...]
    test_1: int
    test_2: int
    widening: int
    restarts: tuple[int, ...] = field(repr=False)
    causes: tuple[str, ...] = field(repr=False)
    closest_1: float
    closest_2: float


def largest_diameter(problem: Problem) -> float:
    """Return the largest diameter of a problem's MDPs, at least 1.

    Of transitions that differ at many steps some are measured. Infinite diameters do not count, and where there are
    more than 300 states it is 1.
    """
    if not 1 < problem.space.n_states <= MOST_STATES_MEASURED:
        return 1.0
    steps, _ = problem.drifting.distinct_steps(rewards=False)
    chosen = steps[:: max(1, -(-len(steps) // MOST_STEPS_MEASURED))].tolist()
    found = [float(planning.diameter(problem.drifting.at(step + 1))) for step in chosen]
    return max([1.0, *(diameter for diameter in found if diameter <= LARGEST_DIAMETER)])

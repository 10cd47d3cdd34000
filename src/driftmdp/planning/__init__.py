"""Planning in a given MDP: optimal gains, optimistic plans, diameters, finite horizons, and a policy's gain.

Results carry their certificate. A computation that does not converge raises.
"""

from driftmdp.planning.communication import check_communicating, is_communicating
from driftmdp.planning.diameter import Diameter, diameter, diameters, max_diameter
from driftmdp.planning.drifting_gain import GainPath, gain_path, optimal_gains
from driftmdp.planning.finite_horizon import FiniteHorizon, best_total_reward, plan_finite_horizon, total_reward
from driftmdp.planning.gain import Gain, optimal_gain
from driftmdp.planning.linear_program import LinearProgramGain, gain_by_linear_program
from driftmdp.planning.optimistic import (
    Optimistic,
    extended_value_iteration,
    extended_value_iteration_over_intervals,
)
from driftmdp.planning.policy import hitting_times, policy_gain, stationary_distributions

__all__ = [
    "Diameter",
    "FiniteHorizon",
    "Gain",
    "GainPath",
    "LinearProgramGain",
    "Optimistic",
    "best_total_reward",
    "check_communicating",
    "diameter",
    "diameters",
    "extended_value_iteration",
    "extended_value_iteration_over_intervals",
    "gain_by_linear_program",
    "gain_path",
    "hitting_times",
    "is_communicating",
    "max_diameter",
    "optimal_gain",
    "optimal_gains",
    "plan_finite_horizon",
    "policy_gain",
    "stationary_distributions",
    "total_reward",
]

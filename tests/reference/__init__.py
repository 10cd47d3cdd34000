"""The oracle: slow, obvious transcriptions of the paper's text, written without the library.

Everything here is plain Python over nested lists. A world at one time is a pair of ragged tables:
`rewards[s][a]` and `transitions[s][a][s2]`, with states and actions numbered from 0. A world over
time is a list of such tables, one per t, the first for t = 1.
"""

from tests.reference.backward_induction import best_total
from tests.reference.bandits import (
    BOB,
    DUCB,
    SWUCB,
    UCB1,
    Exp3,
    Exp3P,
    Exp3S,
    Rexp3,
    draw,
    exp3_gamma,
    exp3s_parameters,
    rexp3_parameters,
)
from tests.reference.borl import BORL, borl_parameters, exp3p_parameters, floor_root
from tests.reference.diameter import diameter_by_enumeration
from tests.reference.gain import gain_by_enumeration, policy_gain
from tests.reference.inventory import (
    cost,
    mean_costs,
    mean_pseudo_rewards,
    mixed_with_uniform,
    pseudo_reward,
    transition_probabilities,
)
from tests.reference.perils import perils_instances, perils_trajectory
from tests.reference.sampling import count_moves, empirical_transitions
from tests.reference.two_state import two_state_rewards, two_state_transitions
from tests.reference.variation import reward_variation, transition_variation

__all__ = [
    "BOB",
    "BORL",
    "DUCB",
    "SWUCB",
    "UCB1",
    "Exp3",
    "Exp3P",
    "Exp3S",
    "Rexp3",
    "best_total",
    "borl_parameters",
    "cost",
    "count_moves",
    "diameter_by_enumeration",
    "draw",
    "empirical_transitions",
    "exp3_gamma",
    "exp3p_parameters",
    "exp3s_parameters",
    "floor_root",
    "gain_by_enumeration",
    "mean_costs",
    "mean_pseudo_rewards",
    "mixed_with_uniform",
    "perils_instances",
    "perils_trajectory",
    "policy_gain",
    "pseudo_reward",
    "reward_variation",
    "rexp3_parameters",
    "transition_probabilities",
    "transition_variation",
    "two_state_rewards",
    "two_state_transitions",
]

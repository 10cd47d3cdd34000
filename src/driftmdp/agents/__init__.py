"""The agents: one algorithm per file, and the parts that optimists are composed of.

Every agent has ``reset(rng)``, ``act(state)`` and ``observe(reward, next_state, action=None)``.
``driftmdp.simulate`` runs any object that has them. The agents here also run compiled, save and load themselves,
and explain their plans.
"""

from driftmdp.agents.adaptive import Adaptive, AdaptiveReason
from driftmdp.agents.adaptive_v1 import AdaptiveV1, AdaptiveV1Reason
from driftmdp.agents.alarms import Alarm, DetectingSummary
from driftmdp.agents.bandits import (
    BOB,
    CUSUMUCB,
    DUCB,
    EXP3,
    EXP3P,
    EXP3S,
    MUCB,
    SWUCB,
    UCB1,
    AdSwitch,
    AdSwitchSummary,
    BanditAlarms,
    DiscountedThompson,
    GLRklUCB,
    Rexp3,
    WeightsSummary,
)
from driftmdp.agents.base import Agent, BuiltinAgent, PlanningAgent, RunContext
from driftmdp.agents.block_master import BlockSummary
from driftmdp.agents.borl import BORL
from driftmdp.agents.detecting import Detecting
from driftmdp.agents.detectors import CUSUMDetector, GLRDetector, PageHinkleyDetector, RunLengthDetector
from driftmdp.agents.discounted_psrl import DiscountedPSRL
from driftmdp.agents.fixed_policy import FixedPolicy
from driftmdp.agents.imed_rl import IMEDRL, ImedReason, ImedSummary
from driftmdp.agents.inventory_optimist import InventoryOptimist
from driftmdp.agents.kl_ucrl import KLUCRL
from driftmdp.agents.master import MASTER
from driftmdp.agents.master_parts import MasterSummary
from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import (
    BernsteinRadii,
    Doubling,
    Everything,
    JakschRadii,
    PaperRadii,
    SinceRestart,
    SlidingWindow,
    VanishingMultiplicative,
    VariationRadii,
)
from driftmdp.agents.optimistic_q import OptimisticQ, QReason, QSummary
from driftmdp.agents.oracle import Oracle
from driftmdp.agents.order_explanation import Outlook
from driftmdp.agents.plan_explanation import ActionReason, Beliefs, Explanation, Plan
from driftmdp.agents.posterior_sampler import SamplingSummary
from driftmdp.agents.psrl import PSRL
from driftmdp.agents.random import Random
from driftmdp.agents.rbocpd_ucrl2 import RBOCPDUCRL2
from driftmdp.agents.restart_q import RestartQ, RestartQReason, RestartQSummary
from driftmdp.agents.restarted_ucrl2b import RestartedUCRL2B
from driftmdp.agents.sliding_window_psrl import SlidingWindowPSRL
from driftmdp.agents.sliding_window_ucrl2 import SlidingWindowUCRL2
from driftmdp.agents.snapshot import load
from driftmdp.agents.sw_ucrl import SWUCRL
from driftmdp.agents.swucrl2_cw import SWUCRL2CW
from driftmdp.agents.ucrl2 import UCRL2
from driftmdp.agents.ucrl2_s import UCRL2S
from driftmdp.agents.ucrl2b import UCRL2B
from driftmdp.agents.ucrl3 import UCRL3
from driftmdp.agents.variation_aware_ucrl import VariationAwareUCRL
from driftmdp.deprecation import renamed

# The practical one, yardsticks and base classes
__all__ = ["Adaptive", "BuiltinAgent", "FixedPolicy", "InventoryOptimist", "Optimist", "Oracle", "Random"]
# First editions, kept for one release
__all__ += ["AdaptiveV1", "AdaptiveV1Reason"]
# Optimists
__all__ += ["BORL", "KLUCRL", "MASTER", "SWUCRL", "SWUCRL2CW", "UCRL2", "UCRL2B", "UCRL2S", "UCRL3"]
__all__ += ["RestartedUCRL2B", "SlidingWindowUCRL2", "VariationAwareUCRL"]
# Posterior sampling, indices and Q-learning
__all__ += ["IMEDRL", "PSRL", "DiscountedPSRL", "OptimisticQ", "RestartQ", "SlidingWindowPSRL"]
# Detection around a learner
__all__ += ["RBOCPDUCRL2", "Detecting"]
__all__ += ["CUSUMDetector", "GLRDetector", "PageHinkleyDetector", "RunLengthDetector"]
# Bandits
__all__ += ["BOB", "DUCB", "EXP3", "EXP3P", "EXP3S", "SWUCB", "UCB1", "Rexp3"]
__all__ += ["CUSUMUCB", "MUCB", "AdSwitch", "DiscountedThompson", "GLRklUCB"]
# Parts of an optimist
__all__ += ["Doubling", "Everything", "SinceRestart", "SlidingWindow", "VanishingMultiplicative"]
__all__ += ["BernsteinRadii", "JakschRadii", "PaperRadii", "VariationRadii"]
# Reasons and results
__all__ += ["ActionReason", "AdaptiveReason", "Alarm", "Beliefs", "Explanation", "ImedReason", "Outlook", "Plan"]
__all__ += ["AdSwitchSummary", "BanditAlarms", "BlockSummary", "DetectingSummary", "ImedSummary", "QReason"]
__all__ += ["MasterSummary", "QSummary", "RestartQReason", "RestartQSummary", "SamplingSummary", "WeightsSummary"]
# Protocols and functions
__all__ += ["Agent", "PlanningAgent", "RunContext", "builtin", "load"]

__getattr__ = renamed(__name__, Stage="RunContext")


def builtin() -> dict[str, type[BuiltinAgent]]:
    """Return the agents of this package by name.

    Examples
    --------
    >>> from driftmdp.agents import builtin
    >>> sorted(builtin())
    ['AdSwitch', 'Adaptive', 'AdaptiveV1', 'BOB', 'BORL', 'CUSUMUCB', 'DUCB', 'Detecting', 'DiscountedPSRL',
    'DiscountedThompson', 'EXP3', 'EXP3P', 'EXP3S', 'FixedPolicy', 'GLRklUCB', 'IMEDRL', 'InventoryOptimist',
    'KLUCRL', 'MASTER', 'MUCB', 'Optimist', 'OptimisticQ', 'Oracle', 'PSRL', 'RBOCPDUCRL2', 'Random', 'RestartQ',
    'RestartedUCRL2B', 'Rexp3', 'SWUCB', 'SWUCRL', 'SWUCRL2CW', 'SlidingWindowPSRL', 'SlidingWindowUCRL2', 'UCB1',
    'UCRL2', 'UCRL2B', 'UCRL2S', 'UCRL3', 'VariationAwareUCRL']
    """
    agents = [found for name in __all__ if isinstance(found := globals()[name], type)]
    return {
        agent.__name__: agent for agent in agents if issubclass(agent, BuiltinAgent) and agent is not BuiltinAgent
    }

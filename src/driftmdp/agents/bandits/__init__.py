"""Bandits: agents for problems with one state, where only forgetting and exploring matter."""

from driftmdp.agents.bandits.bob import BOB
from driftmdp.agents.bandits.d_ucb import DUCB
from driftmdp.agents.bandits.exp3 import EXP3
from driftmdp.agents.bandits.exp3_p import EXP3P
from driftmdp.agents.bandits.exp3_s import EXP3S
from driftmdp.agents.bandits.exponential_weights import WeightsSummary
from driftmdp.agents.bandits.rexp3 import Rexp3
from driftmdp.agents.bandits.sw_ucb import SWUCB
from driftmdp.agents.bandits.ucb1 import UCB1

__all__ = ["BOB", "DUCB", "EXP3", "EXP3P", "EXP3S", "SWUCB", "UCB1", "Rexp3", "WeightsSummary"]

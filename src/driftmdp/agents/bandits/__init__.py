"""Bandits: agents for problems with one state, where only forgetting and exploring matter."""

from driftmdp.agents.bandits.ad_switch import AdSwitch, AdSwitchSummary
from driftmdp.agents.bandits.bob import BOB
from driftmdp.agents.bandits.change_detecting import BanditAlarms
from driftmdp.agents.bandits.cusum_ucb import CUSUMUCB
from driftmdp.agents.bandits.d_ucb import DUCB
from driftmdp.agents.bandits.discounted_thompson import DiscountedThompson
from driftmdp.agents.bandits.exp3 import EXP3
from driftmdp.agents.bandits.exp3_p import EXP3P
from driftmdp.agents.bandits.exp3_s import EXP3S
from driftmdp.agents.bandits.exponential_weights import WeightsSummary
from driftmdp.agents.bandits.glr_kl_ucb import GLRklUCB
from driftmdp.agents.bandits.m_ucb import MUCB
from driftmdp.agents.bandits.rexp3 import Rexp3
from driftmdp.agents.bandits.sw_ucb import SWUCB
from driftmdp.agents.bandits.ucb1 import UCB1

__all__ = ["BOB", "CUSUMUCB", "DUCB", "EXP3", "EXP3P", "EXP3S", "MUCB", "SWUCB", "UCB1", "BanditAlarms"]
__all__ += ["AdSwitch", "AdSwitchSummary", "DiscountedThompson", "GLRklUCB", "Rexp3", "WeightsSummary"]

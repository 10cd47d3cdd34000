"""Adaptive: the agent to take if you do not want to choose one."""

from driftmdp.agents.adaptive_v1 import AdaptiveV1, AdaptiveV1Reason


class AdaptiveReason(AdaptiveV1Reason):
    """The agent's estimates of one action."""


class Adaptive(AdaptiveV1):
    """Plan with the memory that predicts best; nothing to set."""

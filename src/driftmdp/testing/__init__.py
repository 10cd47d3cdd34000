"""Checks that an agent or a problem keeps the rules, for those who write their own."""

from driftmdp.testing.agents import check_agent
from driftmdp.testing.checks import Check, Report
from driftmdp.testing.problems import check_problem

__all__ = ["Check", "Report", "check_agent", "check_problem"]

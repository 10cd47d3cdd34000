"""Checks that an agent or a problem of one's own keeps the rules."""

from driftmdp.deprecation import renamed
from driftmdp.testing.agents import check_agent
from driftmdp.testing.checks import Check, CheckReport
from driftmdp.testing.problems import check_problem

__all__ = ["Check", "CheckReport", "check_agent", "check_problem"]

__getattr__ = renamed(__name__, Report="CheckReport")

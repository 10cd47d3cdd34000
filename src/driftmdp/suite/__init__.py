"""The drift suite: its tasks, the yardstick, and the leaderboard of every agent on every problem."""

from driftmdp.suite.agents import parse_agent
from driftmdp.suite.leaderboard import Contest, Leaderboard, read_leaderboard
from driftmdp.suite.page import WrittenLeaderboard, write_leaderboard
from driftmdp.suite.runner import run_suite, write_tasks
from driftmdp.suite.tables import standing_rows
from driftmdp.suite.tasks import Suite, SuiteTask, packaged_suite, parse_suite

__all__ = [
    "Contest",
    "Leaderboard",
    "Suite",
    "SuiteTask",
    "WrittenLeaderboard",
    "packaged_suite",
    "parse_agent",
    "parse_suite",
    "read_leaderboard",
    "run_suite",
    "standing_rows",
    "write_leaderboard",
    "write_tasks",
]

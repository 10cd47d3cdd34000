"""The leaderboard of the drift suite: every agent on every problem, and what was promised of it."""

from driftmdp.report.leaderboard.page import WrittenLeaderboard, write_leaderboard
from driftmdp.report.leaderboard.tables import standing_rows

__all__ = ["WrittenLeaderboard", "standing_rows", "write_leaderboard"]

"""Old home of the leaderboard, which is in :mod:`driftmdp.suite`; it goes in the next version."""

from driftmdp.deprecation import renamed

_MOVED = ("WrittenLeaderboard", "standing_rows", "write_leaderboard")

__getattr__ = renamed(__name__, **{name: f"driftmdp.suite.{name}" for name in _MOVED})

"""The filters of the leaderboard's page: group, noise, drift and horizon, applied by ``page.js`` in the browser.

The script computes the standings and the ranks by group again from the contests that fit, and hides the rows of the
others. Intervals are of the whole family only, so the median of a part is shown without one.
"""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from driftmdp.report.content import FilterBar, FilterChoice
from driftmdp.suite.leaderboard import Contest, Leaderboard

NOISES = {"noisy": "noisy", "exact": "without noise"}
DRIFTS = {"drifting": "drifting", "stationary": "stationary"}


def filter_bar(board: Leaderboard) -> FilterBar:
    """Return the choices, and what the script needs to know of every contest."""
    contests = [_facts(board.rivals, board.yardstick, contest) for contest in board.contests]
    reported = [facts for facts in contests if facts["family"] == "reported"]
    choices = [
        _choice("group", "Group", {str(facts["group"]): str(facts["group"]) for facts in reported}),
        _choice("noise", "Noise", NOISES),
        _choice("drift", "Drift", DRIFTS),
        _choice("horizon", "Horizon", {str(horizon): f"T = {horizon:,}" for horizon in board.horizons}),
    ]
    data = {"agents": [*board.rivals, board.yardstick], "contests": contests}
    return FilterBar(choices, data, _text("page.js"), _text("page.css"))


def _choice(name: str, title: str, options: dict[str, str]) -> FilterChoice:
    return FilterChoice(name, title, [("", "all"), *options.items()])


def _facts(rivals: Sequence[str], yardstick: str, contest: Contest) -> dict[str, Any]:
    met = [agent if agent in contest.regrets else None for agent in (*rivals, yardstick)]
    return {
        "slug": contest.slug,
        "title": contest.title,
        "family": contest.family,
        "group": contest.group,
        "noise": "noisy" if contest.noisy else "exact",
        "drift": "stationary" if contest.stationary else "drifting",
        "horizon": str(contest.horizon),
        "ratios": [None if agent is None else contest.ratio(agent).estimate for agent in met],
        "ranks": [None if agent is None else contest.ranks.get(agent) for agent in met],
    }


def _text(name: str) -> str:
    return files("driftmdp.suite").joinpath(name).read_text(encoding="utf-8")

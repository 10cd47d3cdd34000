"""What the leaderboard says in sentences."""

from __future__ import annotations

from driftmdp.report.leaderboard.promises import OURS, promises
from driftmdp.report.leaderboard.tables import standings
from driftmdp.report.leaderboard.view import Leaderboard
from driftmdp.report.text import interval_text, number

__all__ = ["about", "found", "promise_words", "ratio_words", "yardstick_words"]


def found(board: Leaderboard) -> str:
    """Return the headline."""
    ranked = {one.agent: one for one in standings(board) if one.everywhere}
    if not ranked:
        return "Nothing of the reported family is there yet."
    one = ranked.get(OURS) or next(iter(ranked.values()))
    verdicts = [promise.verdict for promise in promises(board)]
    so_far = verdicts.count("kept so far")
    kept = f" Of {len(verdicts)} promises {verdicts.count('kept')} are kept, {verdicts.count('not kept')} are not"
    kept += f", {so_far} are so far" if so_far else ""
    open_ = f", {verdicts.count('not run')} could not be tried" if "not run" in verdicts else ""
    return (
        f"{one.agent} has a median regret of {interval_text(one.median)} times the yardstick's over {one.n} "
        f"problems and horizons; at worst {number(one.worst, 3)} times, on {one.worst_on}. It is first "
        f"{one.wins} times, with mean rank {number(one.mean_rank, 3)}.{kept}{open_}."
    )


def about(board: Leaderboard) -> list[str]:
    """Return what the suite is, and what it was tuned on."""
    seeds = sorted({sizes.size for contest in board.contests for sizes in contest.regrets.values()})
    told = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    reported, tuning = board.family("reported"), board.family("tuning")
    missing = []
    if board.asked > len(board.contests):
        missing.append(
            f"{board.asked - len(board.contests)} of {board.asked} problems and horizons are not run yet"
        )
    if board.n_missing:
        missing.append(f"{board.n_missing} runs are missing")
    return [
        f"Every agent meets every problem that it is for, at each horizon, on {told} fresh seeds; regret is "
        "dynamic regret, against the optimal gain at every step. All meet the same luck, so differences are less "
        "uncertain than each number.",
        "Constants of our agents were chosen on the tuning family only. Results are reported on the other family, "
        f"which has the same kinds of problems and no instance in common: {len(reported)} problems and horizons "
        f"against {len(tuning)}. The reported family was looked at twice before Adaptive was finished (decision 15 "
        "of the documentation says when, and what came of it).",
        *([f"Not all is there: {'; '.join(missing)}."] if missing else []),
    ]


def yardstick_words(board: Leaderboard) -> str:
    """Return what the yardstick is."""
    arms = [contest.arm["scale"] for contest in board.contests]
    smallest = arms.count(min(arms))
    return (
        f"{board.yardstick} is SWUCRL2-CW with the window and the scale of the radii that had the least mean "
        "regret on tuning seeds, for each problem and horizon anew, then run again on the fresh ones. Nobody could "
        "have known these. Its widening is 0, which on most problems does better than its own. The smallest scale "
        f"that was tried won on {smallest} of {len(arms)}, where a still smaller one might do better."
    )


def ratio_words() -> str:
    """Return how to read a ratio."""
    return (
        "A ratio is mean regret over the yardstick's, with a 95% bootstrap interval over seeds, paired. Where the "
        "yardstick's regret is below the slack, 0.5% of T times the range of rewards, the slack is divided by "
        "instead, so that no ratio is large for being compared with nothing. Regret may be negative: following the "
        "drift can beat the best of every moment. A star marks the least regret of a row."
    )


def promise_words() -> str:
    """Return the rule by which promises are judged."""
    return (
        "A promise of at most c times another's regret is kept on a problem if mean regret is at most c times the "
        "other's plus the slack, 0.5% of T times the range of rewards. One on a median is kept if that holds on at "
        "least half of the problems, any other if it holds on all; so far, if problems or seeds are missing. BORL "
        "raw is BORL on rewards as they are, without a cap, as the paper's numerical section is read. Anytime: the "
        "agent is not told the horizon, so the same agent must do well at each."
    )

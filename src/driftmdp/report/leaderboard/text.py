"""What the leaderboard says in sentences."""

from __future__ import annotations

from driftmdp.display import counted
from driftmdp.report.leaderboard.promises import OURS, promises
from driftmdp.report.leaderboard.tables import standings
from driftmdp.report.leaderboard.view import Leaderboard
from driftmdp.report.text import interval_text, number

PHRASES = {
    "kept": "kept",
    "kept so far": "kept so far (problems or seeds are missing)",
    "not kept": "not kept",
    "not run": "not tried",
}


def found(board: Leaderboard) -> str:
    """Return the headline."""
    ranked = {one.agent: one for one in standings(board) if one.everywhere}
    if not ranked:
        return "Nothing of the reported family is there yet."
    one = ranked.get(OURS) or next(iter(ranked.values()))
    return (
        f"{one.agent} has a median regret of {interval_text(one.median)} times the yardstick's over "
        f"{_contests(one.n)}; at worst {number(one.worst, 3)} times, on {one.worst_on}. It is first "
        f"{counted(one.wins, 'time')}, with mean rank {number(one.mean_rank, 3)}. {_promises_kept(board)}"
    )


def _promises_kept(board: Leaderboard) -> str:
    """Return how many promises are kept, in a sentence that leaves out what does not occur."""
    verdicts = [promise.verdict for promise in promises(board)]
    counts = {phrase: verdicts.count(verdict) for verdict, phrase in PHRASES.items() if verdict in verdicts}
    said = [f"{count} {'is' if count == 1 else 'are'} {phrase}" for phrase, count in counts.items()]
    if len(said) == 1:
        return f"All {len(verdicts)} promises are {next(iter(counts))}."
    return f"Of {len(verdicts)} promises {', '.join(said[:-1])} and {said[-1]}."


def _contests(count: int) -> str:
    return "1 problem" if count == 1 else f"{count:,} problems and horizons"


def about(board: Leaderboard) -> list[str]:
    """Return what the suite is, and what it was tuned on."""
    seeds = sorted({sizes.size for contest in board.contests for sizes in contest.regrets.values()})
    told = counted(seeds[0], "fresh seed") if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} fresh seeds"
    reported, tuning = board.family("reported"), board.family("tuning")
    missing = []
    if board.asked > len(board.contests):
        absent = board.asked - len(board.contests)
        missing.append(f"{absent} of {_contests(board.asked)} {'is' if absent == 1 else 'are'} not run yet")
    if board.n_missing:
        missing.append(f"{counted(board.n_missing, 'run')} {'is' if board.n_missing == 1 else 'are'} missing")
    return [
        f"Every agent meets every problem that it is for, at each horizon, on {told}; regret is "
        "dynamic regret, against the optimal gain at every step. All meet the same luck, so differences are less "
        "uncertain than each number.",
        "Constants of our agents were chosen on the tuning family only. Results are reported on the other family, "
        f"which has the same kinds of problems and no instance in common: {_contests(len(reported))} "
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

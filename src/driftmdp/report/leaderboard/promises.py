"""What was promised of our agent, held against what was measured.

A promise on regret, "at most c times that of B", is kept on a problem if regret(A) <= c regret(B) + slack, with
mean regrets over the fresh seeds, the slack being 0.5% of T times the range of rewards. One on a median is kept if
that holds on at least half of the problems; any other, if it holds on all. It is kept "so far" where problems are
missing or have fewer than 20 seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from driftmdp.display import counted
from driftmdp.report.leaderboard.view import Contest, Leaderboard
from driftmdp.report.text import interval_text, number
from driftmdp.statistics import median_interval

OURS = "Adaptive"
PAPER_HORIZON = 5000
Verdict = Literal["kept", "kept so far", "not kept", "not run"]


@dataclass(frozen=True)
class Promise:
    """A line of what must be shown, what was measured, and the verdict."""

    line: str
    measured: str
    verdict: Verdict


@dataclass(frozen=True)
class Comparison:
    """A promise on regret: ours at most ``factor`` times that of ``rival``, on some problems."""

    line: str
    rival: str
    factor: float
    where: Callable[[Contest], bool]
    median: bool = False

    def contests(self, board: Leaderboard) -> list[Contest]:
        """Return the problems that it is about and that both agents were run on."""
        reported = [contest for contest in board.family("reported") if self.where(contest)]
        return [contest for contest in reported if OURS in contest.regrets and self.rival in contest.regrets]

    def judged(self, board: Leaderboard) -> Promise:
        """Return it with what was measured."""
        found = self.contests(board)
        if not found:
            return Promise(self.line, "", "not run")
        held = [contest.within(OURS, self.factor, self.rival) for contest in found]
        bare = sum(contest.mean(OURS) <= self.factor * contest.mean(self.rival) for contest in found)
        share = f"holds on {sum(held)} of {counted(len(held), 'problem')}, without the slack on {bare}"
        if self.median:
            middle = interval_text(median_interval([contest.ratio(OURS, self.rival).estimate for contest in found]))
            kept = 2 * sum(held) >= len(held)
            return Promise(self.line, f"median {middle} over problems; {share}", _verdict(kept, board))
        worst = max(found, key=self._excess)
        regrets = f"{number(worst.mean(OURS), 3)} against {number(worst.mean(self.rival), 3)}"
        nearest = f"nearest to it on {worst.title}: {regrets}, slack {number(worst.slack, 3)}"
        return Promise(self.line, f"{share}; {nearest}", _verdict(all(held), board))

    def _excess(self, contest: Contest) -> float:
        """Return how much of what is allowed a problem uses up."""
        return contest.mean(OURS) / (self.factor * contest.mean(self.rival) + contest.slack)


def comparisons(board: Leaderboard) -> list[Comparison]:
    """Return the promises on regret."""
    judge = board.yardstick
    lines = [
        Comparison(
            f"The paper's two-state cases with V_r = {speed}, T = 5,000: at most {factor:g} x BORL (raw reading)",
            "BORL raw",
            factor,
            _two_state(speed, at_paper_horizon=True),
        )
        for speed, factor in (("T^0.2", 0.15), ("T^0.5", 0.6))
    ]
    lines += [
        Comparison("All problems: median at most 0.8 x the yardstick", judge, 0.8, lambda c: True, median=True),
        Comparison("All problems: never worse than 2 x the yardstick", judge, 2.0, lambda c: True),
        Comparison("Stationary problems: at most 0.3 x UCRL2", "UCRL2", 0.3, lambda c: c.stationary),
        Comparison("Stationary problems: at most 1.2 x PSRL", "PSRL", 1.2, lambda c: c.stationary),
    ]
    lines += [
        Comparison(f"Anytime: median at most 0.8 x the yardstick at T = {t:,}", judge, 0.8, _at(t), median=True)
        for t in board.horizons
    ]
    lines += [
        Comparison(
            f"Beyond the paper: V_r = {speed} at longer horizons, at most {factor:g} x BORL (raw reading)",
            "BORL raw",
            factor,
            _two_state(speed, at_paper_horizon=False),
        )
        for speed, factor in (("T^0.2", 0.15), ("T^0.5", 0.6))
    ]
    return lines


def promises(board: Leaderboard) -> list[Promise]:
    """Return every promise with its verdict."""
    return [comparison.judged(board) for comparison in comparisons(board)] + [
        _quick_steps(board, "At most 10 states: under 30 microseconds a step", 30.0, lambda c: c.n_states <= 10),
        _quick_steps(
            board,
            "100 states, 5 actions: under 1,000 microseconds a step",
            1000.0,
            lambda c: c.n_states == 100 and c.n_pairs == 500,
        ),
    ]


def _quick_steps(board: Leaderboard, line: str, most: float, where: Callable[[Contest], bool]) -> Promise:
    timed = [c for c in board.contests if where(c) and math.isfinite(c.microseconds.get(OURS, math.nan))]
    if not timed:
        return Promise(line, "", "not run")
    slowest = max(timed, key=lambda contest: contest.microseconds[OURS])
    most_time = f"at most {number(slowest.microseconds[OURS], 3)}, on {slowest.label}"
    measured = f"{most_time}; {counted(len(timed), 'problem')} timed"
    return Promise(line, measured, _verdict(slowest.microseconds[OURS] < most, board))


def _two_state(speed: str, at_paper_horizon: bool) -> Callable[[Contest], bool]:
    return lambda c: (
        c.group == "two-state"
        and c.parameters.get("v_r") == speed
        and (c.horizon == PAPER_HORIZON) == at_paper_horizon
    )


def _at(horizon: int) -> Callable[[Contest], bool]:
    return lambda contest: contest.horizon == horizon


def _verdict(kept: bool, board: Leaderboard) -> Verdict:
    if not kept:
        return "not kept"
    return "kept" if board.is_whole else "kept so far"

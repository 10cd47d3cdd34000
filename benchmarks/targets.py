"""Our own acceptance targets for Adaptive on the drift suite: ``python -m benchmarks.targets out/suite``.

A target on regret, "at most c times that of B", is met on a problem if regret(A) <= c regret(B) + slack. Regrets
are means over the fresh seeds, and the slack is 0.5% of T times the range of rewards. A target on a median is met
if that holds on at least half of the problems, any other if it holds on all. It is met "so far" where problems are
missing or have fewer than 10 seeds. BORL raw is BORL on rewards as they are, without a cap, as the paper's
numerical section is read. Anytime: the agent does not know the horizon, so the same agent must do well at each.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from driftmdp.cli.output import print_columns
from driftmdp.display import counted
from driftmdp.report.text import interval_text, number
from driftmdp.statistics import median_interval
from driftmdp.suite import Contest, Leaderboard, read_leaderboard

OURS = "Adaptive"
PAPER_HORIZON = 5000
ENOUGH_SEEDS = 10
Verdict = Literal["met", "met so far", "missed", "not run"]


@dataclass(frozen=True)
class Target:
    """A target, what was measured, and the verdict."""

    line: str
    measured: str
    verdict: Verdict


@dataclass(frozen=True)
class RegretTarget:
    """A target on regret: ours at most ``factor`` times that of ``rival``, on some problems."""

    line: str
    rival: str
    factor: float
    where: Callable[[Contest], bool]
    median: bool = False

    def contests(self, board: Leaderboard) -> list[Contest]:
        """Return the problems that it is about and that both agents were run on."""
        reported = [contest for contest in board.family("reported") if self.where(contest)]
        return [contest for contest in reported if OURS in contest.regrets and self.rival in contest.regrets]

    def judged(self, board: Leaderboard) -> Target:
        """Return it with what was measured."""
        found = self.contests(board)
        if not found:
            return Target(self.line, "", "not run")
        held = [within(contest, OURS, self.factor, self.rival) for contest in found]
        without_slack = sum(contest.mean(OURS) <= self.factor * contest.mean(self.rival) for contest in found)
        share = f"holds on {sum(held)} of {counted(len(held), 'problem')}, without the slack on {without_slack}"
        if self.median:
            middle = interval_text(median_interval([contest.ratio(OURS, self.rival).estimate for contest in found]))
            kept = 2 * sum(held) >= len(held)
            return Target(self.line, f"median {middle} over problems; {share}", _verdict(kept, board))
        worst = max(found, key=self._excess)
        regrets = f"{number(worst.mean(OURS), 3)} against {number(worst.mean(self.rival), 3)}"
        nearest = f"nearest to it on {worst.title}: {regrets}, slack {number(worst.slack, 3)}"
        return Target(self.line, f"{share}; {nearest}", _verdict(all(held), board))

    def _excess(self, contest: Contest) -> float:
        """Return how much of what is allowed a problem uses up."""
        return contest.mean(OURS) / (self.factor * contest.mean(self.rival) + contest.slack)


def regret_targets(board: Leaderboard) -> list[RegretTarget]:
    """Return the targets on regret."""
    judge = board.yardstick
    lines = [
        RegretTarget(
            f"The paper's two-state cases with V_r = {speed}, T = 5,000: at most {factor:g} x BORL (raw reading)",
            "BORL raw",
            factor,
            _two_state(speed, of_paper=True),
        )
        for speed, factor in (("T^0.2", 0.15), ("T^0.5", 0.6))
    ]
    lines += [
        RegretTarget("All problems: median at most 0.8 x the yardstick", judge, 0.8, lambda c: True, median=True),
        RegretTarget("All problems: never worse than 2 x the yardstick", judge, 2.0, lambda c: True),
        RegretTarget("Stationary problems: at most 0.3 x UCRL2", "UCRL2", 0.3, lambda c: c.stationary),
        RegretTarget("Stationary problems: at most 1.2 x PSRL", "PSRL", 1.2, lambda c: c.stationary),
    ]
    lines += [
        RegretTarget(f"Anytime: median at most 0.8 x the yardstick at T = {t:,}", judge, 0.8, _at(t), median=True)
        for t in board.horizons
    ]
    lines += [
        RegretTarget(
            f"Beyond the paper: V_r = {speed}, longer or with noise, at most {factor:g} x BORL (raw reading)",
            "BORL raw",
            factor,
            _two_state(speed, of_paper=False),
        )
        for speed, factor in (("T^0.2", 0.15), ("T^0.5", 0.6))
    ]
    return lines


def targets(board: Leaderboard) -> list[Target]:
    """Return every target with its verdict."""
    return [target.judged(board) for target in regret_targets(board)] + [
        _quick_steps(board, "At most 10 states: under 30 microseconds per step", 30.0, lambda c: c.n_states <= 10),
        _quick_steps(
            board,
            "100 states, 5 actions: under 1,000 microseconds per step",
            1000.0,
            lambda c: c.n_states == 100 and c.n_pairs == 500,
        ),
    ]


def _quick_steps(board: Leaderboard, line: str, most: float, where: Callable[[Contest], bool]) -> Target:
    timed = [c for c in board.contests if where(c) and math.isfinite(c.microseconds.get(OURS, math.nan))]
    if not timed:
        return Target(line, "", "not run")
    slowest = max(timed, key=lambda contest: contest.microseconds[OURS])
    most_time = f"at most {number(slowest.microseconds[OURS], 3)}, on {slowest.label}"
    measured = f"{most_time}; {counted(len(timed), 'problem')} timed"
    return Target(line, measured, _verdict(slowest.microseconds[OURS] < most, board))


def _two_state(speed: str, of_paper: bool) -> Callable[[Contest], bool]:
    return lambda c: (
        c.group == "two-state"
        and c.parameters.get("v_r") == speed
        and (c.horizon == PAPER_HORIZON and not c.noisy) == of_paper
    )


def _at(horizon: int) -> Callable[[Contest], bool]:
    return lambda contest: contest.horizon == horizon


def within(contest: Contest, agent: str, factor: float, other: str) -> bool:
    """Return whether an agent's mean regret is at most a factor times another's, plus the slack."""
    return contest.mean(agent) <= factor * contest.mean(other) + contest.slack


def _verdict(is_met: bool, board: Leaderboard) -> Verdict:
    if not is_met:
        return "missed"
    seeds = [regrets.size for contest in board.contests for regrets in contest.regrets.values()]
    is_whole = board.asked == len(board.contests) and board.n_missing == 0 and min(seeds) >= ENOUGH_SEEDS
    return "met" if is_whole else "met so far"


def print_by_problem(board: Leaderboard) -> None:
    """Print the targets on regret, problem by problem."""
    rows = []
    for target in regret_targets(board):
        if target.line.startswith("Anytime"):
            continue  # the same problems as the median over all
        for contest in target.contests(board):
            regrets = [interval_text(contest.regret(agent)) for agent in (OURS, target.rival)]
            ratio = interval_text(contest.ratio(OURS, target.rival))
            verdict = "met" if within(contest, OURS, target.factor, target.rival) else "missed"
            limit = f"{target.factor:g} x {target.rival}"
            rows.append([verdict, contest.title, limit, *regrets, ratio, number(contest.slack)])
    print_columns(rows, ["verdict", "problem", "at most", f"{OURS}'s regret", "its regret", "ratio", "slack"])


def main() -> None:
    """Print every target with its verdict, then those on regret problem by problem."""
    board = read_leaderboard(sys.argv[1] if len(sys.argv) > 1 else "out/suite")
    print_columns(
        [[one.verdict, one.line, one.measured] for one in targets(board)], ["verdict", "target", "measured"]
    )
    print()
    print_by_problem(board)


if __name__ == "__main__":
    main()

"""The rules by which a target for an agent on the drift suite is judged, for benchmarks/targets.py.

==========  ===========================================================================================
rule        "at most c times B" is met if
==========  ===========================================================================================
each        regret(A) <= c regret(B) + slack on every contest
strictly    regret(A) <= c regret(B) on every contest
surely      on no contest the 95% interval of regret(A) - c regret(B) - slack lies wholly above 0
median      the median over contests of the suite's ratio is at most c
==========  ===========================================================================================

Regrets are means over the fresh seeds. The slack is 0.5% of T times the range of rewards. The suite's ratio is that
of its tables, ``Contest.ratio``: of mean regrets, and where B's is below the slack, to the slack and at least 1.
Differences are paired by seed, so that they need no division, and hold where B has next to no regret.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from driftmdp.display import counted
from driftmdp.report.text import interval_text, number
from driftmdp.statistics import Interval, mean_interval, median_interval
from driftmdp.suite import Contest, Leaderboard

__all__ = ["GrowthTarget", "RegretTarget", "Target", "excess", "least_factor", "verdict", "within"]

ENOUGH_SEEDS = 10
Verdict = Literal["met", "met so far", "missed", "not run"]
Rule = Literal["each", "strictly", "surely", "median"]


@dataclass(frozen=True)
class Target:
    """A target, what was measured, and the verdict."""

    line: str
    measured: str
    verdict: Verdict


@dataclass(frozen=True)
class RegretTarget:
    """A target on regret: at most ``factor`` times that of ``rival`` on some contests, by a rule."""

    line: str
    rival: str
    factor: float
    where: Callable[[Contest], bool]
    rule: Rule

    def contests(self, board: Leaderboard, agent: str) -> list[Contest]:
        """Return the contests that it is about and that both agents were in."""
        reported = [contest for contest in board.family("reported") if self.where(contest)]
        return [contest for contest in reported if {agent, self.rival} <= set(contest.regrets)]

    def is_met(self, contest: Contest, agent: str) -> bool:
        """Return whether it holds on one contest."""
        if self.rule == "median":
            return bool(contest.ratio(agent, self.rival).estimate <= self.factor)
        if self.rule == "surely":
            return not excess(contest, agent, self.factor, self.rival).low > 0  # NaN for one seed
        return within(contest, agent, self.factor, self.rival, 0.0 if self.rule == "strictly" else contest.slack)

    def judged(self, board: Leaderboard, agent: str) -> Target:
        """Return it with what was measured."""
        found = self.contests(board, agent)
        if not found:
            return Target(self.line, "", "not run")
        held = [self.is_met(contest, agent) for contest in found]
        share = f"{sum(held)} of {counted(len(held), 'contest')}"
        if self.rule == "median":
            ratios = [contest.ratio(agent, self.rival).estimate for contest in found]
            middle = median_interval(ratios)
            return Target(
                self.line,
                f"median {interval_text(middle)} over contests, at most {self.factor:g} on {share}",
                verdict(bool(middle.estimate <= self.factor), board, found),
            )
        return Target(
            self.line, f"holds on {share}; {self._needed(found, agent)}", verdict(all(held), board, found)
        )

    def _needed(self, found: Sequence[Contest], agent: str) -> str:
        """Return the least factor that would hold on all, with the slack and without."""
        plain = max(least_factor(contest, agent, self.rival, 0.0) for contest in found)
        if self.rule == "strictly":
            return f"all are within {number(plain, 3)}"
        slack = max(least_factor(contest, agent, self.rival, contest.slack) for contest in found)
        return f"means are all within {number(slack, 3)} plus the slack, {number(plain, 3)} without it"


@dataclass(frozen=True)
class GrowthTarget:
    """A target on growth: no more regret than ``rival`` in the second half of a long horizon, where nothing drifts.

    It is met if on no contest the 95% interval of the difference, paired by seed, lies wholly above 0.
    """

    line: str
    rival: str
    horizon: int

    def judged(self, board: Leaderboard, agent: str) -> Target:
        """Return it with what was measured."""
        found = self.differences(board, agent)
        if not found:
            return Target(self.line, "", "not run")
        held = [not ours.low > 0 for _, ours in found]
        less = sum(ours.estimate <= 0 for _, ours in found)
        most = max(ours.estimate / contest.slack for contest, ours in found)
        share = f"holds on {sum(held)} of {counted(len(held), 'contest')}, mean no larger on {less}"
        measured = f"{share}; at most {number(most, 3)} slacks more"
        return Target(self.line, measured, verdict(all(held), board, [contest for contest, _ in found]))

    def differences(self, board: Leaderboard, agent: str) -> list[tuple[Contest, Interval]]:
        """Return the contests that it is about, with our regret of the second half minus the rival's."""
        found = []
        for contest, results in zip(board.contests, board.results, strict=False):
            is_meant = contest.stationary and contest.horizon == self.horizon and contest.family == "reported"
            if is_meant and {agent, self.rival} <= set(contest.regrets):
                rows = results.query("SELECT agent, seed, t, regret FROM curves")
                half = rows[rows["t"] <= contest.horizon // 2]["t"].max()
                late = rows[rows["t"].isin([half, contest.horizon])].pivot_table("regret", ["agent", "seed"], "t")
                gained = (late[contest.horizon] - late[half]).unstack("agent")
                found.append((contest, mean_interval((gained[agent] - gained[self.rival]).dropna().to_numpy())))
        return found


def within(contest: Contest, agent: str, factor: float, other: str, slack: float | None = None) -> bool:
    """Return whether an agent's mean regret is at most a factor times another's, plus the slack."""
    allowed = contest.slack if slack is None else slack
    return contest.mean(agent) <= factor * contest.mean(other) + allowed


def excess(contest: Contest, agent: str, factor: float, other: str) -> Interval:
    """Return the mean of regret(agent) - factor regret(other) - slack with its interval, paired by seed."""
    mine, theirs = contest.paired(agent, other)
    return mean_interval(mine - factor * theirs - contest.slack)


def least_factor(contest: Contest, agent: str, other: str, slack: float) -> float:
    """Return the least c with regret(agent) <= c regret(other) + slack, infinite if there is none."""
    above, below = max(contest.mean(agent) - slack, 0.0), contest.mean(other)
    return above / below if below > 0 else math.inf if above > 0 else 0.0


def verdict(is_met: bool, board: Leaderboard, contests: Sequence[Contest]) -> Verdict:
    """Return the verdict: it is only "so far" where contests or runs are missing, or there are few seeds."""
    if not is_met:
        return "missed"
    seeds = [regrets.size for contest in contests for regrets in contest.regrets.values()]
    is_whole = board.asked == len(board.contests) and board.n_missing == 0 and min(seeds) >= ENOUGH_SEEDS
    return "met" if is_whole else "met so far"

"""Which differences are significant: paired tests over seeds, corrected for their number.

Each comparison is a sign-flip test of two agents' regrets, paired by seed. With n seeds its p-value cannot be below
2^(1-n), so with few seeds and many comparisons Holm's correction could never find anything. So comparisons are
chosen as in Tarone (1990), by the numbers of seeds alone and before any difference is looked at: one counts only if
its least possible p-value could be significant beside all others that count.

References
----------
S. Holm, A simple sequentially rejective multiple test procedure, 1979.
R. Tarone, A modified Bonferroni method for discrete data, 1990.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftmdp.statistics import holm, sign_flip_test, smallest_p_value
from driftmdp.suite.leaderboard import Contest, Floats
from driftmdp.suite.standings import counted_regret, winner

LEVEL = 0.05


def corrected_p_values(samples: Sequence[Floats]) -> Floats:
    """Return Holm's p-values of some samples of paired differences, NaN where there are too few seeds to tell."""
    least = np.array([smallest_p_value(sample.size) if sample.size else 1.0 for sample in samples])
    counts = least <= LEVEL / _testable(least)
    found = zip(samples, counts, strict=True)
    return holm([sign_flip_test(sample) if tested else np.nan for sample, tested in found])


def _testable(least: Floats) -> int:
    """Return Tarone's K: the least k such that at most k tests have a least p-value of at most LEVEL / k."""
    return next(k for k in range(1, least.size + 2) if np.count_nonzero(least <= LEVEL / k) <= k)


@dataclass(frozen=True)
class Wins:
    """Whether the best agent of each contest is significantly ahead of every other one.

    Attributes
    ----------
    p_values
        By the slug of a contest, corrected, NaN where the seeds are too few.
    """

    p_values: dict[str, float]

    @property
    def n_tested(self) -> int:
        """How many contests have enough seeds."""
        return sum(not np.isnan(p) for p in self.p_values.values())

    @property
    def n_significant(self) -> int:
        """How many wins are significant."""
        return sum(p <= LEVEL for p in self.p_values.values())

    def mark(self, contest: Contest, agent: str) -> str:
        """Return the mark of an agent in a contest: empty unless it has the least regret."""
        if contest.ranks.get(agent) != 1:
            return ""
        return "significant" if self.p_values.get(contest.slug, 1.0) <= LEVEL else "least"


def wins(contests: Sequence[Contest]) -> Wins:
    """Return how sure each win is, corrected over all these contests."""
    met = [contest for contest in contests if len(contest.ranks) > 1]
    p_values = corrected_p_values([_least_sure_lead(contest) for contest in met])
    return Wins({contest.slug: float(p) for contest, p in zip(met, p_values, strict=True)})


def _least_sure_lead(contest: Contest) -> Floats:
    """Return the winner's differences from the agent that it is least surely ahead of.

    That need not be the second: the mean of a third agent may be larger and much less certain.
    """
    best = winner(contest)
    leads = [contest.differences(best, agent) for agent in contest.ranks if agent != best]
    return max(leads, key=lambda lead: sign_flip_test(lead) if lead.size else 1.0)


@dataclass(frozen=True)
class Tally:
    """How often an agent has significantly less or more regret than a rival, over the contests that both met."""

    rival: str
    less: int
    more: int
    neither: int
    untested: int
    median_ratio: float  # of its regret to the rival's, both at least the slack


@dataclass(frozen=True)
class Duels:
    """An agent against each rival in each contest that both met.

    Attributes
    ----------
    agent
        The agent.
    pairs
        The rival and the contest of each comparison.
    p_values
        Of the comparisons, corrected over all of them, NaN where the seeds are too few.
    """

    agent: str
    pairs: list[tuple[str, Contest]]
    p_values: Floats

    @property
    def n_tested(self) -> int:
        """How many comparisons have enough seeds."""
        return int(np.count_nonzero(~np.isnan(self.p_values)))

    def is_significant(self, rival: str, contest: Contest) -> bool:
        """Return whether the two agents differ significantly in a contest."""
        return bool(self.p_values[self.pairs.index((rival, contest))] <= LEVEL)

    def tallies(self) -> list[Tally]:
        """Return one count per rival."""
        return [self._tally(rival) for rival in dict.fromkeys(rival for rival, _ in self.pairs)]

    def _tally(self, rival: str) -> Tally:
        chosen = [(c, p) for (who, c), p in zip(self.pairs, self.p_values, strict=True) if who == rival]
        sure = [c.mean(self.agent) < c.mean(rival) for c, p in chosen if p <= LEVEL]
        untested = sum(bool(np.isnan(p)) for _, p in chosen)
        ratios = [counted_regret(c, self.agent) / counted_regret(c, rival) for c, _ in chosen]
        counts = (sum(sure), len(sure) - sum(sure), len(chosen) - len(sure) - untested, untested)
        return Tally(rival, *counts, float(np.median(ratios)))


def duels(contests: Sequence[Contest], agent: str, rivals: Sequence[str]) -> Duels:
    """Return how an agent compares with each rival, corrected over all rivals and contests."""
    pairs = [
        (rival, contest)
        for rival in rivals
        for contest in contests
        if rival != agent and agent in contest.regrets and rival in contest.regrets
    ]
    samples = [contest.differences(agent, rival) for rival, contest in pairs]
    return Duels(agent, pairs, corrected_p_values(samples))

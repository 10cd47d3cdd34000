"""Who is ahead where: standings over some contests, wins by kind, ranks by group, losses, and profiles."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from driftmdp.statistics import Interval, median_interval
from driftmdp.suite.leaderboard import KINDS, Contest, Floats, Leaderboard


@dataclass(frozen=True)
class Standing:
    """How an agent did over some contests: the median and the worst ratio, the mean rank, and the wins."""

    agent: str
    n: int
    median: Interval
    worst: float
    worst_on: str
    mean_rank: float | None  # None for the yardstick
    wins: int
    everywhere: bool  # whether it met every problem and is not the yardstick, so that it may be called the best


def standings(
    board: Leaderboard, family: str = "reported", among: Callable[[Contest], bool] = lambda contest: True
) -> list[Standing]:
    """Return how every agent did over a family, or a part of it, the least median ratio first."""
    contests = [contest for contest in board.family(family) if among(contest)]
    found = [_standing(agent, contests) for agent in board.agents]
    return sorted((one for one in found if one is not None), key=lambda one: one.median.estimate)


def _standing(agent: str, contests: list[Contest]) -> Standing | None:
    met = [contest for contest in contests if agent in contest.regrets]
    if not met:
        return None
    ratios = [contest.ratio(agent).estimate for contest in met]
    ranks = [contest.ranks[agent] for contest in met if agent in contest.ranks]
    worst = int(np.argmax(ratios))
    mean_rank = float(np.mean(ranks)) if ranks else None
    record = (mean_rank, ranks.count(1), len(ranks) == len(contests))
    return Standing(agent, len(met), median_interval(ratios), ratios[worst], met[worst].title, *record)


@dataclass(frozen=True)
class KindWinners:
    """Who has the least regret most often among the contests of one kind: ``wins`` of ``n``, several if equal."""

    kind: str
    agents: list[str]
    wins: int
    n: int


def winners(contests: Sequence[Contest]) -> list[KindWinners]:
    """Return who wins most often, for each kind of contest that there is."""
    found = []
    for kind in KINDS:
        these = [contest for contest in contests if contest.kind == kind]
        if these:
            wins = Counter(agent for contest in these for agent, rank in contest.ranks.items() if rank == 1)
            most = max(wins.values())
            found.append(KindWinners(kind, [who for who, count in wins.items() if count == most], most, len(these)))
    return found


def mean_ranks(agents: Iterable[str], contests: Sequence[Contest]) -> dict[str, float]:
    """Return the mean rank of each agent over the contests that it met."""
    ranks = {agent: [c.ranks[agent] for c in contests if agent in c.ranks] for agent in agents}
    return {agent: float(np.mean(found)) for agent, found in ranks.items() if found}


def groups(contests: Iterable[Contest]) -> dict[str, list[Contest]]:
    """Return the contests by group, in the order of the suite."""
    found: dict[str, list[Contest]] = {}
    for contest in contests:
        found.setdefault(contest.group, []).append(contest)
    return found


def winner(contest: Contest) -> str:
    """Return the agent with the least mean regret, of equals the first."""
    return min(contest.ranks, key=contest.ranks.__getitem__)


def counted_regret(contest: Contest, agent: str) -> float:
    """Return an agent's mean regret, or the slack if that is more."""
    return max(contest.mean(agent), contest.slack)


def times_the_best(contest: Contest, agent: str) -> float:
    """Return an agent's regret over the least of any agent, both at least the slack."""
    return counted_regret(contest, agent) / counted_regret(contest, winner(contest))


def losses(contests: Sequence[Contest], agent: str) -> list[Contest]:
    """Return the contests that another agent won, those first where the agent is worst beside the winner."""
    lost = [contest for contest in contests if contest.ranks.get(agent, 1) > 1]
    return sorted(lost, key=lambda contest: -times_the_best(contest, agent))


def profile(contests: Sequence[Contest], agent: str, factors: Floats) -> Floats:
    """Return for each factor the share of an agent's contests where its regret is within that of the best.

    This is the performance profile of E. Dolan and J. More, Benchmarking optimization software with performance
    profiles, 2002, over the contests that the agent met.
    """
    ratios = np.array([times_the_best(contest, agent) for contest in contests if agent in contest.regrets])
    shares: Floats = (ratios[:, None] <= factors * (1 + 1e-12)).mean(axis=0)
    return shares


def mean_time(contests: Iterable[Contest], agent: str) -> float | None:
    """Return the geometric mean of an agent's microseconds per step over the contests where it was timed."""
    times = [contest.microseconds[agent] for contest in contests if agent in contest.microseconds]
    return math.exp(float(np.mean(np.log(times)))) if times else None

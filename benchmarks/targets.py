"""Our own acceptance targets for Adaptive on the drift suite: ``python -m benchmarks.targets out/suite``.

They are those of its second edition. benchmarks/target_rules.py has the rules. Of contests it prints how many, and
no names, so that a look at the verdicts is no look at single problems. ``--by-problem`` prints them one by one.
``--agent LABEL`` judges another agent of the results. BORL raw is BORL on rewards as they are, without a cap, as
the paper's numerical section is read. The time of a step is the largest of those of the results and of Garnets of
the largest size meant, which are timed now.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from functools import partial

import driftmdp as dm
from benchmarks.target_rules import GrowthTarget, RegretTarget, Target, excess, verdict
from benchmarks.timing import medians, timed
from driftmdp.cli.output import print_columns
from driftmdp.display import counted
from driftmdp.experiments.catalogue import agent_maker
from driftmdp.report.text import interval_text, number
from driftmdp.suite import Contest, Leaderboard, read_leaderboard

__all__ = ["growth_target", "main", "print_by_problem", "regret_targets", "targets"]

OURS, STILL, DETECTOR, PAPERS = "Adaptive", "PSRL", "PSRL + GLR", "BORL raw"
PAPER_HORIZON, LATE_HORIZON = 5000, 100_000
GARNETS = ((10, 4), (100, 5))  # states and actions of the worlds that are timed now
TIMED_STEPS, TIMED_RUNS, TIMED_SEED = 5000, 5, 7


def regret_targets(board: Leaderboard) -> list[RegretTarget]:
    """Return the targets on regret."""
    judge = board.yardstick
    rows: list[RegretTarget] = [
        RegretTarget(
            "Drifting, no noise: median at most 0.7 x the yardstick", judge, 0.7, _kind("exact"), "median"
        ),
        RegretTarget("Drifting, noisy: median at most 0.9 x the yardstick", judge, 0.9, _kind("noisy"), "median"),
        RegretTarget("All: none surely above 1.3 x the yardstick + slack", judge, 1.3, _any, "surely"),
        RegretTarget("All: none above 1.6 x the yardstick + slack", judge, 1.6, _any, "each"),
        RegretTarget("Stationary: at most 1.2 x PSRL + slack", STILL, 1.2, _kind("stationary"), "each"),
    ]
    rows += [
        RegretTarget(
            f"The paper's cases with V_r = {speed}, T = 5,000: at most {factor:g} x BORL (raw reading)",
            PAPERS,
            factor,
            _papers(speed),
            "strictly",
        )
        for speed, factor in (("T^0.2", 0.12), ("T^0.5", 0.45))
    ]
    rows.append(RegretTarget("Abrupt: median at most 1 x PSRL + GLR", DETECTOR, 1.0, _abrupt, "median"))
    return rows


def growth_target() -> GrowthTarget:
    """Return the target on the second half of long horizons."""
    line = "Stationary, T = 100,000: no more regret in the second half than PSRL"
    return GrowthTarget(line, STILL, LATE_HORIZON)


def targets(board: Leaderboard, agent: str = OURS) -> list[Target]:
    """Return every target with its verdict."""
    return [
        *(target.judged(board, agent) for target in regret_targets(board)),
        growth_target().judged(board, agent),
        _quick_steps(board, agent, "At most 10 states: at most 10 microseconds per step", 10.0, _is_small),
        _quick_steps(board, agent, "100 states, 5 actions: at most 60 microseconds per step", 60.0, _is_large),
    ]


def _any(contest: Contest) -> bool:
    return True


def _kind(name: str) -> Callable[[Contest], bool]:
    return lambda contest: contest.kind == name


def _papers(speed: str) -> Callable[[Contest], bool]:
    return lambda contest: (
        contest.group == "two-state"
        and contest.parameters.get("v_r") == speed
        and contest.horizon == PAPER_HORIZON
        and not contest.noisy
    )


def _abrupt(contest: Contest) -> bool:
    return contest.parameters.get("drift") == "abrupt"


def _is_small(n_states: int, n_pairs: int) -> bool:
    return n_states <= 10


def _is_large(n_states: int, n_pairs: int) -> bool:
    return n_states == 100 and n_pairs == 500


def _quick_steps(
    board: Leaderboard, agent: str, line: str, most: float, where: Callable[[int, int], bool]
) -> Target:
    fits = [contest for contest in board.contests if where(contest.n_states, contest.n_pairs)]
    stored = [contest.microseconds.get(agent, math.nan) for contest in fits]
    measured = [time for time in stored if math.isfinite(time)] + _timed_now(board, agent, where)
    if not measured:
        return Target(line, "", "not run")
    slowest = max(measured)
    text = f"at most {number(slowest, 3)} on {counted(len(measured), 'problem')}"
    return Target(line, text, verdict(slowest <= most, board, board.contests))


def _timed_now(board: Leaderboard, agent: str, where: Callable[[int, int], bool]) -> list[float]:
    """Return the microseconds per step in drifting Garnets of the sizes that fit."""
    choice, found = board.choices.get(agent), []
    for n_states, n_actions in GARNETS:
        if choice is not None and where(n_states, n_states * n_actions):
            problem = dm.problems.garnet(n_states=n_states, n_actions=n_actions, drift="slow", horizon=TIMED_STEPS)
            made = agent_maker(choice["name"]).make(problem, **choice["parameters"])
            task = timed(partial(dm.simulate, made, problem, TIMED_SEED))
            found.append(1e6 * medians({agent: task}, TIMED_RUNS)[agent] / TIMED_STEPS)
    return found


def print_by_problem(board: Leaderboard, agent: str = OURS) -> None:
    """Print the targets on regret, problem by problem."""
    rows = []
    for target in regret_targets(board):
        for contest in target.contests(board, agent):
            regrets = [interval_text(contest.regret(who)) for who in (agent, target.rival)]
            ratio = interval_text(contest.ratio(agent, target.rival))
            held = "met" if target.is_met(contest, agent) else "missed"
            over = interval_text(excess(contest, agent, target.factor, target.rival))
            limit = f"{target.factor:g} x {target.rival}, {target.rule}"
            rows.append([held, contest.title, limit, *regrets, ratio, number(contest.slack), over])
    for contest, more in growth_target().differences(board, agent):
        held, limit = "missed" if more.low > 0 else "met", f"second half of {STILL}"
        rows.append([held, contest.title, limit, "", "", "", number(contest.slack), interval_text(more)])
    names = ["verdict", "problem", "at most", f"{agent}'s regret", "its regret", "ratio", "slack", "excess"]
    print_columns(rows, names)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print every target with its verdict, and on request those on regret problem by problem."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.targets", description=__doc__)
    parser.add_argument("folder", nargs="?", default="out/suite", help="what `driftmdp suite` wrote")
    parser.add_argument("--agent", default=OURS, help="the label of the agent to judge")
    parser.add_argument("--by-problem", action="store_true", help="name the problems, one by one")
    given = parser.parse_args(arguments)
    board = read_leaderboard(given.folder)
    if given.agent not in board.agents:
        parser.error(f"--agent must be an agent of the results; got {given.agent!r}.")
    found = targets(board, given.agent)
    print_columns([[one.verdict, one.line, one.measured] for one in found], ["verdict", "target", "measured"])
    if given.by_problem:
        print()
        print_by_problem(board, given.agent)


if __name__ == "__main__":
    main()

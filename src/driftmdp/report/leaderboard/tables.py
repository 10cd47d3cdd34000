"""The tables of the leaderboard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftmdp.report.content import Table, TableCell
from driftmdp.report.leaderboard.promises import OURS, comparisons, promises
from driftmdp.report.leaderboard.view import Contest, Leaderboard
from driftmdp.report.text import interval_cell, interval_text, number, number_cell
from driftmdp.statistics import Interval, median_interval

KINDS = {"kept": "kept", "kept so far": "kept", "not kept": "not", "not run": ""}
NONE = TableCell(number(None))


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
    everywhere: bool  # whether it may be called the best: it met every problem, and is no yardstick


def standings(board: Leaderboard, family: str = "reported") -> list[Standing]:
    """Return how every agent did over a family, the least median ratio first."""
    found = [_standing(agent, board, board.family(family)) for agent in board.agents]
    return sorted((one for one in found if one is not None), key=lambda one: one.median.estimate)


def _standing(agent: str, board: Leaderboard, contests: list[Contest]) -> Standing | None:
    met = [contest for contest in contests if agent in contest.regrets]
    if not met:
        return None
    ratios = [contest.ratio(agent).estimate for contest in met]
    ranks = [contest.ranks[agent] for contest in met if agent in contest.ranks]
    worst = int(np.argmax(ratios))
    return Standing(
        agent,
        len(met),
        median_interval(ratios),
        ratios[worst],
        met[worst].title,
        float(np.mean(ranks)) if ranks else None,
        ranks.count(1),
        len(ranks) == len(contests),
    )


def standing_table(board: Leaderboard, family: str = "reported") -> Table:
    """Return the headline: how every agent did over a family."""
    found = standings(board, family)
    best = next((one.agent for one in found if one.everywhere), "")
    rows = [
        [
            TableCell(one.agent),
            interval_cell(one.median, "best" if one.agent == best else ""),
            number_cell(one.worst, 3),
            TableCell(one.worst_on),
            NONE if one.mean_rank is None else TableCell(f"{one.mean_rank:.2f}", one.mean_rank),
            NONE if one.mean_rank is None else TableCell(str(one.wins), float(one.wins)),
            TableCell(str(one.n), float(one.n)),
        ]
        for one in found
    ]
    columns = ["Agent", "Median ratio [95%]", "Worst ratio", "On", "Mean rank", "Wins", "Problems"]
    note = (
        f"Ratios are to {board.yardstick}, intervals of the median over problems. {board.yardstick} is not ranked. "
        "A problem counts once for each horizon."
    )
    return Table(f"standing-{family}", f"All agents, on the {family} family", columns, rows, note=note)


def standing_rows(board: Leaderboard) -> tuple[list[str], list[list[str]]]:
    """Return the headline for a terminal: a header, and rows of texts.

    Examples
    --------
    >>> from driftmdp.report.leaderboard.view import Leaderboard
    >>> standing_rows(Leaderboard("suite", "Hindsight", [], [], 0, 0, []))
    (['agent', 'median ratio [95%]', 'worst', 'mean rank', 'wins', 'problems'], [])
    """
    rows = [
        [
            one.agent,
            interval_text(one.median),
            number(one.worst, 3),
            "-" if one.mean_rank is None else f"{one.mean_rank:.2f}",
            "-" if one.mean_rank is None else str(one.wins),
            str(one.n),
        ]
        for one in standings(board)
    ]
    return ["agent", "median ratio [95%]", "worst", "mean rank", "wins", "problems"], rows


def promise_table(board: Leaderboard) -> Table:
    """Return every promise, what was measured, and the verdict."""
    rows = [
        [
            TableCell(promise.line),
            TableCell(promise.measured or number(None)),
            TableCell(promise.verdict, None, KINDS[promise.verdict]),
        ]
        for promise in promises(board)
    ]
    return Table(
        "promises", f"What was promised of {OURS}", ["Promise, each plus the slack", "Measured", "Verdict"], rows
    )


def promised_problems_table(board: Leaderboard) -> Table:
    """Return the promises on regret, problem by problem."""
    rows = []
    for comparison in comparisons(board):
        if comparison.line.startswith("Anytime"):
            continue  # the same problems as the median over all
        for contest in comparison.contests(board):
            verdict = "kept" if contest.within(OURS, comparison.factor, comparison.rival) else "not kept"
            rows.append(
                [
                    TableCell(contest.title),
                    TableCell(f"{comparison.factor:g} x {comparison.rival}"),
                    interval_cell(contest.regret(OURS)),
                    interval_cell(contest.regret(comparison.rival)),
                    interval_cell(contest.ratio(OURS, comparison.rival)),
                    number_cell(contest.slack),
                    TableCell(verdict, None, KINDS[verdict]),
                ]
            )
    columns = ["Problem", "At most", f"{OURS}'s regret", "Its regret", "Ratio", "Slack", "Verdict"]
    return Table("promised-problems", "The same, problem by problem", columns, rows)


def ratio_table(board: Leaderboard, contests: list[Contest], name: str, caption: str) -> Table:
    """Return the ratio of every agent to the yardstick, a row for each problem."""
    rows = [[TableCell(c.label), *(_ratio_cell(c, agent) for agent in board.rivals)] for c in contests]
    return Table(f"ratios-{name}", caption, ["Problem", *board.rivals], rows)


def _ratio_cell(contest: Contest, agent: str) -> TableCell:
    if agent not in contest.regrets:
        return NONE
    return interval_cell(contest.ratio(agent), "best" if contest.ranks[agent] == 1 else "")


def regret_table(board: Leaderboard, contests: list[Contest], name: str, caption: str) -> Table:
    """Return the mean regret of every agent with its interval and rank, a row for each problem."""
    rows = [
        [
            TableCell(c.label),
            number_cell(c.slack),
            *(_regret_cell(c, agent) for agent in board.agents),
        ]
        for c in contests
    ]
    return Table(f"regrets-{name}", caption, ["Problem", "Slack", *board.agents], rows)


def _regret_cell(contest: Contest, agent: str) -> TableCell:
    if agent not in contest.regrets:
        return NONE
    rank = contest.ranks.get(agent)
    found = interval_cell(contest.regret(agent), "best" if rank == 1 else "")
    return found if rank is None else TableCell(f"{found.text} ({rank})", found.value, found.kind)


def time_table(board: Leaderboard) -> Table:
    """Return microseconds a step, a row for each problem that was timed."""
    rows = [
        [
            TableCell(c.label),
            TableCell(str(c.n_states), float(c.n_states)),
            TableCell(str(c.n_pairs), float(c.n_pairs)),
            *(number_cell(c.microseconds.get(agent), 3) for agent in board.agents),
        ]
        for c in board.contests
        if c.microseconds
    ]
    columns = ["Problem", "States", "Pairs", *board.agents]
    return Table("times", "Microseconds a step, compiled, in one thread", columns, rows)


def arm_table(board: Leaderboard) -> Table:
    """Return the yardstick's window and scale for each problem."""
    rows = [
        [
            TableCell(c.label),
            TableCell(f"{c.horizon:,}", float(c.horizon)),
            TableCell(c.family),
            TableCell(f"{c.arm['window']:,}", float(c.arm["window"])),
            number_cell(float(c.arm["scale"])),
            interval_cell(c.regret(board.yardstick)),
            TableCell(f"{100 * c.mean(board.yardstick) / (c.horizon * c.span):.2f}%", c.mean(board.yardstick)),
        ]
        for c in board.contests
    ]
    columns = ["Problem", "T", "Family", "Window", "Scale", "Regret on fresh seeds", "of T x range"]
    return Table("arms", "What was best in hindsight", columns, rows)


def csv_rows(board: Leaderboard) -> tuple[list[str], list[list[str]]]:
    """Return one row for each problem, horizon and agent, for a spreadsheet."""
    header = [
        *("problem", "horizon", "family", "group", "agent", "seeds"),
        *("regret", "regret_low", "regret_high", "rank", "ratio", "ratio_low", "ratio_high", "slack"),
    ]
    rows = []
    for c in board.contests:
        for agent in c.regrets:
            regret, ratio = c.regret(agent), c.ratio(agent)
            numbers = (regret.estimate, regret.low, regret.high, ratio.estimate, ratio.low, ratio.high, c.slack)
            told = [f"{value:.6g}" for value in numbers]
            row = [c.label, str(c.horizon), c.family, c.group, agent, str(c.regrets[agent].size), *told[:3]]
            rows.append([*row, str(c.ranks.get(agent, "")), *told[3:]])
    return header, rows

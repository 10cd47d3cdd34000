"""The tables with one row per problem and horizon: a map of ratios, ratios, regrets, times, and a spreadsheet."""

from collections.abc import Sequence

import numpy as np

from driftmdp.report.content import Table, TableCell
from driftmdp.report.text import interval_cell, number_cell, table_row
from driftmdp.suite.comparisons import Wins
from driftmdp.suite.leaderboard import Contest, Leaderboard
from driftmdp.suite.tables import NO_VALUE

MOST_SHADE = 4  # powers of two: ratios beyond 16, or below one sixteenth, have the strongest colours


def map_table(board: Leaderboard, contests: Sequence[Contest], wins: Wins) -> Table:
    """Return all ratios as a map: a colour behind each number, one row per problem and horizon."""
    rows = [table_row(c.title, *(_map_cell(c, agent, wins) for agent in board.rivals)) for c in contests]
    return Table("map", f"Regret over {board.yardstick}'s", ["Problem", *board.rivals], rows, keys=_keys(contests))


def _map_cell(contest: Contest, agent: str, wins: Wins) -> TableCell:
    if agent not in contest.regrets:
        return NO_VALUE
    ratio = contest.ratio(agent).estimate
    text = f"{ratio:.2f}" if abs(ratio) < 10 else f"{ratio:.0f}"
    shade = round(float(np.log2(np.clip(ratio, 2.0**-MOST_SHADE, 2.0**MOST_SHADE))))
    return TableCell(text, ratio, wins.mark(contest, agent), shade)


def ratio_table(board: Leaderboard, contests: Sequence[Contest], name: str, wins: Wins) -> Table:
    """Return the ratio of every agent to the yardstick with its interval."""
    rows = [table_row(c.title, *(_ratio_cell(c, agent, wins) for agent in board.rivals)) for c in contests]
    caption = f"Ratio to {board.yardstick} [95%]"
    return Table(f"ratios-{name}", caption, ["Problem", *board.rivals], rows, keys=_keys(contests))


def _ratio_cell(contest: Contest, agent: str, wins: Wins) -> TableCell:
    if agent not in contest.regrets:
        return NO_VALUE
    return interval_cell(contest.ratio(agent), wins.mark(contest, agent))


def regret_table(board: Leaderboard, contests: Sequence[Contest], name: str, wins: Wins) -> Table:
    """Return the mean regret of every agent with its interval and rank."""
    rows = [
        table_row(c.title, c.slack, *(_regret_cell(c, agent, wins) for agent in board.agents)) for c in contests
    ]
    caption = "Mean dynamic regret [95%], and rank"
    return Table(f"regrets-{name}", caption, ["Problem", "Slack", *board.agents], rows, keys=_keys(contests))


def _regret_cell(contest: Contest, agent: str, wins: Wins) -> TableCell:
    if agent not in contest.regrets:
        return NO_VALUE
    rank = contest.ranks.get(agent)
    found = interval_cell(contest.regret(agent), wins.mark(contest, agent))
    return found if rank is None else TableCell(f"{found.text} ({rank})", found.value, found.kind)


def time_table(board: Leaderboard) -> Table:
    """Return microseconds per step, one row per timed problem."""
    timed = [contest for contest in board.contests if contest.microseconds]
    rows = []
    for c in timed:
        times = [number_cell(c.microseconds.get(agent), 3) for agent in board.agents]
        rows.append(table_row(c.title, c.n_states, c.n_pairs, *times))
    columns = ["Problem", "States", "Pairs", *board.agents]
    return Table("times", "Microseconds per step", columns, rows, keys=_keys(timed))


def _keys(contests: Sequence[Contest]) -> list[str]:
    return [f"contest:{contest.slug}" for contest in contests]


def csv_rows(board: Leaderboard) -> tuple[list[str], list[list[str]]]:
    """Return the header and one row per problem, horizon and agent, for a spreadsheet."""
    header = [
        *("problem", "horizon", "family", "group", "noisy", "stationary", "agent", "seeds"),
        *("regret", "regret_low", "regret_high", "rank", "ratio", "ratio_low", "ratio_high", "slack"),
    ]
    rows = []
    for c in board.contests:
        facts = [c.label, str(c.horizon), c.family, c.group, str(c.noisy).lower(), str(c.stationary).lower()]
        for agent in c.regrets:
            regret, ratio = c.regret(agent), c.ratio(agent)
            numbers = (regret.estimate, regret.low, regret.high, ratio.estimate, ratio.low, ratio.high, c.slack)
            texts = [f"{value:.6g}" for value in numbers]
            row = [*facts, agent, str(c.regrets[agent].size), *texts[:3]]
            rows.append([*row, str(c.ranks.get(agent, "")), *texts[3:]])
    return header, rows

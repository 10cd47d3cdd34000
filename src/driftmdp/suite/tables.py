"""The tables of the leaderboard."""

from driftmdp.report.content import Table, TableCell
from driftmdp.report.text import interval_cell, interval_text, note, number, number_cell, table_row
from driftmdp.suite.leaderboard import Contest, Leaderboard, standings

NO_VALUE = TableCell(number(None))


def standing_table(board: Leaderboard, family: str = "reported") -> Table:
    """Return how every agent did over a family."""
    found = standings(board, family)
    best = next((one.agent for one in found if one.everywhere), "")
    rows = []
    for one in found:
        median = interval_cell(one.median, "best" if one.agent == best else "")
        worst, rank = number_cell(one.worst, 3), NO_VALUE
        if one.mean_rank is not None:
            rank = TableCell(f"{one.mean_rank:.2f}", one.mean_rank)
        wins = None if one.mean_rank is None else one.wins
        rows.append(table_row(one.agent, median, worst, one.worst_on, rank, wins, one.n))
    columns = ["Agent", "Median ratio [95%]", "Worst ratio", "On", "Mean rank", "Wins", "Problems"]
    text = note("suite-standing", yardstick=board.yardstick)
    return Table(f"standing-{family}", f"All agents, on the {family} family", columns, rows, note=text)


def standing_rows(board: Leaderboard) -> tuple[list[str], list[list[str]]]:
    """Return how every agent did over the reported family, for a terminal: a header, and rows of texts.

    Examples
    --------
    >>> from driftmdp.suite import standing_rows
    >>> from driftmdp.suite import Leaderboard
    >>> standing_rows(Leaderboard("suite", "Hindsight", [], [], 0, 0, []))
    (['agent', 'median ratio [95%]', 'worst', 'mean rank', 'wins', 'problems'], [])
    """
    rows = []
    for one in standings(board):
        rank, wins = ("-", "-") if one.mean_rank is None else (f"{one.mean_rank:.2f}", str(one.wins))
        rows.append([one.agent, interval_text(one.median), number(one.worst, 3), rank, wins, str(one.n)])
    return ["agent", "median ratio [95%]", "worst", "mean rank", "wins", "problems"], rows


def ratio_table(board: Leaderboard, contests: list[Contest], name: str) -> Table:
    """Return the ratio of every agent to the yardstick, one row per problem."""
    rows = [table_row(c.label, *(_ratio_cell(c, agent) for agent in board.rivals)) for c in contests]
    caption = f"Ratio to {board.yardstick} [95%]"
    return Table(f"ratios-{name}", caption, ["Problem", *board.rivals], rows)


def _ratio_cell(contest: Contest, agent: str) -> TableCell:
    if agent not in contest.regrets:
        return NO_VALUE
    return interval_cell(contest.ratio(agent), "best" if contest.ranks[agent] == 1 else "")


def regret_table(board: Leaderboard, contests: list[Contest], name: str) -> Table:
    """Return the mean regret of every agent with its interval and rank, one row per problem."""
    rows = [table_row(c.label, c.slack, *(_regret_cell(c, agent) for agent in board.agents)) for c in contests]
    caption = "Mean dynamic regret [95%], and rank"
    return Table(f"regrets-{name}", caption, ["Problem", "Slack", *board.agents], rows)


def _regret_cell(contest: Contest, agent: str) -> TableCell:
    if agent not in contest.regrets:
        return NO_VALUE
    rank = contest.ranks.get(agent)
    found = interval_cell(contest.regret(agent), "best" if rank == 1 else "")
    return found if rank is None else TableCell(f"{found.text} ({rank})", found.value, found.kind)


def time_table(board: Leaderboard) -> Table:
    """Return microseconds per step, one row per timed problem."""
    rows = []
    for c in board.contests:
        if c.microseconds:
            times = [number_cell(c.microseconds.get(agent), 3) for agent in board.agents]
            rows.append(table_row(c.label, c.n_states, c.n_pairs, *times))
    columns = ["Problem", "States", "Pairs", *board.agents]
    return Table("times", "Microseconds per step, compiled, in one thread", columns, rows)


def arm_table(board: Leaderboard) -> Table:
    """Return the yardstick's window and scale for each problem."""
    rows = []
    for c in board.contests:
        regret, arm = c.regret(board.yardstick), (c.arm["agent"], c.arm.get("window"), c.arm.get("scale"))
        share = TableCell(f"{100 * c.mean(board.yardstick) / (c.horizon * c.span):.2f}%", c.mean(board.yardstick))
        rows.append(table_row(c.label, c.horizon, c.family, *arm, regret, share))
    columns = ["Problem", "T", "Family", "Agent", "Window", "Scale", "Regret on fresh seeds", "of T x range"]
    return Table("arms", "What was best in hindsight", columns, rows)


def csv_rows(board: Leaderboard) -> tuple[list[str], list[list[str]]]:
    """Return the header and one row per problem, horizon and agent, for a spreadsheet."""
    header = [
        *("problem", "horizon", "family", "group", "agent", "seeds"),
        *("regret", "regret_low", "regret_high", "rank", "ratio", "ratio_low", "ratio_high", "slack"),
    ]
    rows = []
    for c in board.contests:
        for agent in c.regrets:
            regret, ratio = c.regret(agent), c.ratio(agent)
            numbers = (regret.estimate, regret.low, regret.high, ratio.estimate, ratio.low, ratio.high, c.slack)
            texts = [f"{value:.6g}" for value in numbers]
            row = [c.label, str(c.horizon), c.family, c.group, agent, str(c.regrets[agent].size), *texts[:3]]
            rows.append([*row, str(c.ranks.get(agent, "")), *texts[3:]])
    return header, rows

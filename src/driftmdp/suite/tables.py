"""The tables of who is ahead: standings, ranks by group, losses, corrected comparisons, the yardstick's arms."""

import inspect
from collections import Counter

from driftmdp import agents
from driftmdp.display import counted
from driftmdp.report.content import Table, TableCell
from driftmdp.report.text import interval_cell, interval_text, note, number, number_cell, table_row
from driftmdp.suite.comparisons import Duels
from driftmdp.suite.leaderboard import Contest, Leaderboard
from driftmdp.suite.standings import Standing, groups, losses, mean_ranks, standings, times_the_best, winner
from driftmdp.suite.yardstick import NO_RADIUS

NO_VALUE = TableCell(number(None))
MOST_LOSSES = 10
# Their for_problem takes the exact variation of the world, or its diameter.
TOLD = (agents.VariationAwareUCRL, agents.RestartQ, agents.MASTER, agents.DiscountedThompson)


def standing_table(board: Leaderboard, family: str = "reported") -> Table:
    """Return how every agent did over a family."""
    found, total = standings(board, family), len(board.family(family))
    best = next((one.agent for one in found if one.everywhere), "")
    rows = []
    for one in found:
        median = interval_cell(one.median, "least" if one.agent == best else "")
        rank = NO_VALUE if one.mean_rank is None else TableCell(f"{one.mean_rank:.2f}", one.mean_rank)
        met = TableCell(f"{one.n:,}" if one.n == total else f"{one.n:,} of {total:,}", one.n)
        worst = (number_cell(one.worst, 3), one.worst_on)
        rows.append(table_row(one.agent, radii(board, one.agent), median, _wins(one), rank, *worst, met))
    columns = ["Agent", "Radii", "Median ratio [95%]", "Least regret on", "Mean rank", "Worst", "On", "Problems"]
    keys = [f"agent:{one.agent}" for one in found]
    text = note("suite-standing", yardstick=board.yardstick)
    return Table(f"standing-{family}", f"All agents, on the {family} family", columns, rows, note=text, keys=keys)


def _wins(one: Standing) -> TableCell:
    if one.mean_rank is None:
        return NO_VALUE
    return TableCell(f"{one.wins:,} ({100 * one.wins / one.n:.0f}%)", one.wins / one.n)


def radii(board: Leaderboard, agent: str) -> str:
    """Return whether an agent's radii are its theory's, scaled or none, and whether it is told about the world."""
    if agent == board.yardstick:
        return "in hindsight"
    choice = board.choices.get(agent, {"name": "", "parameters": {}})
    scale = choice["parameters"].get("scale", 1)
    known = getattr(agents, choice["name"], None)
    has_radii = known is not None and "scale" in inspect.signature(known.__init__).parameters
    text = f"scaled x {scale:g}" if scale != 1 else "theory" if has_radii else "none"
    is_told = choice["parameters"].get("budgets") == "exact" or known in TOLD
    return f"{text}, told" if is_told else text


def standing_rows(board: Leaderboard) -> tuple[list[str], list[list[str]]]:
    """Return how every agent did over the reported family, for a terminal: a header, and rows of texts.

    Examples
    --------
    >>> from driftmdp.suite import standing_rows
    >>> from driftmdp.suite import Leaderboard
    >>> standing_rows(Leaderboard("suite", "Hindsight", [], [], 0, []))
    (['agent', 'median ratio [95%]', 'worst', 'mean rank', 'wins', 'problems'], [])
    """
    rows = []
    for one in standings(board):
        rank, wins = ("-", "-") if one.mean_rank is None else (f"{one.mean_rank:.2f}", str(one.wins))
        rows.append([one.agent, interval_text(one.median), number(one.worst, 3), rank, wins, str(one.n)])
    return ["agent", "median ratio [95%]", "worst", "mean rank", "wins", "problems"], rows


def rank_table(board: Leaderboard) -> Table:
    """Return the mean rank of every agent in each group of the reported family, and over all of it."""
    reported = board.family("reported")
    shown = {"": reported, **groups(reported)}
    rows = [table_row(group or "all", len(found), *_rank_cells(board, found)) for group, found in shown.items()]
    columns = ["Group", "Problems", *board.rivals]
    keys = [f"group:{group}" for group in shown]
    return Table("ranks", "Mean rank by group", columns, rows, note=note("suite-ranks"), keys=keys)


def _rank_cells(board: Leaderboard, contests: list[Contest]) -> list[TableCell]:
    found = mean_ranks(board.rivals, contests)
    everywhere = [rank for agent, rank in found.items() if all(agent in c.ranks for c in contests)]
    least = min(everywhere, default=None)
    cells = []
    for agent in board.rivals:
        rank = found.get(agent)
        kind = "least" if rank is not None and rank == least and all(agent in c.ranks for c in contests) else ""
        cells.append(NO_VALUE if rank is None else TableCell(f"{rank:.2f}", rank, kind))
    return cells


def loss_table(board: Leaderboard, found: Duels, place: int) -> Table:
    """Return where an agent is worst beside the agent that wins there."""
    agent = found.agent
    met = [contest for contest in board.family("reported") if agent in contest.regrets]
    lost = losses(met, agent)
    rows = []
    for c in lost[:MOST_LOSSES]:
        first, noise = winner(c), "noisy" if c.noisy else "without"
        sure = "yes" if found.is_significant(first, c) else "no"
        times, ratio = number_cell(times_the_best(c, agent), 3), c.ratio(agent)
        rows.append(table_row(c.label, times, first, c.horizon, noise, sure, ratio, c.ranks[agent]))
    columns = ["Problem", "Regret over the winner's", "Winner", "T", "Noise", "Significant"]
    columns += [f"Ratio to {board.yardstick} [95%]", "Rank"]
    shown = f"the {len(rows)} worst of {len(lost)}" if len(lost) > len(rows) else "all of them"
    text = note("suite-losses", agent=agent, n_lost=len(lost), n_met=counted(len(met), "problem"), shown=shown)
    return Table(f"losses-{place}", f"Where {agent} loses", columns, rows, note=text)


def against_table(found: Duels, place: int) -> Table:
    """Return how often an agent has significantly less regret than each rival, or more."""
    rows = []
    for one in found.tallies():
        ratio = number_cell(one.median_ratio, 3)
        rows.append(table_row(one.rival, one.less, one.more, one.neither, one.untested, ratio))
    columns = ["Rival", "Significantly less", "Significantly more", "Neither", "Too few seeds", "Median ratio"]
    kind = "suite-against" if found.n_tested else "suite-against-nothing"
    text = note(kind, comparisons=counted(found.n_tested, "comparison"))
    return Table(f"against-{place}", f"Regret of {found.agent} against each", columns, rows, note=text)


def arm_kind_table(board: Leaderboard) -> Table:
    """Return which agent the yardstick was, how often, and how often at an edge or an end of its grid."""
    kinds = Counter(str(c.arm["agent"]) for c in board.contests)
    rows = []
    for kind, count in kinds.most_common():
        won = [c for c in board.contests if c.arm["agent"] == kind]
        n_without_radius = sum(c.arm.get("scale", 1.0) <= NO_RADIUS for c in won)
        ends = n_without_radius, sum(c.arm.get("window") == c.horizon for c in won)
        share = TableCell(f"{100 * count / len(board.contests):.0f}%", count / len(board.contests))
        rows.append(table_row(kind, count, share, sum(c.on_edge for c in won), *ends))
    columns = ["Agent", "Won", "Share", "At an edge", "With radii of nearly 0", "With window T"]
    return Table("arm-kinds", "Which kind of arm was best in hindsight", columns, rows)


def arm_table(board: Leaderboard) -> Table:
    """Return the yardstick's agent, window and scale for each problem."""
    rows = []
    for c in board.contests:
        scale = c.arm.get("scale")
        arm = (str(c.arm["agent"]), c.arm.get("window"), None if scale is None else float(scale))
        regret = c.regret(board.yardstick)
        share = TableCell(f"{100 * c.mean(board.yardstick) / (c.horizon * c.span):.2f}%", c.mean(board.yardstick))
        edge = "yes" if c.on_edge else "no"
        rows.append(table_row(c.label, c.horizon, c.family, *arm, edge, regret, share))
    columns = ["Problem", "T", "Family", "Agent", "Window", "Scale", "Edge", "Regret", "of T x range"]
    keys = [f"contest:{c.slug}" for c in board.contests]
    return Table("arms", "What was best in hindsight", columns, rows, keys=keys)

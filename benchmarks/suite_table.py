"""The results of the drift suite for the documentation: ``python -m benchmarks.suite_table out/suite``.

Reads a folder that ``driftmdp suite`` wrote. Writes ``docs/suite-table.md``, which ``docs/suite.md`` includes, and
the figures ``docs/_static/suite/*.png``. ``--docs FOLDER`` writes them elsewhere.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from driftmdp.report.content import Table, TableCell
from driftmdp.report.text import interval_cell, note, table_row
from driftmdp.suite import Contest, Leaderboard, read_leaderboard, tables
from driftmdp.suite.comparisons import Wins, duels, wins
from driftmdp.suite.contest_tables import map_table
from driftmdp.suite.figures import draw_profiles, draw_spread, draw_times
from driftmdp.suite.leaderboard import KINDS
from driftmdp.suite.page import about_wins, headline
from driftmdp.suite.standings import Standing, standings

__all__ = ["main", "markdown", "pages_text"]

DOCS = Path(__file__).parents[1] / "docs"
WIDTH = 100
MAIN_AGENTS = 8  # those with the least medians, in the table of all contests
MARKS = {"least": "**{}**", "significant": "**{}** ★"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables and the figures."""
    parser = argparse.ArgumentParser(description="Write the results of the drift suite into the documentation.")
    parser.add_argument("folder", type=Path, help="what `driftmdp suite` wrote, such as out/suite")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the documentation")
    given = parser.parse_args(arguments)
    board = read_leaderboard(given.folder)
    if not board.family("reported"):
        parser.error(f"{given.folder} must have results of the reported family; it has none yet.")
    figures = given.docs / "_static" / "suite"
    figures.mkdir(parents=True, exist_ok=True)
    for name, draw in {"spread": draw_spread, "profiles": draw_profiles, "times": draw_times}.items():
        draw(board).write(figures, name, ["png"])
    page = given.docs / "suite-table.md"
    page.write_text(pages_text(board), encoding="utf-8")
    print(f"{page}: {page.stat().st_size / 1000:.0f} kB")
    return 0


def pages_text(board: Leaderboard) -> str:
    """Return the page: who wins where, the tables, and the figures."""
    reported = board.family("reported")
    found, met = wins(reported), [duels(reported, agent, board.rivals) for agent in board.featured[:1]]
    parts = [
        _prose(headline(board)),
        markdown(tables.standing_table(board)),
        _image(board, "spread"),
        markdown(_kind_table(board)),
        markdown(_rank_table(board)),
        *(markdown(tables.loss_table(board, one, 0)) for one in met),
        "### Which differences are significant",
        _prose(about_wins(found)),
        *(markdown(tables.against_table(one, 0)) for one in met),
        _image(board, "profiles"),
        _image(board, "times"),
        markdown(tables.arm_kind_table(board)),
        markdown(_contest_table(board, reported, found)),
    ]
    return "\n\n".join(parts) + "\n"


def markdown(table: Table) -> str:
    r"""Return a table as Markdown, under its caption as a heading.

    Examples
    --------
    >>> from benchmarks.suite_table import markdown
    >>> from driftmdp.report.content import Table, TableCell
    >>> print(markdown(Table("t", "Sizes", ["what", "size"], [[TableCell("a|b"), TableCell("1", 1.0, "least")]])))
    ### Sizes
    <BLANKLINE>
    | what | size |
    |---|--:|
    | a\|b | **1** |
    """
    numeric = {place for row in table.rows for place, cell in enumerate(row) if cell.value is not None}
    rules = "|".join("--:" if place in numeric else "---" for place in range(len(table.columns)))
    header = f"| {' | '.join(map(_escaped, table.columns))} |"
    rows = [f"| {' | '.join(map(_marked, row))} |" for row in table.rows]
    lines = [f"### {table.caption}", "", header, f"|{rules}|", *rows]
    return "\n".join([*lines, "", _prose(table.note)] if table.note else lines)


def _marked(cell: TableCell) -> str:
    return MARKS.get(cell.kind, "{}").format(_escaped(cell.text))


def _escaped(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*")


def _prose(text: str) -> str:
    return textwrap.fill(_escaped(text), WIDTH, break_long_words=False, break_on_hyphens=False)


def _image(board: Leaderboard, name: str) -> str:
    return f"![{note(f'suite-figure-{name}', yardstick=board.yardstick)}](_static/suite/{name}.png)"


def _kind_table(board: Leaderboard) -> Table:
    """Return median ratio and wins of each agent by kind of problem."""
    shown = {kind: found for kind in KINDS if (found := _standings_of(board, kind))}
    rows = []
    for whole in standings(board):
        cells = []
        for found in shown.values():
            one = found.get(whole.agent)
            cells.append(tables.NO_VALUE if one is None else interval_cell(one.median))
            is_ranked = one and one.mean_rank is not None
            cells.append(TableCell(f"{one.wins} of {one.n}") if one and is_ranked else tables.NO_VALUE)
        rows.append(table_row(whole.agent, *cells))
    columns = [text for kind in shown for text in (KINDS[kind], "wins")]
    return Table("kinds", "With and without noise and drift: median ratio [95%]", ["Agent", *columns], rows)


def _rank_table(board: Leaderboard) -> Table:
    """Return the mean ranks with a row for each agent: the page has a column for each, which are too many here."""
    table = tables.rank_table(board)
    columns = ["Agent", *(row[0].text for row in table.rows)]
    rows = [[TableCell(agent), *(row[place] for row in table.rows)] for place, agent in enumerate(table.columns)]
    return Table("ranks", table.caption, columns, rows[2:], note=table.note)  # after the group, and its size


def _standings_of(board: Leaderboard, kind: str) -> dict[str, Standing]:
    return {one.agent: one for one in standings(board, among=lambda contest: contest.kind == kind)}


def _contest_table(board: Leaderboard, contests: list[Contest], found: Wins) -> Table:
    """Return the map of ratios, only of the main agents."""
    ranked = [one.agent for one in standings(board) if one.everywhere]
    own = [agent for agent in board.featured if agent not in ranked[:MAIN_AGENTS]]
    table, chosen = map_table(board, contests, found), {*ranked[:MAIN_AGENTS], *own}
    places = [0, *(place for place, name in enumerate(table.columns) if name in chosen)]
    rows = [[row[place] for place in places] for row in table.rows]
    text = "Bold is the least regret of all agents, a star marks a significant win."
    caption = f"Every contest: regret over {board.yardstick}'s"
    return Table("map", caption, [table.columns[place] for place in places], rows, note=text)


if __name__ == "__main__":
    raise SystemExit(main())

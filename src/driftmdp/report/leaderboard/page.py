"""The page of the leaderboard, and its files."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from driftmdp.display import counted
from driftmdp.experiments.store import writing
from driftmdp.files import write_whole
from driftmdp.report.content import Figure, ReportContent, Section
from driftmdp.report.leaderboard import tables, text
from driftmdp.report.leaderboard.figures import draw_map, draw_spread
from driftmdp.report.leaderboard.promises import Promise, promises
from driftmdp.report.leaderboard.provenance import provenance
from driftmdp.report.leaderboard.view import Contest, Leaderboard, read_leaderboard
from driftmdp.report.page import render
from driftmdp.report.rendered_figure import RenderedFigure


@dataclass(frozen=True)
class WrittenLeaderboard:
    """What was written: the page, all numbers as CSV, and the figures; and what the page shows.

    Attributes
    ----------
    page, table, figures
        The files.
    board, promises
        What the page shows: every contest, and what became of Adaptive's promises.
    """

    page: Path
    table: Path
    figures: list[Path]
    board: Leaderboard
    promises: list[Promise]


def write_leaderboard(folder: str | Path) -> WrittenLeaderboard:
    """Write the page of the suite into its folder, its figures as SVG and PNG, and all numbers as CSV.

    Parameters
    ----------
    folder
        Where ``run_suite`` and ``write_tasks`` wrote; problems that are not finished are left out.

    Raises
    ------
    StorageError
        If it is no such folder, nothing in it is finished, or it cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> from driftmdp.experiments import packaged_suite, run_suite, write_tasks
    >>> tasks = [task for task in packaged_suite().tasks(quick=True) if task.group == "bandit"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tasks(tasks, "one problem", folder)
    ...     failures = run_suite(tasks, folder)
    ...     written = write_leaderboard(folder)
    >>> written.page.name, written.table.name, [contest.label for contest in written.board.contests]
    ('index.html', 'leaderboard.csv', ['Bandit sinusoidal'])
    """
    board = read_leaderboard(folder)
    report, drawings = leaderboard_report(board)
    content, target, drawn = render(report).encode(), Path(folder), []
    sheet = io.StringIO()
    header, rows = tables.csv_rows(board)
    csv.writer(sheet, lineterminator="\n").writerows([header, *rows])
    with writing(target):
        for name, drawing in drawings.items():
            for suffix, picture in (("svg", drawing.svg.encode()), ("png", drawing.png)):
                drawn.append(target / f"{name}.{suffix}")
                write_whole(drawn[-1], picture)
        write_whole(target / "leaderboard.csv", sheet.getvalue().encode())
        write_whole(target / "index.html", content)
    return WrittenLeaderboard(target / "index.html", target / "leaderboard.csv", drawn, board, promises(board))


def leaderboard_report(board: Leaderboard) -> tuple[ReportContent, dict[str, RenderedFigure]]:
    """Return what the page shows, and its drawings by the names of their files."""
    drawings: dict[str, RenderedFigure] = {}
    lead = Section("lead", "What was found", [text.found(board), *text.about(board)])
    if board.family("reported"):
        drawings["spread"] = draw_spread(board)
        caption = (
            "Every dot is a problem at a horizon; the bars are medians. Beyond 16 times it is drawn at the edge."
        )
        lead.figures.append(Figure("spread", caption, text.found(board), drawings["spread"].svg))
        lead.tables.append(tables.standing_table(board))
    sections = [
        Section("promises", "What was promised", [text.promise_words()], [tables.promise_table(board)]),
        Section("maps", "All ratios", [text.ratio_words()], [], _maps(board, drawings)),
        *(
            _contest_section(board, _at(board, horizon), str(horizon), f"T = {horizon:,}")
            for horizon in board.horizons
        ),
        Section("times", "Time per step", [_time_words()], [tables.time_table(board)]),
        Section("yardstick", "The yardstick", [text.yardstick_words(board)], [tables.arm_table(board)]),
    ]
    by_problem = tables.promised_problems_table(board)
    if by_problem.rows:
        sections[0].tables.append(by_problem)
    if board.family("tuning"):
        sections.append(_tuning_section(board))
    sections.append(provenance(board))
    nothing = Figure("static", "", "", "<svg/>")
    return ReportContent(f"{board.name}: the leaderboard", lead, [], [], [], {}, sections, nothing), drawings


def _at(board: Leaderboard, horizon: int) -> list[Contest]:
    return [contest for contest in board.family("reported") if contest.horizon == horizon]


def _maps(board: Leaderboard, drawings: dict[str, RenderedFigure]) -> list[Figure]:
    figures = []
    for horizon in board.horizons:
        name, contests = f"map-{horizon}", _at(board, horizon)
        drawings[name] = draw_map(board, contests)
        over = f"T = {horizon:,}: regret over {board.yardstick}'s"
        caption = f"{over}. Blue is less than 1, red is more, bold the least of a row."
        size = f"{counted(len(board.rivals), 'agent')} on {counted(len(contests), 'problem')}"
        description = f"{over}, {size}; tables below have it all."
        figures.append(Figure(name, caption, description, drawings[name].svg))
    return figures


def _tuning_section(board: Leaderboard) -> Section:
    section = _contest_section(board, board.family("tuning"), "tuning", "The tuning family")
    section.paragraphs.insert(0, "What constants were chosen on. Nothing here counts for a promise.")
    section.tables.insert(0, tables.standing_table(board, "tuning"))
    return section


def _contest_section(board: Leaderboard, contests: list[Contest], name: str, title: str) -> Section:
    shown = [
        tables.ratio_table(board, contests, name, f"Ratio to {board.yardstick} [95%]"),
        tables.regret_table(board, contests, name, "Mean dynamic regret [95%], and rank"),
    ]
    return Section(f"contests-{name}", title, [], shown)


def _time_words() -> str:
    return (
        "A run of the shortest horizon, in one thread, after another one has compiled it; the least of a "
        "few. Planning is part of it. What else the machine does changes these numbers, and they are no part of "
        "the results."
    )

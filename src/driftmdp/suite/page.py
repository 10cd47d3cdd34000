"""The leaderboard's page and its files."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from driftmdp.display import counted
from driftmdp.experiments.identity import digest
from driftmdp.report.content import Figure, ReportContent, Section, Table
from driftmdp.report.page import write_page
from driftmdp.report.rendered_figure import RenderedFigure
from driftmdp.report.text import interval_text, note, number, table_row
from driftmdp.suite import tables
from driftmdp.suite.figures import draw_map, draw_spread
from driftmdp.suite.leaderboard import Contest, Leaderboard, read_leaderboard, standings


@dataclass(frozen=True)
class WrittenLeaderboard:
    """The files that were written, and what the page shows.

    Attributes
    ----------
    page, table, figures
        The page, all numbers as CSV, and the figures.
    board
        Every contest that the page shows.
    """

    page: Path
    table: Path
    figures: list[Path]
    board: Leaderboard


def write_leaderboard(folder: str | Path) -> WrittenLeaderboard:
    """Write the page of the suite into its folder, its figures as SVG and PNG, and all numbers as CSV.

    Parameters
    ----------
    folder
        Where ``run_suite`` and ``write_tasks`` wrote. Unfinished problems are left out.

    Raises
    ------
    StorageError
        If it is no such folder, nothing in it is finished, or it cannot be written to.

    Examples
    --------
    >>> from driftmdp.suite import write_leaderboard
    >>> import tempfile
    >>> from driftmdp.suite import packaged_suite, run_suite, write_tasks
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
    sheet = io.StringIO()
    header, rows = tables.csv_rows(board)
    csv.writer(sheet, lineterminator="\n").writerows([header, *rows])
    other_files = {"leaderboard.csv": sheet.getvalue().encode()}
    page, figures = write_page(Path(folder), report, drawings, other_files)
    return WrittenLeaderboard(page, Path(folder) / "leaderboard.csv", figures, board)


def leaderboard_report(board: Leaderboard) -> tuple[ReportContent, dict[str, RenderedFigure]]:
    """Return what the page shows, and its drawings by file name."""
    reported: dict[int, list[Contest]] = {horizon: [] for horizon in board.horizons}
    for contest in board.family("reported"):
        reported[contest.horizon].append(contest)
    drawings = {f"map-{horizon}": draw_map(board, contests) for horizon, contests in reported.items()}
    lead = Section("lead", "What was found", [headline(board), *_introduction(board)])
    if reported:
        drawings = {"spread": draw_spread(board)} | drawings
        caption = "One dot per problem and horizon. The bars are medians. Ratios beyond 16 are drawn at the edge."
        lead.figures.append(Figure("spread", caption, headline(board), drawings["spread"].svg))
        lead.tables.append(tables.standing_table(board))
    maps = [_map(board, horizon, contests, drawings) for horizon, contests in reported.items()]
    sections = [
        Section("maps", "All ratios", [note("suite-ratios")], [], maps),
        *(_contest_section(board, found, str(horizon), f"T = {horizon:,}") for horizon, found in reported.items()),
        Section("times", "Time per step", [note("suite-times")], [tables.time_table(board)]),
        Section("yardstick", "The yardstick", [_about_yardstick(board)], [tables.arm_table(board)]),
    ]
    if tuning := board.family("tuning"):
        section = _contest_section(board, tuning, "tuning", "The tuning family")
        section.paragraphs.append("Constants were chosen on these problems, so nothing here is a result.")
        section.tables.insert(0, tables.standing_table(board, "tuning"))
        sections.append(section)
    sections.append(_provenance_section(board))
    return ReportContent(f"{board.name}: the leaderboard", lead, [], [], [], {}, sections), drawings


def _map(board: Leaderboard, horizon: int, contests: list[Contest], drawings: dict[str, RenderedFigure]) -> Figure:
    over = f"T = {horizon:,}: regret over {board.yardstick}'s"
    caption = f"{over}. Blue is less than 1, red is more, bold the least of a row."
    size = f"{counted(len(board.rivals), 'agent')} on {counted(len(contests), 'problem')}"
    description = f"{over}, {size}. The tables below have all numbers."
    return Figure(f"map-{horizon}", caption, description, drawings[f"map-{horizon}"].svg)


def _contest_section(board: Leaderboard, contests: list[Contest], name: str, title: str) -> Section:
    shown = [tables.ratio_table(board, contests, name), tables.regret_table(board, contests, name)]
    return Section(f"contests-{name}", title, [], shown)


def headline(board: Leaderboard) -> str:
    """Return how the agent with the least median ratio did, among those that met every problem."""
    best = next((one for one in standings(board) if one.everywhere), None)
    if best is None:
        return "Nothing of the reported family is finished yet."
    return (
        f"{best.agent} has a median regret of {interval_text(best.median)} times the yardstick's over "
        f"{_contests(best.n)}, and at worst {number(best.worst, 3)} times, on {best.worst_on}. It is first "
        f"{counted(best.wins, 'time')}, with mean rank {number(best.mean_rank, 3)}."
    )


def _contests(count: int) -> str:
    return "1 problem" if count == 1 else f"{count:,} problems and horizons"


def _introduction(board: Leaderboard) -> list[str]:
    """Return what the suite is, what it was tuned on, and what is missing."""
    sizes = sorted({regrets.size for contest in board.contests for regrets in contest.regrets.values()})
    seeds = counted(sizes[0], "fresh seed") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} fresh seeds"
    reported, tuning = board.family("reported"), board.family("tuning")
    missing = []
    if absent := board.asked - len(board.contests):
        missing.append(f"{absent} of {_contests(board.asked)} {'is' if absent == 1 else 'are'} not run yet")
    if board.n_missing:
        missing.append(f"{counted(board.n_missing, 'run')} {'is' if board.n_missing == 1 else 'are'} missing")
    return [
        note("suite-comparison", seeds=seeds),
        note("suite-families", n_reported=_contests(len(reported)), n_tuning=len(tuning)),
        *([f"Incomplete: {'; '.join(missing)}."] if missing else []),
    ]


def _about_yardstick(board: Leaderboard) -> str:
    scales = [contest.arm.get("scale", 1.0) for contest in board.contests]
    won = f"{scales.count(min(scales))} of {len(scales)}"
    return note("suite-yardstick", yardstick=board.yardstick, smallest_scale_won=won)


def _provenance_section(board: Leaderboard) -> Section:
    """Return versions, revisions, machines, and a digest of all results on fresh seeds."""
    sessions = [session for results in board.results for session in results.sessions]
    manifests = [results.manifest for results in board.results]
    spent = sum(seconds for session in sessions for _, seconds in session["cells"].values())
    began = [session["began"] for session in sessions]
    machines = (f"{s['machine']['processor']}, {counted(s['machine']['cores'], 'core')}" for s in sessions)
    facts = {
        "Suite": board.name,
        "Digest of all results on fresh seeds": digest("".join(results.digest for results in board.results)),
        "Runs on fresh seeds": f"{sum(contest.n_runs for contest in board.contests):,}",
        "Time spent in them": f"{spent / 60:.1f} core-minutes",
        "Run between": f"{min(began)} and {max(began)}" if began else "",
        "Machine": _distinct(machines),
        "Revision of the last session": _distinct(found["revision"] or "not in a checkout" for found in manifests),
        "Revisions of all sessions": _distinct(session.get("revision") or "unknown" for session in sessions),
    }
    for name in manifests[0]["versions"]:
        facts[f"Version of {name}"] = _distinct(manifest["versions"][name] for manifest in manifests)
    rows = [table_row(key, value) for key, value in facts.items()]
    table = Table("provenance", "Where these results come from", ["What", "Value"], rows)
    return Section("provenance", "Provenance", [], [table])


def _distinct(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))

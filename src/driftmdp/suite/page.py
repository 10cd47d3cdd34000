"""The leaderboard's page and its files."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from driftmdp.display import counted
from driftmdp.report.content import Figure, ReportContent, Section
from driftmdp.report.page import write_page
from driftmdp.report.rendered_figure import RenderedFigure
from driftmdp.report.text import note
from driftmdp.suite import contest_tables, tables
from driftmdp.suite.comparisons import Duels, Wins, duels, wins
from driftmdp.suite.figures import draw_profiles, draw_spread, draw_times
from driftmdp.suite.filters import filter_bar
from driftmdp.suite.leaderboard import KINDS, Contest, Leaderboard, read_leaderboard
from driftmdp.suite.provenance import provenance_section
from driftmdp.suite.standings import KindWinners, groups, winners


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
    ('index.html', 'leaderboard.csv', ['Bandit sinusoidal, noisy'])
    """
    board = read_leaderboard(folder)
    report, drawings = leaderboard_report(board)
    sheet = io.StringIO()
    header, rows = contest_tables.csv_rows(board)
    csv.writer(sheet, lineterminator="\n").writerows([header, *rows])
    other_files = {"leaderboard.csv": sheet.getvalue().encode()}
    page, figures = write_page(Path(folder), report, drawings, other_files)
    return WrittenLeaderboard(page, Path(folder) / "leaderboard.csv", figures, board)


def leaderboard_report(board: Leaderboard) -> tuple[ReportContent, dict[str, RenderedFigure]]:
    """Return what the page shows, and its drawings by file name."""
    reported, found = board.family("reported"), wins(board.family("reported"))
    words = note("suite-lead", yardstick=board.yardstick)
    lead = Section("lead", "Who wins where", [headline(board), words, *_missing(board)])
    sections, drawings = [], {}
    if reported:
        drawings = {"spread": draw_spread(board), "profiles": draw_profiles(board), "times": draw_times(board)}
        shown = {name: _figure(board, name, drawing) for name, drawing in drawings.items()}
        met = [duels(reported, agent, board.rivals) for agent in board.featured]
        lead.tables.extend(tables.loss_table(board, one, number) for number, one in enumerate(met))
        sections = _result_sections(board, found, met, shown)
    sections.append(_yardstick_section(board))
    if tuning := board.family("tuning"):
        section = _numbers_section(board, tuning, "tuning", "The tuning family", wins(tuning))
        section.paragraphs.append("Constants were chosen on these problems, so nothing here is a result.")
        section.tables.insert(0, tables.standing_table(board, "tuning"))
        sections.append(section)
    sections.append(provenance_section(board))
    title = f"{board.name}: the leaderboard"
    return ReportContent(title, lead, [], [], [], {}, sections, filters=filter_bar(board)), drawings


def _result_sections(
    board: Leaderboard, found: Wins, met: list[Duels], figures: dict[str, Figure]
) -> list[Section]:
    """Return what is shown of the reported family."""
    reported = board.family("reported")
    standing = [tables.standing_table(board), tables.rank_table(board)]
    times = [contest_tables.time_table(board)]
    against = [tables.against_table(one, number) for number, one in enumerate(met)]
    return [
        Section("standings", "Standings", _introduction(board), standing),
        Section("figures", "Spread and profiles", [], [], [figures["spread"], figures["profiles"]]),
        Section("steps", "Regret and time", [note("suite-times")], times, [figures["times"]]),
        Section("comparisons", "Which differences are significant", [about_wins(found)], against),
        Section("map", "All ratios", [note("suite-ratios")], [contest_tables.map_table(board, reported, found)]),
        _numbers_section(board, reported, "reported", "All numbers", found),
    ]


def _figure(board: Leaderboard, name: str, drawing: RenderedFigure) -> Figure:
    caption = note(f"suite-figure-{name}", yardstick=board.yardstick)
    return Figure(name, caption, f"{caption} The tables have all numbers.", drawing.svg)


def _numbers_section(board: Leaderboard, contests: list[Contest], name: str, title: str, found: Wins) -> Section:
    ratios = contest_tables.ratio_table(board, contests, name, found)
    regrets = contest_tables.regret_table(board, contests, name, found)
    return Section(f"contests-{name}", title, [], [ratios, regrets])


def headline(board: Leaderboard) -> str:
    """Return who has the least regret most often: without noise, with noise, and where nothing drifts."""
    found = winners(board.family("reported"))
    if not found:
        return "Nothing of the reported family is finished yet."
    parts: list[str] = []
    before = ""
    for one in found:
        who = " and ".join(one.agents)
        verb = "" if parts else f" {'has' if len(one.agents) == 1 else 'have'} the least regret"
        count = f"on {one.wins:,}{' each' if len(one.agents) > 1 else ''} of {one.n:,} {_kind(one)}"
        parts.append(count if who == before else f"{who}{verb} {count}")
        before = who
    return f"{_listed(parts)}. A problem counts once for each horizon."


def _kind(one: KindWinners) -> str:
    return KINDS[one.kind].replace("problems", "problem" if one.n == 1 else "problems")


def _listed(parts: list[str]) -> str:
    """Return parts of a sentence as one list."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def about_wins(found: Wins) -> str:
    """Return how many wins are significant, and how many could not be tested."""
    n = len(found.p_values)
    if not found.n_tested:
        return note("suite-no-wins", n=counted(n, "win"))
    text = note("suite-wins", significant=found.n_significant, tested=found.n_tested)
    return text + (note("suite-untested-wins", untested=n - found.n_tested, n=n) if n > found.n_tested else "")


def _contests(count: int) -> str:
    return "1 problem" if count == 1 else f"{count:,} problems and horizons"


def _introduction(board: Leaderboard) -> list[str]:
    """Return what the suite is, and what it was tuned on."""
    sizes = sorted({regrets.size for contest in board.contests for regrets in contest.regrets.values()})
    seeds = counted(sizes[0], "fresh seed") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} fresh seeds"
    reported, tuning = board.family("reported"), board.family("tuning")
    only = [group for group in groups(reported) if group not in groups(tuning)] if tuning else []
    return [
        note("suite-comparison", seeds=seeds),
        note("suite-families", sizes=f"{_contests(len(reported))} {f'against {len(tuning)}' if tuning else 'here'}")
        + (note("suite-reported-only", groups=_listed(only)) if only else ""),
    ]


def _missing(board: Leaderboard) -> list[str]:
    """Return a sentence on what is missing, if something is."""
    missing = []
    if absent := board.asked - len(board.contests):
        missing.append(f"{absent} of {_contests(board.asked)} {'is' if absent == 1 else 'are'} not run yet")
    if board.n_missing:
        missing.append(f"{counted(board.n_missing, 'run')} {'is' if board.n_missing == 1 else 'are'} missing")
    return [f"Incomplete: {' and '.join(missing)}."] if missing else []


def _yardstick_section(board: Leaderboard) -> Section:
    edges, n = sum(contest.on_edge for contest in board.contests), len(board.contests)
    text = note("suite-yardstick", yardstick=board.yardstick, edges=edges, n=n, share=f"{100 * edges / n:.0f}%")
    return Section("yardstick", "The yardstick", [text], [tables.arm_kind_table(board), tables.arm_table(board)])

"""``driftmdp check``: the paper's statements, checked one by one."""

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.execution import stopping_cleanly
from driftmdp.cli.output import print_columns, remark
from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.files import write_whole
from driftmdp.statements import Finding, Verdict, statement_named, statements
from driftmdp.statements import check as check_statements
from driftmdp.statements.page import MEANING, as_data, page, shown_margin, summary

NAMES_HELP = "Statements, such as theorem-1, or labels of the paper, such as lemma:mc; all by default."
PAGE_HELP = "Where to write the findings as a page; by default out/check/statements.md if all are checked."
Names = Annotated[list[str] | None, typer.Argument(help=NAMES_HELP, show_default=False)]
Thorough = Annotated[bool, typer.Option("--thorough", help="Check more and larger instances (five minutes).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")]
List = Annotated[bool, typer.Option("--list", help="List the statements and stop.")]
Page = Annotated[Path | None, typer.Option("--page", help=PAGE_HELP, show_default=False)]
Workers = Annotated[int | None, typer.Option(help="Checks at a time; by default one per core.", show_default=False)]
DEFAULT_PAGE = Path("out/check/statements.md")
DURATIONS = {False: "half a minute", True: "five minutes and 3 GB of memory"}
FAILURES = {Verdict.FAILS: "fail", Verdict.BROKEN: "could not be carried out"}


def check(
    names: Names = None,
    thorough: Thorough = False,
    as_json: AsJson = False,
    list_only: List = False,
    to: Page = None,
    workers: Workers = None,
) -> None:
    """Check the paper's statements: instances tried, worst margin, verdict and reason.

    The exit code is 0 if none fails. It is 1 if one fails and has no corrected form that holds, or could not be
    checked, and 2 for wrong input.
    """
    wanted = list(dict.fromkeys(statement_named(name) for name in names)) if names else statements()
    if list_only:
        print_columns([[entry.name, entry.where, entry.title] for entry in wanted])
        return
    target = _page_to_write(to, names)
    if not names:
        remark(f"Checking {counted(len(wanted), 'statement')}, which takes {DURATIONS[thorough]}.")
    with stopping_cleanly("Stopping after the checks that run now. Interrupt again to stop at once."):
        findings = check_statements(wanted, thorough, workers, each=_show_finding)
    if as_json:
        print(json.dumps([as_data(finding) for finding in findings], indent=2))
    else:
        _print_table(findings)
    if target is not None:
        words = ["driftmdp check", *(names or []), *(["--thorough"] if thorough else []), f"--page {target}"]
        write_whole(target, page(findings, " ".join(words)).encode())
        remark(f"The same as a page: {target}")
    for verdict, what in FAILURES.items():
        named = [finding.name for finding in findings if finding.verdict is verdict]
        if named:
            remark(f"{len(named)} of {len(findings)} {what}: {', '.join(named)}.")
    if any(finding.verdict in FAILURES for finding in findings):
        raise typer.Exit(1)


def _page_to_write(to: Path | None, names: list[str] | None) -> Path | None:
    """Return where the page goes, after making its folder; None if only some are checked, without --page."""
    target = to or (None if names else DEFAULT_PAGE)
    if target is not None:
        if target.is_dir():
            raise InvalidInputError(f"--page must be a file; {target} is a folder. Try {target / 'statements.md'}.")
        folder = target.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InvalidInputError(f"--page must lie in a folder; {folder} is, or lies in, a file.") from None
    return target


def _show_finding(finding: Finding) -> None:
    """Print a finding as soon as it is there, if standard error is a terminal."""
    if sys.stderr.isatty():
        remark(f"  {finding.name}: {finding.verdict}, {finding.seconds:.1f} s")


def _print_table(findings: list[Finding]) -> None:
    width = min(110, shutil.get_terminal_size((110, 24)).columns)
    rows = [
        [found.name, found.label, found.tried if found.instances else "", shown_margin(found.margin), found.outcome]
        for found in findings
    ]
    print_columns(rows, ["statement", "in the paper", "tried", "margin", "verdict"], numbers=[3])
    print(f"\n{summary(findings)}\n{textwrap.fill(MEANING, width)}\n\nWhy")
    for found in findings:
        print(f"  {found.name}, {found.title}: {found.outcome}")
        more = {"counterexample": found.counterexample, "holds instead": found.correction, "test": found.test}
        for text in (found.why, *(f"{label}: {text}" for label, text in more.items() if text)):
            print(textwrap.fill(text, width, initial_indent="    ", subsequent_indent="      "))

"""Findings as a page of the docs, and as plain data."""

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from importlib.resources import files
from typing import Any

from driftmdp.statements.registry import statements
from driftmdp.statements.verdict import Caveat, Finding, Verdict

TABLE_HEAD = "| statement | verdict | worst margin | tried | about | label |\n|---|---|---:|---|---|---|"
MEANING = (
    "Margin: near 0 a trial is tight, near 1 it is far from failing, below 0 it fails. "
    "Vacuous: the inequality says no more than is true anyway. "
    "With scaled radii: every trial that was not vacuous had radii smaller than theory's. "
    "Too loose to detect faults: a faulty algorithm satisfies the bound too, and no other trial detects it."
)
NOTATION = "Notation: x^, x~ and x- are x with a hat, a tilde and a bar. N+ is max(1, N)."


def page(findings: Sequence[Finding], command: str = "driftmdp check") -> str:
    """Return the page in MyST.

    Parameters
    ----------
    findings
        The result of ``check``.
    command
        The command line that the page names as its source.

    Examples
    --------
    >>> from driftmdp.statements.page import page
    >>> from driftmdp.statements import check
    >>> print(page(check(["remark-3"])).splitlines()[0])
    # The paper, executable
    """
    table = "\n".join([TABLE_HEAD, *map(_row, findings)])
    sections = "\n".join(_section(finding) for finding in findings)
    what = "Every numbered statement" if len(findings) == len(statements()) else "Statements"
    template = files("driftmdp.statements").joinpath("page_head.md").read_text(encoding="utf-8")
    head = template.replace("{what}", what).replace("{command}", command)
    return f"{head}## The table\n\n{summary(findings)}\n\n{table}\n\n## One by one\n\n{NOTATION}\n\n{sections}"


def summary(findings: Sequence[Finding]) -> str:
    """Return how many statements have each verdict.

    Examples
    --------
    >>> from driftmdp.statements.page import summary
    >>> from driftmdp.statements import check
    >>> summary(check(["remark-3", "remark-8"]))
    '2 statements. Not testable: 2.'
    """
    counted = Counter(finding.verdict for finding in findings)
    limited = Counter(caveat for finding in findings for caveat in finding.caveats)
    text = f"{len(findings)} statement{'s' if len(findings) != 1 else ''}. {_listed(Verdict, counted)}"
    return f"{text} {_listed(Caveat, limited)}".rstrip()


def _listed(kinds: type[StrEnum], counted: Counter[Any]) -> str:
    """Return how many there are of each kind, as a sentence."""
    parts = ", ".join(f"{kind}: {counted[kind]}" for kind in kinds if counted[kind])
    return f"{parts[:1].upper()}{parts[1:]}." if parts else ""


def as_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as numbers and strings. A missing margin is None.

    Examples
    --------
    >>> from driftmdp.statements.page import as_data
    >>> from driftmdp.statements import check
    >>> as_data(check(["remark-3"])[0])["verdict"]
    'not testable'
    """
    margin = None if math.isnan(finding.margin) else finding.margin
    caveats = [str(caveat) for caveat in finding.caveats]
    return asdict(finding) | {"verdict": str(finding.verdict), "caveats": caveats, "margin": margin}


def shown_margin(margin: float) -> str:
    """Return a margin in a few digits.

    Examples
    --------
    >>> from driftmdp.statements.page import shown_margin
    >>> shown_margin(0.30712), shown_margin(1e-12), shown_margin(-0.2)
    ('0.307', '0', '-0.2')
    """
    if math.isnan(margin):
        return ""
    return f"{margin:.3g}" if abs(margin) >= 5e-4 else "0"


def _row(finding: Finding) -> str:
    tried, margin = finding.tried if finding.instances else "", shown_margin(finding.margin)
    link, about = f"[{finding.name}](#{finding.name})", f"{_plain(finding.title)} | {_plain(finding.label)}"
    return f"| {link} | {finding.outcome} | {margin} | {tried} | {about} |"


def _section(finding: Finding) -> str:
    claim = "\n\n".join(textwrap.fill(" ".join(part.split()), 78) for part in finding.claim.split("\n\n"))
    trials = f"{finding.tried}, worst margin {shown_margin(finding.margin) or 'none'}" if finding.instances else ""
    items = {
        "trials": trials,
        "counterexample": finding.counterexample and f"`{finding.counterexample}`",
        "holds instead": _plain(finding.correction),
        "test": _plain(finding.test),
    }
    lines = [
        f"({finding.name})=",
        f"### {finding.where}: {finding.title}",
        "",
        f"```text\n{claim}\n```",
        "",
        f"**{finding.outcome}**: {_plain(finding.why)}.",
        "",
        *(f"- {label}: {text}" for label, text in items.items() if text),
    ]
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    """Return text with MyST's markup escaped."""
    return "".join(f"\\{letter}" if letter in "*_~^|<>[]$`" else letter for letter in text)

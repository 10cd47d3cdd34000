"""Findings as a page of the docs, and as plain data."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from enum import StrEnum
from typing import Any

from driftmdp.statements.registry import statements
from driftmdp.statements.verdict import Caveat, Finding, Verdict

TABLE = (
    "| statement | verdict | worst margin | tried | about | label |",
    "|---|---|---:|---|---|---|",
)
MEANING = (
    "Margin: near 0 a trial is tight, near 1 far from being broken, below 0 broken. "
    "Vacuous: there the inequality says no more than is true anyway. "
    "With scaled radii: only runs with radii smaller than theory's said something. "
    "Too loose to detect faults: a faulty algorithm keeps the bound too, and nothing else in the check shows it."
)
NOTATION = "Notation: x^, x~ and x- are x with a hat, a tilde and a bar; N+ is max(1, N)."
HEAD = """# The paper, executable

{what} of *Non-Stationary Reinforcement Learning: The Blessing of (More) Optimism* [CSZ20] as checks that run.
This page was written by `{command}`; `driftmdp check` prints the same, without `--thorough` on fewer
instances, and exits with 1 if a statement fails.

A trial is an inequality on an instance, left <= right. Its *margin* is (right - left) / max(|left|, |right|);
the table has the worst. Near 0 a trial is tight; near 1 it is far from being broken, which for a bound means
that it is loose; below 0 it is broken. Equations are tried as |left - right| <= a tolerance, and
probabilities by the number of violations that a test allows: there 1 means that all of that was left.

A trial is *vacuous* where it says no more than is true anyway (a regret bound above T, a radius of 2 or
more), or where what it speaks of never happened. At any horizon that can be run most bounds are vacuous with
the paper's radii. So every check has instances that are not: *nearly still* is a world of millions of steps
that hardly changes, where theory's radii are small enough; *turns* is a deterministic one, where estimates
are exact, so that radii a thousandth of theory's (*scale 0.001*) are valid too, and what is conditioned on
them must hold. Bounds have the explicit constants of their lemmas, corrected where needed
(`driftmdp.formulas.lemmas`).

| verdict | when |
|---|---|
| holds | the printed form held in every trial, and at least one of them was not vacuous |
| holds as corrected | the printed form fails, as the counterexample shows; the corrected form held in every trial |
| fails as printed | the printed form fails, and a corrected form as well, or there is none |
| vacuous | nothing failed, but no trial said anything |
| not testable | it is no statement that numbers could contradict |
| not carried out | the check broke down, \
or the code was seen not to do what the paper says: a fault of this library, not of the paper |

| caveat beside a verdict | when |
|---|---|
| with scaled radii | every trial that said something had radii smaller than theory's |
| in one reading | the words can be read in two ways; the verdict is that of the reading that is given |
| in parts | the statement was tried part by part; as a whole it says nothing at these horizons |
| too loose to detect faults | the bound is so far from what was seen that a faulty algorithm keeps it too, \
and nothing else in the check shows it |

`tests/statements/test_mutations.py` plants faults: it has which check finds which, and what survives. Two are
forged in the record, as the rules are compiled: no doubling, and plans a hundred times less precise.

"""


def page(findings: Sequence[Finding], command: str = "driftmdp check") -> str:
    """Return the page in MyST.

    Parameters
    ----------
    findings
        What ``check`` returned.
    command
        What wrote it.

    Examples
    --------
    >>> from driftmdp.statements import check
    >>> print(page(check(["remark-3"])).splitlines()[0])
    # The paper, executable
    """
    rows = [
        f"| [{f.name}](#{f.name}) | {f.outcome} | {shown_margin(f.margin)} | {f.tried if f.instances else ''} | "
        f"{_plain(f.title)} | {_plain(f.label)} |"
        for f in findings
    ]
    table = "\n".join([*TABLE, *rows])
    sections = "\n".join(_section(finding) for finding in findings)
    what = "Every numbered statement" if len(findings) == len(statements()) else "Statements"
    head = HEAD.replace("{what}", what).replace("{command}", command)
    return f"{head}## The table\n\n{summary(findings)}\n\n{table}\n\n## One by one\n\n{NOTATION}\n\n{sections}"


def summary(findings: Sequence[Finding]) -> str:
    """Return how many statements have each verdict.

    Examples
    --------
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
    parts = "; ".join(f"{kind}: {counted[kind]}" for kind in kinds if counted[kind])
    return f"{parts[:1].upper()}{parts[1:]}." if parts else ""


def as_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as numbers and strings; a margin that there is not is None.

    Examples
    --------
    >>> from driftmdp.statements import check
    >>> as_data(check(["remark-3"])[0])["verdict"]
    'not testable'
    """
    data = {field.name: getattr(finding, field.name) for field in fields(finding)}
    margin = None if math.isnan(finding.margin) else finding.margin
    caveats = [str(caveat) for caveat in finding.caveats]
    return data | {"verdict": str(finding.verdict), "caveats": caveats, "margin": margin}


def shown_margin(margin: float) -> str:
    """Return a margin in a few letters.

    Examples
    --------
    >>> shown_margin(0.30712), shown_margin(1e-12), shown_margin(-0.2)
    ('0.307', '0', '-0.2')
    """
    if math.isnan(margin):
        return ""
    return f"{margin:.3g}" if abs(margin) >= 5e-4 else "0"


def _section(finding: Finding) -> str:
    lines = [
        f"({finding.name})=",
        f"### {finding.where}: {finding.title}",
        "",
        f"```text\n{_narrow(finding.claim)}\n```",
        "",
        f"**{finding.outcome}** — {_plain(finding.why)}.",
        "",
    ]
    if finding.instances:
        lines += [f"- trials: {finding.tried}, worst margin {shown_margin(finding.margin) or 'none'}"]
    if finding.counterexample:
        lines += [f"- counterexample: `{finding.counterexample}`"]
    if finding.correction:
        lines += [f"- holds instead: {_plain(finding.correction)}"]
    if finding.test:
        lines += [f"- test: {_plain(finding.test)}"]
    return "\n".join([*lines, ""])


def _narrow(claim: str) -> str:
    """Return a claim with lines that a page can show."""
    paragraphs = claim.split("\n\n")
    return "\n\n".join(textwrap.fill(" ".join(paragraph.split()), 78) for paragraph in paragraphs)


def _plain(text: str) -> str:
    """Return text that MyST shows as it is."""
    return "".join(f"\\{letter}" if letter in "*_~^|<>[]$`" else letter for letter in text)

"""Findings as a page of the docs, and as plain data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from driftmdp.statements.finding import Finding, Verdict

__all__ = ["as_data", "page"]

TABLE = "| statement | in the paper | about | tried | worst margin | verdict |", "|---|---|---|---|---|---|"
HEAD = """# The paper, executable

Every numbered statement of [CSZ20](references.md) as a check that runs. `driftmdp check` prints this table; this
page was written by `driftmdp check{thorough} --page docs/statements.md`.

A trial is an inequality on an instance. It is *vacuous* where its right side is no better than what is true anyway
(a regret bound above T, a radius of 2 or more). The *margin* is (right - left) / max(|left|, |right|), the worst of
all trials that are not vacuous: 0 is equality, 1 means that the left side is nothing beside the right, and a
negative margin is a violation. Bounds have the explicit constants of their lemmas, corrected where needed
(`driftmdp.formulas.lemmas`).

| verdict | when |
|---|---|
| holds | the printed form held in every trial, and at least one of them was not vacuous |
| holds as corrected | the printed form fails, as the counterexample shows; the corrected form held in every trial |
| fails as printed | the printed form fails, and a corrected form as well, or there is none |
| vacuous | nothing failed, but no trial said anything |
| not testable | it is no statement that numbers could contradict |

"""


def page(findings: Sequence[Finding], thorough: bool = False) -> str:
    """Return the page in MyST.

    Examples
    --------
    >>> from driftmdp.statements import check
    >>> print(page(check(["remark-3"])).splitlines()[0])
    # The paper, executable
    """
    counted = Counter(finding.verdict for finding in findings)
    summary = ", ".join(f"{counted[verdict]} {verdict}" for verdict in Verdict if counted[verdict])
    rows = [
        f"| [{f.name}](#{f.name}) | {_plain(f.where)} | {_plain(f.title)} | {f.tried if f.instances else ''} | "
        f"{shown_margin(f.margin)} | {f.verdict} |"
        for f in findings
    ]
    table = "\n".join([*TABLE, *rows])
    sections = "\n".join(_section(finding) for finding in findings)
    head = HEAD.replace("{thorough}", " --thorough" if thorough else "")
    return f"{head}## The table\n\n{len(findings)} statements: {summary}.\n\n{table}\n\n## One by one\n\n{sections}"


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
    return data | {"verdict": str(finding.verdict), "margin": margin}


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
        f"```text\n{finding.claim}\n```",
        "",
        f"**{finding.verdict}** — {_plain(finding.why)}.",
        "",
    ]
    if finding.instances:
        lines += [f"- tried on: {finding.tried}, worst margin {shown_margin(finding.margin) or 'none'}"]
    if finding.counterexample:
        lines += [f"- counterexample: `{finding.counterexample}`"]
    if finding.correction:
        lines += [f"- holds instead: {_plain(finding.correction)}"]
    if finding.test:
        lines += [f"- test: {_plain(finding.test)}"]
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    """Return text that MyST shows as it is."""
    return "".join(f"\\{letter}" if letter in "*_~^|<>[]$`" else letter for letter in text)

"""The section on the paper's sentences, and which setting is shown first because it reproduces most of them."""

from __future__ import annotations

from driftmdp.report.claims import Claim, Evidence, claims_of, claims_table, score, scores_table
from driftmdp.report.model import Section
from driftmdp.report.view import View

__all__ = ["Judged", "judge"]

RULE = (
    "Every sentence of the paper's Results paragraph, under the setting chosen above. A sentence is reproduced if "
    "all its comparisons hold with their whole interval, not if none does, and partly otherwise."
)
SETUP = (
    "The setup paragraph prints B_r = 15 V_r and B_p = 12 V_p. Exactly, they are about 30 V_r and 6 V_p (see the "
    "table of problems); which of them enters the window is one of the two things that the settings vary."
)


class Judged:
    """The claims of every setting, the settings in the order in which they are shown."""

    def __init__(self, found: View, claims: list[list[Claim]]) -> None:
        self.found, self.claims = found, claims

    @property
    def section(self) -> Section:
        """The claims of each setting, and the count for all."""
        settings = self.found.settings
        shown = [claims_table(claims, s) for claims, s in zip(self.claims, settings, strict=True)]
        title = "What the paper says, and what was measured"
        return Section("claims", title, [RULE, SETUP], [*shown, scores_table(settings, self.claims)])

    @property
    def reason(self) -> str:
        """Why the first setting is shown first."""
        first, scores = self.claims[0], [score(claims) for claims in self.claims]
        counts = [sum(claim.verdict == verdict for claim in first) for verdict in ("reproduced", "partly", "not")]
        rivals = [s.label for s, points in zip(self.found.settings, scores, strict=True) if points == scores[0]][1:]
        also = f" (as many as {'; '.join(rivals)})" if rivals else ", more than any other"
        return (
            "The paper leaves two things open: how rewards outside [0, 1] are read (reward_range: raw, as they are "
            "and without a cap; or the problem's range, mapped to [0, 1]), and which constants stand in the "
            f"budgets (their order, as printed, or exact). All {len(scores)} ways were run. Shown first is "
            f"{self.found.settings[0].label}, because "
            f"it reproduces most sentences of the paper's Results paragraph: {counts[0]} of {len(first)}, "
            f"{counts[1]} more in part, {counts[2]} not{also}."
        )


def judge(found: View) -> Judged | Section | None:
    """Judge the paper's sentences in every setting, and put the setting that reproduces most of them first.

    Returns None if the spec does not ask for it, and a section that says why if runs are missing.
    """
    if found.results.manifest["spec"]["report"]["claims"] != "csz20":
        return None
    try:
        claims = [claims_of(Evidence(found, setting)) for setting in found.settings]
    except LookupError as error:
        note = f"The sentences of the paper could not be judged: {error}"
        return Section("claims", "What the paper says", [note])
    order = sorted(range(len(claims)), key=lambda k: -score(claims[k]))
    found.settings[:] = [found.settings[k] for k in order]
    return Judged(found, [claims[k] for k in order])

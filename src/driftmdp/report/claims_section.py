"""The section on the paper's sentences, and which setting is shown first because it reproduces most of them."""

from __future__ import annotations

from driftmdp.errors import InvalidInputError
from driftmdp.report.claims import Claim, ClaimEvidence, claims_of, claims_table, score, scores_table
from driftmdp.report.content import Section
from driftmdp.report.view import View

RULES = [
    "Every sentence of the paper's Results paragraph that runs can judge, under the setting chosen above. A "
    "sentence is reproduced if all its comparisons hold with their whole interval, not if none does, and partly "
    "otherwise. The 12% are reproduced if the interval of the least gain holds 12% and not 0, and partly if only "
    "one of these is so. The sentence on the master is not reproduced if it drew as if it had learned nothing.",
    "Three more sentences are about theory and are not judged here: that there is no contradiction, that both "
    "algorithms have worst-case bounds of one order, and that these problems are not the worst case.",
    "The setup paragraph prints B_r = 15 V_r and B_p = 12 V_p. Exactly, they are about 30 V_r and 6 V_p (see the "
    "table of problems); which of them enters the window is one of the two things that the settings vary.",
]


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
        return Section("claims", title, RULES, [*shown, scores_table(settings, self.claims)])

    @property
    def reason(self) -> str:
        """Why the first setting is shown first."""
        first, scores = self.claims[0], [score(claims) for claims in self.claims]
        whole, part, none = (sum(c.verdict == v for c in first) for v in ("reproduced", "partly", "not"))
        rivals = [s.label for s, points in zip(self.found.settings, scores, strict=True) if points == scores[0]][1:]
        tied = f"; so do {'; '.join(rivals)}" if rivals else ""
        return (
            "The paper leaves two things open: how rewards outside [0, 1] are read (as they are and without a cap, "
            "or mapped to [0, 1]), and which constants stand in the budgets. "
            f"All {len(scores)} ways were run. Shown first is “{self.found.settings[0].label}”, because it "
            "reproduces most of the paper's Results paragraph if a sentence in part counts one half"
            f"{tied}: {whole} of {len(first)} sentences, {part} in part, {none} not. The counts of the others "
            "stand below the sentences."
        )


def judge(found: View) -> Judged | Section | None:
    """Judge the paper's sentences in every setting, and put the setting that reproduces most of them first.

    Returns None if the spec does not ask for it, and a section that says why if runs are missing.
    """
    if found.results.manifest["spec"]["report"]["claims"] != "csz20":
        return None
    try:
        claims = [claims_of(ClaimEvidence(found, setting)) for setting in found.settings]
    except (LookupError, InvalidInputError) as error:
        note = f"The sentences of the paper could not be judged: {error}"
        return Section("claims", "What the paper says", [note])
    order = sorted(range(len(claims)), key=lambda k: -score(claims[k]))
    found.settings[:] = [found.settings[k] for k in order]
    return Judged(found, [claims[k] for k in order])

"""All statements: their verdicts, that none is empty, and how they are shown."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.formulas import lemmas
from driftmdp.statements import (
    Caveat,
    CheckContext,
    Evidence,
    Statement,
    Verdict,
    check,
    statement,
    statement_named,
    statements,
)
from driftmdp.statements.inventory import two_ways_trace
from driftmdp.statements.page import as_data, page
from tests.statements.mutations import the_window_is_one_too_long
from tests.statements.small_context import SmallContext

ROOT = Path(__file__).parents[2]
PAGE, README = ROOT / "docs" / "statements.md", ROOT / "README.md"
CORRECTED = {
    "proposition-1",
    "error-term",
    "lemma-1",
    "theorem-1-tuned",
    "remark-5",
    "remark-7",
    "theorem-2",
    "theorem-2-master",
    "theorem-2-grid",
    "remark-10",
    "proposition-6",
    "lemma-2",
    "property-1",
    "evi-convergence",
    "lemma-3",
    "lemma-9",
    "lemma-10",
    "lemma-11",
    "lemma-12",
}
WORDS = {"remark-3", "remark-8", "remark-9", "remark-11"}
SCALED, READ, PARTS, LOOSE = Caveat
CAVEATS = {
    "definition-1": (READ,),
    "remark-4": (SCALED,),
    "remark-5": (LOOSE,),
    "remark-6": (LOOSE,),
    "remark-7": (SCALED, LOOSE),
    "theorem-2": (SCALED, PARTS, LOOSE),
    "proposition-5": (SCALED,),
    "theorem-3": (SCALED,),
    "theorem-4": (SCALED,),
    "lemma-6": (SCALED,),
    "lemma-7": (SCALED,),
    "lemma-8": (SCALED,),
    "regret-growth": (SCALED, LOOSE),
}


@pytest.fixture(scope="module")
def findings():
    return {finding.name: finding for finding in check(workers=1)}  # the tests keep all cores busy already


@pytest.mark.parametrize("name", [entry.name for entry in statements()])
def test_the_verdict_is_the_published_one(name, findings):
    expected = Verdict.CORRECTED if name in CORRECTED else Verdict.NOT_TESTABLE if name in WORDS else Verdict.HOLDS
    assert findings[name].verdict is expected, findings[name]
    assert findings[name].caveats == CAVEATS.get(name, ()), findings[name]
    outcome = ", ".join([expected, *CAVEATS.get(name, ())])
    assert re.search(rf"^\| \[{name}\]\(#{name}\) \| {outcome} \|", PAGE.read_text(), re.MULTILINE)


def test_nothing_is_wholly_vacuous(findings):
    for finding in findings.values():
        if finding.name not in WORDS:
            assert finding.vacuous < finding.instances
            assert not math.isnan(finding.margin)
            assert finding.margin >= 0


def test_what_is_corrected_shows_the_counterexample_and_the_correction(findings):
    for name, finding in findings.items():
        assert bool(finding.counterexample) == (name in CORRECTED), finding
        assert bool(finding.correction) == (name in CORRECTED), finding
        assert not finding.counterexample or " > " in finding.counterexample


def test_every_finding_says_why_and_every_statement_what_it_claims(findings):
    for finding in findings.values():
        assert finding.why
        assert len(finding.claim) > 50
        assert not finding.why.endswith(".")


def test_every_numbered_statement_of_the_paper_is_there():
    names = {entry.name for entry in statements()}
    for kind, count in [
        ("theorem", 4),
        ("proposition", 7),
        ("lemma", 13),
        ("remark", 11),
        ("assumption", 3),
        ("property", 2),
        ("definition", 1),
    ]:
        assert {f"{kind}-{i}" for i in range(1, count + 1)} <= names


def test_the_readme_counts_them():
    readme = " ".join(README.read_text().split())
    assert f"`driftmdp check`, {len(statements())} statements of the paper" in readme
    assert len(WORDS) == 4
    assert "four remarks only explain" in readme


def test_findings_do_not_depend_on_the_number_of_workers():
    names = ["definition-1", "theorem-1-tuned", "linear-programs", "proposition-7"]
    alone, together = check(names, workers=1), check(names, workers=3)
    assert [as_data(f) | {"seconds": 0} for f in alone] == [as_data(f) | {"seconds": 0} for f in together]
    assert [f.name for f in alone] == ["definition-1", "theorem-1-tuned", "linear-programs", "proposition-7"]


def test_names_may_repeat_and_wrong_ones_are_named():
    assert len(check(["remark-3", "remark-3"])) == 1
    with pytest.raises(UnknownNameError, match="Did you mean 'lemma-2'"):
        check(["lema-2"])
    with pytest.raises(InvalidInputError, match="names must be a list of names"):
        check("lemma-2")
    with pytest.raises(InvalidInputError, match="names must be a list of names"):
        check(3)
    assert [f.name for f in check(["def:diameter", statement_named("remark-3")])] == ["definition-1", "remark-3"]


def test_registering_what_cannot_be():
    with pytest.raises(InvalidInputError, match="There is a statement 'lemma-2' already"):
        statement("lemma-2", "again", "nowhere", 1)(lambda context: Evidence())
    with pytest.raises(InvalidInputError, match="place must be a finite number"):
        statement("mine", "my own", "nowhere", "last")
    with pytest.raises(InvalidInputError, match="The check of 'mine' must return Evidence; got None"):
        Statement("mine", "my own", "nowhere", 1, lambda context: None).check(CheckContext())


def test_a_check_that_breaks_down_is_no_verdict_on_the_paper(monkeypatch):
    from driftmdp import planning

    def broken(*args):
        raise ZeroDivisionError("by design")

    monkeypatch.setattr(planning, "gain_by_linear_program", broken)
    (finding,) = check(["linear-programs"])
    assert finding.verdict is Verdict.BROKEN
    assert re.fullmatch(
        r"The check broke down: ZeroDivisionError: by design \(test_checks.py, line \d+\)", finding.why
    )


def test_a_fault_of_this_library_is_no_verdict_on_the_paper(monkeypatch):
    the_window_is_one_too_long(monkeypatch)
    finding = statement_named("theorem-1").check(SmallContext())
    assert (finding.outcome, finding.counterexample, finding.correction) == ("not carried out", "", "")
    assert finding.why == "This library does not do what the paper says: two-state, counts: 1 > 0"


def test_theorem_3_is_tried_where_transitions_move_without_widening():
    """Assumption 2 holds with zeta = 1 at all times, B_p = 2, and both bounds say something there."""
    context = SmallContext()
    trace = two_ways_trace(context)
    assert trace.budgets == pytest.approx((1.9, 2.0), abs=1e-3)
    assert (trace.widening, trace.covered) == (0.0, True)
    rows = np.stack([trace.problem.drifting.at(t).transitions.toarray() for t in (1, trace.horizon)])
    always = rows.min(axis=0).reshape(2, 3, 2)  # state, action, next state: the least over time
    assert always.max(axis=1).min() == 1.0
    assert (~trace.inside).any()  # p_tau(m) leaves H_p(0): what Theorem 1 would need widening for
    for name in ("theorem-3", "proposition-5"):
        finding = statement_named(name).check(context)
        assert (finding.verdict, finding.instances - finding.vacuous) == (Verdict.HOLDS, 1)
    assert trace.regret.sum() < lemmas.regret(
        trace.problem.space, trace.horizon, 1.9, 0.0, trace.window, 0.0, 1.0, 0.001, lost=False
    )  # as its finding says, Theorem 3's sum would be kept without B_p
    trace.var_p = np.zeros(trace.horizon)
    assert statement_named("proposition-5").check(context).verdict is Verdict.FAILS  # the bound on one step is not


def test_the_page_and_the_data(findings):
    text = page(list(findings.values()))
    for finding in findings.values():
        assert f"({finding.name})=" in text
        data = json.loads(json.dumps(as_data(finding), allow_nan=False))
        assert data["verdict"] == str(finding.verdict)


@pytest.mark.slow
def test_thoroughly_the_verdicts_are_the_same(findings):
    for finding in check(thorough=True):
        assert finding.outcome == findings[finding.name].outcome, finding

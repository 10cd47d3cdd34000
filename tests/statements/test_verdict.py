"""Trials, margins and the verdicts that follow from them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftmdp.statements import Evidence, Verdict
from driftmdp.statements.verdict import Trial, Trials, critical_count


def test_margins_by_hand():
    assert Trial("", 1.0, 4.0).margin == pytest.approx(0.75)
    assert Trial("", 4.0, 1.0).margin == pytest.approx(-0.75)
    assert Trial("", 2.0, 2.0).margin == 0.0
    assert Trial("", 0.0, 0.0).margin == 0.0
    assert Trial("", 3.0, math.inf).margin == 1.0
    assert not Trial("", math.inf, 3.0).holds
    trials = Trials()
    trials.at_most("", [0.0, math.inf], 1.0)
    assert trials.broken


def test_rounding_is_no_violation():
    assert Trial("", 1.0 + 1e-12, 1.0).holds
    assert Trial("", 1e9 + 0.1, 1e9).holds
    assert not Trial("", 1.0 + 1e-6, 1.0).holds


def test_what_is_not_a_number_does_not_hold():
    assert not Trial("", math.nan, 1.0).holds
    trials = Trials()
    trials.at_most("", [0.0, math.nan], [1.0, 1.0])
    assert trials.broken


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=20))
def test_of_arrays_the_worst_entry_counts(pairs):
    left, right = np.array(pairs).T
    trials = Trials()
    trials.at_most("", left, right)
    assert bool(trials.broken) == (not all(Trial("", a, b).holds for a, b in pairs))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([0.0, 2.0], [math.inf, 1.0]),
        ([1e-10, 1.05], [0.0, 1.0]),
        ([math.nan, 0.0], [1.0, 1.0]),
        ([-5.0, 2.0], [9.0, 1.9]),
    ],
)
def test_a_broken_entry_is_never_hidden(left, right):
    trials = Trials()
    trials.at_most("", left, right)
    assert trials.broken
    assert not trials.trials[0].margin > 0


def test_a_vacuous_entry_does_not_hide_another():
    trials = Trials()
    trials.at_most("", [0.0, 0.9], [5.0, 1.0], trivial=2.0)
    assert (trials.trials[0].left, trials.trials[0].vacuous) == (0.9, False)
    trials.at_most("all of it", [0.0, 0.9], [5.0, 3.0], trivial=2.0)
    assert trials.trials[1].vacuous


def test_a_broken_vacuous_entry_still_counts():
    trials = Trials()
    trials.at_most("", [9.0], [5.0], trivial=2.0)
    assert trials.broken


def evidence(printed=(), corrected=()):
    made = Evidence()
    for form, trials in ((made.printed, printed), (made.corrected, corrected)):
        for left, right, trivial in trials:
            form.at_most("here", left, right, trivial)
    return made


GOOD, BAD, EMPTY = (1.0, 2.0, math.inf), (2.0, 1.0, math.inf), (1.0, 2.0, 1.5)


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        ([GOOD], [], Verdict.HOLDS),
        ([GOOD, EMPTY], [], Verdict.HOLDS),
        ([EMPTY], [], Verdict.VACUOUS),
        ([], [], Verdict.VACUOUS),
        ([BAD], [], Verdict.FAILS),
        ([BAD, EMPTY], [GOOD], Verdict.CORRECTED),
        ([BAD], [GOOD, BAD], Verdict.FAILS),
        ([BAD], [EMPTY], Verdict.FAILS),
        ([GOOD], [BAD], Verdict.FAILS),
        ([GOOD], [GOOD], Verdict.HOLDS),
    ],
)
def test_verdicts(printed, corrected, verdict):
    assert evidence(printed, corrected).verdict is verdict


def test_a_step_of_a_proof_can_break_a_statement_but_has_no_margin():
    made = evidence([GOOD])
    made.printed.step("a step", 1.0, 1.0)
    assert (made.verdict, made.margin) == (Verdict.HOLDS, 0.5)
    made.printed.step("another", 2.0, 1.0)
    assert made.verdict is Verdict.FAILS
    assert made.counterexample == "in the proof, another: 2 > 1"


def test_a_fault_of_the_library_leaves_no_verdict():
    made = evidence([BAD], [GOOD])
    made.why = "tried"
    made.library.at_most("counts", 0.0, 0.0)
    assert (made.verdict, made.reason) == (Verdict.CORRECTED, "tried")
    made.library.at_most("radii", 1.0, 0.0)
    assert (made.verdict, made.counterexample, made.caveats) == (Verdict.BROKEN, "", ())
    assert made.reason == "This library does not do what the paper says: radii: 1 > 0"


def test_the_critical_count_has_the_error_rate_that_it_says():
    from scipy.stats import binom

    for runs, probability, error in [(10, 0.3, 0.01), (200, 0.05, 1e-3), (40, 0.05, 1e-3), (5, 0.9, 0.05)]:
        k = critical_count(runs, probability, error)
        assert binom.sf(k - 1, runs, probability) <= error < binom.sf(k - 2, runs, probability)


def test_seldom_rejects_what_happens_too_often():
    trials = Trials()
    trials.seldom("", hits=21, runs=200, probability=0.05)
    assert not trials.broken
    trials.seldom("", hits=22, runs=200, probability=0.05)
    assert trials.broken

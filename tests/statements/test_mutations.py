"""Each check must fail when the code that it guards is broken.

Under each mutation the statements that stand on it are checked, and none of them may hold: it fails, or, where the
check sees that the fault is this library's, it is not carried out. Unbroken, on the same instances, all hold. A
statement whose finding says that it is too loose to detect faults survives some of them: SURVIVED has which.
"""

import functools

import pytest

from driftmdp.statements import Caveat, Verdict, statement_named, statements
from tests.statements.mutations import FAULTS_OF_AGENTS, MUTATIONS
from tests.statements.small_context import SmallContext

NOT_TESTABLE = {"remark-3", "remark-8", "remark-9", "remark-11"}
TESTABLE = [entry.name for entry in statements() if entry.name not in NOT_TESTABLE]

SHOWN = {Verdict.FAILS, Verdict.BROKEN}
BOUNDS_ONLY = {"proposition-3", "remark-5", "remark-6", "remark-7", "regret-growth"}  # do not look at how it played


def check(name, context):
    """Return the verdict; a check that breaks down raises, and has shown nothing."""
    return statement_named(name).check(context).verdict


@pytest.fixture(scope="module")
def unbroken():
    context = SmallContext()
    return functools.cache(lambda name: statement_named(name).check(context))


@pytest.mark.parametrize("name", TESTABLE)
def test_unbroken_it_does_not_fail(name, unbroken):
    assert unbroken(name).verdict not in SHOWN


@pytest.mark.parametrize("broken", MUTATIONS)
def test_broken_it_fails(broken, monkeypatch):
    mutate, names = MUTATIONS[broken]
    mutate(monkeypatch)
    context = SmallContext()
    verdicts = {name: check(name, context) for name in names}
    assert set(verdicts.values()) <= SHOWN, verdicts
    agents = mutate in FAULTS_OF_AGENTS
    assert all(verdicts[name] is Verdict.BROKEN for name in names if agents and name not in BOUNDS_ONLY), verdicts


def test_every_statement_has_a_mutation_that_breaks_it():
    broken = {name for _, names in MUTATIONS.values() for name in names}
    assert set(TESTABLE) == broken


SURVIVED = {
    "the_window_is_one_too_long": ["remark-5", "remark-6", "remark-7", "regret-growth"],
    "the_agents_radii_are_half_of_what_they_should_be": ["theorem-2"],
}


def test_what_says_that_it_is_too_loose_is_what_survives(unbroken):
    survivors = {name for names in SURVIVED.values() for name in names}
    assert {name for name in TESTABLE if Caveat.LOOSE in unbroken(name).caveats} == survivors


@pytest.mark.slow
@pytest.mark.parametrize("broken", SURVIVED)
def test_what_is_too_loose_survives_a_fault_that_other_checks_find(broken, monkeypatch):
    MUTATIONS[broken][0](monkeypatch)
    context = SmallContext()
    assert all(check(name, context) not in SHOWN for name in SURVIVED[broken])
    assert check("property-1", context) is Verdict.BROKEN

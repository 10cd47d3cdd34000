"""The paper's numbered statements, executable: the claim, the instances it was tried on, and the verdict.

A statement is a function with the claim as its docstring. ``check`` runs them, and ``driftmdp check`` prints the
table. Every bound is evaluated with the explicit constants of :mod:`driftmdp.formulas.lemmas`. An instance on which
it says no more than is true anyway is counted as vacuous. :mod:`driftmdp.statements.verdict` has the verdicts.
"""

from driftmdp.deprecation import renamed
from driftmdp.statements import (  # noqa: F401  each module registers its statements
    concentration,
    inventory,
    optimistic_planning,
    oracle,
    perils,
    regret_lemmas,
    theorem_1,
    theorem_2,
)
from driftmdp.statements.context import CheckContext
from driftmdp.statements.registry import Statement, check, statement, statement_named, statements
from driftmdp.statements.verdict import Caveat, Evidence, Finding, Verdict

__all__ = [
    "Caveat",
    "CheckContext",
    "Evidence",
    "Finding",
    "Statement",
    "Verdict",
    "check",
    "statement",
    "statement_named",
    "statements",
]

__getattr__ = renamed(__name__, Bench="CheckContext")

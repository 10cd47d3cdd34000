"""The paper's numbered statements, executable: what each claims, on what it was tried, and what came out.

A statement is a function with the claim as its docstring. ``check`` runs them; ``driftmdp check`` prints the table.
Every bound is evaluated with the explicit constants of :mod:`driftmdp.formulas.lemmas`; an instance on which it
says nothing is counted as vacuous. :mod:`driftmdp.statements.verdict` has the verdicts.
"""

from driftmdp.deprecation import renamed
from driftmdp.statements import (  # each registers its statements
    concentration,
    episodes,
    growth,
    inventory,
    one_step,
    optimism,
    oracle,
    perils,
    positive,
    programs,
    remarks,
    theorem_1,
    theorem_2,
)
from driftmdp.statements.check import check
from driftmdp.statements.context import CheckContext
from driftmdp.statements.registry import Statement, statement, statement_named, statements
from driftmdp.statements.verdict import Caveat, Evidence, Finding, Verdict

__all__ = [
    "Caveat",
    "CheckContext",
    "Evidence",
    "Finding",
    "Statement",
    "Verdict",
    "check",
    "concentration",
    "episodes",
    "growth",
    "inventory",
    "one_step",
    "optimism",
    "oracle",
    "perils",
    "positive",
    "programs",
    "remarks",
    "statement",
    "statement_named",
    "statements",
    "theorem_1",
    "theorem_2",
]

__getattr__ = renamed(__name__, Bench="CheckContext")

"""The paper's numbered statements, executable: what each claims, on what it was tried, and what came out.

A statement is a function with the claim as its docstring. ``check`` runs them; ``driftmdp check`` prints the table.
Every bound is evaluated with the explicit constants of :mod:`driftmdp.formulas.lemmas`; an instance on which it
says nothing is counted as vacuous. :mod:`driftmdp.statements.finding` has the verdicts.
"""

from driftmdp.statements import (  # each registers its statements
    concentration,
    discussion,
    episodes,
    growth,
    inventory,
    one_step,
    optimism,
    oracle,
    perils,
    positive,
    programs,
    theorem_1,
    theorem_2,
)
from driftmdp.statements.bench import Bench
from driftmdp.statements.checking import check
from driftmdp.statements.finding import Caveat, Evidence, Finding, Verdict
from driftmdp.statements.registry import Statement, statement, statement_named, statements

__all__ = [
    "Bench",
    "Caveat",
    "Evidence",
    "Finding",
    "Statement",
    "Verdict",
    "check",
    "concentration",
    "discussion",
    "episodes",
    "growth",
    "inventory",
    "one_step",
    "optimism",
    "oracle",
    "perils",
    "positive",
    "programs",
    "statement",
    "statement_named",
    "statements",
    "theorem_1",
    "theorem_2",
]

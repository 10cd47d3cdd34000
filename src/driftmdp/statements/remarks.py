"""Remarks that say how to read a result: nothing that numbers could contradict."""

from __future__ import annotations

from driftmdp.statements.context import CheckContext
from driftmdp.statements.registry import statement
from driftmdp.statements.verdict import Evidence


def _only_words(why: str) -> Evidence:
    evidence = Evidence()
    evidence.only_words, evidence.why = True, why
    return evidence


@statement("remark-3", "why the diameter matters", "Remark 3", 13)
def remark_3(context: CheckContext) -> Evidence:
    """The diameter measures how hard it is to move between states, and with it how hard it is to learn."""
    return _only_words("an intuition; its precise form is Proposition 2")


@statement("remark-8", "why the perils arise", "Remark 8", 61)
def remark_8(context: CheckContext) -> Evidence:
    """Samples of different pairs come from different times, and regions are narrow: hence Proposition 3."""
    return _only_words("an explanation; the numbers behind it, W/4 visits a pair and p^ = p-, are in proposition-3")


@statement("remark-9", "tighter is not always better", "Remark 9", 62)
def remark_9(context: CheckContext) -> Evidence:
    """The tightest confidence region need not give the lowest regret bound in non-stationary MDPs."""
    return _only_words("a reading of Proposition 3 and Theorem 1; measured regret is in docs/numerical-section.md")


@statement("remark-11", "costs of order S", "Remark 11", 78)
def remark_11(context: CheckContext) -> Evidence:
    """Theorem 4 normalises costs to [0, 1], while others have costs of order S."""
    return _only_words(
        "a convention. Where demand is unbounded so are costs, and only pseudo-rewards can be normalised"
    )

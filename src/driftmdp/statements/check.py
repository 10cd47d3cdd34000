"""Run checks, several at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable

from driftmdp import engines, kernels, problems
from driftmdp.agents import SWUCRL2CW
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.precompile import OPTIMAL_GAINS, OPTIMISTIC_PLANS, compiling_in_background
from driftmdp.simulation import simulate
from driftmdp.statements.context import CheckContext
from driftmdp.statements.registry import Statement, statement_named, statements
from driftmdp.statements.verdict import Finding
from driftmdp.validation import quietly

FEW = 10  # checks for which compiling aside does not pay


def check(
    names: Iterable[str | Statement] = (),
    thorough: bool = False,
    workers: int | None = None,
    each: Callable[[Finding], None] | None = None,
) -> list[Finding]:
    """Check statements of the paper and return what was found, in the order of the paper.

    Parameters
    ----------
    names
        Which, by their names or their labels in the paper; all of them by default. ``statements()`` lists them.
    thorough
        Whether to try more and larger instances.
    workers
        How many at a time; as many as there are cores by default. What is found does not depend on it.
    each
        Called with every finding as it comes.

    Examples
    --------
    >>> found, = check(["linear-programs"])
    >>> found.verdict, found.instances, found.vacuous
    (<Verdict.HOLDS: 'holds'>, 80, 0)
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidInputError(f"names must be a list of names; got {names!r}. Write check([{names!r}]).")
    chosen = [name if isinstance(name, Statement) else statement_named(name) for name in names]
    wanted = list(dict.fromkeys(chosen)) or statements()
    context = CheckContext(thorough)
    found: dict[str, Finding] = {}
    if len(wanted) > FEW and not kernels.has_compiled_cache():
        with quietly(), compiling_in_background(OPTIMAL_GAINS, OPTIMISTIC_PLANS):
            simulate(SWUCRL2CW.for_problem(problems.two_state(10)), problems.two_state(10), seed=0)

    outcomes = engines.make("threads", workers).map(lambda entry: entry.check(context), wanted)
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            finding = outcome.value or wanted[outcome.index].not_carried_out(outcome.error, outcome.traceback)
            found[finding.name] = finding
            if each is not None:
                each(finding)
    return [found[entry.name] for entry in sorted(wanted, key=lambda entry: entry.place)]

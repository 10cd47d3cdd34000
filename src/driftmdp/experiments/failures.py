"""Runs that raised an error, and what they had to say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from driftmdp.engines import TaskOutcome
from driftmdp.experiments.run_plan import RunKey


@dataclass(frozen=True)
class Failure:
    """A run that raised an error; or, with the seed -1, the facts of a problem that could not be computed.

    Attributes
    ----------
    run
        Its id.
    problem, agent, seed
        Labels of the problem and the agent, and the seed.
    error, traceback
        What was raised, in one line and with all frames.
    """

    run: str
    problem: str
    agent: str
    seed: int
    error: str
    traceback: str = field(repr=False)

    @property
    def is_run(self) -> bool:
        """Whether it is a run that failed."""
        return self.seed >= 0


def failure_of(key: RunKey, outcome: TaskOutcome) -> Failure:
    """Return what is kept of a run that failed."""
    cell = key.cell
    return Failure(key.id, cell.problem.label, cell.agent.label, key.seed, told(outcome), outcome.traceback)


def told(outcome: TaskOutcome) -> str:
    """Return the error of a task, and where in the user's code it arose."""
    return f"{type(outcome.error).__name__}: {outcome.error}{_last_line_of_users(outcome.traceback)}"


def _last_line_of_users(traceback: str) -> str:
    """Return the last place outside of this package that a traceback names, such as `` (mine.py, line 3)``."""
    here = str(Path(__file__).parents[1])
    places = re.findall(r'File "([^"]+)", line (\d+)', traceback)
    own = [(file, line) for file, line in places if not file.startswith((here, "<"))]
    return f" ({Path(own[-1][0]).name}, line {own[-1][1]})" if own else ""

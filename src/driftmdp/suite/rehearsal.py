"""Before the suite runs: every agent is made once, and those of one's own play some steps."""

import traceback

from driftmdp.callbacks import Callback, Steps
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import PlannedCell, plan
from driftmdp.experiments.execute import check_values
from driftmdp.experiments.problem_cache import cached_agent, cached_problem
from driftmdp.experiments.user_code import place_in_user_code
from driftmdp.simulation import simulate
from driftmdp.suite.tasks import SuiteTask
from driftmdp.validation import quietly

REHEARSED_STEPS = 20


def check_agents(task: SuiteTask) -> None:
    """Make every agent of a task, and let those of one's own play some steps, so that mistakes show at once.

    Raises
    ------
    InvalidInputError
        If an agent cannot be made for the problem, raises an error, or chooses an action that does not exist.
    """
    asked = plan(task.fresh_spec(task.yardstick.coarse_arms(task.horizon)[0].choice), "suite")
    check_values(asked.cells, dict.fromkeys(asked.places, "agent"))
    for cell in asked.cells:
        if ":" in cell.agent.name:
            _rehearse(cell)


class _EnoughStepsError(Exception):
    """The rehearsal is over."""


class _EndOfRehearsal(Callback):
    every = REHEARSED_STEPS

    def on_steps(self, steps: Steps) -> None:
        raise _EnoughStepsError


@quietly()
def _rehearse(cell: PlannedCell) -> None:
    try:
        simulate(cached_agent(cell), cached_problem(cell.problem).problem, 0, callbacks=[_EndOfRehearsal()])
    except _EnoughStepsError:
        pass
    except (Exception, SystemExit) as error:
        place = place_in_user_code(traceback.format_exc())
        what = f"agent, {cell.agent.label!r}, failed in the first steps of the problem {cell.problem.label!r}"
        raise InvalidInputError(f"{what}: {type(error).__name__}: {error}{place}") from None

"""Making every problem and agent of a spec once, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from driftmdp.agents import BuiltinAgent
from driftmdp.errors import DriftmdpError, InvalidInputError
from driftmdp.experiments.problem_cache import agent_of, world_of
from driftmdp.experiments.run_plan import PlannedCell
from driftmdp.simulation import check_fit


def check_values(cells: Iterable[PlannedCell], places: Mapping[str, str]) -> None:
    """Make every problem and agent once, before anything runs: a wrong value is a mistake of the spec."""
    for cell in cells:
        try:
            world_of(cell.problem)
        except Exception as error:
            place = f"{places[cell.problem.id]}, {cell.problem.label!r}"
            raise InvalidInputError(f"{place}, cannot be made: {_said(error)}") from None
        try:
            agent = agent_of(cell)
            if isinstance(agent, BuiltinAgent):
                check_fit(agent, world_of(cell.problem).problem)
        except Exception as error:
            place = f"{places[cell.agent.id]}, {cell.agent.label!r}"
            raise InvalidInputError(
                f"{place}, cannot be made for the problem {cell.problem.label!r}: {_said(error)}"
            ) from None


def _said(error: Exception) -> str:
    """Return what an error says; one that is not ours, with its kind."""
    return str(error) if isinstance(error, DriftmdpError) else f"{type(error).__name__}: {error}"

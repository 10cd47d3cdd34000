"""Execute one run, compute the facts of one problem, and make every problem and agent once before anything runs."""

import dataclasses
import json
import traceback
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from driftmdp.agents import Agent, BuiltinAgent
from driftmdp.errors import DriftmdpError, InvalidInputError
from driftmdp.experiments.identity import canonical, plain
from driftmdp.experiments.problem_cache import cached_agent, cached_problem, drift_summary
from driftmdp.experiments.run_plan import PlannedCell, ProblemCell, RunKey
from driftmdp.experiments.schema import PROBLEMS, pack_run
from driftmdp.experiments.user_code import place_in_user_code
from driftmdp.mdp import Problem
from driftmdp.simulation import Run, check_fit, simulate
from driftmdp.validation import quietly


def check_values(cells: Iterable[PlannedCell], places: Mapping[str, str]) -> None:
    """Make every problem and agent once, so that a wrong value is reported before anything runs."""
    for cell in cells:
        problem, agent = cell.problem, cell.agent
        what = f"{places[problem.id]}, {problem.label!r}, cannot be made"
        try:
            context = cached_problem(problem)
            what = f"{places[agent.id]}, {agent.label!r}, cannot be made for the problem {problem.label!r}"
            made = cached_agent(cell)
            if isinstance(made, BuiltinAgent):
                check_fit(made, context.problem)
        except Exception as error:
            place = place_in_user_code(traceback.format_exc())
            reason = str(error) if isinstance(error, DriftmdpError) else f"{type(error).__name__}: {error}{place}"
            raise InvalidInputError(f"{what}: {reason}") from None


def execute_run(key: RunKey) -> bytes:
    """Simulate a run and return its row, packed."""
    context = cached_problem(key.cell.problem)
    with quietly():
        run = _simulated(cached_agent(key.cell), context.problem, key.seed)
    steps = context.t - 1
    rewards, means = np.cumsum(run.rewards)[steps], np.cumsum(run.mean_rewards)[steps]
    regrets = context.optimum - means
    parameters = {name: _short_parameter(value) for name, value in run.parameters.items() if name != "space"}
    values = [
        *(key.id, key.cell.id, key.cell.problem.id, key.seed, run.horizon),
        *(float(rewards[-1]), float(means[-1]), float(regrets[-1])),
        *(run.plans, run.vacuous_share if run.plans else None),
        *(json.dumps(parameters), _summary_json(run.summary)),
    ]
    return pack_run(values, rewards, regrets)


def _simulated(agent: Agent, problem: Problem, seed: int) -> Run:
    """Return a run. An agent of the user that leaves Python fails, and does not end the whole command."""
    try:
        return simulate(agent, problem, seed)
    except SystemExit as error:
        raise RuntimeError(f"SystemExit({error.code!r})") from error


def problem_record(cell: ProblemCell) -> pa.RecordBatch:
    """Return the row of a problem."""
    context = cached_problem(cell)
    problem = context.problem
    parameters = canonical(problem.parameters or cell.parameters)
    size = (problem.horizon, problem.space.n_states, problem.space.n_pairs)
    budgets = problem.budget("exact")
    names, optimum = (cell.id, cell.slug, cell.name, parameters), (context.t, context.optimum)
    values = (*names, *size, *problem.reward_range, *budgets, *optimum, *drift_summary(context))
    arrays = [pa.array([value], field.type) for value, field in zip(values, PROBLEMS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PROBLEMS)


def _short_parameter(value: Any) -> Any:
    """Return a parameter as JSON types; of an array only its size."""
    if isinstance(value, np.ndarray):
        return f"<array of {value.size}>"
    return plain(value.item() if isinstance(value, np.generic) else value)


def _summary_json(summary: Any) -> str | None:
    """Return an agent's summary as JSON, with null for numbers that are not finite."""
    if summary is None:
        return None
    text = json.dumps(summary, sort_keys=True, default=_jsonable)
    if "NaN" in text or "Infinity" in text:
        text = json.dumps(json.loads(text, parse_constant=lambda constant: None), sort_keys=True)
    return text


def _jsonable(value: Any) -> Any:
    """Return a value of a type that JSON does not have as one that it has."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return f"<{type(value).__name__}>"

"""What is kept of a run and of a problem: the columns, and how they are filled; nothing of time or machine."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pyarrow as pa

from driftmdp.experiments.identity import canonical
from driftmdp.experiments.runs import ProblemCell, RunKey
from driftmdp.experiments.worlds import agent_of, drift_of, world_of
from driftmdp.simulation import simulate
from driftmdp.validation import quietly

__all__ = ["PROBLEMS", "RUNS", "problem_row", "run_row"]

NUMBERS = pa.list_(pa.float64())
STEPS = pa.list_(pa.int64())

RUNS = pa.schema(
    [
        ("run", pa.string()),  # slug and digest
        ("cell", pa.string()),  # of the problem and the agent with all parameters
        ("problem_id", pa.string()),
        ("seed", pa.int64()),
        ("horizon", pa.int64()),
        ("reward", pa.float64()),  # received in all
        ("mean_reward", pa.float64()),  # the sum of r_t(s_t, a_t)
        ("regret", pa.float64()),  # the sum of rho*_t - r_t(s_t, a_t)
        ("plans", pa.int64()),
        ("vacuous_share", pa.float64()),  # null where there was no plan
        ("rewards", NUMBERS),  # received so far, at the checkpoints
        ("regrets", NUMBERS),  # regret so far, at the checkpoints
        ("summary", pa.string()),  # the agent's own, as JSON, or null
    ]
)

PROBLEMS = pa.schema(
    [
        ("problem_id", pa.string()),
        ("slug", pa.string()),
        ("name", pa.string()),
        ("parameters", pa.string()),  # as JSON
        ("horizon", pa.int64()),
        ("n_states", pa.int64()),
        ("n_pairs", pa.int64()),
        ("reward_low", pa.float64()),
        ("reward_high", pa.float64()),
        ("b_r", pa.float64()),
        ("b_p", pa.float64()),
        ("t", STEPS),
        ("optimum", NUMBERS),  # the sum of rho*_q for q <= t
        ("drift_t", STEPS),
        ("drift_reward_name", pa.string()),
        ("drift_reward", NUMBERS),
        ("drift_transition_name", pa.string()),
        ("drift_transition", NUMBERS),
        ("drift_gain", NUMBERS),
    ]
)


def run_row(key: RunKey) -> bytes:
    """Do a run and return its row, serialised."""
    world = world_of(key.cell.problem)
    with quietly():
        run = simulate(agent_of(key.cell), world.problem, key.seed)
    steps = world.t - 1
    regrets = world.optimum - np.cumsum(run.mean_rewards)[steps]
    values = {
        "run": key.id,
        "cell": key.cell.id,
        "problem_id": key.cell.problem.id,
        "seed": key.seed,
        "horizon": run.horizon,
        "reward": run.total_reward,
        "mean_reward": float(run.mean_rewards.sum()),
        "regret": float(regrets[-1]),
        "plans": run.plans,
        "vacuous_share": run.vacuous_share if run.plans else None,
        "rewards": np.cumsum(run.rewards)[steps],
        "regrets": regrets,
        "summary": _summary(run.summary),
    }
    return bytes(_record(RUNS, values).serialize())


def problem_row(cell: ProblemCell) -> pa.RecordBatch:
    """Return the row of a problem."""
    world = world_of(cell)
    problem, drift = world.problem, drift_of(world)
    b_r, b_p = problem.budget("exact")
    values = {
        "problem_id": cell.id,
        "slug": cell.slug,
        "name": cell.name,
        "parameters": canonical(problem.parameters or cell.parameters),
        "horizon": problem.horizon,
        "n_states": problem.space.n_states,
        "n_pairs": problem.space.n_pairs,
        "reward_low": problem.reward_range[0],
        "reward_high": problem.reward_range[1],
        "b_r": b_r,
        "b_p": b_p,
        "t": world.t,
        "optimum": world.optimum,
        "drift_t": drift.t,
        "drift_reward_name": drift.reward_name,
        "drift_reward": drift.reward,
        "drift_transition_name": drift.transition_name,
        "drift_transition": drift.transition,
        "drift_gain": drift.gain,
    }
    return _record(PROBLEMS, values)


def _record(schema: pa.Schema, values: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([_column(values[field.name], field.type) for field in schema], schema=schema)


def _column(value: Any, kind: pa.DataType) -> pa.Array:
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(np.array([0, len(value)], np.int32), pa.array(value, kind.value_type))
    return pa.array([value], kind)


def _summary(summary: Any) -> str | None:
    if summary is None:
        return None
    if dataclasses.is_dataclass(summary) and not isinstance(summary, type):
        summary = {field.name: getattr(summary, field.name) for field in dataclasses.fields(summary)}
    return json.dumps(_jsonable(summary), sort_keys=True, allow_nan=False)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _jsonable(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else f"<{type(value).__name__}>"

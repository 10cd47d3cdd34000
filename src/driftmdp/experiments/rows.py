"""What is kept of a run and of a problem: the columns, and how they are filled; nothing of time or machine."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from driftmdp.errors import StorageError
from driftmdp.experiments.identity import canonical, plain
from driftmdp.experiments.problem_cache import agent_of, drift_of, world_of
from driftmdp.experiments.run_plan import ProblemCell, RunKey
from driftmdp.simulation import simulate
from driftmdp.validation import quietly

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
        ("parameters", pa.string()),  # of the agent, as they were in force, as JSON
        ("rewards", NUMBERS),  # received so far, at the checkpoints
        ("regrets", NUMBERS),  # regret so far, at the checkpoints
        ("summary", pa.string()),  # the agent's own, as JSON, or null
    ]
)

MAY_LACK = {"vacuous_share", "summary"}  # columns whose values may be null
SCALARS = RUNS.get_field_index("rewards")  # that many columns stand before the curves

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
    """Do a run and return its row, packed: all but the curves as JSON, a line break, and the curves as they are.

    That is some 20 us; a table of one row would cost ten times as much.
    """
    world = world_of(key.cell.problem)
    with quietly():
        run = simulate(agent_of(key.cell), world.problem, key.seed)
    steps = world.t - 1
    rewards, means = np.cumsum(run.rewards)[steps], np.cumsum(run.mean_rewards)[steps]
    regrets = world.optimum - means
    values = [
        key.id,
        key.cell.id,
        key.cell.problem.id,
        key.seed,
        run.horizon,
        float(rewards[-1]),
        float(means[-1]),
        float(regrets[-1]),
        run.plans,
        run.vacuous_share if run.plans else None,
        json.dumps({name: _brief(value) for name, value in run.parameters.items() if name != "space"}),
        _summary(run.summary),
    ]
    return b"\n".join([json.dumps(values).encode(), rewards.tobytes() + regrets.tobytes()])


def run_digest(row: bytes) -> str:
    """Return the digest of a packed run."""
    return digest_in(json.loads(row[: row.index(b"\n")])[0])


def digest_in(run: str) -> str:
    """Return the digest in the id of a run."""
    return run.rpartition("#")[2]


def run_table(rows: Sequence[bytes]) -> pa.Table:
    """Return packed runs as a table."""
    heads, curves = [], []
    for row in rows:
        head, _, numbers = row.partition(b"\n")
        heads.append(json.loads(head))
        curves.append(np.frombuffer(numbers).reshape(2, -1))
    lengths = [curve.shape[1] for curve in curves]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int32)]).astype(np.int32)
    columns = [*map(list, zip(*heads, strict=True))] if heads else [[] for _ in range(len(RUNS) - 2)]
    both = [
        pa.ListArray.from_arrays(offsets, np.concatenate([np.empty(0), *(curve[which] for curve in curves)]))
        for which in (0, 1)
    ]
    columns[SCALARS:SCALARS] = both
    arrays = [pa.array(column, field.type) for column, field in zip(columns, RUNS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=RUNS)


def lacks_values(table: pa.Table) -> bool:
    """Say whether a value is null that must not be."""
    return any(table[name].null_count for name in RUNS.names if name not in MAY_LACK)


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
    return pa.RecordBatch.from_arrays([pa.array([values[f.name]], f.type) for f in schema], schema=schema)


def _brief(value: Any) -> Any:
    """Return a parameter as JSON has it; of arrays only how large they are."""
    if isinstance(value, np.ndarray):
        return f"<array of {value.size}>"
    return plain(value.item() if isinstance(value, np.generic) else value)


def read_json(text: str, kind: type = object) -> Any:
    """Return what stands in a column of JSON, parameters or a summary, or say that the file was edited."""
    try:
        found = json.loads(text)
        is_kind = isinstance(found, kind)
    except (ValueError, RecursionError):
        is_kind = False
    if not is_kind:
        raise StorageError(
            f"A stored run must have its parameters and its summary as JSON; got {text[:80]!r}. Its file was "
            "edited: delete the folder and run the spec again."
        )
    return found


def _summary(summary: Any) -> str | None:
    """Return an agent's summary as JSON; what is not finite is null."""
    if summary is None:
        return None
    try:
        return json.dumps(summary, sort_keys=True, allow_nan=False, default=_plain)
    except ValueError:
        return json.dumps(_finite(json.loads(json.dumps(summary, default=_plain))), sort_keys=True)


def _plain(value: Any) -> Any:
    """Return what JSON can say of a value that it does not know."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return f"<{type(value).__name__}>"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

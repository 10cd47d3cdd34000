"""The columns of a stored run and of a stored problem, and runs as packed bytes. Neither has times or machines."""

import contextlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from driftmdp.errors import StorageError

NUMBERS = pa.list_(pa.float64())
STEPS = pa.list_(pa.int64())

RUNS = pa.schema(
    [
        ("run", pa.string()),  # slug and digest
        ("cell", pa.string()),  # of the problem and the agent with all parameters
        ("problem_id", pa.string()),
        ("seed", pa.int64()),
        ("horizon", pa.int64()),
        ("reward", pa.float64()),  # the sum of what was received
        ("mean_reward", pa.float64()),  # the sum of r_t(s_t, a_t)
        ("regret", pa.float64()),  # the sum of rho*_t - r_t(s_t, a_t)
        ("plans", pa.int64()),
        ("vacuous_share", pa.float64()),  # null where there was no plan
        ("parameters", pa.string()),  # of the agent, as used, as JSON
        ("rewards", NUMBERS),  # received so far, at the checkpoints
        ("regrets", NUMBERS),  # regret so far, at the checkpoints
        ("summary", pa.string()),  # the agent's own, as JSON, or null
    ]
)

NULLABLE = {"vacuous_share", "summary"}
CURVES = RUNS.get_field_index("rewards")  # the place of the first of the two columns of curves

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


def pack_run(values: list[Any], rewards: NDArray[np.float64], regrets: NDArray[np.float64]) -> bytes:
    """Return a run packed: all but the curves as JSON, a line break, and the curves' bytes.

    Packing takes some 20 us. A table of one row would take ten times as long.
    """
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
    columns[CURVES:CURVES] = [
        pa.ListArray.from_arrays(offsets, np.concatenate([np.empty(0), *(curve[which] for curve in curves)]))
        for which in (0, 1)
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, RUNS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=RUNS)


def lacks_values(table: pa.Table) -> bool:
    """Return whether a column that is not nullable has a null."""
    return any(table[name].null_count for name in RUNS.names if name not in NULLABLE)


def read_json(text: str, kind: type = object) -> Any:
    """Return the parsed JSON of the column parameters or summary; refuse text that was edited."""
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(text)
        if isinstance(found, kind):
            return found
    raise StorageError(
        f"A stored run must have its parameters and its summary as JSON; got {text[:80]!r}. Its file was "
        "edited: delete the folder and run the spec again."
    )

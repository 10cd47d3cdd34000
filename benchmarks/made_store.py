"""A folder of results with many runs, made without running them: random walks as curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from driftmdp.experiments import RunKey, RunPlan, parse_spec, plan, run
from driftmdp.experiments.runner import BATCH_RUNS, manifest_of
from driftmdp.experiments.schema import RUNS
from driftmdp.experiments.store import Store

__all__ = ["SEEDS", "make_store"]

SEEDS = 50
SPEC = """
seeds = {seeds}
[curve]
points = {points}
[[problems]]
name = "two-state"
parameters = {{ horizon = {points} }}
[[agents]]
name = "SWUCRL2CW"
grid = {{ scale = [{scales}] }}
"""


def make_store(folder: Path, n_runs: int, points: int) -> RunPlan:
    """Fill a folder with ``n_runs`` runs of ``points`` checkpoints, 50 seeds for each point of a grid."""
    scales = [f"{0.1 + k / 10_000:.4f}" for k in range(n_runs // SEEDS)]
    run(parse_spec(SPEC.format(seeds=1, points=points, scales=scales[0])), folder)  # the problem's own file
    for file in (folder / "runs").iterdir():
        file.unlink()
    asked = plan(parse_spec(SPEC.format(seeds=SEEDS, points=points, scales=", ".join(scales))))
    store, rng = Store(folder), np.random.default_rng(7)
    keys = list(asked.runs())
    for first in range(0, len(keys), BATCH_RUNS):
        store.write_runs(_table(keys[first : first + BATCH_RUNS], points, rng))
    store.write_manifest(manifest_of(asked))
    return asked


def _table(keys: list[RunKey], points: int, rng: np.random.Generator) -> pa.Table:
    n = len(keys)
    curves = rng.normal(size=(n, points)).cumsum(axis=1)
    lists = pa.ListArray.from_arrays(np.arange(0, n * points + 1, points, dtype=np.int32), curves.ravel())
    columns = {
        "run": [key.id for key in keys],
        "cell": [key.cell.id for key in keys],
        "problem_id": [key.cell.problem.id for key in keys],
        "seed": [key.seed for key in keys],
        "horizon": np.full(n, points),
        "reward": curves[:, -1],
        "mean_reward": curves[:, -1],
        "regret": curves[:, -1],
        "plans": np.ones(n, np.int64),
        "vacuous_share": np.ones(n),
        "parameters": ["{}"] * n,
        "rewards": lists,
        "regrets": lists,
        "summary": [None] * n,
    }
    return pa.table(columns, schema=RUNS)

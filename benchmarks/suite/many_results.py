"""A folder with 10^5 runs: how long it takes to list them, to aggregate them, and to average their curves."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.made_store import SEEDS, make_store
from benchmarks.rows import Row, Speed, require
from benchmarks.timing import seconds_of
from driftmdp.experiments import load

__all__ = ["run"]

LIMIT = 10.0  # seconds: "listing and aggregating in seconds"


def run(quick: bool) -> list[Row]:
    """Return a row each for listing, aggregating and averaging curves."""
    n_runs = 5_000 if quick else 100_000
    note = f"{n_runs:,} runs of 400 checkpoints, {SEEDS} seeds each. Files checked against their digests"
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        make_store(Path(folder), n_runs, points=400)
        listing = seconds_of(lambda: load(folder).runs)
        results = load(folder)
        require(len(results.runs) == n_runs, "Every run must be listed.")
        rows.append(Speed.under(f"load and list {n_runs:,} runs", listing, LIMIT, note=note))
        sql = "SELECT agent, avg(regret), stddev(regret) FROM runs GROUP BY agent"
        rows.append(Speed.under("mean regret of each agent, by SQL", seconds_of(lambda: results.query(sql)), LIMIT))
        curves = seconds_of(lambda: [c.regrets.mean(axis=0) for c in results.curves_by_cell().values()])
        rows.append(Speed.under("mean curve of each agent", curves, LIMIT))
    return rows

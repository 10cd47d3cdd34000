"""Stored results as tidy tables, as arrays, and by SQL queries."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from driftmdp.display import MOST_ROWS, brief, counted, facts, safely, table
from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.experiments.schema import PROBLEMS, RUNS, run_table
from driftmdp.experiments.store import FAILURE_COLUMNS, Store
from driftmdp.statistics import mean_interval

if TYPE_CHECKING:  # slow to import, and workers do without
    import duckdb
    import pandas as pd


NOTEBOOK_RESAMPLES = 500  # few, so that a notebook does not wait
NOTEBOOK_MAX_RUNS = 100_000  # results with more runs show their size only
REGRETS = "SELECT problem, agent, list(regret) AS regrets FROM runs GROUP BY ALL ORDER BY min(position)"


class CellCurves(NamedTuple):
    """The curves of one agent in one problem: ``t`` (k,), ``rewards`` and ``regrets`` (seeds, k), ``seeds``."""

    t: NDArray[np.int64]
    rewards: NDArray[np.float64]
    regrets: NDArray[np.float64]
    seeds: NDArray[np.int64]

    def __repr__(self) -> str:
        return brief(self)


class Results:
    """The results of the last spec that was run in a folder.

    Attributes
    ----------
    folder, manifest
        The folder, and what was asked for.
    """

    def __init__(self, store: Store) -> None:
        import pyarrow.dataset as ds  # imports pandas

        self.folder = store.folder
        self.manifest = store.manifest()
        self._store = store
        files = [str(file) for file in store.files("runs")]
        self._batches = ds.dataset(files, schema=RUNS, format="parquet")
        self._problem_files = store.problem_files()
        self._summaries: dict[str, list[str]] = {}
        journal, stored = store.journal_rows(), store.stored_runs()
        self._journal = run_table([row for run, row in journal.items() if run not in stored])

    @functools.cached_property
    def cells(self) -> pd.DataFrame:
        """One row per problem and agent: ids, labels, and a column for every parameter that varies."""
        problems = {cell["id"]: cell for cell in self.manifest["problems"]}
        agents = {cell["id"]: cell for cell in self.manifest["agents"]}
        rows = [
            {"cell": cell, "problem_id": problem, "agent_id": agent, "problem": problems[problem]["label"]}
            | {"agent": agents[agent]["label"], "agent_base": agents[agent]["base"]}
            | {f"problem.{key}": value for key, value in problems[problem]["varied"].items()}
            | {f"agent.{key}": value for key, value in agents[agent]["varied"].items()}
            for cell, problem, agent in self.manifest["cells"]
        ]
        import pandas as pd

        return pd.DataFrame(rows)

    @functools.cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run, in the order of the spec: problem, agent, seed, reward, regret, plans and parameters."""
        return self.query("SELECT * FROM runs ORDER BY position, seed").drop(columns="position")

    @functools.cached_property
    def curves(self) -> pd.DataFrame:
        """One row per run and checkpoint: problem, agent, seed, t, reward and regret so far."""
        return self.query("SELECT problem, agent, seed, t, reward, regret FROM curves ORDER BY position, seed, t")

    @functools.cached_property
    def problems(self) -> pd.DataFrame:
        """One row per problem: its size, its exact budgets, and its checkpoints, optimum and drift as lists."""
        return self.query("SELECT * FROM problems")

    @property
    def failures(self) -> pd.DataFrame:
        """One row per failed run, with its error."""
        import pandas as pd

        return pd.DataFrame(self._store.failures(), columns=FAILURE_COLUMNS)

    @property
    def sessions(self) -> list[dict[str, Any]]:
        """When, where and how fast it was run."""
        return self._store.sessions()

    @property
    def n_missing(self) -> int:
        """The number of runs that the spec asks for and the folder lacks."""
        stored = int(self.query("SELECT count(*) AS n FROM runs")["n"].iloc[0])
        return len(self.manifest["cells"]) * len(self.manifest["seeds"]) - stored

    @functools.cached_property
    def digest(self) -> str:
        """A digest of every number: equal for equal results, however they are spread over files."""
        rows = self._rows(RUNS.names).sort_by([("cell", "ascending"), ("seed", "ascending")])
        whole = hashlib.sha256()
        for name in rows.drop_columns("run").column_names:  # one run may have several slugs
            whole.update(name.encode())
            whole.update(_bytes_of(rows[name].combine_chunks()))
        return whole.hexdigest()[:16]

    def query(self, sql: str) -> pd.DataFrame:
        """Return the result of a query in DuckDB's SQL over the tables runs, curves, cells, problems, summaries.

        Examples
        --------
        ``results.query("SELECT agent, avg(regret) FROM runs GROUP BY agent ORDER BY 2")``
        """
        import duckdb

        with duckdb.connect() as connection:
            self._tables(connection)
            try:
                return connection.execute(sql).df()
            except duckdb.Error as error:
                said = " ".join(str(error).split())
                raise InvalidInputError(
                    f"The query must be SQL over runs, curves, cells, problems and summaries; {said}"
                ) from None

    def __repr__(self) -> str:
        asked = self.manifest
        return (
            f"<Results of {asked['name']!r} in {str(self.folder)!r}: {counted(len(asked['problems']), 'problem')}, "
            f"{counted(len(asked['agents']), 'agent')}, {counted(len(asked['seeds']), 'seed')}>"
        )

    @safely
    def _repr_html_(self) -> str:
        asked = self.manifest
        title, n_seeds = f"Results of {asked['name']}", len(asked["seeds"])
        if len(asked["cells"]) * n_seeds > NOTEBOOK_MAX_RUNS:
            return facts(title, problems=len(asked["problems"]), agents=len(asked["agents"]), seeds=n_seeds)
        found = self.query(REGRETS)
        rows = []
        for problem, agent, regrets in found.head(MOST_ROWS).to_numpy():
            mean = mean_interval(regrets, resamples=NOTEBOOK_RESAMPLES)
            interval = "" if np.isnan(mean.low) else f"{short_number(mean.low)} to {short_number(mean.high)}"
            rows.append((problem, agent, len(regrets), mean.estimate, interval))
        header = ["problem", "agent", "seeds", "mean regret", "95% interval"]
        return table(header, rows, title, left_out=len(found) - len(rows))

    def curves_by_cell(self) -> Mapping[str, CellCurves]:
        """Return the curves as arrays, by cell."""
        import pandas as pd

        stored = self._rows(["cell", "problem_id", "seed", "rewards", "regrets"])
        checkpoints = {row["problem_id"]: np.asarray(row["t"]) for row in self._problem_rows().to_pylist()}
        cells, seeds = stored["cell"].to_numpy(), stored["seed"].to_numpy()
        lengths = np.asarray(pc.list_value_length(stored["rewards"]).to_numpy(), dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        rewards, regrets = (stored[name].combine_chunks().flatten().to_numpy() for name in ("rewards", "regrets"))
        found: dict[str, CellCurves] = {}
        rows_of = pd.Series(np.arange(len(cells))).groupby(cells, sort=False).indices
        problem_of = {cell: problem for cell, problem, _ in self.manifest["cells"]}
        for cell in (cell for cell in problem_of if cell in rows_of):
            rows = rows_of[cell][np.argsort(seeds[rows_of[cell]], kind="stable")]
            if problem_of[cell] not in checkpoints:
                raise StorageError(
                    f"{self.folder / 'problems'} must have the problem of {cell!r}. Run the same command again."
                )
            t = checkpoints[problem_of[cell]]
            if (lengths[rows] != t.size).any():
                raise StorageError(
                    f"{self.folder} must have curves at the checkpoints of their problem; {cell!r} has not."
                )
            picked = starts[rows][:, None] + np.arange(t.size)
            found[cell] = CellCurves(t, rewards[picked], regrets[picked], seeds[rows])
        return found

    def summaries(self, cell: str) -> list[str]:
        """Return the agents' own summaries of a cell's runs, as JSON, by seed."""
        if cell in self._with_summaries and cell not in self._summaries:
            rows = self._rows(["seed", "summary"], pc.field("cell") == cell).sort_by("seed")
            self._summaries[cell] = [text for text in rows["summary"].to_pylist() if text is not None]
        return self._summaries.get(cell, [])

    @functools.cached_property
    def _with_summaries(self) -> set[str]:
        """The cells whose agents have summaries. Reading all of these may take gigabytes."""
        return set(self.query("SELECT DISTINCT cell FROM summaries WHERE summary IS NOT NULL")["cell"])

    def _rows(self, columns: list[str], where: pc.Expression | None = None) -> pa.Table:
        """Return columns of the runs that the spec asks for, or of some of them."""
        wanted = self._asked if where is None else self._asked & where
        stored = self._batches.to_table(columns=columns, filter=wanted)
        return pa.concat_tables([stored, self._journal.filter(wanted).select(columns)])

    @functools.cached_property
    def _asked(self) -> pc.Expression:
        """A filter for rows that the spec asks for. Others are of an earlier spec."""
        cells = pa.array([cell for cell, _, _ in self.manifest["cells"]], pa.string())
        seeds = pa.array(self.manifest["seeds"], pa.int64())
        return pc.field("cell").isin(cells) & pc.field("seed").isin(seeds)

    def _problem_rows(self) -> pa.Table:
        by_id = {file.stem.rpartition("-")[0]: file for file in self._problem_files}
        files = [by_id[cell["id"]] for cell in self.manifest["problems"] if cell["id"] in by_id]
        return pa.concat_tables([pq.read_table(file) for file in files]) if files else PROBLEMS.empty_table()

    def _tables(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Register the tables that a query may name."""
        cells = self.cells.assign(position=np.arange(len(self.cells)))
        connection.register("cells", cells)
        connection.register("problems", self._problem_rows())
        connection.register("_files", self._batches)
        connection.register("_journal", self._journal)
        connection.register("_seeds", pa.table({"seed": pa.array(self.manifest["seeds"], pa.int64())}))
        connection.execute(
            "CREATE VIEW _rows AS SELECT * FROM (SELECT * FROM _files UNION ALL SELECT * FROM _journal) "
            "SEMI JOIN _seeds USING (seed)"
        )
        own = [name.replace('"', '""') for name in cells.columns if name not in {"cell", "problem_id"}]
        names = ", ".join(f'cells."{name}"' for name in own)
        scalars = ", ".join(f"_rows.{name}" for name in RUNS.names if name not in {"rewards", "regrets", "summary"})
        connection.execute(f"CREATE VIEW runs AS SELECT {names}, {scalars} FROM _rows JOIN cells USING (cell)")
        connection.execute("CREATE VIEW summaries AS SELECT run, cell, seed, summary FROM _rows")
        connection.execute(
            f"CREATE VIEW curves AS SELECT {names}, _rows.cell, _rows.run, _rows.seed, unnest(problems.t) AS t, "
            "unnest(_rows.rewards) AS reward, unnest(_rows.regrets) AS regret FROM _rows JOIN cells USING (cell) "
            "JOIN problems ON problems.problem_id = _rows.problem_id"
        )


def load(folder: str | Path) -> Results:
    """Return the results of a folder, every file checked.

    Raises
    ------
    StorageError
        If it is no folder of results, or a file in it was damaged or edited. The message names it.

    Examples
    --------
    >>> from driftmdp.experiments import load
    >>> import tempfile
    >>> from driftmdp.experiments import parse_spec, run
    >>> spec = parse_spec('''
    ... seeds = 2
    ... problems = [{name = "two-state", parameters = {horizon = 100}}]
    ... agents = [{name = "Random"}, {name = "Oracle"}]
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = run(spec, folder)
    ...     load(folder).runs[["problem", "agent", "seed", "horizon"]]
            problem   agent  seed  horizon
    0  two-state-v1  Random     0      100
    1  two-state-v1  Random     1      100
    2  two-state-v1  Oracle     0      100
    3  two-state-v1  Oracle     1      100
    """
    return Results(Store.open(Path(folder)))


def short_number(value: float) -> str:
    """Return a number with four digits, or whole from a thousand on."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _bytes_of(column: pa.Array) -> bytes:
    if pa.types.is_list(column.type):
        lengths = np.asarray(pc.list_value_length(column).to_numpy(zero_copy_only=False))
        return bytes(lengths.tobytes() + column.flatten().to_numpy().tobytes())
    if pa.types.is_string(column.type):
        return "\x00".join(text if text is not None else "\x01" for text in column.to_pylist()).encode()
    return bytes(column.to_numpy(zero_copy_only=False).tobytes())

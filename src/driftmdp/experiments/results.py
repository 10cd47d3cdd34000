"""Reading results back: tidy tables, and questions in SQL."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from numpy.typing import NDArray

from driftmdp.display import brief, counted, safely
from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.experiments.rows import PROBLEMS, RUNS, run_table
from driftmdp.experiments.store import Store

if TYPE_CHECKING:  # slow to import, and workers do without
    import duckdb
    import pandas as pd


class CellCurves(NamedTuple):
    """The curves of one agent in one problem: ``t`` (k,), ``rewards`` and ``regrets`` (seeds, k), ``seeds``."""

    t: NDArray[np.int64]
    rewards: NDArray[np.float64]
    regrets: NDArray[np.float64]
    seeds: NDArray[np.int64]

    def __repr__(self) -> str:
        return brief(self)


class Results:
    """What a folder of results has of the last spec that was run in it.

    Attributes
    ----------
    folder, manifest
        Where it is, and what was asked for.
    """

    def __init__(self, store: Store) -> None:
        self.folder = store.folder
        self.manifest = store.manifest()
        self._store = store
        self._files = store.batches()
        self._problem_files = store.problem_files()
        unsealed, known = store.unsealed(), store.known_runs()
        self._summaries: dict[str, list[str]] = {}
        self._journal = run_table([row for key, row in unsealed.items() if key not in known])

    @functools.cached_property
    def cells(self) -> pd.DataFrame:
        """One row for each problem and agent: ids, labels, and a column for every parameter that varies."""
        problems = {cell["id"]: cell for cell in self.manifest["problems"]}
        agents = {cell["id"]: cell for cell in self.manifest["agents"]}
        rows = [
            {
                "cell": cell,
                "problem_id": problem,
                "agent_id": agent,
                "problem": problems[problem]["label"],
                "agent": agents[agent]["label"],
                "agent_base": agents[agent]["base"],
            }
            | _prefixed("problem", problems[problem]["varied"])
            | _prefixed("agent", agents[agent]["varied"])
            for cell, problem, agent in self.manifest["cells"]
        ]
        import pandas as pd

        return pd.DataFrame(rows)

    @functools.cached_property
    def runs(self) -> pd.DataFrame:
        """One row a run, in the order of the spec: problem, agent, seed, reward, regret, plans, and parameters."""
        return self.query("SELECT * FROM runs ORDER BY position, seed").drop(columns="position")

    @functools.cached_property
    def curves(self) -> pd.DataFrame:
        """One row a run and checkpoint: problem, agent, seed, t, reward and regret so far."""
        return self.query("SELECT problem, agent, seed, t, reward, regret FROM curves ORDER BY position, seed, t")

    @functools.cached_property
    def problems(self) -> pd.DataFrame:
        """One row a problem: its size, its exact budgets, and its checkpoints, optimum and drift as lists."""
        return self.query("SELECT * FROM problems")

    @property
    def failures(self) -> pd.DataFrame:
        """One row for each run that failed, with its error."""
        import pandas as pd

        columns = ["run", "problem", "agent", "seed", "error", "traceback"]
        return pd.DataFrame(self._store.failures(), columns=columns)

    @property
    def sessions(self) -> list[dict[str, Any]]:
        """When, where and how fast it was run."""
        return self._store.sessions()

    @property
    def n_missing(self) -> int:
        """How many runs the spec asks for that are not there."""
        there = int(self.query("SELECT count(*) AS n FROM runs")["n"].iloc[0])
        return len(self.manifest["cells"]) * len(self.manifest["seeds"]) - there

    @functools.cached_property
    def digest(self) -> str:
        """A digest of every number: equal for equal results, however they are spread over files."""
        table = self._rows(RUNS.names).sort_by([("cell", "ascending"), ("seed", "ascending")])
        whole = hashlib.sha256()
        for name in table.drop_columns("run").column_names:  # a slug may be spelled in several ways
            column = table[name].combine_chunks()
            whole.update(name.encode())
            whole.update(_bytes_of(column))
        return whole.hexdigest()[:16]

    def query(self, sql: str) -> pd.DataFrame:
        """Return the answer to a question in DuckDB's SQL over the tables runs, curves, cells, problems, summaries.

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
        from driftmdp.experiments.results_view import results_view

        return results_view(self)

    def curves_by_cell(self) -> Mapping[str, CellCurves]:
        """Return the curves as arrays, by cell."""
        import pandas as pd

        table = self._rows(["cell", "problem_id", "seed", "rewards", "regrets"])
        checkpoints = {row["problem_id"]: np.asarray(row["t"]) for row in self._problem_rows().to_pylist()}
        cells, seeds = table["cell"].to_numpy(), table["seed"].to_numpy()
        lengths = _lengths(table["rewards"])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        flat = {name: table[name].combine_chunks().flatten().to_numpy() for name in ("rewards", "regrets")}
        found: dict[str, CellCurves] = {}
        rows_of = pd.Series(np.arange(len(cells))).groupby(cells, sort=False).indices
        problem_of = {cell: problem for cell, problem, _ in self.manifest["cells"]}
        for cell in problem_of:
            if cell not in rows_of:
                continue
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
            found[cell] = CellCurves(t, flat["rewards"][picked], flat["regrets"][picked], seeds[rows])
        return found

    def summaries(self, cell: str) -> list[str]:
        """Return the agents' own summaries of a cell's runs, as JSON, by seed."""
        if cell in self._with_summaries and cell not in self._summaries:
            table = self._rows(["seed", "summary"], pc.field("cell") == cell).sort_by("seed")
            self._summaries[cell] = [text for text in table["summary"].to_pylist() if text is not None]
        return self._summaries.get(cell, [])

    @functools.cached_property
    def _with_summaries(self) -> set[str]:
        """The cells whose agents had something to say; reading what they said may take gigabytes."""
        return set(self.query("SELECT DISTINCT cell FROM summaries WHERE summary IS NOT NULL")["cell"])

    def _rows(self, columns: list[str], where: pc.Expression | None = None) -> pa.Table:
        """Return columns of the runs that the spec asks for, or of some of them."""
        wanted = self._asked if where is None else self._asked & where
        stored = ds.dataset([str(file) for file in self._files], schema=RUNS, format="parquet")
        parts = [stored.to_table(columns=columns, filter=wanted), self._journal.filter(wanted).select(columns)]
        return pa.concat_tables(parts)

    @functools.cached_property
    def _asked(self) -> pc.Expression:
        """Says whether the spec asks for a row; others are of an earlier one."""
        cells = pa.array([cell for cell, _, _ in self.manifest["cells"]], pa.string())
        seeds = pa.array(self.manifest["seeds"], pa.int64())
        return pc.field("cell").isin(cells) & pc.field("seed").isin(seeds)

    def _problem_rows(self) -> pa.Table:
        by_id = {file.stem.rpartition("-")[0]: file for file in self._problem_files}
        files = [by_id[cell["id"]] for cell in self.manifest["problems"] if cell["id"] in by_id]
        return pa.concat_tables([pq.read_table(file) for file in files]) if files else PROBLEMS.empty_table()

    def _tables(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Give a connection the tables that a question may name."""
        cells = self.cells.assign(position=np.arange(len(self.cells)))
        connection.register("cells", cells)
        connection.register("problems", self._problem_rows())
        connection.register(
            "_files", ds.dataset([str(file) for file in self._files], schema=RUNS, format="parquet")
        )
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
        If it is no folder of results, or a file in it was damaged or edited; the message names it.

    Examples
    --------
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


def _prefixed(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{key}": value for key, value in values.items()}


def _lengths(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(pc.list_value_length(column).to_numpy(), dtype=np.int64)


def _bytes_of(column: pa.Array) -> bytes:
    if pa.types.is_list(column.type):
        lengths = np.asarray(pc.list_value_length(column).to_numpy(zero_copy_only=False))
        return bytes(lengths.tobytes() + column.flatten().to_numpy().tobytes())
    if pa.types.is_string(column.type):
        return "\x00".join(text if text is not None else "\x01" for text in column.to_pylist()).encode()
    return bytes(column.to_numpy(zero_copy_only=False).tobytes())

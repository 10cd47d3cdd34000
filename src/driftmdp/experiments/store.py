"""Keeping results: a folder with batches of runs as Parquet files, which are the truth.

=====================  =============================================================================================
``runs/``              batches of runs, one Parquet file each; never changed once written
``problems/``          one Parquet file a problem: its checkpoints, its optimum, its drift
``journal``            finished runs whose batch is not whole yet
``manifest.json``      what was asked for, versions, revision, seeds
``failures.json``      runs that failed, with their errors
``sessions.jsonl``     when, where and how fast: one line a session, outside of all digests
``lock``               held while a process writes
=====================  =============================================================================================

A file's name ends with a digest of its content, so that a damaged or edited one is noticed and named.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driftmdp.errors import StorageError
from driftmdp.experiments.identity import digest
from driftmdp.experiments.journal import Journal, read_records
from driftmdp.experiments.manifest import is_manifest, is_session
from driftmdp.experiments.rows import MAY_LACK, PROBLEMS, RUNS, digest_in, lacks_values, run_digest, run_table
from driftmdp.files import write_whole

FORMAT = "driftmdp results"
VERSION = 1
SCHEMAS = {"runs": RUNS, "problems": PROBLEMS}
FAILURE = {"run", "problem", "agent", "seed", "error", "traceback"}


class Store:
    """A folder of results.

    Parameters
    ----------
    folder
        Where it is.

    Attributes
    ----------
    torn
        How many bytes at the end of the journal were not a whole row, and will be cut off.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = Journal(folder / "journal")
        self.torn = 0

    @classmethod
    def create(cls, folder: Path) -> Store:
        """Return a store for writing, in a folder that is empty, new, or has results."""
        if folder.exists() and not folder.is_dir():
            raise StorageError(f"{folder} must be a folder for results; it is a file. Choose another with --out.")
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        if names and not {"manifest.json", "runs", "lock"} & set(names):
            raise StorageError(
                f"{folder} must be empty or hold results of driftmdp; it has {names[0]!r}. Choose another folder "
                "with --out."
            )
        with writing(folder):
            for part in (folder, folder / "runs", folder / "problems"):
                part.mkdir(parents=True, exist_ok=True)
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> Store:
        """Return a store for reading."""
        if not (folder / "manifest.json").is_file():
            within = sorted(folder.glob("*/manifest.json"))
            hint = f"Did you mean {within[0].parent}?" if within else "`driftmdp run` makes such folders."
            if (folder / "suite.json").is_file():
                hint = (
                    "It is a folder of `driftmdp suite`, which writes its own page; each problem in it has results."
                )
            raise StorageError(f"{folder} must be a folder of results, with a manifest.json. {hint}")
        return cls(folder)

    def batches(self) -> list[Path]:
        """Return the files of runs, each checked against its digest."""
        return self._checked("runs")

    def problem_files(self) -> list[Path]:
        """Return the files of problems, each checked against its digest and its name."""
        files = self._checked("problems")
        for file in files:
            if pq.read_table(file, columns=["problem_id"])["problem_id"].to_pylist() != [
                file.stem.rpartition("-")[0]
            ]:
                raise StorageError(
                    f"{file} was renamed after it was written. Delete it and run the same command again."
                )
        return files

    def _checked(self, part: str) -> list[Path]:
        files = sorted((self.folder / part).glob("*.parquet"))
        for file in files:
            content = _read(file)
            if not file.stem.endswith(f"-{_content_digest(content)}") or not _is_table(content, SCHEMAS[part]):
                raise StorageError(
                    f"{file} was damaged or edited after it was written: its content does not fit its name. Delete "
                    "it and run the same command again; only its runs are done anew."
                )
        return files

    def known_runs(self) -> set[str]:
        """Return the digests of the runs in the batches; each may be there once only."""
        known: dict[str, Path] = {}
        for file in self.batches():
            runs = pq.read_table(file, columns=["run"])["run"].to_pylist()
            if not file.stem.startswith(f"{_batch_name(runs)}-"):
                raise StorageError(
                    f"{file} was renamed after it was written. Delete it and run the same command again."
                )
            for run in map(digest_in, runs):
                if run in known:
                    raise StorageError(f"{file} has runs that {known[run].name} has too. Delete one of them.")
                known[run] = file
        return set(known)

    def known_problems(self) -> set[str]:
        """Return the ids of the problems that are kept."""
        return {file.stem.rpartition("-")[0] for file in self.problem_files()}

    def write_batch(self, rows: Sequence[bytes]) -> Path:
        """Keep rows as one file; its bytes depend on the rows only."""
        return self.write_runs(run_table(rows))

    def write_runs(self, table: pa.Table) -> Path:
        """Keep a table of runs as one file."""
        return self._write_table("runs", _batch_name(table["run"].to_pylist()), table)

    def write_problem(self, row: pa.RecordBatch) -> Path:
        """Keep the row of a problem."""
        return self._write_table("problems", row.column(0)[0].as_py(), pa.Table.from_batches([row], PROBLEMS))

    def _write_table(self, part: str, name: str, table: pa.Table) -> Path:
        content = io.BytesIO()
        pq.write_table(table.combine_chunks(), content, compression="zstd", use_dictionary=["cell", "problem_id"])
        path = self.folder / part / f"{name}-{_content_digest(content.getvalue())}.parquet"
        with writing(self.folder):
            write_whole(path, content.getvalue())
        return path

    def unsealed(self) -> dict[str, bytes]:
        """Return the rows of the journal by run; a torn tail is left out, and counted in ``torn``."""
        path = self.journal.path
        if not path.exists():
            return {}
        records, self.torn = read_records(_read(path))
        try:
            if lacks_values(run_table(records)):
                raise ValueError("a value is missing")
            return {run_digest(row): row for row in records}
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError):
            raise StorageError(f"{path} was edited. Delete it and run the same command again.") from None

    def sweep(self) -> None:
        """Remove temporary files that a killed process left behind; call it with the folder locked."""
        for part in (self.folder, self.folder / "runs", self.folder / "problems"):
            for file in part.glob(".*.*"):
                file.unlink(missing_ok=True)

    def append(self, row: bytes) -> None:
        """Keep a finished run, for now in the journal."""
        with writing(self.folder):
            self.journal.append(row)

    def keep_unsealed(self, rows: Iterable[bytes]) -> None:
        """Let the journal hold these rows only."""
        with writing(self.folder):
            self.journal.replace(rows)

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file whole."""
        with writing(self.folder):
            text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)
            write_whole(self.folder / name, text.encode())

    def write_manifest(self, content: dict[str, Any]) -> None:
        """Write the manifest, with a digest of itself."""
        body = {"format": FORMAT, "version": VERSION} | content
        self.write_json("manifest.json", body | {"digest": _manifest_digest(body)})

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, checked."""
        path = self.folder / "manifest.json"
        again = "Run the same command again to write it anew; no run is lost."
        try:
            content = json.loads(_read(path))
            body = {key: value for key, value in content.items() if key != "digest"}
            whole = content["digest"] == _manifest_digest(body)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            whole = False
        if not whole:
            raise StorageError(f"{path} was damaged or edited after it was written. {again}")
        if body.get("format") != FORMAT or body.get("version") != VERSION:
            got = body.get("version")
            raise StorageError(f"{path} must have version {VERSION} of {FORMAT!r}; got {got!r}. {again}")
        if not is_manifest(body):
            raise StorageError(f"{path} must have everything that driftmdp writes; some of it is missing. {again}")
        return body

    def last_source(self) -> dict[str, Any]:
        """Return the versions and the revision that made the results here; nothing if that is not known."""
        with contextlib.suppress(StorageError):
            return {key: value for key, value in self.manifest().items() if key in {"versions", "revision"}}
        return {}

    def last_name(self) -> str | None:
        """Return the name of the experiment whose manifest is here; None if there is none to be read."""
        with contextlib.suppress(StorageError):
            return str(self.manifest()["name"])
        return None

    def failures(self) -> list[dict[str, Any]]:
        """Return the runs that failed, with their errors."""
        path = self.folder / "failures.json"
        if not path.exists():
            return []
        try:
            rows = json.loads(_read(path))
        except (ValueError, RecursionError):
            rows = None
        if not isinstance(rows, list) or not all(isinstance(row, dict) and row.keys() == FAILURE for row in rows):
            raise StorageError(f"{path} was damaged or edited; delete it and run the same command again.")
        return rows

    def sessions(self) -> list[dict[str, Any]]:
        """Return what is known of each session; a torn last line is left out."""
        path = self.folder / "sessions.jsonl"
        if not path.exists():
            return []
        found = []
        for line in _read(path).decode(errors="replace").splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                found.append(json.loads(line))
        return [session for session in found if is_session(session)]

    def add_session(self, facts: dict[str, Any]) -> None:
        """Append the facts of a session; after a torn line, on a new one."""
        path = self.folder / "sessions.jsonl"
        torn = path.exists() and not _read(path).endswith(b"\n") and path.stat().st_size > 0
        with writing(self.folder), open(path, "ab") as file:
            file.write((b"\n" if torn else b"") + json.dumps(facts, sort_keys=True).encode() + b"\n")


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Say in one sentence that something could not be written; nothing that was is lost."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"{folder} could not be written to: {error.strerror or error}. What was finished is kept; make room, "
            "or see to the folder's rights, and run the same command again."
        ) from None


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():  # a pipe would be waited for
            raise StorageError(f"{path} must be a file; it is something else. Remove it.")
        return path.read_bytes()
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{path} could not be read: {error.strerror or error}.") from None


def _batch_name(runs: list[str]) -> str:
    """Return what a batch is called: a digest of what is in it, in order."""
    return digest("\n".join(map(digest_in, runs)))


def _is_table(content: bytes, schema: pa.Schema) -> bool:
    """Say whether a Parquet file has all columns, and lacks no value; only what it says of itself is read."""
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    except (OSError, ValueError):
        return False
    return file.schema_arrow.equals(schema) and not any(
        column.statistics is not None and column.statistics.null_count and column.path_in_schema not in MAY_LACK
        for column in columns
    )


def _content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _manifest_digest(body: dict[str, Any]) -> str:
    return digest(json.dumps(body, sort_keys=True, ensure_ascii=False))

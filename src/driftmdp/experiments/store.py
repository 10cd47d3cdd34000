"""A folder of results: batches of runs as Parquet files, and the files beside them.

=====================  =============================================================================================
``runs/``              batches of runs, one Parquet file each, never changed once written
``problems/``          one Parquet file per problem: its checkpoints, its optimum, its drift
``journal``            finished runs whose batch is incomplete
``manifest.json``      what was asked for, versions, revision, seeds
``failures.json``      runs that failed, with their errors
``sessions.jsonl``     when, where and how fast: one line per session, outside of all digests
``lock``               locked while a process writes, and names it
=====================  =============================================================================================

A file's name ends with a digest of its content, so that a damaged or edited one is noticed and named.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from driftmdp.errors import StorageError
from driftmdp.experiments.identity import digest
from driftmdp.experiments.journal import Journal, read_records
from driftmdp.experiments.manifest import is_manifest, is_session
from driftmdp.experiments.schema import NULLABLE, PROBLEMS, RUNS, digest_in, lacks_values, run_digest, run_table
from driftmdp.files import write_whole

FORMAT = "driftmdp results"
VERSION = 1
SCHEMAS = {"runs": RUNS, "problems": PROBLEMS}
FAILURE_COLUMNS = ["run", "problem", "agent", "seed", "error", "traceback"]


class Store:
    """A folder of results.

    Parameters
    ----------
    folder
        Where it is.

    Attributes
    ----------
    torn
        The number of bytes at the end of the journal that are no complete row, and will be cut off.
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
                hint = "It is a folder of `driftmdp suite`, which has its own page. Each problem in it has results."
            raise StorageError(f"{folder} must be a folder of results, with a manifest.json. {hint}")
        return cls(folder)

    def problem_files(self) -> list[Path]:
        """Return the files of problems, each checked against its digest and its name."""
        files = self.files("problems")
        for file in files:
            stored = pq.read_table(file, columns=["problem_id"])["problem_id"].to_pylist()
            _check_name(file, stored == [file.stem.rpartition("-")[0]])
        return files

    def files(self, part: str) -> list[Path]:
        """Return the files of runs or of problems, each checked against its digest."""
        files = sorted((self.folder / part).glob("*.parquet"))
        for file in files:
            content = _read(file)
            if not file.stem.endswith(f"-{_content_digest(content)}") or not _is_table(content, SCHEMAS[part]):
                raise StorageError(
                    f"{file} was damaged or edited after it was written: its content does not fit its name. Delete "
                    "it and run the same command again; only its runs are done again."
                )
        return files

    def stored_runs(self) -> set[str]:
        """Return the digests of the runs in the batches, each of which may occur once."""
        found: dict[str, Path] = {}
        for file in self.files("runs"):
            runs = pq.read_table(file, columns=["run"])["run"].to_pylist()
            _check_name(file, file.stem.startswith(f"{_batch_name(runs)}-"))
            for run in map(digest_in, runs):
                if run in found:
                    raise StorageError(f"{file} has runs that {found[run].name} has too. Delete one of them.")
                found[run] = file
        return set(found)

    def stored_problems(self) -> set[str]:
        """Return the ids of the stored problems."""
        return {file.stem.rpartition("-")[0] for file in self.problem_files()}

    def write_runs(self, table: pa.Table) -> Path:
        """Store a table of runs as one file, whose bytes depend on the rows only."""
        return self._write_table("runs", _batch_name(table["run"].to_pylist()), table)

    def write_problem(self, row: pa.RecordBatch) -> Path:
        """Store the row of a problem."""
        return self._write_table("problems", row.column(0)[0].as_py(), pa.Table.from_batches([row], PROBLEMS))

    def _write_table(self, part: str, name: str, table: pa.Table) -> Path:
        content = io.BytesIO()
        pq.write_table(table.combine_chunks(), content, compression="zstd", use_dictionary=["cell", "problem_id"])
        path = self.folder / part / f"{name}-{_content_digest(content.getvalue())}.parquet"
        with writing(self.folder):
            write_whole(path, content.getvalue())
        return path

    def journal_rows(self) -> dict[str, bytes]:
        """Return the rows of the journal by run. A torn tail is left out, and counted in ``torn``."""
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

    def remove_temporary_files(self) -> None:
        """Remove temporary files that a killed process left behind. The folder must be locked."""
        for part in (self.folder, self.folder / "runs", self.folder / "problems"):
            for file in part.glob(".*.*"):
                file.unlink(missing_ok=True)

    def append(self, row: bytes) -> None:
        """Store a finished run, for now in the journal."""
        with writing(self.folder):
            self.journal.append(row)

    def replace_journal(self, rows: Iterable[bytes]) -> None:
        """Make the journal hold these rows only."""
        with writing(self.folder):
            self.journal.replace(rows)

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file, whole or not at all."""
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
        again = "Run the same command again to restore it; no run is lost."
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

    def last_manifest(self) -> dict[str, Any]:
        """Return the manifest, or an empty one if there is none to be read."""
        with contextlib.suppress(StorageError):
            return self.manifest()
        return {}

    def failures(self) -> list[dict[str, Any]]:
        """Return the runs that failed, with their errors."""
        path = self.folder / "failures.json"
        if not path.exists():
            return []
        columns = set(FAILURE_COLUMNS)
        with contextlib.suppress(ValueError, RecursionError):
            rows = json.loads(_read(path))
            if isinstance(rows, list) and all(isinstance(row, dict) and row.keys() == columns for row in rows):
                return rows
        raise StorageError(f"{path} was damaged or edited; delete it and run the same command again.")

    def sessions(self) -> list[dict[str, Any]]:
        """Return the facts of each session, without a torn last line."""
        path = self.folder / "sessions.jsonl"
        if not path.exists():
            return []
        found = []
        for line in _read(path).decode(errors="replace").splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                found.append(json.loads(line))
        return [session for session in found if is_session(session)]

    def add_session(self, facts: dict[str, Any]) -> None:
        """Append the facts of a session. After a torn line it begins a new one."""
        path = self.folder / "sessions.jsonl"
        torn = path.exists() and not _read(path).endswith(b"\n") and path.stat().st_size > 0
        with writing(self.folder), open(path, "ab") as file:
            file.write((b"\n" if torn else b"") + json.dumps(facts, sort_keys=True).encode() + b"\n")


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lock a folder for this process. The system releases the lock when the process ends, however it ends.

    Examples
    --------
    >>> from pathlib import Path
    >>> from driftmdp.experiments.store import folder_lock
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, folder_lock(Path(folder)):
    ...     with folder_lock(Path(folder)):
    ...         pass
    Traceback (most recent call last):
    driftmdp.errors.StorageError: ... is in use by process ...
    """
    path = folder / "lock"
    with contextlib.ExitStack() as stack:
        try:
            if path.exists() and not path.is_file():  # a pipe would be waited for
                raise OSError(errno.EINVAL, "its lock is not a file")
            # A soft lock would outlive a killed holder, so a file system without locks is refused.
            stack.enter_context(FileLock(path, blocking=False, fallback_to_soft=False))
            path.write_text(json.dumps({"process": os.getpid(), "host": socket.gethostname()}))
        except Timeout:
            raise StorageError(
                f"{folder} is in use by {_lock_holder(path)}. Wait until it is done, or choose another folder with "
                "--out."
            ) from None
        except OSError as error:
            raise StorageError(
                f"{folder} must be a folder that can be written to; {error.strerror}. Choose another with --out."
            ) from None
        yield


def _lock_holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_bytes())
        return f"process {holder['process']} on {holder['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn an error of writing into one sentence. Nothing that was stored is lost."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"{folder} could not be written to: {error.strerror or error}. Finished runs are kept. Free some "
            "space, or check the folder's permissions, and run the same command again."
        ) from None


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes() if path.is_file() else None  # a pipe would be waited for
    except OSError as error:
        raise StorageError(f"{path} could not be read: {error.strerror or error}.") from None
    if content is None:
        raise StorageError(f"{path} must be a file; it is something else. Remove it.")
    return content


def _check_name(file: Path, is_own_name: bool) -> None:
    if not is_own_name:
        raise StorageError(f"{file} was renamed after it was written. Delete it and run the same command again.")


def _batch_name(runs: list[str]) -> str:
    """Return the name of a batch: a digest of its runs, in order."""
    return digest("\n".join(map(digest_in, runs)))


def _is_table(content: bytes, schema: pa.Schema) -> bool:
    """Return whether a Parquet file has all columns and no missing value, by its metadata alone."""
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    except (OSError, ValueError):
        return False
    return file.schema_arrow.equals(schema) and not any(
        column.statistics is not None and column.statistics.null_count and column.path_in_schema not in NULLABLE
        for column in columns
    )


def _content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _manifest_digest(body: dict[str, Any]) -> str:
    return digest(json.dumps(body, sort_keys=True, ensure_ascii=False))

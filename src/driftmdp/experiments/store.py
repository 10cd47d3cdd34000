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
from driftmdp.experiments.rows import PROBLEMS, run_id, run_table
from driftmdp.files import write_whole

__all__ = ["Store"]

FORMAT = "driftmdp results"
VERSION = 1


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
            raise StorageError(
                f"{folder} must be a folder of results, with a manifest.json. "
                f"`driftmdp run spec.toml --out {folder}` makes one."
            )
        return cls(folder)

    def batches(self) -> list[Path]:
        """Return the files of runs, each checked against its digest."""
        return self._checked("runs")

    def problem_files(self) -> list[Path]:
        """Return the files of problems, each checked against its digest."""
        return self._checked("problems")

    def _checked(self, part: str) -> list[Path]:
        files = sorted((self.folder / part).glob("*.parquet"))
        for file in files:
            if not file.stem.endswith(f"-{_content_digest(_read(file))}"):
                raise StorageError(
                    f"{file} was damaged or edited after it was written: its content does not fit its name. Delete "
                    "it and run the same command again; only its runs are done anew."
                )
        return files

    def known_runs(self) -> set[str]:
        """Return the ids of the runs in the batches."""
        known: set[str] = set()
        for file in self.batches():
            known.update(pq.read_table(file, columns=["run"])["run"].to_pylist())
        return known

    def known_problems(self) -> set[str]:
        """Return the ids of the problems that are kept."""
        return {file.stem.rpartition("-")[0] for file in self.problem_files()}

    def write_batch(self, rows: Sequence[bytes]) -> Path:
        """Keep rows as one file; its bytes depend on the rows only."""
        return self.write_runs(run_table(rows))

    def write_runs(self, table: pa.Table) -> Path:
        """Keep a table of runs as one file."""
        return self._write_table("runs", digest("\n".join(table["run"].to_pylist())), table)

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
        return {run_id(row): row for row in records}

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
        except (ValueError, KeyError, AttributeError):
            whole = False
        if not whole:
            raise StorageError(f"{path} was damaged or edited after it was written. {again}")
        if body["format"] != FORMAT or body["version"] != VERSION:
            raise StorageError(f"{path} must have version {VERSION} of {FORMAT!r}; got {body['version']}. {again}")
        return body

    def failures(self) -> list[dict[str, Any]]:
        """Return the runs that failed, with their errors."""
        path = self.folder / "failures.json"
        if not path.exists():
            return []
        try:
            return list(json.loads(_read(path)))
        except ValueError:
            raise StorageError(f"{path} was damaged or edited; delete it and run the same command again.") from None

    def sessions(self) -> list[dict[str, Any]]:
        """Return what is known of each session; a torn last line is left out."""
        path = self.folder / "sessions.jsonl"
        if not path.exists():
            return []
        found = []
        for line in _read(path).decode(errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

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
        return path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path} could not be read: {error.strerror or error}.") from None


def _content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _manifest_digest(body: dict[str, Any]) -> str:
    return digest(json.dumps(body, sort_keys=True, ensure_ascii=False))

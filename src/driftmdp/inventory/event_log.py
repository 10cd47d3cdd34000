"""A book in SQLite: batches that are only ever added, each chained to the one before by a hash.

=============  ===================================================================================================
``settings``   what the shop is; the first link of the chain
``batches``    what happened, one row a kind and day of a command: number, kind, day, when it was written, content
``head``       the number and hash of the last batch, so that a missing end is noticed
``snapshot``   what follows from the batches up to a number: a cache, with a hash of its own
=============  ===================================================================================================

A command is one transaction: all of its batches are there, or none. While SQLite writes it keeps a rollback journal
beside the database, and it syncs both: what was committed is in the database itself. After a kill in mid-write the
next opening rolls back; without its journal such a file is refused, or holds a batch that was never answered.
Earlier versions kept a write-ahead log, with committed batches that a copy of the database alone did not have;
opening takes it in.

Whenever a book is opened, its pages and the whole chain are checked, so that a file that was edited or cut is
refused. The chain has no secret: it tells of accidents, not of forgers.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.files import sync_folder, temporary_beside

APPLICATION = 0x64726673  # "drfs"
VERSION = 1
PATIENCE = 10.0  # seconds to wait for another process
BESIDE = ("-wal", "-shm", "-journal")  # files that SQLite keeps beside a database
CHUNK = 1 << 24  # bytes of a snapshot in one row

_TABLES = (  # as SQLite keeps their texts, which are checked
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE batches (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, day TEXT NOT NULL, written_at TEXT NOT NULL,
    content BLOB NOT NULL, hash BLOB NOT NULL
)""",
    "CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, hash BLOB NOT NULL)",
    "CREATE TABLE snapshot (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, content BLOB NOT NULL, hash BLOB)",
)
_TRIGGERS = """
CREATE TRIGGER batches_are_not_changed BEFORE UPDATE ON batches BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER batches_are_not_removed BEFORE DELETE ON batches BEGIN SELECT RAISE(ABORT, 'append only'); END;
"""


@dataclass(frozen=True)
class EventBatch:
    """What one command wrote for one day: ``kind`` says what ``content`` is."""

    number: int
    kind: str
    day: str
    written_at: str
    content: bytes


class EventLog:
    """A book, open.

    Parameters
    ----------
    path
        Of the database.

    Raises
    ------
    StorageError
        If it is damaged, was edited, or is in use by another process for long.
    InvalidInputError
        If there is none.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        _require_file(self.path)
        with self._speaking():
            self._database = _connect(self.path)
        try:
            with self._speaking():
                self._check_file()
                self.settings = self._read_settings()
            self._number, self._hash = 0, _first_link(self.settings)
            with self.reading():
                self.check_rest()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def create(path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        """Make an empty book; one that exists is left alone."""
        with _new_file(Path(path)) as database:
            database.executescript(";".join([*_TABLES, _TRIGGERS]))
            named = {**settings, "book": secrets.token_hex(16)}  # no two books begin alike
            values = [(name, json.dumps(value)) for name, value in named.items()]
            database.executemany("INSERT INTO settings VALUES (?, ?)", values)
            database.execute("INSERT INTO head VALUES (1, 0, ?)", (_first_link(named),))
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {VERSION}")

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy as a new file, whatever others write meanwhile; it is checked before it gets its name."""
        with self.reading():
            self.check_rest()
        with _new_file(Path(path), self._number) as copy:
            self._database.backup(copy)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    @property
    def number(self) -> int:
        """The number of the last batch that is known."""
        return self._number

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """See the book as it is now, whatever others write meanwhile."""
        with self._speaking(), self._transaction("BEGIN"):
            yield

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only one who writes; everything is kept at the end, or nothing if an error leaves the block."""
        before = self._number, self._hash
        try:
            with self._speaking(), self._transaction("BEGIN IMMEDIATE"):
                self.check_rest()
                before = self._number, self._hash
                yield
        except BaseException:
            self._number, self._hash = before
            raise

    def batches(self, after: int = 0, day: str | None = None) -> Iterator[EventBatch]:
        """Yield the batches after a number, in order; those of one day, if it is given."""
        query = "SELECT number, kind, day, written_at, content FROM batches WHERE number > ?"
        asked: tuple[Any, ...] = (after,)
        if (
            day is not None
        ):  # no index, which could be damaged: there are few batches, and their contents are skipped
            query, asked = f"{query} AND day = ?", (after, day)
        for row in self._database.execute(f"{query} ORDER BY number", asked):
            yield EventBatch(*row)

    def append(self, kind: str, day: str, content: bytes) -> EventBatch:
        """Add a batch; only while writing."""
        written_at = datetime.now(UTC).isoformat(timespec="seconds")
        batch = EventBatch(self._number + 1, kind, day, written_at, content)
        digest = _link(self._hash, batch)
        values = (batch.number, kind, day, batch.written_at, content, digest)
        self._database.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", values)
        self._database.execute("UPDATE head SET number = ?, hash = ? WHERE only = 1", (batch.number, digest))
        self._number, self._hash = batch.number, digest
        return batch

    def keep_snapshot(self, content: bytes) -> None:
        """Keep what follows from all batches so far, in place of what was kept before."""
        digest = hashlib.sha256(self._hash + content).digest()
        self._database.execute("DELETE FROM snapshot")
        view = memoryview(content)
        for place, start in enumerate(range(0, max(1, len(content)), CHUNK)):
            values = (place, self._number, view[start : start + CHUNK], digest)
            self._database.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?)", values)

    def snapshot(self) -> tuple[int, bytes] | None:
        """Return the snapshot and the number of its last batch; None if there is none, or it is not sound."""
        try:
            rows = self._database.execute("SELECT number, content, hash FROM snapshot ORDER BY place").fetchall()
        except sqlite3.OperationalError:  # what should be bytes is text that is none
            return None
        if not rows or not all(isinstance(row[1], bytes) for row in rows):
            return None
        number, content = rows[0][0], b"".join(row[1] for row in rows)
        link = self._database.execute("SELECT hash FROM batches WHERE number = ?", (number,)).fetchone()
        if link is None or hashlib.sha256(link[0] + content).digest() != rows[0][2]:
            return None
        return number, content

    def _check_file(self) -> None:
        """Refuse what is no shop's database, or not all of one."""
        ask = self._database.execute
        if ask("PRAGMA application_id").fetchone() != (APPLICATION,):
            raise self._foreign()
        (version,) = ask("PRAGMA user_version").fetchone()
        if version != VERSION:
            raise StorageError(
                f"{self.path} must have format version {VERSION}; it has {version}. Use the driftmdp that made it."
            )
        if ask("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise self._edited("its pages do not fit together")
        if not {*_TABLES} <= {text for (text,) in ask("SELECT sql FROM sqlite_master WHERE type = 'table'")}:
            raise self._edited("its tables are not as they were made")
        with contextlib.suppress(sqlite3.OperationalError):  # of an earlier version, and in use: another time
            ask("PRAGMA journal_mode = DELETE")
        (size,) = ask("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
        if self.path.stat().st_size < size and not Path(f"{self.path}-wal").exists():
            raise self._edited("its end is missing")  # of its last page, which SQLite takes for zeros

    def _read_settings(self) -> dict[str, Any]:
        rows = self._database.execute("SELECT name, value FROM settings").fetchall()
        try:
            return {str(name): json.loads(value) for name, value in rows}
        except (ValueError, TypeError, RecursionError):
            raise self._edited("its settings cannot be read") from None

    def check_rest(self) -> None:
        """Follow the chain from the last batch that is known to the head."""
        rows = self._database.execute(
            "SELECT number, kind, day, written_at, content, hash FROM batches WHERE number > ? ORDER BY number",
            (self._number or -(2**63),),
        )
        number, digest = self._number, self._hash
        for *fields, written in rows:
            batch = EventBatch(*fields)
            if batch.number != number + 1:
                what = "is missing" if batch.number > number else "is not the first"
                raise self._edited(f"batch {number + 1} {what}")
            texts = batch.kind, batch.day, batch.written_at
            if not isinstance(batch.content, bytes) or not all(isinstance(text, str) for text in texts):
                raise self._edited(f"batch {batch.number} is not what was written")
            digest = _link(digest, batch)
            if digest != written:
                raise self._edited(f"batch {batch.number}, of {batch.day}, is not what was written")
            number = batch.number
        head = self._database.execute("SELECT number, hash FROM head WHERE only = 1").fetchone()
        if head is None or head != (number, digest):
            what = f"it ends with batch {number}, but {head[0]} were written" if head else "its head is missing"
            raise self._edited(what if head is None or head[0] != number else "its settings or its head differ")
        self._number, self._hash = number, digest

    def _foreign(self) -> StorageError:
        return StorageError(
            f"{self.path} must be a shop's database made by `driftmdp inventory init`; it is another kind of file, "
            "or its beginning is damaged. Nothing was done."
        )

    def _edited(self, what: str) -> StorageError:
        return StorageError(
            f"{self.path} was changed by something other than driftmdp: {what}. Nothing was done; take the last "
            "backup, and record what came after it again."
        )

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._database.execute(begin)
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _speaking(self) -> Iterator[None]:
        """Turn what SQLite says into a sentence."""
        try:
            yield
        except UnicodeDecodeError:
            raise self._edited("a text in it cannot be read") from None
        except sqlite3.Error as error:
            if "not a database" in str(error):
                raise self._foreign() from None
            if "closed" in str(error):
                raise StorageError(f"{self.path} is closed here; open the shop again.") from None
            if "thread" in str(error):
                raise StorageError(f"{self.path} was opened by another thread; open it in each of them.") from None
            if "full" in str(error):
                raise StorageError(f"{self.path} has no room: the disk is full. Nothing was done.") from None
            if "readonly" in str(error) or "unable to open" in str(error):
                raise StorageError(
                    f"{self.path} and its folder must be writable; nothing was done. Ask for the right to write."
                ) from None
            if "locked" in str(error) or "busy" in str(error):
                raise StorageError(
                    f"{self.path} is in use by another process; nothing was done. Try again in a moment."
                ) from None
            raise StorageError(
                f"{self.path} must be a whole database that can be used; {_reason(error)}. Nothing was done; take "
                "the last backup."
            ) from None


def _require_file(path: Path) -> None:
    """Refuse what SQLite would make, or wait for.

    To open and close a database by other means than SQLite's would let go of the locks that this process has on it.
    """
    if not path.exists():
        raise InvalidInputError(
            f"{path} must be a shop's database; there is no such file. Make one: driftmdp inventory init."
        )
    if not path.is_file():
        raise InvalidInputError(f"{path} must be a shop's database; it is a folder, a pipe or a device.")


def _connect(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    database = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    database.execute("PRAGMA synchronous = EXTRA")
    database.execute("PRAGMA trusted_schema = OFF")
    return database


@contextlib.contextmanager
def _new_file(path: Path, least: int = 0) -> Iterator[sqlite3.Connection]:
    """Give an empty database to fill; at the end of the block it is checked, and put where nothing is yet."""
    if path.exists():
        raise InvalidInputError(f"{path} must not exist yet; it is left as it is. Choose another name.")
    for left in (Path(f"{path}{end}") for end in BESIDE):
        if left.exists():  # it would speak for the new one
            raise InvalidInputError(f"{path} must be a new name; {left} of an older database is still there.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"{path} must lie in a folder that exists; {path.parent} does not.")
    try:
        with temporary_beside(path) as temporary:
            with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as database:
                yield database
            with contextlib.closing(EventLog(temporary)) as made:
                if made.number < least:
                    raise StorageError(f"{path} has {made.number} of {least} batches.")
            try:
                os.link(temporary, path)  # fails if it has appeared meanwhile; a rename would replace it
            except (NotImplementedError, PermissionError):  # a file system without links
                os.rename(temporary, path)
            sync_folder(path.parent)
    except FileExistsError:
        raise InvalidInputError(f"{path} must not exist yet; it is left as it is.") from None
    except (OSError, sqlite3.Error) as error:
        raise StorageError(f"{path} could not be made: {_reason(error)}.") from None


def _first_link(settings: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).digest()


def _link(before: bytes, batch: EventBatch) -> bytes:
    header = json.dumps([batch.number, batch.kind, batch.day, batch.written_at]).encode()
    return hashlib.sha256(before + len(header).to_bytes(8, "little") + header + batch.content).digest()


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")

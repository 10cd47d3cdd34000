"""An append-only event log in SQLite: batches of events, each chained to the one before by a hash.

=============  ===========================================================================================
``settings``   fixed when the log is made; the first link of the chain
``batches``    the events, one row per command, kind and day: number, kind, day, time of writing, content
``head``       number and hash of the last batch, so that a missing end is noticed
``snapshot``   a cache of what follows from the batches up to a number, with its own hash
=============  ===========================================================================================

The log does not look into settings, kinds and contents. They are the business of its user.

A command is one transaction: all of its batches are there, or none. While SQLite writes, it keeps a rollback
journal beside the database and syncs both. What was committed is therefore in the database itself. After a kill in
mid-write the next opening rolls back. Without its journal such a file is refused, or it holds a batch that was
never answered. Earlier versions kept a write-ahead log, whose batches a copy of the database alone did not have.
Opening merges it.

A file that was edited or cut is refused. Opening checks all pages and the whole chain of a file of up to
``WHOLE_CHECK_BYTES``. Of a larger file it checks the settings, the first batch, the numbers of all batches, the
last ``TAIL_BATCHES`` of them and the head. An older batch is checked when it is read, against its own link, so that
no edited content is used. The days of the older ones are looked up before they are read. They are therefore part of
the snapshot's hash: if one was edited, there is no snapshot, and whoever reads all batches instead finds it.
``check_all`` checks everything. The chain has no secret: it reveals accidents, not forgers.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.files import sync_folder, temporary_beside

APPLICATION_ID = 0x64726673  # "drfs"
FORMAT_VERSION = 3  # earlier ones had other kinds and contents; they open, and are 3 when something is added
FILE_KIND = "a shop's database made by `driftmdp inventory init`"  # all that this module knows of shops
LOCK_TIMEOUT_SECONDS = 10.0  # to wait for another process
SIDE_FILES = ("-wal", "-shm", "-journal")  # endings of the files that SQLite keeps beside a database
SNAPSHOT_ROW_BYTES = 1 << 24
WHOLE_CHECK_BYTES = 1 << 27  # of a file that every opening checks wholly: 829 MB take 0.8 s when cached
TAIL_BATCHES = 32  # that every opening checks

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
_SELECT = "SELECT number, kind, day, written_at, content, hash FROM batches WHERE number"
_BEFORE_ALL = -(2**63)  # no batch has a smaller number
_SQLITE_ERRORS = {  # pattern in SQLite's message: how the sentence goes on after the path
    "closed": "is closed here; open it again.",
    "thread": "was opened by another thread; open it in each of them.",
    "full": "has no space: the disk is full. Nothing was done.",
    "readonly|unable to open": "and its folder must be writable; nothing was done. Ask for the right to write.",
    "locked|busy": "is in use by another process; nothing was done. Try again in a moment.",
}


class EventBatch(NamedTuple):
    """The events that one command wrote for one day: ``kind`` says how to read ``content``."""

    number: int
    kind: str
    day: str
    written_at: str
    content: bytes


class EventLog:
    """An open event log.

    Parameters
    ----------
    path
        The database.
    check_all
        Check all of it, however large it is.

    Attributes
    ----------
    settings
        As given to ``create``, and a random identity.
    number
        Of the last batch that was seen.
    days
        The day of each batch up to it.

    Raises
    ------
    StorageError
        If it is damaged, was edited, or stays locked by another process.
    InvalidInputError
        If there is no such file.
    """

    def __init__(self, path: str | os.PathLike[str], check_all: bool = False) -> None:
        self.path = Path(path)
        # Only SQLite may open the file: closing it by other means would release this process's locks on it.
        if not self.path.exists():
            hint = "Make one: driftmdp inventory init."
            raise InvalidInputError(f"{path} must be {FILE_KIND}; there is no such file. {hint}")
        if not self.path.is_file():
            raise InvalidInputError(f"{path} must be {FILE_KIND}; it is a folder, a pipe or a device.")
        with self._storage_errors():
            self._database = _connect(self.path)
            try:
                self._check_file()
                is_whole = check_all or self.path.stat().st_size <= WHOLE_CHECK_BYTES
                if is_whole:
                    self._check_pages()
                self.settings = self._read_settings()
                self.number, self._hash = 0, _first_link(self.settings)
                self.days: list[str] = []
                self._unchecked = 0  # the last of the batches that are checked when they are read
                if not is_whole:
                    self._skip_old_batches()
                with self.reading():
                    pass
            except BaseException:
                self.close()
                raise

    @staticmethod
    def create(path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        """Make an empty log. A file that exists is left alone."""
        with _new_file(Path(path)) as database:
            database.executescript(";".join([*_TABLES, _TRIGGERS]))
            named = {**settings, "book": secrets.token_hex(16)}  # no two chains begin alike
            values = [(name, json.dumps(value)) for name, value in named.items()]
            database.executemany("INSERT INTO settings VALUES (?, ?)", values)
            database.execute("INSERT INTO head VALUES (1, 0, ?)", (_first_link(named),))
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {FORMAT_VERSION}")

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy as a new file while others may write. It is checked before it gets its name."""
        with self.reading():
            pass
        with _new_file(Path(path), self.number) as copy:
            self._database.backup(copy)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @contextlib.contextmanager
    def reading(self, begin: str = "BEGIN") -> Iterator[None]:
        """See the log as it is now, whatever others write meanwhile."""
        with self._storage_errors(), self._database:  # which commits, or rolls back after an error
            self._database.execute(begin)
            self._check_new_batches()
            yield

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer. All is kept at the end, or nothing if an error leaves the block."""
        before = self.number, self._hash
        try:
            with self.reading("BEGIN IMMEDIATE"):
                before = self.number, self._hash
                yield
        except BaseException:
            self.number, self._hash = before
            del self.days[self.number :]
            raise

    def check_all(self) -> None:
        """Check all pages and the whole chain, whatever was checked before."""
        with self.reading():
            self._check_pages()
            self._check_chain()

    def batches(self, after: int = 0) -> Iterator[EventBatch]:
        """Yield the batches after a number in order."""
        return self.batches_of(range(after + 1, self.number + 1))

    def batches_of(self, numbers: Iterable[int]) -> Iterator[EventBatch]:
        """Yield batches by their numbers."""
        for number in numbers:
            row = self._database.execute(f"{_SELECT} = ?", (number,)).fetchone()
            if row is None:
                raise self._edited_file(f"batch {number} is missing")
            if number <= self._unchecked:
                self._follow([row], number - 1, self._link_of(number - 1))
            yield EventBatch._make(row[:-1])

    def append(self, kind: str, day: str, content: bytes) -> None:
        """Add a batch, only while writing."""
        written_at = datetime.now(UTC).isoformat(timespec="seconds")
        batch = EventBatch(self.number + 1, kind, day, written_at, content)
        digest = _link(self._hash, batch)
        self._database.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", (*batch, digest))
        self._database.execute("UPDATE head SET number = ?, hash = ? WHERE only = 1", (batch.number, digest))
        self._database.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        self.number, self._hash = batch.number, digest
        self.days.append(day)

    def save_snapshot(self, content: bytes) -> None:
        """Store a snapshot of the state after all batches so far, in place of the last one."""
        digest = self._with_days(self.number, _snapshot_hash(self._hash, content))
        self._database.execute("DELETE FROM snapshot")
        view = memoryview(content)
        for place, start in enumerate(range(0, max(1, len(content)), SNAPSHOT_ROW_BYTES)):
            values = (place, self.number, view[start : start + SNAPSHOT_ROW_BYTES], digest)
            self._database.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?)", values)

    def load_snapshot(self) -> tuple[int, bytes] | None:
        """Return the snapshot after the number of its last batch, or None if it is missing or damaged."""
        try:
            rows = self._database.execute("SELECT number, content, hash FROM snapshot ORDER BY place").fetchall()
        except sqlite3.OperationalError:  # the content column holds invalid text
            return None
        if not rows or not all(isinstance(row[1], bytes) for row in rows):
            return None
        number, content = rows[0][0], b"".join(row[1] for row in rows)
        link = self._database.execute("SELECT hash FROM batches WHERE number = ?", (number,)).fetchone()
        if link is None or not isinstance(link[0], bytes):
            return None
        digest = _snapshot_hash(link[0], content)
        if rows[0][2] == digest and self._unchecked:  # of an earlier version, which says nothing of the days
            self._check_chain()
        return (number, content) if rows[0][2] in (digest, self._with_days(number, digest)) else None

    def _with_days(self, number: int, digest: bytes) -> bytes:
        """Return a hash of a snapshot's hash and the days of its batches."""
        return hashlib.sha256(digest + json.dumps(self.days[:number]).encode()).digest()

    def _check_file(self) -> None:
        """Refuse another kind of database, another version, or a damaged file."""
        query = self._database.execute
        if query("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
            raise self._foreign_file()
        (version,) = query("PRAGMA user_version").fetchone()
        if version not in range(1, FORMAT_VERSION + 1):
            rule = f"{self.path} must have format version {FORMAT_VERSION}"
            raise StorageError(f"{rule}; it has {version}. Use the driftmdp that made it.")
        if not {*_TABLES} <= {text for (text,) in query("SELECT sql FROM sqlite_master WHERE type = 'table'")}:
            raise self._edited_file("its tables are not as they were made")
        with contextlib.suppress(sqlite3.OperationalError):  # of an earlier version, and in use: another time
            query("PRAGMA journal_mode = DELETE")
        (size,) = query("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
        if self.path.stat().st_size < size and not Path(f"{self.path}-wal").exists():
            raise self._edited_file("its end is missing")  # SQLite reads a cut last page as zeros

    def _check_pages(self) -> None:
        if self._database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise self._edited_file("its pages do not fit together")

    def _read_settings(self) -> dict[str, Any]:
        rows = self._database.execute("SELECT name, value FROM settings").fetchall()
        try:
            return {str(name): json.loads(value) for name, value in rows}
        except (ValueError, TypeError, RecursionError):
            raise self._edited_file("its settings cannot be read") from None

    def _skip_old_batches(self) -> None:
        """Take over the batches before the tail: the first is checked, and of the others only the numbers."""
        with self._database:  # one transaction, so that others' batches do not come in between
            self._database.execute("BEGIN")
            (last,) = self._database.execute("SELECT max(number) FROM batches").fetchone()
            end = (last or 0) - TAIL_BATCHES
            if end < 1:
                return
            rows = self._database.execute(
                "SELECT number, day FROM batches WHERE number <= ? ORDER BY number", (end,)
            ).fetchall()
            for before, number in enumerate([*(number for number, _ in rows), end + 1]):
                self._check_number(number, before)
            first = self._database.execute(f"{_SELECT} = 1").fetchone()
            self._follow([first], 0, self._hash)
            self.number, self._hash, self._unchecked = end, self._link_of(end), end
            self.days = [str(day) for _, day in rows]

    def _link_of(self, number: int) -> bytes:
        """Return the hash that was written with a batch, or the first link."""
        if number == 0:
            return _first_link(self.settings)
        row = self._database.execute("SELECT hash FROM batches WHERE number = ?", (number,)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            raise self._edited_file(f"batch {number} is not what was written")
        return row[0]

    def _check_chain(self) -> None:
        """Follow the whole chain from the settings to the head."""
        rows = self._database.execute(f"{_SELECT} > ? ORDER BY number", (_BEFORE_ALL,))
        number, digest, _ = self._follow(rows, 0, _first_link(self._read_settings()))
        self._check_head(number, digest)
        self._unchecked = 0

    def _check_new_batches(self) -> None:
        """Follow the chain from the last batch that was seen to the head."""
        rows = self._database.execute(f"{_SELECT} > ? ORDER BY number", (self.number or _BEFORE_ALL,))
        number, digest, days = self._follow(rows, self.number, self._hash)
        self._check_head(number, digest)
        self.number, self._hash = number, digest
        self.days += days

    def _follow(self, rows: Iterable[Sequence[Any]], number: int, digest: bytes) -> tuple[int, bytes, list[str]]:
        """Check rows against the link before them. Return the last number, its link, and the days."""
        days = list[str]()
        for *fields, written in rows:
            batch = EventBatch(*fields)
            self._check_number(batch.number, number)
            texts = batch.kind, batch.day, batch.written_at
            if not isinstance(batch.content, bytes) or not all(isinstance(text, str) for text in texts):
                raise self._edited_file(f"batch {batch.number} is not what was written")
            digest = _link(digest, batch)
            if digest != written:
                raise self._edited_file(f"batch {batch.number}, of {batch.day}, is not what was written")
            number = batch.number
            days.append(batch.day)
        return number, digest, days

    def _check_number(self, number: int, before: int) -> None:
        if number != before + 1:
            what = "is missing" if number > before else "is not the first"
            raise self._edited_file(f"batch {before + 1} {what}")

    def _check_head(self, number: int, digest: bytes) -> None:
        head = self._database.execute("SELECT number, hash FROM head WHERE only = 1").fetchone()
        if head is None:
            raise self._edited_file("its head is missing")
        if head[0] != number:
            raise self._edited_file(f"it ends with batch {number}, but {head[0]} were written")
        if head[1] != digest:
            raise self._edited_file("its settings or its head differ")

    def _foreign_file(self) -> StorageError:
        why = "it is another kind of file, or its beginning is damaged"
        return StorageError(f"{self.path} must be {FILE_KIND}; {why}. Nothing was done.")

    def _edited_file(self, what: str) -> StorageError:
        advice = "Nothing was done; take the last backup, and record what came after it again."
        return StorageError(f"{self.path} was changed by something other than driftmdp: {what}. {advice}")

    @contextlib.contextmanager
    def _storage_errors(self) -> Iterator[None]:
        """Turn errors of SQLite into StorageError, with a sentence on what to do."""
        try:
            yield
        except UnicodeDecodeError:
            raise self._edited_file("a text in it cannot be read") from None
        except sqlite3.Error as error:
            if "not a database" in str(error):
                raise self._foreign_file() from None
            for pattern, rest in _SQLITE_ERRORS.items():
                if re.search(pattern, str(error)):
                    raise StorageError(f"{self.path} {rest}") from None
            rule = f"{self.path} must be a whole database that can be used"
            raise StorageError(f"{rule}; {_reason(error)}. Nothing was done; take the last backup.") from None


def _connect(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    database = sqlite3.connect(address, uri=True, timeout=LOCK_TIMEOUT_SECONDS, isolation_level=None)
    database.execute("PRAGMA synchronous = EXTRA")
    database.execute("PRAGMA trusted_schema = OFF")
    return database


@contextlib.contextmanager
def _new_file(path: Path, least: int = 0) -> Iterator[sqlite3.Connection]:
    """Yield an empty database to fill. At the end of the block it is checked and gets its name, if that is free."""
    if path.exists():
        raise InvalidInputError(f"{path} must not exist yet; it is left as it is. Choose another name.")
    for left in (Path(f"{path}{ending}") for ending in SIDE_FILES):
        if left.exists():  # SQLite would apply it to the new database
            raise InvalidInputError(f"{path} must be a new name; {left} of an older database is still there.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"{path} must lie in a folder that exists; {path.parent} does not.")
    try:
        with temporary_beside(path) as temporary:
            with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as database:
                yield database
            with contextlib.closing(EventLog(temporary, check_all=True)) as made:
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


def _snapshot_hash(link: bytes, content: bytes) -> bytes:
    digest = hashlib.sha256(link)
    digest.update(content)  # not joined with the link: it may be hundreds of megabytes
    return digest.digest()


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")

"""Finished runs that are in no batch yet, appended one by one. A killed process loses only the runs in flight.

A record is a length, a checksum and the row. A tail that was torn when the process or the machine stopped fails its
check. It is found on opening and cut off, and its runs are done again. Why this is not SQLite: docs/decisions, 18.
"""

import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from driftmdp.files import write_whole

MAGIC = b"driftmdp journal 1\n"
RECORD_HEADER = struct.Struct("<II")


def read_records(content: bytes) -> tuple[list[bytes], int]:
    """Return the complete records of a journal, and the number of torn bytes at its end.

    Examples
    --------
    >>> from driftmdp.experiments.journal import MAGIC, _record, read_records
    >>> content = MAGIC + _record(b"one") + _record(b"two")
    >>> read_records(content)
    ([b'one', b'two'], 0)
    >>> read_records(content[:-1])
    ([b'one'], 10)
    """
    if not content.startswith(MAGIC):
        return [], len(content)
    records, place = [], len(MAGIC)
    while place + RECORD_HEADER.size <= len(content):
        length, checksum = RECORD_HEADER.unpack_from(content, place)
        row = content[place + RECORD_HEADER.size : place + RECORD_HEADER.size + length]
        if len(row) < length or zlib.crc32(row) != checksum:
            break
        records.append(row)
        place += RECORD_HEADER.size + length
    return records, len(content) - place


def _record(row: bytes) -> bytes:
    return RECORD_HEADER.pack(len(row), zlib.crc32(row)) + row


class Journal:
    """The journal of a folder. The file is made by the first append."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def append(self, row: bytes) -> None:
        """Append a row, which from now on survives the end of this process."""
        if self._file is None:
            is_new = not self.path.exists()
            self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 - closed by close()
            if is_new:
                self._file.write(MAGIC)
        record = _record(row)
        if self._file.write(record) < len(record):
            raise OSError(28, "No space left on device")

    def replace(self, rows: Iterable[bytes]) -> None:
        """Replace the content by these rows."""
        self.close()
        kept = [_record(row) for row in rows]
        if kept:
            write_whole(self.path, MAGIC + b"".join(kept))
        else:
            self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

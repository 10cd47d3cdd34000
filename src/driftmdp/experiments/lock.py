"""One process at a time in a folder of results; when the holder ends, however, the system lets go of the lock."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from driftmdp.errors import StorageError


class FolderLock:
    """Hold a folder; a second holder is told who has it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, FolderLock(Path(folder)):
    ...     with FolderLock(Path(folder)):
    ...         pass
    Traceback (most recent call last):
    driftmdp.errors.StorageError: ... is in use by process ...
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        try:
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StorageError(
                f"{self.folder} must be a folder that can be written to; {error.strerror}. Choose another one "
                "with --out."
            ) from None
        try:
            _take(descriptor)
        except OSError:
            holder = _holder(descriptor)
            os.close(descriptor)
            raise StorageError(
                f"{self.folder} is in use by {holder}. Wait until it is done, or choose another folder with --out."
            ) from None
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps({"process": os.getpid(), "host": socket.gethostname()}).encode(), 0)
        except OSError as error:  # a full disk, or no file
            os.close(descriptor)
            raise StorageError(f"{self.folder / 'lock'} could not be written to: {error.strerror}.") from None
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _take(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(descriptor: int) -> str:
    try:
        held = json.loads(os.pread(descriptor, 1000, 0))
        return f"process {held['process']} on {held['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"

"""Write files atomically: under a temporary name, synced, then renamed."""

import contextlib
import functools
import os
import platform
import re
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path

HOST = f"{zlib.crc32(platform.node().encode()):08x}"
_TEMPORARY = re.compile(rf"\..+\.{HOST}-(\d+)-(?:(\d+)-)?[0-9a-f]{{16}}(-journal)?", re.DOTALL)


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, whole or not at all, even if the machine stops in between.

    Raises
    ------
    OSError
        If it cannot be written. The old file at ``path`` is then untouched. A folder that cannot be synced, as on
        some network drives, is not an error: at worst the old file comes back when the machine stops.
    """
    with temporary_beside(path) as temporary:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    with contextlib.suppress(OSError):  # the file is complete and in place, so this is no error
        sync_folder(path.parent)


@contextlib.contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """Yield a unique name in the folder of ``path``, and remove the file of that name at the end.

    The name holds the host, the process and when it began. The first write of a process to a folder removes the
    temporary files that killed processes of this host left there.
    """
    _remove_leftovers(os.path.abspath(path.parent))
    process = os.getpid()
    writer = f"{HOST}-{process}-{_start_of(process) or 0}"
    temporary = path.parent / f".{path.name}.{writer}-{secrets.token_hex(8)}"
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@functools.lru_cache(maxsize=1000)  # once per process and folder: a store may hold thousands of files
def _remove_leftovers(folder: str) -> None:
    with contextlib.suppress(OSError), os.scandir(folder) as files:  # a leftover file does no harm
        for file in files:
            temporary = _TEMPORARY.fullmatch(file.name)
            if temporary and not _is_running(int(temporary[1]), int(temporary[2] or 0)):
                os.unlink(file.path)


def _start_of(process: int) -> int | None:
    """Return when a process began, in ticks since the machine did, or None where that is not told."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def _is_running(process: int, start: int) -> bool:
    """Return whether a process runs that began then. Start 0 is unknown, and any process of that number counts."""
    if os.name != "posix":  # on Windows, os.kill with signal 0 ends the process
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        pass
    # Numbers are used again, by threads too.
    return start == 0 or _start_of(process) in (start, None)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that created, renamed and deleted files survive a crash."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_without_waiting(path: str, flags: int) -> int:
    """Open a file, as the ``opener`` of ``open``; a named pipe is opened without waiting for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

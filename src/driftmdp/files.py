"""Files that are never half-written, and whose files they are."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

__all__ = ["is_own", "sync_folder", "write_whole"]


def is_own(path: Path, sticky: bool = False) -> bool:
    """Say whether only this user, and the system, can change a file or what a folder has.

    A link must be one's own, and what it leads to. A group may write if it is this user's first one, which on most
    systems has no other member. Always true on Windows, whose rights Python does not show.

    Parameters
    ----------
    path
        A file or a folder that is there.
    sticky
        Whether a folder such as /tmp will do, in which all may make files but nobody can replace another's.
    """
    if not hasattr(os, "geteuid"):
        return True
    found = path.stat()
    writers = stat.S_IWOTH | (0 if found.st_gid == os.getegid() else stat.S_IWGRP)
    is_closed = not found.st_mode & writers or (sticky and bool(found.st_mode & stat.S_ISVTX))
    return is_closed and {found.st_uid, path.lstat().st_uid} <= {os.geteuid(), 0}


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path``, whole or not at all, even if the machine stops in between.

    Raises
    ------
    OSError
        If it cannot be written; what stood at ``path`` is untouched. A folder that cannot be synced, as on some
        network drives, is no error: at worst, what stood there comes back when the machine stops.
    """
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # it is in place, and whole; an error would say that it is not
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make names that were given or taken in a folder last."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

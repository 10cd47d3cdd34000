"""Files that are never half-written: a temporary name, synced, then renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

__all__ = ["sync_folder", "write_whole"]


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

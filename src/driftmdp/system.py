"""What the operating system says: who can change a file, and how much memory there is."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from pathlib import Path

from driftmdp.errors import InvalidInputError

UNKNOWN = 2**36  # bytes, where the system does not say how many there are


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


@functools.cache
def memory_here() -> int:
    """Return how many bytes of memory this machine has, or this container or process may use."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN
    with contextlib.suppress(OSError, ValueError):
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        found = found if allowed == resource.RLIM_INFINITY else min(found, allowed)
    return found


def require_memory(n_bytes: float, what: str) -> None:
    """Refuse what cannot fit into memory, with the estimate.

    Examples
    --------
    >>> require_memory(2**70, "horizon = 9,000,000,000,000,000,000")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: horizon = 9,000,000,000,000,000,000 must fit into memory; it needs about ...
    """
    if n_bytes > memory_here():
        raise InvalidInputError(
            f"{what} must fit into memory; it needs about {n_bytes / 2**30:,.3g} GiB, and this machine has "
            f"{memory_here() / 2**30:,.3g} GiB. Take a smaller number."
        )

"""Facts from the operating system: who can change a file, and how much memory there is."""

import contextlib
import functools
import os
import stat
from pathlib import Path

from driftmdp.errors import InvalidInputError

ASSUMED_MEMORY = 2**36  # bytes, if the system does not report its memory


def is_own(path: Path, sticky: bool = False) -> bool:
    """Return whether only this user and the system can change a file, or the files of a folder.

    A link and its target must both belong to the user. The user's first group may write, as on most systems it has
    no other member. Always true on Windows, whose permissions Python does not show.

    Parameters
    ----------
    path
        An existing file or folder.
    sticky
        Whether to accept a folder such as /tmp, in which all may create files but not replace another user's.
    """
    if not hasattr(os, "geteuid"):
        return True
    found = path.stat()
    writers = stat.S_IWOTH | (0 if found.st_gid == os.getegid() else stat.S_IWGRP)
    is_protected = not found.st_mode & writers or (sticky and bool(found.st_mode & stat.S_ISVTX))
    return is_protected and {found.st_uid, path.lstat().st_uid} <= {os.geteuid(), 0}


@functools.cache
def available_memory() -> int:
    """Return the bytes of memory of this machine, or those that this container or process may use."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return ASSUMED_MEMORY
    with contextlib.suppress(OSError, ValueError):
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        found = found if allowed == resource.RLIM_INFINITY else min(found, allowed)
    return found


def require_memory(n_bytes: float, what: str) -> None:
    """Raise if an estimate of bytes does not fit into memory.

    Examples
    --------
    >>> from driftmdp.system import require_memory
    >>> require_memory(2**70, "horizon = 9,000,000,000,000,000,000")
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: horizon = 9,000,000,000,000,000,000 must fit into memory; it needs about ...
    """
    if n_bytes > available_memory():
        needed, has = f"{n_bytes / 2**30:,.3g} GiB", f"{available_memory() / 2**30:,.3g} GiB"
        rule = f"{what} must fit into memory; it needs about {needed}, and this machine has {has}"
        raise InvalidInputError(f"{rule}. Take a smaller number.")

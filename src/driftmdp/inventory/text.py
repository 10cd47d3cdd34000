"""Small things that remarks are made of."""

from __future__ import annotations

from collections.abc import Sequence

from driftmdp.errors import one_line

SHOWN = 5  # in one remark
LONGEST = 150  # characters of each


def listed(found: Sequence[str], most: int = SHOWN, separator: str = "; ") -> str:
    """Return the first few, and how many more there are.

    Examples
    --------
    >>> listed([str(n) for n in range(7)])
    '0; 1; 2; 3; 4; and 2 more'
    """
    more = [f"and {len(found) - most} more"] if len(found) > most else []
    return separator.join([*(one_line(text, LONGEST) for text in found[:most]), *more])

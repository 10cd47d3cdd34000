"""Small things that remarks are made of."""

from __future__ import annotations

from driftmdp.inventory.sheets import shown

__all__ = ["listed"]

SHOWN = 5  # in one remark


def listed(found: list[str]) -> str:
    """Return the first few, and how many more there are.

    Examples
    --------
    >>> listed([str(n) for n in range(7)])
    '0; 1; 2; 3; 4; and 2 more'
    """
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(map(shown, found[:SHOWN])) + more

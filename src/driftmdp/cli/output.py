"""Output of the commands: aligned columns to standard output, remarks to standard error."""

import sys
from collections.abc import Sequence

from driftmdp.errors import one_line


def print_columns(rows: Sequence[Sequence[str]], header: Sequence[str] = (), numbers: Sequence[int] = ()) -> None:
    """Print rows in aligned columns; those in ``numbers`` are aligned to the right.

    Examples
    --------
    >>> from driftmdp.cli.output import print_columns
    >>> print_columns([["Random", "1000"], ["Oracle", "99"]], ["agent", "reward"], numbers=[1])
    agent   reward
    Random    1000
    Oracle      99
    """
    every = [list(map(one_line, row)) for row in ([header, *rows] if header else rows)]
    widths = [max(len(row[column]) for row in every) for column in range(len(every[0]))] if every else []
    for row in every:
        cells = [
            text.rjust(width) if column in numbers else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def remark(text: str) -> None:
    """Print a remark to standard error."""
    print("\n".join(map(one_line, text.split("\n"))), file=sys.stderr, flush=True)

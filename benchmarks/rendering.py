"""Readable tables: wrapped columns for a terminal, markdown for the documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import fields
from itertools import zip_longest

from benchmarks.rows import Row

__all__ = ["as_markdown", "as_text"]

WIDEST = {"note": 56}
WIDEST_ELSEWHERE = 30


def as_text(rows: Sequence[Row]) -> str:
    """Return rows of one kind as a table in columns. Long cells take several lines."""
    headings, cells = _table(rows)
    wrapped = [
        [textwrap.wrap(cell, WIDEST.get(heading, WIDEST_ELSEWHERE)) or [""] for heading, cell in pairs]
        for pairs in (list(zip(headings, line, strict=True)) for line in [headings, *cells])
    ]
    widths = [max(len(part) for line in wrapped for part in line[column]) for column in range(len(headings))]
    rule = "  ".join("-" * width for width in widths)
    blocks = ["\n".join(_aligned(parts, widths) for parts in zip_longest(*line, fillvalue="")) for line in wrapped]
    return "\n".join([blocks[0], rule, *blocks[1:]])


def as_markdown(rows: Sequence[Row]) -> str:
    """Return rows of one kind as a markdown table."""
    headings, cells = _table(rows)
    lines = [headings, ["---"] * len(headings), *([cell.replace("|", "\\|") for cell in line] for line in cells)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _table(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    names = [field.name for field in fields(rows[0])]
    return [name.replace("_", " ") for name in names], [[getattr(row, name) for name in names] for row in rows]


def _aligned(parts: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip()

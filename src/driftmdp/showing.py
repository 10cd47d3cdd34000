"""How objects show themselves: one line in a terminal, a small table or a line of a drawing in a notebook.

What is shown is made from what is there: nothing is solved for, and nothing is longer than a screen. Colours are
the page's own, so that it reads in light and in dark.
"""

from __future__ import annotations

import dataclasses
import functools
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["brief", "facts", "safely", "short", "sparkline", "table"]

FEW = 6
MOST_ROWS = 20
LONGEST = 80  # characters in a text
POINTS = 120  # of a line that is drawn
WIDTH, HEIGHT = 240, 36


def short(value: Any) -> str:
    """Return a value in few words: arrays by shape and range, long lists by their beginning.

    Examples
    --------
    >>> short(np.arange(5000.0)), short([1, 2]), short(0.1 + 0.2)
    ('<array of shape (5000,), 0 to 4999>', '[1, 2]', '0.3')
    >>> short(tuple(range(500)))
    '(0, 1, 2, ... 500 in all)'
    """
    if isinstance(value, np.ndarray):
        return _short_array(value)
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, str):
        return repr(value) if len(value) <= LONGEST else f"{value[:LONGEST]!r}..."
    if isinstance(value, Mapping):
        return _cut([f"{key!r}: {short(one)}" for key, one in list(value.items())[: FEW + 1]], len(value), "{}")
    if type(value) in (list, tuple):
        return _cut([short(one) for one in value[: FEW + 1]], len(value), "[]" if type(value) is list else "()")
    return repr(value)


def _short_array(array: np.ndarray[Any, Any]) -> str:
    if array.ndim <= 1 and array.size <= FEW:
        return short(array.tolist())
    ends = ""
    if array.size and array.dtype.kind in "biufM":
        low, high = array.min(), array.max()
        ends = f", {low} to {high}" if array.dtype.kind == "M" else f", {low:.6g} to {high:.6g}"
    return f"<array of shape {array.shape}{ends}>"


def _cut(shown: list[str], size: int, brackets: str) -> str:
    inside = ", ".join(shown[:3]) + f", ... {size} in all" if size > FEW else ", ".join(shown)
    alone = "," if size == 1 and brackets == "()" else ""
    return f"{brackets[0]}{inside}{alone}{brackets[1]}"


def brief(self: Any) -> str:
    """Return a repr in few words, of a dataclass, a named tuple or a pydantic model: ``__repr__ = brief``.

    Examples
    --------
    >>> @dataclasses.dataclass
    ... class Path:
    ...     gains: np.ndarray
    ...     __repr__ = brief
    >>> Path(np.zeros(1000))
    Path(gains=<array of shape (1000,), 0 to 0>)
    """
    if dataclasses.is_dataclass(self):
        names = [field.name for field in dataclasses.fields(self) if field.repr]
    else:
        names = list(getattr(type(self), "model_fields", None) or self._fields)
    return f"{type(self).__name__}({', '.join(f'{name}={short(getattr(self, name))}' for name in names)})"


def safely(draw: Callable[[Any], str]) -> Callable[[Any], str | None]:
    """Return a ``_repr_html_`` that never raises: a notebook then shows the line of text instead."""

    @functools.wraps(draw)
    def guarded(self: Any) -> str | None:
        try:
            return draw(self)
        except Exception:
            return None

    return guarded


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", left_out: int = 0) -> str:
    """Return a small HTML table; every text in it is escaped.

    Parameters
    ----------
    header
        The names of the columns; none for a list of facts, whose first column is then the header of its row.
    rows
        Texts, numbers, and ``Drawing`` for what is HTML already; at most 20 are shown.
    caption
        Stands above it.
    left_out
        How many rows there are besides.

    Examples
    --------
    >>> print(table(["a"], [["<b>"]]))
    <table><thead><tr><th scope="col">a</th></tr></thead><tbody><tr><td ...>&lt;b&gt;</td></tr></tbody></table>
    """
    listed = list(rows)
    more = left_out + max(0, len(listed) - MOST_ROWS)
    above = f'<caption style="caption-side: top; text-align: left">{_text(caption)}</caption>' if caption else ""
    names = "".join(f'<th scope="col">{_text(name)}</th>' for name in header)
    head = f"<thead><tr>{names}</tr></thead>" if header else ""
    body = "".join(_row(row, not header) for row in listed[:MOST_ROWS])
    width = max([len(header), *(len(row) for row in listed[:1])])
    rest = f'<tr><td colspan="{width}">and {more:,} more</td></tr>' if more else ""
    return f"<table>{above}{head}<tbody>{body}{rest}</tbody></table>"


def facts(caption: str, **known: Any) -> str:
    """Return a table of two columns; an underscore in a name stands for a space, and None is left out.

    Examples
    --------
    >>> "<td>2,000</td>" in facts("a world", steps=2000, name=None)
    True
    """
    rows = [(name.replace("_", " "), value) for name, value in known.items() if value is not None]
    return table([], rows, caption)


class Drawing(str):
    """HTML that is put into a table as it is."""

    __slots__ = ()


def sparkline(values: ArrayLike, name: str) -> Drawing:
    """Return a line of numbers as a small inline picture; ``name`` says in words what it shows.

    Examples
    --------
    >>> sparkline([0, 1], "rising").count("polyline")
    1
    """
    line = np.asarray(values, dtype=np.float64).ravel()
    picked = (
        line[np.unique(np.linspace(0, line.size - 1, min(line.size, POINTS)).astype(int))] if line.size else line
    )
    picked = picked[np.isfinite(picked)]
    if picked.size < 2:
        return Drawing("")
    low, span = picked.min(), float(np.ptp(picked)) or 1.0
    across = np.linspace(1, WIDTH - 1, picked.size)
    down = HEIGHT - 2 - (HEIGHT - 4) * (picked - low) / span
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
    return Drawing(
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{_text(name)}"><title>{_text(name)}</title>'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def _row(cells: Sequence[Any], first_is_header: bool) -> str:
    first, *rest = cells
    start = f'<th scope="row" style="text-align: left">{_text(first)}</th>' if first_is_header else _cell(first)
    return f"<tr>{start}{''.join(map(_cell, rest))}</tr>"


def _cell(value: Any) -> str:
    words = isinstance(value, str)
    return f'<td style="text-align: left">{_text(value)}</td>' if words else f"<td>{_text(value)}</td>"


def _text(value: Any) -> str:
    if isinstance(value, Drawing):
        return str(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return f"{value:,}"
    if not isinstance(value, str):
        value = short(value)
    return html.escape(value if len(value) <= 4 * LONGEST else value[: 4 * LONGEST] + "...")

"""How objects show themselves: one line in a terminal, a small table or a line of a drawing in a notebook.

What is shown is made from what is there: nothing is solved for, and nothing is longer than a screen. Colours are
the page's own, so that it reads in light and in dark.
"""

from __future__ import annotations

import dataclasses
import functools
import html
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import one_line

FEW = 6
MOST_ROWS = 20
LONGEST = 80  # characters in a text
POINTS = 160  # of a line that is drawn
WIDTH, HEIGHT = 240, 36
LEFT, RIGHT = "text-align: left", "text-align: right"


def counted(count: int, word: str) -> str:
    """Return a count with its word, in the plural unless it is one.

    Examples
    --------
    >>> counted(1, "day"), counted(2000, "day")
    ('1 day', '2,000 days')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def listed(texts: Sequence[str], most: int = 5, separator: str = "; ") -> str:
    """Return the first few texts of a message, each at most 150 characters long, and how many more there are.

    Examples
    --------
    >>> listed([str(n) for n in range(7)])
    '0; 1; 2; 3; 4; and 2 more'
    """
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return separator.join([*(one_line(text, 150) for text in texts[:most]), *more])


def short(value: Any) -> str:
    """Return a value in few words: arrays by shape and range, long lists, sets and texts by their beginning.

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
    if isinstance(value, (str, bytes, bytearray)):
        return repr(value) if len(value) <= LONGEST else f"{value[:LONGEST]!r}..."
    if isinstance(value, Mapping):
        return _cut(
            [f"{short(key)}: {short(one)}" for key, one in list(value.items())[: FEW + 1]], len(value), "{}"
        )
    if type(value) in (list, tuple):
        return _cut([short(one) for one in value[: FEW + 1]], len(value), "[]" if type(value) is list else "()")
    if type(value) in (set, frozenset) and value:
        shown = _cut([short(one) for one in itertools.islice(value, FEW + 1)], len(value), "{}")
        return shown if type(value) is set else f"frozenset({shown})"
    text = repr(value)
    return text if len(text) <= 10 * LONGEST else f"{text[: 10 * LONGEST]}..."


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
    """Return a small HTML table; every text in it is escaped, and columns of numbers stand to the right.

    Parameters
    ----------
    header
        The names of the columns; none for a list of facts, whose first column is then the header of its row.
    rows
        Texts, numbers, and ``Html`` for what is HTML already; at most 20 are shown.
    caption
        Stands above it.
    left_out
        How many rows there are besides.

    Examples
    --------
    >>> print(table(["a"], [["<b>"]]))
    <table><thead><tr><th ...>a</th></tr></thead><tbody><tr><td ...>&lt;b&gt;</td></tr></tbody></table>
    """
    listed = list(rows)
    more = left_out + max(0, len(listed) - MOST_ROWS)
    sides = [_side(value, bool(header)) for value in (listed[0] if listed else header)]
    above = f'<caption style="caption-side: top; {LEFT}">{_text(caption)}</caption>' if caption else ""
    names = "".join(
        f'<th scope="col" style="{side}">{_text(name)}</th>' for name, side in zip(header, sides, strict=False)
    )
    head = f"<thead><tr>{names}</tr></thead>" if header else ""
    body = "".join(_row(row, sides, not header) for row in listed[:MOST_ROWS])
    rest = f'<tr><td colspan="{len(sides)}" style="{LEFT}">and {more:,} more</td></tr>' if more else ""
    return f"<table>{above}{head}<tbody>{body}{rest}</tbody></table>"


def _side(value: Any, in_columns: bool) -> str:
    return RIGHT if in_columns and not isinstance(value, str) else LEFT


def _row(cells: Sequence[Any], sides: Sequence[str], is_fact: bool) -> str:
    shown = [f'<td style="{side}">{_text(value)}</td>' for value, side in zip(cells, sides, strict=True)]
    if is_fact:
        shown[0] = f'<th scope="row" style="{LEFT}; white-space: nowrap">{_text(cells[0])}</th>'
    return f"<tr>{''.join(shown)}</tr>"


def facts(caption: str, **known: Any) -> str:
    """Return a table of two columns; an underscore in a name stands for a space, and None is left out.

    Examples
    --------
    >>> "2,000</td>" in facts("a world", steps=2000, name=None)
    True
    """
    rows = [(name.replace("_", " "), value) for name, value in known.items() if value is not None]
    return table([], rows, caption)


class Html(str):
    """HTML that is put into a table as it is."""

    __slots__ = ()


def sparkline(values: ArrayLike, name: str) -> Html:
    """Return a line of numbers as a small inline picture; ``name`` says in words what it shows.

    Examples
    --------
    >>> sparkline([0, 1], "rising").count("polyline")
    1
    """
    line = np.asarray(values, dtype=np.float64).ravel()
    line = line[np.isfinite(line)]
    if line.size < 2:
        return Html("")
    line = line / (np.abs(line).max() or 1.0)  # the span of very large numbers is infinite
    places = _outline(line)
    low, span = line.min(), float(np.ptp(line)) or 1.0
    across = 1 + (WIDTH - 2) * places / (line.size - 1)
    down = HEIGHT - 2 - (HEIGHT - 4) * (line[places] - low) / span
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
    return Html(
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{_text(name)}"><title>{_text(name)}</title>'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def _outline(line: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return few places of a line: the least and the largest of each stretch, so that nothing quick is hidden."""
    stretches = np.array_split(np.arange(line.size), max(1, POINTS // 2))
    ends = [(part[line[part].argmin()], part[line[part].argmax()]) for part in stretches if part.size]
    return np.arange(line.size) if line.size <= POINTS else np.unique([0, *np.ravel(ends), line.size - 1])


def _text(value: Any) -> str:
    if isinstance(value, Html):
        return str(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return f"{number:,.0f}" if 1000 <= abs(number) < 1e12 else f"{number:.4g}"
    if not isinstance(value, str):
        value = short(value)
    return html.escape(value if len(value) <= 4 * LONGEST else value[: 4 * LONGEST] + "...")

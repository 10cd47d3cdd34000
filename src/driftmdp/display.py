"""How objects are displayed: one line in a terminal, a small table or a sparkline in a notebook.

Displaying an object computes nothing expensive and never fills more than a screen. Colours are the page's own, so
that the output is readable in light and in dark mode.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import one_line

MAX_LISTED = 6  # values of an array or a list
MOST_ROWS = 20
MAX_TEXT_LENGTH = 80
SPARKLINE_POINTS = 160
WIDTH, HEIGHT = 240, 36
LEFT, RIGHT = "text-align: left", "text-align: right"


def counted(count: int, word: str) -> str:
    """Return a count with its word, in the plural unless it is one.

    Examples
    --------
    >>> from driftmdp.display import counted
    >>> counted(1, "day"), counted(2000, "day")
    ('1 day', '2,000 days')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def listed(texts: Sequence[str], most: int = 5, separator: str = "; ") -> str:
    """Return the first few texts of a message, each at most 150 characters long, and how many more there are.

    Examples
    --------
    >>> from driftmdp.display import listed
    >>> listed([str(n) for n in range(7)])
    '0; 1; 2; 3; 4; and 2 more'
    """
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return separator.join([*(one_line(text, 150) for text in texts[:most]), *more])


def short(value: Any) -> str:
    """Return a short text for a value: shape and range of an array, the beginning of a long list, set or text.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.display import short
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
        return repr(value) if len(value) <= MAX_TEXT_LENGTH else f"{value[:MAX_TEXT_LENGTH]!r}..."
    if isinstance(value, Mapping):
        first = itertools.islice(value.items(), MAX_LISTED)
        return _cut([f"{short(key)}: {short(one)}" for key, one in first], len(value), "{}")
    if type(value) in (list, tuple) or (type(value) in (set, frozenset) and value):
        brackets = "[]" if type(value) is list else "()" if type(value) is tuple else "{}"
        shown = _cut([short(one) for one in itertools.islice(value, MAX_LISTED)], len(value), brackets)
        return f"frozenset({shown})" if type(value) is frozenset else shown
    text = repr(value)
    return text if len(text) <= 10 * MAX_TEXT_LENGTH else f"{text[: 10 * MAX_TEXT_LENGTH]}..."


def _short_array(array: np.ndarray[Any, Any]) -> str:
    if array.ndim <= 1 and array.size <= MAX_LISTED:
        return short(array.tolist())
    ends = ""
    if array.size and array.dtype.kind in "biufM":
        low, high = array.min(), array.max()
        ends = f", {low} to {high}" if array.dtype.kind == "M" else f", {low:.6g} to {high:.6g}"
    return f"<array of shape {array.shape}{ends}>"


def _cut(shown: list[str], size: int, brackets: str) -> str:
    inside = ", ".join(shown[:3]) + f", ... {size} in all" if size > MAX_LISTED else ", ".join(shown)
    alone = "," if size == 1 and brackets == "()" else ""
    return f"{brackets[0]}{inside}{alone}{brackets[1]}"


def brief(self: Any) -> str:
    """Return a short repr of a dataclass, a named tuple or a pydantic model: ``__repr__ = brief``.

    Examples
    --------
    >>> import dataclasses
    >>> import numpy as np
    >>> from driftmdp.display import brief
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
    """Return a ``_repr_html_`` that never raises; after an error the notebook shows the plain repr instead."""

    @functools.wraps(draw)
    def guarded(self: Any) -> str | None:
        try:
            return draw(self)
        except Exception:
            return None

    return guarded


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", left_out: int = 0) -> str:
    """Return a small HTML table. Every text is escaped, and columns of numbers are aligned to the right.

    Parameters
    ----------
    header
        The names of the columns. Without names, the first cell of each row is its header.
    rows
        Texts, numbers, and ``Html`` for ready HTML; at most 20 rows are shown.
    caption
        The text above the table.
    left_out
        How many more rows there are than in ``rows``.

    Examples
    --------
    >>> from driftmdp.display import table
    >>> print(table(["a"], [["<b>"]]))
    <table><thead><tr><th ...>a</th></tr></thead><tbody><tr><td ...>&lt;b&gt;</td></tr></tbody></table>
    """
    listed = list(rows)
    more = left_out + max(0, len(listed) - MOST_ROWS)
    first = listed[0] if listed else header
    sides = [RIGHT if header and not isinstance(value, str) else LEFT for value in first]
    above = f'<caption style="caption-side: top; {LEFT}">{_text(caption)}</caption>' if caption else ""
    named = zip(header, sides, strict=False)
    names = "".join(f'<th scope="col" style="{side}">{_text(name)}</th>' for name, side in named)
    head = f"<thead><tr>{names}</tr></thead>" if header else ""
    body = "".join(_row(row, sides, not header) for row in listed[:MOST_ROWS])
    rest = f'<tr><td colspan="{len(sides)}" style="{LEFT}">and {more:,} more</td></tr>' if more else ""
    return f"<table>{above}{head}<tbody>{body}{rest}</tbody></table>"


def _row(cells: Sequence[Any], sides: Sequence[str], has_header: bool) -> str:
    shown = [f'<td style="{side}">{_text(value)}</td>' for value, side in zip(cells, sides, strict=True)]
    if has_header:
        shown[0] = f'<th scope="row" style="{LEFT}; white-space: nowrap">{_text(cells[0])}</th>'
    return f"<tr>{''.join(shown)}</tr>"


def facts(caption: str, **values: Any) -> str:
    """Return a table of names and values. Underscores in names become spaces, and None is left out.

    Examples
    --------
    >>> from driftmdp.display import facts
    >>> "2,000</td>" in facts("a world", steps=2000, name=None)
    True
    """
    rows = [(name.replace("_", " "), value) for name, value in values.items() if value is not None]
    return table([], rows, caption)


class Html(str):
    """HTML that a table includes without escaping it."""

    __slots__ = ()


def sparkline(values: ArrayLike, name: str) -> Html:
    """Return a small inline line chart; ``name`` describes it for readers who cannot see it.

    Examples
    --------
    >>> from driftmdp.display import sparkline
    >>> sparkline([0, 1], "rising").count("polyline")
    1
    """
    line = np.asarray(values, dtype=np.float64).ravel()
    line = line[np.isfinite(line)]
    if line.size < 2:
        return Html("")
    line = line / (np.abs(line).max() or 1.0)  # otherwise the range of very large numbers overflows
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
    """Return a few indices of a line: the minimum and maximum of each stretch, so that no peak is lost."""
    stretches = np.array_split(np.arange(line.size), SPARKLINE_POINTS // 2)
    ends = [(part[line[part].argmin()], part[line[part].argmax()]) for part in stretches if part.size]
    return np.arange(line.size) if line.size <= SPARKLINE_POINTS else np.unique([0, *np.ravel(ends), line.size - 1])


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
    import html  # which has a table of all entities, and only notebooks need it

    return html.escape(value if len(value) <= 4 * MAX_TEXT_LENGTH else value[: 4 * MAX_TEXT_LENGTH] + "...")

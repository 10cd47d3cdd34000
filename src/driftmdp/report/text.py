"""Numbers and intervals as text, and rows of tables made from them."""

import functools
import math
import tomllib
from importlib.resources import files
from typing import Any

from driftmdp.report.content import TableCell
from driftmdp.statistics import Interval


@functools.cache
def _notes() -> dict[str, Any]:
    return tomllib.loads(files("driftmdp.report").joinpath("notes.toml").read_text(encoding="utf-8"))


def note(name: str, **values: Any) -> str:
    """Return a note of ``notes.toml`` with its values filled in.

    Examples
    --------
    >>> from driftmdp.report.text import note
    >>> note("problems")
    'B_r and B_p are the exact variation budgets.'
    """
    return str(_notes()[name]).format(**values)


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits and thousands separators, or a dash for None.

    Examples
    --------
    >>> from driftmdp.report.text import number
    >>> number(12345.678), number(0.0123456), number(None), number(-0.0)
    ('12,346', '0.01235', '–', '0')
    """  # noqa: RUF002 - the dash is what is shown
    if value is None or math.isnan(value):
        return "–"  # noqa: RUF001
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if not 1e-5 <= abs(value) < 1e10:
        return f"{value:.{digits - 1}e}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def table_row(*values: TableCell | Interval | str | float | None) -> list[TableCell]:
    """Return a row of a table from texts, counts (int), numbers (float), intervals and finished cells.

    Examples
    --------
    >>> from driftmdp.report.text import table_row
    >>> from driftmdp.statistics import Interval
    >>> [cell.text for cell in table_row("a", 12345, 0.123456, None, Interval(1.5, 1, 2, 0.95))]
    ['a', '12,345', '0.1235', '–', '1.50 [1.00, 2.00]']
    """  # noqa: RUF002 - the dash is what is shown
    return [_cell(value) for value in values]


def _cell(value: TableCell | Interval | str | float | None) -> TableCell:
    if isinstance(value, TableCell):
        return value
    if isinstance(value, Interval):
        return interval_cell(value)
    if isinstance(value, str):
        return TableCell(value)
    return TableCell(f"{value:,}", float(value)) if isinstance(value, int) else number_cell(value)


def number_cell(value: float | None, digits: int = 4) -> TableCell:
    """Return the table cell of a number."""
    return TableCell(number(value, digits), None if value is None or not math.isfinite(value) else float(value))


def interval_cell(found: Interval, kind: str = "") -> TableCell:
    """Return the table cell of an estimate with its interval."""
    return TableCell(interval_text(found), float(found.estimate), kind)


def interval_text(found: Interval) -> str:
    """Return an estimate with its interval, to the digits that the width of the interval leaves meaningful.

    Examples
    --------
    >>> from driftmdp.report.text import interval_text
    >>> from driftmdp.statistics import Interval
    >>> interval_text(Interval(60.22, 41.76, 79.72, 0.95)), interval_text(Interval(0.4912, 0.4811, 0.5013, 0.95))
    ('60 [42, 80]', '0.491 [0.481, 0.501]')
    """
    width = found.high - found.low
    if not (1e-5 <= width < math.inf) or max(abs(found.low), abs(found.high)) >= 1e10:
        return f"{number(found.estimate)} [{number(found.low)}, {number(found.high)}]"
    places = max(0, 1 - math.floor(math.log10(width / 2)))
    estimate, low, high = (_fixed(value, places) for value in (found.estimate, found.low, found.high))
    return f"{estimate} [{low}, {high}]"


def _fixed(value: float, places: int) -> str:
    text = f"{value:,.{places}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def percent_text(found: Interval) -> str:
    """Return a ratio as a percentage above 1: ``+12% [+9%, +15%]``."""
    return f"{_percent(found.estimate)} [{_percent(found.low)}, {_percent(found.high)}]"


def _percent(ratio: float) -> str:
    if not math.isfinite(ratio):
        return number(ratio)
    return f"{round(100 * (ratio - 1)) + 0:+d}%"


def p_cell(value: float) -> TableCell:
    """Return the table cell of a p-value."""
    if math.isnan(value):
        return TableCell("–")  # noqa: RUF001
    return TableCell("< 0.001" if value < 0.001 else f"{value:.3f}", float(value))

"""Numbers as people read them."""

from __future__ import annotations

import math

from driftmdp.report.content import TableCell
from driftmdp.statistics import Interval


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits, thousands apart; a dash for none.

    Examples
    --------
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


def number_cell(value: float | None, digits: int = 4) -> TableCell:
    """Return a number for a table."""
    return TableCell(number(value, digits), None if value is None or not math.isfinite(value) else float(value))


def interval_cell(found: Interval, kind: str = "") -> TableCell:
    """Return an estimate with its interval for a table."""
    return TableCell(interval_text(found), float(found.estimate), kind)


def interval_text(found: Interval) -> str:
    """Return an estimate with its interval; the digits are those that the interval leaves any meaning.

    Examples
    --------
    >>> interval_text(Interval(60.22, 41.76, 79.72, 0.95)), interval_text(Interval(0.4912, 0.4811, 0.5013, 0.95))
    ('60 [42, 80]', '0.491 [0.481, 0.501]')
    """
    width = found.high - found.low
    if not (math.isfinite(width) and width > 0):
        return f"{number(found.estimate)} [{number(found.low)}, {number(found.high)}]"
    if max(abs(found.low), abs(found.high)) >= 1e10 or width < 1e-5:
        return f"{number(found.estimate)} [{number(found.low)}, {number(found.high)}]"
    places = max(0, 1 - math.floor(math.log10(width / 2)))
    estimate, low, high = (_fixed(value, places) for value in (found.estimate, found.low, found.high))
    return f"{estimate} [{low}, {high}]"


def _fixed(value: float, places: int) -> str:
    text = f"{value:,.{places}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def percent_text(found: Interval) -> str:
    """Return a ratio as how much more it is; ``+12% [+9%, +15%]``."""
    return f"{_percent(found.estimate)} [{_percent(found.low)}, {_percent(found.high)}]"


def _percent(ratio: float) -> str:
    if not math.isfinite(ratio):
        return number(ratio)
    return f"{round(100 * (ratio - 1)) + 0:+d}%"


def p_cell(value: float) -> TableCell:
    """Return a p-value for a table."""
    if math.isnan(value):
        return TableCell("–")  # noqa: RUF001
    return TableCell("< 0.001" if value < 0.001 else f"{value:.3f}", float(value))

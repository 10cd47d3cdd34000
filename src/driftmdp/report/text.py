"""Numbers as people read them."""

from __future__ import annotations

import math

from driftmdp.report.model import Cell
from driftmdp.statistics import Interval

__all__ = ["interval_cell", "number", "number_cell", "p_cell", "percent_text"]


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
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def number_cell(value: float | None, digits: int = 4) -> Cell:
    """Return a number for a table."""
    return Cell(number(value, digits), None if value is None or not math.isfinite(value) else float(value))


def interval_cell(found: Interval, kind: str = "") -> Cell:
    """Return an estimate with its interval for a table; ``2,331 [2,260, 2,405]``."""
    return Cell(f"{number(found.estimate)} {bounds(found)}", float(found.estimate), kind)


def bounds(found: Interval) -> str:
    """Return the ends of an interval."""
    return f"[{number(found.low)}, {number(found.high)}]"


def percent_text(found: Interval) -> str:
    """Return a ratio as how much more it is; ``+12% [+9%, +15%]``."""
    return f"{_percent(found.estimate)} [{_percent(found.low)}, {_percent(found.high)}]"


def _percent(ratio: float) -> str:
    return "–" if math.isnan(ratio) else f"{100 * (ratio - 1):+.0f}%"  # noqa: RUF001


def p_cell(value: float) -> Cell:
    """Return a p-value for a table."""
    if math.isnan(value):
        return Cell("–")  # noqa: RUF001
    return Cell("< 0.001" if value < 0.001 else f"{value:.3f}", float(value))

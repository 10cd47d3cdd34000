"""``calendar.csv``: special days, such as promotions, holidays, and days on which the shop is closed."""

import os
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import NamedTuple

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import cells
from driftmdp.inventory.cells import YEARS
from driftmdp.inventory.csv_io import LineErrors, read_table
from driftmdp.inventory.file_conventions import Conventions
from driftmdp.validation import as_integer, as_number, check_type

CLOSED = "closed"  # the name of a day without demand, costs and orders


class SpecialDay(NamedTuple):
    """A line of a calendar.

    Attributes
    ----------
    day
        The day's number, ``date.toordinal``. A week has the special days that it contains.
    name
        What the day is called. The effect of a name is learned over its days, unless it has a factor.
    sku, group
        The item, or the group of items, that it is about. Both are empty for all items.
    factor
        What demand is multiplied by, or None if that is learned.
    """

    day: int
    name: str
    sku: str = ""
    group: str = ""
    factor: float | None = None

    @property
    def key(self) -> "SpecialDay":
        """The line without its factor. A later line with the same key replaces it."""
        return self._replace(factor=None)

    def is_about(self, sku: str, group: str) -> bool:
        """Return whether the line is about an item, which is in a group: by name, by group, or with all."""
        return (self.sku, self.group) in {("", ""), (sku, ""), ("", group)}


def read_calendar(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, remarks: list[str] | None = None
) -> tuple[SpecialDay, ...]:
    r"""Read ``calendar.csv``: columns date and name, and perhaps sku or group, and factor.

    How the file was read is added to ``remarks``.

    Examples
    --------
    >>> from driftmdp.inventory import read_calendar
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "calendar.csv")
    ...     _ = file.write_text("date,name,factor\n2026-12-24,christmas,1.5\n2026-12-25,closed,\n")
    ...     [(day.name, day.factor) for day in read_calendar(file)]
    [('christmas', 1.5), ('closed', None)]
    """
    given = Conventions(has_option=False)
    table = read_table(Path(path), ("date", "name"), ("sku", "group", "factor"), columns, given=given)
    if remarks is not None:
        remarks += table.remarks
    errors = LineErrors(str(path))
    days, names = errors.read(table, "date", cells.as_ordinal), errors.read(table, "name", _name)
    nothing: list[None] = [None] * len(table.lines)
    skus, groups = (errors.read_optional(table, name, cells.as_name) or nothing for name in ("sku", "group"))
    factors = errors.read_optional(table, "factor", _factor) or nothing
    found, seen = list[SpecialDay](), dict[SpecialDay, int]()
    for line, day, name, sku, group, factor in zip(table.lines, days, names, skus, groups, factors, strict=True):
        if sku and group:
            errors.add(line, "sku and group must not both be given")
        if name == CLOSED and factor is not None:
            errors.add(line, f"factor must be empty on a day that is {CLOSED}")
        if day is not None and name is not None:
            special = SpecialDay(day, name, sku or "", group or "", factor)
            if special.key in seen:
                errors.add(line, f"{name} stands on line {seen[special.key]} already, for the same day")
            seen[special.key] = line
            found.append(special)
    errors.raise_if_any("Correct these lines, then try again; nothing was done.")
    if not found:
        raise InvalidInputError(f"{path} must have lines below its header; it has none.")
    return tuple(found)


def checked_calendar(lines: Iterable[SpecialDay]) -> tuple[SpecialDay, ...]:
    """Return lines that were made in Python, if a file could have them too."""
    found = tuple(lines)
    for line in found:
        check_type(line, SpecialDay, "calendar must have lines SpecialDay(day, name, sku, group, factor)")
        as_integer(
            line.day, "day of a special day", date(YEARS[0], 1, 1).toordinal(), date(YEARS[-1], 12, 31).toordinal()
        )
        names = [line.name, *(name for name in (line.sku, line.group) if name)]
        if not all(map(cells.is_name, names)) or (line.sku and line.group):
            raise InvalidInputError(f"A special day must have a name, and a sku or a group or neither; got {line}.")
        if line.factor is not None and (as_number(line.factor, "factor") <= 0.0 or line.name == CLOSED):
            rule = f"factor must be above 0, and None on a day that is {CLOSED}"
            raise InvalidInputError(f"{rule}; got {line.factor} for {line.name}.")
    return found


def _name(text: str) -> str:
    name = cells.as_name(text)
    return CLOSED if name.lower() == CLOSED else name


def _factor(text: str) -> float:
    try:
        factor = cells.amount(text)
    except ValueError:
        raise ValueError(f"be a number above 0, such as 2 or 0.5; got {text[:40]!r}") from None
    if factor <= 0.0:
        raise ValueError(f"be above 0, and a day without demand has the name {CLOSED}; got {text}")
    return factor

"""A shop's daily tables as CSV: counts in, orders and records out."""

import functools
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import date
from operator import attrgetter
from pathlib import Path

from driftmdp.display import counted
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import cells
from driftmdp.inventory.column_names import plain_name
from driftmdp.inventory.csv_io import CsvTable, LineErrors, csv_text, read_table
from driftmdp.inventory.file_conventions import Conventions
from driftmdp.inventory.history import last_sales
from driftmdp.inventory.lines import Count
from driftmdp.inventory.results import Advice, Event
from driftmdp.inventory.terms import MAX_LEAD_TIME, MAX_SHELF_LIFE

LEFT = tuple(f"left_{place}" for place in range(1, MAX_SHELF_LIFE + 1))
COMING = tuple(f"coming_{place}" for place in range(1, MAX_LEAD_TIME))
ORDER_COLUMNS = ("date", "sku", "order", "stock", "coming", "packs", "cost", "method")
NO_COUNTS = ("order", "coming", "packs", "cost", "method")  # of these, what says nothing of a morning
SOLD_COLUMNS = ("date", "sku", "units", "in_stock", "ordered", "stock", "demand")


def read_counts(
    path: str | os.PathLike[str],
    day: date | None = None,
    columns: Mapping[str, str] | None = None,
    date_format: str | None = None,
    decimal: str | None = None,
    remarks: list[str] | None = None,
) -> tuple[date | None, list[Count]]:
    r"""Return the day, if the file names one, and the counts of a file with columns sku and stock.

    A column ``date`` must say the same day on every line. ``coming_1``, ``coming_2``, .. (``coming`` is the first),
    ``left_1``, ``left_2``, .. and ``pack`` may be there too. ``date_format`` and ``decimal`` are as for
    ``read_sales``. How the file was read is added to ``remarks``.

    Examples
    --------
    >>> from driftmdp.inventory import read_counts
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "stock.csv")
    ...     _ = file.write_text("sku;stock\nA;3\n")
    ...     read_counts(file)
    (None, [Count(sku='A', stock=3, coming=(), pack=None, left=())])
    """
    aliases = {"lot": "pack", "coming": "coming_1"}
    given, optional = Conventions(date_format, decimal), ("date", "pack", *COMING, *LEFT)
    table = read_table(
        Path(path), ("sku", "stock"), optional, columns, aliases=aliases, given=given, orders=NO_COUNTS
    )
    _check_coming(table)
    errors, lines = LineErrors(str(path)), dict[str, int]()
    skus = errors.read(table, "sku", cells.as_name)
    least = None if table.is_added_up else 0  # less than nothing in one place may be made up for in another
    stocks = errors.read(table, "stock", functools.partial(cells.whole_number, minimum=least))
    said = _orders_said(table)
    if table.is_added_up:
        stocks, several = _added_up(errors, table, skus, stocks)
        said += several
    if remarks is not None:
        remarks += *table.remarks, *said
    nothing: list[None] = [None] * len(skus)
    packs = errors.read_optional(table, "pack", functools.partial(cells.whole_number, minimum=1)) or nothing
    coming, left = (_by_period(errors, table, names) for names in (COMING, LEFT))
    day = _one_day(errors, table, day)
    counts = []
    for line, sku, stock, pack, arriving, old in zip(table.lines, skus, stocks, packs, coming, left, strict=True):
        if sku is not None and stock is not None:
            if sku in lines:
                errors.add(line, f"{sku} stands on line {lines[sku]} already")
            lines[sku] = line
            counts.append(Count(sku, stock, arriving, pack, old, f"{path}, line {line}: "))
    errors.raise_if_any("Correct these lines, then try again; nothing was done.")
    if not counts:
        raise InvalidInputError(f"{path} must have lines below its header; it has none.")
    return day, counts


def _added_up(
    errors: LineErrors, table: CsvTable, skus: list[str | None], stocks: list[int | None]
) -> tuple[list[int | None], tuple[str, ...]]:
    """Return stock in which an item's first line has that of all places, and the others nothing, and a remark."""
    totals, places = Counter[str](), Counter[str]()
    for sku, stock in zip(skus, stocks, strict=True):
        totals[sku or ""] += stock or 0
        places[sku or ""] += 1
    found: list[int | None] = []
    for line, sku, stock in zip(table.lines, skus, stocks, strict=True):
        total = None if sku is None or stock is None else totals.pop(sku, None)
        if total is not None and total < 0:
            errors.add(line, f"stock of {sku} must not be negative in all places together; got {total}")
            total = None
        found.append(total)
    several = sum(count > 1 for count in places.values())
    return found, (f"Stock in several places is added up for {counted(several, 'item')}.",) if several else ()


def _orders_said(table: CsvTable) -> tuple[str, ...]:
    """Return what is not read of a file of our own orders, if it is one."""
    unread = [name for name in table.others if plain_name(name) in NO_COUNTS]
    if len(unread) < len(NO_COUNTS):
        return ()
    return (f"{table.path.name} has orders: its stock counts, but its {', '.join(unread)} are not used.",)


def _check_coming(table: CsvTable) -> None:
    """Refuse arrivals of this morning, or after the longest lead time. To ignore them would order too much."""
    for name in table.others:
        if re.fullmatch(r"coming[\s_-]*\d+", name.lower()):
            rule = f"{table.path} must say what is on its way in {COMING[0]} to {COMING[-1]}"
            raise InvalidInputError(f"{rule}; got {name}. What arrived this morning is part of the stock.")


def _by_period(errors: LineErrors, table: CsvTable, names: Sequence[str]) -> list[tuple[int | None, ...]]:
    """Return what lines say by period, in some columns that may be there: up to the last that is."""
    last = max((place for place, name in enumerate(names, 1) if name in table.columns), default=0)
    nothing: list[int | None] = [None] * len(table.lines)
    read = [errors.read_optional(table, name, cells.whole_number) or nothing for name in names[:last]]
    return list(zip(*read, strict=True)) if read else [()] * len(table.lines)


def _one_day(errors: LineErrors, table: CsvTable, day: date | None) -> date | None:
    """Return the day that all lines are about."""
    found = errors.read_optional(table, "date", cells.as_ordinal) or []
    for line, there in zip(table.lines, found, strict=False):
        if there is not None:
            if day is not None and there != day.toordinal():
                errors.add(line, f"date must be {day} on every line; got {date.fromordinal(there)}")
            day = day or date.fromordinal(there)
    return day


def orders_csv(advice: Iterable[Advice]) -> str:
    """Return advice as CSV.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory import Advice, orders_csv
    >>> advice = Advice("=A", date(2026, 11, 16), stock=2, coming=0, order=12, pack=6, cost=1.25, method="exact")
    >>> print(orders_csv([advice]), end="")
    date,sku,order,stock,coming,packs,cost,method
    2026-11-16,'=A,12,2,0,2,1.25,exact
    """
    rows = (
        (a.day.isoformat(), a.sku, a.order, a.stock, a.coming, a.order // a.pack, _money(a.cost), a.method or "")
        for a in advice
    )
    return csv_text(ORDER_COLUMNS, rows)


def _money(amount: float | None) -> str:
    return "" if amount is None else f"{amount:.6g}"


def events_csv(events: Iterable[Event]) -> str:
    """Return recorded events as CSV.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory import Event, events_csv
    >>> event = Event(1, "2026-11-16T07:00:00+00:00", "sold", date(2026, 11, 16), "A", 9, ordered=0, sales=4)
    >>> print(events_csv([event]), end="")  # doctest: +ELLIPSIS
    number,written_at,kind,date,sku,stock,coming,expected,...,received,ordered_on
    1,2026-11-16T07:00:00+00:00,sold,2026-11-16,A,9,,,,0,4,,,,,,,
    """
    names = [field.name for field in fields(Event)]
    return csv_text(["date" if name == "day" else name for name in names], map(attrgetter(*names), events))


def history_csv(events: Iterable[Event]) -> str:
    """Return recorded sales as CSV that ``record`` reads: the last entry of each item and day, by day.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory import Event, history_csv
    >>> event = Event(1, "2026-11-16T07:00:00+00:00", "sold", date(2026, 11, 16), "A", 9, ordered=0, sales=4)
    >>> print(history_csv([event]), end="")
    date,sku,units,in_stock,ordered,stock,demand
    2026-11-16,A,4,,0,9,
    """
    rows = (
        (
            event.day and event.day.isoformat(),
            event.sku,
            event.sales,
            _in_stock(event),
            event.ordered,
            event.stock,
            int(event.seen == "demand") or None,
        )
        for event in last_sales(events)
    )
    return csv_text(SOLD_COLUMNS, rows)


def _in_stock(event: Event) -> int | None:
    """Return the mark of a day that has no count, or that says nothing of demand."""
    if event.seen == "nothing":
        return 0
    return 1 if event.seen == "exact" and event.stock is None else None

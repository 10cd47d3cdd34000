"""Recording sales: the new rows, and remarks on unusual sales."""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.daily_csv import Sold
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import UNKNOWN, DayRecords, DecidedRow, ItemStates, SoldRow, read_day

SMALL_LOT_SHARE = 0.1  # of an item's days may sell more than the shelf takes, before its lot is called too small
SMALL_LOT_MIN_DAYS = 10  # fewer days count as this many
LONG_GAP_DAYS = 366  # without any sale, after which the year may be wrong


def lines_by_day(lines: Sequence[Sold]) -> list[tuple[date, list[Sold]]]:
    """Return the lines of each day, in the order of the days. Two for an item that differ are refused."""
    days: dict[date, dict[str, Sold]] = {}
    for line in lines:
        if days.setdefault(line.day, {}).setdefault(line.sku, line) != line:
            raise InvalidInputError(f"{line.sku} on {line.day} must be recorded once; got two that differ.")
    return [(day, list(days[day].values())) for day in sorted(days)]


def require_stocks(states: ItemStates, log: EventLog, days: Sequence[tuple[date, list[Sold]]]) -> None:
    """Refuse sales whose stock is neither given nor recorded."""
    unknown = []
    for day, lines in days:
        records = read_day(log, day)
        recorded = records.decided.keys() | records.sold.keys()
        blind = (line for line in lines if line.stock is None and states.numbers[line.sku] not in recorded)
        unknown += [f"{line.sku} on {day}" for line in blind]
    if unknown:
        what = f"Whether these were sold out is not known, as no advice was asked for: {listed(unknown)}"
        advice = "add a column stock with the morning's count, or use --plenty if none of them was sold out."
        raise InvalidInputError(f"{what}. Nothing was done; {advice}")


def new_sales(
    states: ItemStates, day: date, lines: Sequence[Sold], records: DayRecords, correct: bool
) -> tuple[dict[int, SoldRow], Counter[str], list[str]]:
    """Return the new rows of a day, how many lines are recorded, repeated and corrected, and oversold items."""
    rows, counts, oversold = dict[int, SoldRow](), Counter[str](), []
    for line in lines:
        item = states.numbers[line.sku]
        before = records.sold.get(item)
        row = _completed(line, before, records.decided.get(item))
        if before == row:
            counts["repeated"] += 1
            continue
        if before is not None and not correct:
            recorded = f"{line.sku} on {day} is recorded with {_as_text(before)}; got {_as_text(row)}"
            raise InvalidInputError(f"{recorded}. Nothing was done; use --correct if the record was wrong.")
        counts["recorded" if before is None else "corrected"] += 1
        there = row.stock + (row.ordered if states.shelf.lead_time == 0 else 0)
        if row.stock != UNKNOWN and row.sales > there:
            oversold.append(f"{line.sku} on {day} sold {row.sales} of {there}")
        rows[item] = row
    return rows, counts, oversold


def _completed(line: Sold, before: SoldRow | None, advice: DecidedRow | None) -> SoldRow:
    """Return a whole row. Numbers that a line does not have are those recorded."""
    stock, ordered = line.stock, line.ordered
    if before is None and advice is not None:
        before = SoldRow(advice.stock, advice.advice, 0)
    if before is not None:
        stock = before.stock if stock is None else stock
        ordered = before.ordered if ordered is None else ordered
    if stock is None or stock == UNKNOWN:
        return SoldRow(UNKNOWN, UNKNOWN if ordered is None else ordered, line.units)
    return SoldRow(stock, max(0, ordered or 0), line.units)


def long_gaps(last_day: int, lines: Sequence[Sold]) -> list[str]:
    """Return a remark on days that come long after the day before them, or after the last recorded day."""
    days = sorted({line.day.toordinal() for line in lines} | ({last_day} if last_day > 0 else set()))
    far = [date.fromordinal(day).isoformat() for before, day in pairwise(days) if day - before > LONG_GAP_DAYS]
    return [f"More than a year after the day before: {listed(far)}. Is the year right?"] if far else []


def small_lots(states: ItemStates, lines: Sequence[Sold]) -> list[str]:
    """Return a remark on items that often sell more in a day than the shelf takes."""
    days, beyond = Counter[str](), Counter[str]()
    for line in lines:
        days[line.sku] += 1
        beyond[line.sku] += line.units > states.shelf.capacity * states.lots[states.numbers[line.sku]]
    often = [
        f"{sku} on {n} of {days[sku]} days"
        for sku, n in beyond.items()
        if n > SMALL_LOT_SHARE * max(SMALL_LOT_MIN_DAYS, days[sku])
    ]
    remark = "More was sold than the shelf takes, so demand is underestimated; use larger lots"
    return [f"{remark}: {listed(often)}."] if often else []


def _as_text(row: SoldRow) -> str:
    stock = "an unknown stock" if row.stock == UNKNOWN else f"a stock of {row.stock}"
    order = "an unknown order" if row.ordered == UNKNOWN else f"an order of {row.ordered}"
    return f"{row.sales} sold from {stock} and {order}"

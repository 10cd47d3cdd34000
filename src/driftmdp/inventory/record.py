"""Each evening: what was sold, and what it teaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import pairwise

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.batch_codec import SOLD
from driftmdp.inventory.daily_csv import Sold
from driftmdp.inventory.desk import Desk
from driftmdp.inventory.item_states import NEVER
from driftmdp.inventory.results import Receipt
from driftmdp.inventory.text import listed

OFTEN, DAYS = 0.1, 10  # a share of the days told, at least so many, on which lots prove to be too small
LEAP = 366  # days without any sale after which a year may be wrong
Evening = tuple[int, int, int]  # stock, what was ordered, sales


def record(desk: Desk, sold: Iterable[Sold], correct: bool, plenty: bool) -> Receipt:
    """Write down what was sold, and learn from it. ``Shop.record`` says more."""
    told = list(sold)
    counts, odd = Counter[str](), list[str]()
    with desk.writing():
        known = int(desk.shelves.last["day"].max(initial=0))
        new = desk.add_items(told)
        remarks = desk.odd_names(new) + _leaps(known, told)
        if not plenty:
            _require_stocks(desk, told)
        for day, lines in sorted(_by_day(told).items()):
            rows = _new_rows(desk, day, lines, correct, counts, odd)
            if rows:
                items, stock, ordered, sales = zip(*rows, strict=True)
                columns: dict[str, object] = {"item": items, "stock": stock, "ordered": ordered, "sales": sales}
                desk.write(SOLD, day, columns, new)
                new = []
        desk.settle()
        if counts["recorded"] or counts["corrected"]:
            desk.book.keep_snapshot(desk.shelves.as_bytes())
    remarks += _beyond(desk, told)
    if odd:
        remarks.append(f"More was sold than was there, so a count was wrong; taken as sold out: {listed(odd)}.")
    return Receipt(counts["recorded"], counts["repeated"], counts["corrected"], tuple(remarks))


def _by_day(told: Sequence[Sold]) -> dict[date, list[Sold]]:
    days: dict[date, dict[str, Sold]] = {}
    for line in told:
        if days.setdefault(line.day, {}).setdefault(line.sku, line) != line:
            raise InvalidInputError(f"{line.sku} on {line.day} must be told once; got two that differ.")
    return {day: list(lines.values()) for day, lines in days.items()}


def _new_rows(
    desk: Desk,
    day: date,
    lines: Sequence[Sold],
    correct: bool,
    counts: Counter[str],
    odd: list[str],
) -> list[tuple[int, int, int, int]]:
    """Return what a day's lines add to the book, as item and evening; count them, and note what is odd."""
    mornings, evenings = desk.mornings(day), desk.evenings(day)
    rows = []
    for line in lines:
        item = desk.shelves.numbers[line.sku]
        before = evenings.get(item)
        morning = mornings.get(item)
        evening = _evening(line, before or ((morning[0], morning[2], 0) if morning else None))
        if before == evening:
            counts["repeated"] += 1
            continue
        if before is not None and not correct:
            raise InvalidInputError(
                f"{line.sku} on {day} is recorded with {_words(before)}; got {_words(evening)}. Nothing was "
                "done; use --correct if the record was wrong."
            )
        counts["recorded" if before is None else "corrected"] += 1
        stock, ordered, sales = evening
        there = stock + (ordered if desk.shelf.lead_time == 0 else 0)
        if stock != NEVER and sales > there:
            odd.append(f"{line.sku} on {day} sold {sales} of {there}")
        rows.append((item, *evening))
    return rows


def _evening(line: Sold, known: Evening | None) -> Evening:
    """Return a whole evening; what a line does not say is taken from the book."""
    stock, ordered = line.stock, line.ordered
    if known is not None:
        stock = known[0] if stock is None else stock
        ordered = known[1] if ordered is None else ordered
    if stock is None or stock == NEVER:
        return NEVER, NEVER if ordered is None else ordered, line.units
    return stock, max(0, ordered or 0), line.units


def _require_stocks(desk: Desk, told: Sequence[Sold]) -> None:
    """Refuse days of which neither the lines nor the book know the stock."""
    unknown = []
    for day, lines in _by_day(told).items():
        known = desk.mornings(day).keys() | desk.evenings(day).keys()
        blind = [line for line in lines if line.stock is None and desk.shelves.numbers[line.sku] not in known]
        unknown += [f"{line.sku} on {day}" for line in blind]
    if unknown:
        raise InvalidInputError(
            f"Whether these were sold out is not known, as no advice was asked for: {listed(unknown)}. Nothing was "
            "done; add a column stock with the morning's count, or use --plenty if none of them was sold out."
        )


def _leaps(known: int, told: Sequence[Sold]) -> list[str]:
    """Return a remark on days that come long after the day before them, or after the last known day."""
    days = sorted({line.day.toordinal() for line in told} | ({known} if known > 0 else set()))
    far = [date.fromordinal(day).isoformat() for before, day in pairwise(days) if day - before > LEAP]
    return [f"More than a year after the day before: {listed(far)}. Is the year right?"] if far else []


def _beyond(desk: Desk, told: Sequence[Sold]) -> list[str]:
    """Return a remark on items that often sell more in a day than the shelf takes: their lots are too small."""
    shelves, days, beyond = desk.shelves, Counter[str](), Counter[str]()
    for line in told:
        lot = shelves.lots[shelves.numbers[line.sku]]
        days[line.sku] += 1
        beyond[line.sku] += line.units > desk.shelf.capacity * lot
    often = [f"{sku} on {n} of {days[sku]} days" for sku, n in beyond.items() if n > OFTEN * max(DAYS, days[sku])]
    if not often:
        return []
    return [f"More was sold than the shelf takes, so demand is underestimated; use larger lots: {listed(often)}."]


def _words(evening: Evening) -> str:
    stock, ordered, sales = evening
    shelf = "an unknown stock" if stock == NEVER else f"a stock of {stock}"
    order = "an unknown order" if ordered == NEVER else f"an order of {ordered}"
    return f"{sales} sold from {shelf} and {order}"

"""Each evening: what was sold, and what it teaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.answers import Receipt
from driftmdp.inventory.contents import SOLD
from driftmdp.inventory.desk import Desk
from driftmdp.inventory.forms import Sold
from driftmdp.inventory.shelves import NEVER
from driftmdp.inventory.words import listed

__all__ = ["record"]

Evening = tuple[int, int, int]  # stock, what was ordered, sales


def record(desk: Desk, sold: Iterable[Sold], correct: bool, plenty: bool) -> Receipt:
    """Write down what was sold, and learn from it. ``Shop.record`` says more."""
    told = list(sold)
    counts, odd = Counter[str](), list[str]()
    with desk.writing():
        new = desk.welcome(told)
        for day, lines in sorted(_by_day(told).items()):
            rows = _new_rows(desk, day, lines, correct, plenty, counts, odd)
            if rows:
                items, stock, ordered, sales = zip(*rows, strict=True)
                columns: dict[str, object] = {"item": items, "stock": stock, "ordered": ordered, "sales": sales}
                desk.write(SOLD, day, columns, new)
                new = []
        if counts["recorded"] or counts["corrected"]:
            desk.book.keep_snapshot(desk.shelves.as_bytes())
    remarks = (
        [f"More was sold than was there, so a count was wrong; taken as sold out: {listed(odd)}."] if odd else []
    )
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
    plenty: bool,
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
        evening = _evening(line, before or ((morning[0], morning[2], 0) if morning else None), plenty)
        if before == evening:
            counts["repeated"] += 1
            continue
        if before is not None and not correct:
            raise InvalidInputError(
                f"{line.sku} on {day} is recorded with {_words(before)}; got {_words(evening)}. Nothing was done; "
                "use --correct if the record was wrong."
            )
        counts["recorded" if before is None else "corrected"] += 1
        stock, ordered, sales = evening
        there = stock + (ordered if desk.prices.lead_time == 0 else 0)
        if stock != NEVER and sales > there:
            odd.append(f"{line.sku} on {day} sold {sales} of {there}")
        rows.append((item, *evening))
    return rows


def _evening(line: Sold, known: Evening | None, plenty: bool) -> Evening:
    """Return a whole evening; what a line does not say is taken from the book."""
    stock, ordered = line.stock, line.ordered
    if known is not None:
        stock = known[0] if stock is None else stock
        ordered = known[1] if ordered is None else ordered
    if stock is None:
        if not plenty:
            raise InvalidInputError(
                f"Nothing is known of the stock of {line.sku} on {line.day}: no advice was asked for. Nothing was "
                "done; add a column stock with the morning's count, or use --plenty if it was not sold out."
            )
        stock = NEVER
    return stock, ordered or 0, line.units


def _words(evening: Evening) -> str:
    stock, ordered, sales = evening
    shelf = "an unknown stock" if stock == NEVER else f"a stock of {stock}"
    return f"{sales} sold from {shelf} and an order of {ordered}"

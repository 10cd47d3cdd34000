"""Order lists, one per supplier, beside the file of all orders: a CSV file, and a page to print."""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from driftmdp.display import counted
from driftmdp.files import write_whole
from driftmdp.inventory import Advice, orders_csv
from driftmdp.inventory.xlsx_writer import table_content
from driftmdp.report.backtest.text import printable

LONGEST_FILE_NAME = 60  # of a supplier's part


class OrderLine(NamedTuple):
    """A line of a list, as text."""

    sku: str
    units: str
    packs: str
    value: str


def write_order_lists(advice: Sequence[Advice], day: date, beside: Path) -> list[Path]:
    """Write a list for each supplier of the advice, also for one with nothing to order, and return the pages.

    Yesterday's list must not stay where today has no order.

    Parameters
    ----------
    advice, day
        The morning's orders.
    beside
        The file of all orders. The lists of ``orders.csv`` are ``orders-SUPPLIER.csv`` and ``.html``, those of
        ``orders.xlsx`` are ``orders-SUPPLIER.xlsx`` and ``.html``.
    """
    names = list(dict.fromkeys(each.supplier for each in advice if each.supplier))
    pages = []
    for supplier, file in zip(names, file_names(names), strict=True):
        mine = [each for each in advice if each.supplier == supplier and each.order > 0]
        base = beside.with_name(f"{beside.stem}-{file}")
        table = base.with_name(f"{base.name}{'.xlsx' if beside.suffix.lower() == '.xlsx' else '.csv'}")
        write_whole(table, table_content(orders_csv(mine), table))
        page = base.with_name(f"{base.name}.html")
        write_whole(page, order_page(supplier, day, mine).encode())
        pages.append(page)
    return pages


def file_names(suppliers: Iterable[str]) -> list[str]:
    """Return a different file name for each supplier, made of letters, digits and hyphens.

    Examples
    --------
    >>> from driftmdp.report.order_list import file_names
    >>> file_names(["Mill & Sons", "../mill sons", "=1", "mill-sons 2"])
    ['Mill-Sons', 'mill-sons-2', '1', 'mill-sons-2-2']
    """
    names: dict[str, str] = {}  # by themselves in small letters, as some file systems take both as one
    for supplier in suppliers:
        plain = re.sub(r"[^\w]+", "-", supplier).strip("-_")[:LONGEST_FILE_NAME] or "supplier"
        tried = (plain, *(f"{plain}-{number}" for number in range(2, len(names) + 3)))
        name = next(each for each in tried if each.lower() not in names)
        names[name.lower()] = name
    return list(names.values())


def order_page(supplier: str, day: date, advice: Sequence[Advice]) -> str:
    """Return a supplier's list as a page to print."""
    from jinja2 import Environment

    template = files("driftmdp.report").joinpath("order_list.html.jinja").read_text(encoding="utf-8")
    rows = [
        OrderLine(printable(each.sku), f"{each.order:,}", f"{each.order // each.pack:,}", _value(each))
        for each in advice
    ]
    about = {
        "supplier": printable(supplier),
        "day": day.isoformat(),
        "rows": rows,
        "total": _total(advice),
        "has_packs": any(each.pack > 1 for each in advice),
        "has_value": any(row.value for row in rows),
    }
    return Environment(autoescape=True).from_string(template).render(about)


def _total(advice: Sequence[Advice]) -> str:
    """Return what a list has in all."""
    if not advice:
        return "Nothing to order."
    value = sum(each.order * each.price for each in advice)
    least = "" if all(each.price for each in advice) else "at least "  # not all prices are known
    worth = f", worth {least}{value:,.2f}" if value else ""
    return f"{counted(len(advice), 'item')}, {counted(sum(each.order for each in advice), 'unit')}{worth}."


def _value(advice: Advice) -> str:
    return f"{advice.order * advice.price:,.2f}" if advice.price else ""

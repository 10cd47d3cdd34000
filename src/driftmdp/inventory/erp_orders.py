"""Orders as files that Odoo and ERPNext import: one order per supplier, with a line for each item.

The first line of an order has what is said of the order, and the lines below it leave that empty. Quantities are
in units.

- Odoo (Purchase, requests for quotation): the columns of its import guide, by their labels. External IDs are made
  of the shop's name, the day, the supplier and the item, so that the same file imported again changes the orders
  of before and makes no new ones. The time is noon, which is the same day in nearly every time zone.
- ERPNext (Data Import, Purchase Order, "Insert New Records"): the labels of its template.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.csv_io import csv_text
from driftmdp.inventory.results import Advice
from driftmdp.validation import one_of

ERP_PROGRAMS = {"odoo": "Odoo", "erpnext": "ERPNext"}
ODOO_COLUMNS = (
    *("External ID", "Vendor", "Order Deadline"),
    *("Order Lines/External ID", "Order Lines/Product", "Order Lines/Quantity"),
)
ERPNEXT_COLUMNS = (
    *("Supplier", "Date", "Required By"),
    *("Item Code (Items)", "Quantity (Items)", "Required By (Items)"),
)
MAX_NAMES_SHOWN = 5


def erp_orders_csv(advice: Sequence[Advice], program: str, shop: str = "shop") -> str:
    """Return orders as a CSV file that Odoo or ERPNext imports. Items without an order are left out.

    What arrives on a day that is not known is required on the day of the order.

    Parameters
    ----------
    advice
        The orders.
    program
        ``odoo`` or ``erpnext``.
    shop
        The shop's name, which tells its orders from those of others.

    Raises
    ------
    InvalidInputError
        If an item to order has no supplier.

    Examples
    --------
    >>> from datetime import date
    >>> from driftmdp.inventory import Advice, erp_orders_csv
    >>> tea = Advice("TEA", date(2026, 11, 16), stock=2, coming=0, order=12, supplier="Mill")
    >>> print(erp_orders_csv([tea], "erpnext"), end="")
    Supplier,Date,Required By,Item Code (Items),Quantity (Items),Required By (Items)
    Mill,2026-11-16,2026-11-16,TEA,12,2026-11-16
    """
    one_of(program, "program", tuple(ERP_PROGRAMS))
    ordered = [each for each in advice if each.order]
    missing = [each.sku for each in ordered if not each.supplier]
    if missing:
        rule = f"Every item to order must have a supplier to be ordered in {ERP_PROGRAMS[program]}"
        names = listed(missing, MAX_NAMES_SHOWN, ", ")
        how = "Name it in a column supplier of --items, or with driftmdp inventory set --supplier, and ask again."
        raise InvalidInputError(f"{rule}; these have none: {names}. {how}")
    by_order: dict[tuple[str, date], list[Advice]] = {}
    for each in ordered:
        by_order.setdefault((each.supplier, each.day), []).append(each)
    if program == "odoo":
        return csv_text(ODOO_COLUMNS, _odoo_rows(by_order, shop))
    return csv_text(ERPNEXT_COLUMNS, _erpnext_rows(by_order))


Orders = Mapping[tuple[str, date], Sequence[Advice]]


def _odoo_rows(orders: Orders, shop: str) -> Iterator[tuple[object, ...]]:
    for (supplier, day), lines in orders.items():
        order = f"driftmdp_{day:%Y%m%d}_{_identifier(f'{shop}/{supplier}', supplier)}"
        head: tuple[object, ...] = order, supplier, f"{day} 12:00:00"
        for each in lines:
            yield *head, f"{order}_{_identifier(each.sku, each.sku)}", each.sku, each.order
            head = "", "", ""


def _erpnext_rows(orders: Orders) -> Iterator[tuple[object, ...]]:
    for (supplier, day), lines in orders.items():
        required = [each.arrives or day for each in lines]
        head: tuple[object, ...] = supplier, day, min(required)
        for each, until in zip(lines, required, strict=True):
            yield *head, each.sku, each.order, until
            head = "", "", ""


def _identifier(whole: str, shown: str) -> str:
    """Return letters and digits that stand for a text: some of what is shown of it, and a digest of the whole."""
    digest = hashlib.sha256(whole.encode()).hexdigest()[:12]
    return f"{re.sub('[^a-z0-9]+', '_', shown.lower()).strip('_')[:24]}_{digest}"

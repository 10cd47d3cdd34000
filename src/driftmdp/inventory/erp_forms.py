"""What Odoo and ERPNext call the columns of their exports.

Odoo: the labels of versions 17 to 19, as "Export" writes them, and the technical names of its import-compatible
exports. ERPNext: the labels of versions 14 to 16 in the exports of documents ("Data Export") and in the reports
Item-wise Sales Register, Item-wise Sales History, Stock Balance and Stock Projected Qty. Names are compared without
capitals, and ``Order Lines / Product`` is ``order lines/product``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class ExportForm:
    """The columns of one kind of export.

    Attributes
    ----------
    program, what
        Who writes it, and what it has.
    columns
        What each of our columns that the export must have is called: names, the best first.
    marks
        Names of columns of which the export has at least one. A name that ends with ``*`` stands for all that begin
        so, and one that begins with it for all that end so.
    strangers
        Names of columns that it does not have.
    state, location
        Names of the column that says whether an order holds, and where stock lies.
    """

    program: str
    what: str
    columns: Mapping[str, tuple[str, ...]]
    marks: tuple[str, ...]
    strangers: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    location: tuple[str, ...] = ()


_ODOO_PRODUCT = (
    *(
        "order lines/product",
        "order lines/product variant",
        "order lines/product template",
        "order_line/product_id",
    ),
    *("lines/product_id", "product", "product variant", "product_id", "order lines/product/internal reference"),
    *("order lines/product/display name", "product/display name", "product/internal reference"),
)
_ODOO_STATE = (
    *("status", "order status", "order reference/status", "order ref/status", "state", "order_id/state"),
)
_ODOO_LINES = "order lines/*", "order_line/*", "lines/*"
_PURCHASE = "vendor", "supplier", "supplier name", "order deadline", "partner_id"
_ERPNEXT_ITEM = "item code (items)", "item (items)", "item code", "item", "item_code"

FORMS = (
    ExportForm(
        "Odoo",
        "order lines",
        MappingProxyType(
            {
                "date": (
                    *("order date", "order reference/order date", "order ref/date", "date", "date_order"),
                    *("order_id/date_order", "order lines/created on", "created on", "create_date"),
                ),
                "sku": _ODOO_PRODUCT,
                "units": (
                    *("order lines/quantity", "order_line/product_uom_qty", "lines/qty", "quantity", "qty ordered"),
                    *("product_uom_qty", "qty", "order lines/delivery quantity", "order lines/delivered quantity"),
                    *("delivery quantity", "delivered quantity", "qty delivered"),
                ),
            }
        ),
        (
            *_ODOO_LINES,
            "order reference*",
            "order ref*",
            "order status",
            "qty ordered",
            "product variant",
            "order_id*",
        ),
        ("vendor", "supplier", "order deadline"),
        _ODOO_STATE,
    ),
    ExportForm(
        "ERPNext",
        "sales",
        MappingProxyType(
            {
                "date": ("posting date", "transaction date", "date", "posting_date", "transaction_date"),
                "sku": _ERPNEXT_ITEM,
                "units": (
                    *("stock qty", "qty as per stock uom (items)", "qty in stock uom (items)", "quantity (items)"),
                    *("qty (items)", "quantity", "qty", "stock_qty"),
                ),
            }
        ),
        ("*(items)", "stock uom", "customer group", "sales order", "stock_uom"),
        ("vendor", "supplier", "supplier name"),
        ("status", "document status", "docstatus"),
    ),
    ExportForm(
        "Odoo",
        "stock",
        MappingProxyType(
            {
                "sku": (*_ODOO_PRODUCT, "display name", "internal reference", "default_code"),
                "stock": (
                    *("on hand quantity", "quantity on hand", "on hand", "inventoried quantity"),
                    *("inventory_quantity_auto_apply", "qty_available", "quantity"),
                ),
            }
        ),
        (
            *("location", "location_id", "lot/serial number", "reserved quantity", "available quantity"),
            *("on hand quantity", "quantity on hand", "inventoried quantity", "forecasted quantity"),
            *("inventory_quantity_auto_apply", "qty_available"),
        ),
        location=("location", "location_id"),
    ),
    ExportForm(
        "ERPNext",
        "stock",
        MappingProxyType(
            {
                "sku": ("item code", "item", "item_code"),
                "stock": ("balance qty", "actual qty", "actual quantity", "bal_qty", "actual_qty"),
            }
        ),
        ("warehouse", "stock uom"),
        location=("warehouse",),
    ),
    ExportForm(
        "Odoo",
        "purchase orders",
        MappingProxyType(
            {
                "date": (
                    *("order date", "confirmation date", "order deadline", "date_approve", "date_order"),
                    *("order reference/order date", "order reference/order deadline"),
                ),
                "sku": _ODOO_PRODUCT,
                "ordered": ("order lines/quantity", "order_line/product_qty", "quantity", "product_qty"),
            }
        ),
        ("vendor", "order deadline", *_ODOO_LINES),
        state=_ODOO_STATE,
    ),
    ExportForm(
        "ERPNext",
        "purchase orders",
        MappingProxyType(
            {
                "date": ("date", "transaction date", "transaction_date"),
                "sku": _ERPNEXT_ITEM,
                "ordered": (
                    *(
                        "qty in stock uom (items)",
                        "quantity (items)",
                        "qty (items)",
                        "stock qty",
                        "quantity",
                        "qty",
                    ),
                ),
            }
        ),
        ("supplier", "supplier name", "*(items)"),
        state=("status", "document status", "docstatus"),
    ),
    # Orders that came whole, for `receive`: as `decide` writes them.
    ExportForm(
        "Odoo",
        "purchase orders",
        MappingProxyType(
            {
                "ordered_on": ("order deadline",),
                "sku": ("order lines/product",),
                "units": ("order lines/quantity",),
            }
        ),
        ("vendor",),
        state=_ODOO_STATE,
    ),
    ExportForm(
        "ERPNext",
        "purchase orders",
        MappingProxyType({"ordered_on": ("date",), "sku": ("item code (items)",), "units": ("quantity (items)",)}),
        ("supplier",),
        state=("status", "document status", "docstatus"),
    ),
)
CHILD_PREFIXES = "order lines/", "order_line/", "lines/"  # Odoo's columns of an order's lines
CHILD_SUFFIX = " (items)"  # ERPNext's
NOT_ORDERED = {
    *("quotation", "quotation sent", "draft", "sent", "new", "cancelled", "canceled", "cancel"),
    *("rfq", "rfq sent", "to approve", "0", "2"),  # ERPNext's numbers of drafts and of cancelled documents
}
ORDERED = {
    *("sales order", "sale", "locked", "done", "paid", "posted", "invoiced", "purchase order", "purchase", "1"),
    *("completed", "closed", "delivered", "to deliver", "to bill", "to deliver and bill", "to receive", "on hold"),
    *("to receive and bill", "submitted", "unpaid", "overdue", "partly paid", "return", "credit note issued"),
    *("return issued", "consolidated", "partly paid and discounted", "unpaid and discounted", "to pay", "submit"),
}
NOT_IN_THE_SHOP = "virtual locations", "partners", "partner locations", "customers", "inter-company transit"

"""Exports of Odoo and ERPNext, in the columns of their documentation, and orders in the form that they import.

The files are written by hand after Odoo's import guide and models (17 to 19) and ERPNext's reports and Data Import
(14 to 16). No program of either was there.
"""

import csv
import io
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.inventory import (
    Advice,
    Costs,
    Count,
    ItemSettings,
    Shop,
    SpecialDay,
    erp_orders_csv,
    read_counts,
    read_delivered,
    read_own,
    read_sales,
    read_sold,
)
from driftmdp.inventory.erp_forms import FORMS, NOT_ORDERED, ORDERED
from driftmdp.inventory.xlsx_writer import workbook_of_csv
from tests.inventory.shops import refused

COSTS = ["--capacity", "50", "--fixed-cost", "1", "--unit-cost", "1", "--lost-sale", "5", "--holding", "0.1"]

ODOO_ORDERS = """\
Order Reference,Order Date,Customer,Status,Order Lines/Product,Order Lines/Quantity,Order Lines/Delivery Quantity
S00041,2026-11-16 09:12:00,Walk-in,Sales Order,[TEA-1] Green tea,3.0,3.0
,,,,[HONEY] Honey (Lime),1.0,0.0
,,,,,0.0,0.0
S00042,2026-11-16 17:40:10,Ann,Sales Order,[TEA-1] Green tea,2.0,2.0
S00043,2026-11-17 08:00:00,Bob,Cancelled,[TEA-1] Green tea,9.0,0.0
,,,,Mug,4.0,0.0
S00044,2026-11-17 10:30:00,Cleo,Quotation,Mug,5.0,0.0
S00045,2026-11-17 11:00:00,Ann,Locked,Mug,1.0,1.0
"""
ODOO_TILL = """\
Order Ref,Date,Status,Order Lines / Product,Order Lines / Quantity
Shop/0007,2026-11-16 09:12:00,Posted,[TEA-1] Green tea,2
,,,[HONEY] Honey,1
Shop/0008,2026-11-16 19:59:59,Paid,[TEA-1] Green tea,1
Shop/0009,2026-11-16 20:05:00,New,[TEA-1] Green tea,7
"""
ODOO_LINES = """\
Order Reference,Order Reference/Order Date,Product,Quantity,Order Status
S00041,2026-11-16 09:12:00,[TEA-1] Green tea,3.0,Sales Order
S00041,2026-11-16 09:12:00,[HONEY] Honey,1.0,Sales Order
"""
ODOO_TECHNICAL = """\
id,date_order,state,order_line/product_id,order_line/product_uom_qty
__export__.sale_order_41,2026-11-16 09:12:00,Sales Order,[TEA-1] Green tea,3.0
,,,[HONEY] Honey,1.0
"""
ODOO_STOCK = """\
Product,Location,Lot/Serial Number,Quantity,Reserved Quantity
[TEA-1] Green tea,WH/Stock,,12.0,0.0
[TEA-1] Green tea,WH/Stock/Shelf 2,,3.0,1.0
[HONEY] Honey,WH/Stock,L1,4.0,0.0
[HONEY] Honey,Virtual Locations/Inventory adjustment,,-4.0,0.0
[HONEY] Honey,Partners/Customers,,40.0,0.0
Mug,WH/Stock,,0.0,0.0
"""
ODOO_PRODUCTS = """\
Internal Reference,Name,Quantity On Hand,Forecasted Quantity
TEA-1,Green tea,15.0,12.0
HONEY,Honey,4.0,4.0
"""
ERPNEXT_REGISTER = """\
Item Code,Item Name,Item Group,Description,Invoice,Posting Date,Customer,Company,Stock Qty,Stock UOM,Rate,Amount
TEA-1,Green tea,Food,,ACC-SINV-0001,2026-11-16,Ann,Corner Shop,3.0,Nos,2.5,7.5
HONEY,Honey,Food,,ACC-SINV-0001,2026-11-16,Ann,Corner Shop,1.0,Nos,6.0,6.0
TEA-1,Green tea,Food,,ACC-SINV-0002,2026-11-16,Bob,Corner Shop,2.0,Nos,2.5,5.0
Total,,,,,,,,6.0,,,18.5
"""
ERPNEXT_HISTORY = """\
Item Code,Item Name,Quantity,UOM,Rate,Amount,Sales Order,Transaction Date,Customer,Delivered Quantity
TEA-1,Green tea,3.0,Nos,2.5,7.5,SAL-ORD-0001,2026-11-16,Ann,3.0
HONEY,Honey,1.0,Nos,6.0,6.0,SAL-ORD-0001,2026-11-16,Ann,1.0
"""
ERPNEXT_INVOICES = """\
ID,Customer,Date,Status,Item (Items),Quantity (Items),UOM (Items)
ACC-SINV-0001,Ann,2026-11-16,Paid,TEA-1,3,Nos
,,,,HONEY,1,Nos
ACC-SINV-0002,Bob,2026-11-16,Draft,TEA-1,8,Nos
ACC-SINV-0003,Bob,2026-11-16,Cancelled,TEA-1,8,Nos
ACC-SINV-0004,Bob,2026-11-16,Overdue,TEA-1,2,Nos
"""
ERPNEXT_BALANCE = """\
Item,Item Name,Item Group,Warehouse,Stock UOM,Balance Qty,Balance Value,Opening Qty,In Qty,Out Qty
TEA-1,Green tea,Food,Stores - CS,Nos,12.0,30.0,10.0,5.0,3.0
TEA-1,Green tea,Food,Shop - CS,Nos,3.0,7.5,0.0,3.0,0.0
HONEY,Honey,Food,Stores - CS,Nos,4.0,24.0,4.0,0.0,0.0
Total,,,,,19.0,61.5,14.0,8.0,3.0
"""
ERPNEXT_PROJECTED = """\
Item Code,Item Name,Description,Item Group,Brand,Warehouse,UOM,Actual Qty,Ordered Qty,Projected Qty
TEA-1,Green tea,,Food,,Stores - CS,Nos,15.0,6.0,21.0
HONEY,Honey,,Food,,Stores - CS,Nos,4.0,0.0,4.0
"""


def sold(file, text):
    found = read_sold(file(text))
    return {(s.sku, s.day.isoformat()): s.units for s in found}, found.remarks


MONDAY_SALES = {("TEA-1", "2026-11-16"): 5, ("HONEY", "2026-11-16"): 1}
ONE_ORDER = {("TEA-1", "2026-11-16"): 3, ("HONEY", "2026-11-16"): 1}


def test_sales_orders_of_odoo(file):
    units, remarks = sold(file, ODOO_ORDERS)
    assert units == MONDAY_SALES | {("Mug", "2026-11-17"): 1}
    assert remarks == (
        "Read file.csv with dates as yyyy-mm-dd.",
        "file.csv is taken for order lines that Odoo exported: Order Date as date, Order Lines/Product as sku, "
        "Order Lines/Quantity as units.",
        "Left out: 1 line without a product, such as notes and totals.",
        "Left out: 3 lines of orders that do not hold (Cancelled, Quotation).",
        "1 more line of the same item and day added up.",
    )
    assert [series.units.tolist() for series in read_sales(file(ODOO_ORDERS)).series] == [[5], [1], [1]]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        (ODOO_TILL, {("TEA-1", "2026-11-16"): 3, ("HONEY", "2026-11-16"): 1}),
        (ODOO_LINES, ONE_ORDER),
        (ODOO_TECHNICAL, ONE_ORDER),
        (ERPNEXT_REGISTER, MONDAY_SALES),
        (ERPNEXT_HISTORY, ONE_ORDER),
        (ERPNEXT_INVOICES, MONDAY_SALES),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_sales_of_both_programs(tmp_path, text, units, ending):
    path = tmp_path / f"sales.{ending}"
    path.write_bytes(text.encode() if ending == "csv" else workbook_of_csv(text))
    found = read_sold(path)
    assert {(s.sku, s.day.isoformat()): s.units for s in found} == units
    program = "Odoo" if "Order " in text.partition("\n")[0] and "Item" not in text else "ERPNext"
    assert any(("ERPNext" in said) or ("Odoo" in said) for said in found.remarks), program


@pytest.mark.parametrize(
    "text",
    [
        ODOO_STOCK,
        ODOO_PRODUCTS,
        ERPNEXT_BALANCE,
        ERPNEXT_PROJECTED,
        ODOO_STOCK.replace(",Quantity", ",On Hand Quantity"),
    ],
)
def test_stock_of_both_programs(file, text):
    said = []
    _, counts = read_counts(file(text), remarks=said)
    assert {c.sku: c.stock for c in counts if c.sku != "Mug"} == {"TEA-1": 15, "HONEY": 4}
    assert any("is taken for stock that" in each for each in said)
    if text == ODOO_STOCK:
        assert (
            "Left out: 2 lines of stock that is not in the shop (Virtual Locations/Inventory adjustment" in said[-2]
        )
        assert said[-1] == "Stock in several places is added up for 1 item."


def test_stock_below_nothing_counts_in_all_places_together(file):
    below = ODOO_STOCK.replace("WH/Stock/Shelf 2,,3.0", "WH/Stock/Shelf 2,,-3.0")
    assert read_counts(file(below))[1][0].stock == 9
    with refused("line 2: stock of TEA-1 must not be negative in all places together; got -1"):
        read_counts(file(below.replace("12.0", "2.0")))
    with refused("line 2: stock must not be negative; got -1"):
        read_counts(file("sku,stock\nA,-1\n"))


def test_a_status_that_is_not_known_counts_and_is_said(file):
    text = ODOO_ORDERS.replace("Locked", "Packed")
    _, remarks = sold(file, text)
    assert "Lines with a status that is not known are used: Packed." in remarks
    assert not ORDERED & NOT_ORDERED


def test_own_names_and_own_choices_come_first(file):
    found = read_sold(file(ODOO_ORDERS), columns={"units": "Order Lines/Delivery Quantity"})
    assert {(s.sku, s.units) for s in found} == {("TEA-1", 5), ("HONEY", 0), ("Mug", 1)}
    own = "date,sku,units,Order Lines/Product\n2026-11-16,[A] b,1,x\n"
    assert read_sold(file(own))[0].sku == "[A] b"
    plain = read_sold(file("Order Date,Product,Quantity\n2026-11-16,[A] b,1\n"))
    assert plain[0].sku == "[A] b"  # nothing else says that it is Odoo's


def test_orders_at_suppliers_are_not_sales(file):
    with refused("must have the columns 'date', 'sku', 'units'"):
        read_sold(file(ODOO_IMPORT))
    with refused("must have the columns 'sku', 'units'"):
        read_sold(file("Supplier,Date,Item Code (Items),Quantity (Items)\nMill,2026-11-16,A,3\n"))


def test_returns_are_asked_about_as_ever(file):
    text = ODOO_TILL.replace("Green tea,1\n", "Green tea,-1\n")
    with refused("TEA-1 on 2026-11-16: units must not be negative; got -1. Use --negatives zero or skip"):
        read_sold(file(text))
    assert {(s.sku, s.units) for s in read_sold(file(text), negatives="zero")} == {("TEA-1", 2), ("HONEY", 1)}


def test_a_repeated_item_is_added_up_only_if_that_is_right(file):
    found = read_sold(file(ODOO_TILL), duplicates="last")
    assert {(s.sku, s.units) for s in found} == {("TEA-1", 1), ("HONEY", 1)}
    with refused("stands on line 2 already"):
        read_sold(file("date,sku,units\n2026-11-16,A,1\n2026-11-16,A,2\n"))


def test_each_form_has_names_that_compare():
    for form in FORMS:
        for name in (*sum(form.columns.values(), ()), *form.marks, *form.state, *form.location):
            assert name == " ".join(name.casefold().split())


# ---- orders out

ODOO_IMPORT = """\
External ID,Vendor,Order Deadline,Order Lines/External ID,Order Lines/Product,Order Lines/Quantity
driftmdp_20261116_mill_a5,Mill,2026-11-16 12:00:00,driftmdp_20261116_mill_a5_tea_1,TEA-1,12
,,,driftmdp_20261116_mill_a5_honey,HONEY,6
"""


def advice(sku, order, supplier="Mill", day=date(2026, 11, 16), arrives=None):
    return Advice(sku, day, stock=1, coming=0, order=order, supplier=supplier, arrives=arrives)


def test_requests_for_quotation_of_odoo():
    lines = [advice("TEA-1", 12), advice("Mug", 3, "Pots & Co"), advice("HONEY", 6), advice("None", 0, "")]
    table = list(csv.DictReader(io.StringIO(erp_orders_csv(lines, "odoo", "shop"))))
    assert [row["Vendor"] for row in table] == ["Mill", "", "Pots & Co"]
    assert [row["Order Deadline"] for row in table] == ["2026-11-16 12:00:00", "", "2026-11-16 12:00:00"]
    assert [(row["Order Lines/Product"], row["Order Lines/Quantity"]) for row in table] == [
        *(("TEA-1", "12"), ("HONEY", "6"), ("Mug", "3")),
    ]
    orders = [row["External ID"] for row in table]
    assert all(row["External ID"].isascii() and "." not in row["External ID"] for row in table)
    assert (orders[1], len({*orders})) == ("", 3)
    assert len({row["Order Lines/External ID"] for row in table}) == 3
    assert erp_orders_csv(lines, "odoo", "shop") == erp_orders_csv(lines, "odoo", "shop")
    assert erp_orders_csv(lines, "odoo", "other") != erp_orders_csv(lines, "odoo", "shop")


def test_purchase_orders_of_erpnext():
    lines = [advice(sku, n, arrives=date(2026, 11, day)) for sku, n, day in (("TEA-1", 12, 19), ("HONEY", 6, 18))]
    text = erp_orders_csv(lines, "erpnext")
    assert text == (
        "Supplier,Date,Required By,Item Code (Items),Quantity (Items),Required By (Items)\n"
        "Mill,2026-11-16,2026-11-18,TEA-1,12,2026-11-19\n"
        ",,,HONEY,6,2026-11-18\n"
    )


def test_an_order_is_required_on_an_open_morning(path):
    monday, items = date(2026, 11, 16), [ItemSettings("weekly", {"period": "week"})]
    with Shop.create(path, Costs(1.0, 0.0, 5.0, 0.1), 60, 5, closed_days="sat,sun") as shop:
        closed = [SpecialDay((monday + timedelta(7)).toordinal(), "closed")]
        counts = [Count("daily", 0), Count("weekly", 0)]
        advised = shop.decide(counts, monday, items=items, calendar=closed).advice
        assert [each.order > 0 for each in advised] == [True, True]
        assert [each.arrives for each in advised] == [monday + timedelta(8), monday + timedelta(35)]
        assert shop.decide([Count("daily", 90)], monday + timedelta(1)).advice[0].arrives is None


def test_an_order_needs_a_supplier():
    with refused("must have a supplier to be ordered in Odoo; these have none: tea. Name it in a column supplier"):
        erp_orders_csv([advice("tea", 2, ""), advice("Mug", 1)], "odoo")
    with refused("program must be one of 'odoo', 'erpnext'; got 'sap'"):
        erp_orders_csv([], "sap")


names = st.text("aZ9 äé=+-@,;\"'&./", min_size=1, max_size=12).map(lambda text: f"n{text.strip()}")


@given(
    orders=st.dictionaries(st.tuples(names, st.integers(0, 20)), st.integers(1, 10**6), min_size=1, max_size=12),
    suppliers=st.lists(names, min_size=1, max_size=3, unique=True),
    program=st.sampled_from(["odoo", "erpnext"]),
    ending=st.sampled_from(["csv", "xlsx"]),
    data=st.data(),
)
@settings(deadline=None, max_examples=60)
def test_orders_read_back_are_the_same(tmp_path_factory, orders, suppliers, program, ending, data):
    path = tmp_path_factory.getbasetemp() / f"back.{ending}"
    lines = [
        advice(sku, order, data.draw(st.sampled_from(suppliers)), date(2026, 11, 16) + timedelta(day))
        for (sku, day), order in orders.items()
    ]
    text = erp_orders_csv(lines, program)
    path.write_bytes(text.encode() if ending == "csv" else workbook_of_csv(text))
    own = read_own(path)
    found = {
        (series.sku, int((day - series.dates[0].__class__("2026-11-16")).astype(int))): units
        for series in own.series
        for day, units in zip(series.dates, series.ordered.tolist(), strict=True)
    }
    assert found == orders
    assert any("is taken for purchase orders" in said for said in own.remarks)


@pytest.mark.parametrize("program", ["odoo", "erpnext"])
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_orders_may_come_whole(tmp_path, program, ending):
    text = erp_orders_csv([advice("TEA", 12), advice("HONEY", 6), advice("JAM", 3, "Nord")], program)
    path = tmp_path / f"rfq.{ending}"
    path.write_bytes(workbook_of_csv(text) if ending == "xlsx" else text.encode())
    ordered_on, day = date(2026, 11, 16), date(2026, 11, 18)
    found = read_delivered(path, day)
    assert [(line.sku, line.units) for line in found.lines] == [("TEA", 12), ("HONEY", 6), ("JAM", 3)]
    assert {(line.day, line.ordered_on) for line in found.lines} == {(day, ordered_on)}
    assert "is taken for purchase orders that" in " ".join(found.remarks)
    with refused("must have "):  # of which day they came is not said
        read_delivered(path)
    with refused("must have the columns 'sku', 'units'"):  # orders are no sales
        read_sold(path, day)


def test_orders_of_odoo_that_were_not_placed_are_left_out(file):
    text = """\
Order Reference,Vendor,Order Deadline,Status,Order Lines/Product,Order Lines/Quantity
P0001,Mill,2026-11-16 09:00:00,Purchase Order,[TEA-1] Green tea,12.0
,,,,[HONEY] Honey,6.0
P0002,Mill,2026-11-17 09:00:00,RFQ,[TEA-1] Green tea,24.0
P0003,Mill,2026-11-18 09:00:00,Cancelled,[TEA-1] Green tea,36.0
"""
    own = read_own(file(text))
    assert {series.sku: series.ordered.tolist() for series in own.series} == {"TEA-1": [12], "HONEY": [6]}


def test_a_morning_with_odoo(call, tmp_path):
    call("inventory", "init", "shop.db", *COSTS)
    (tmp_path / "sales.csv").write_text(ODOO_ORDERS)
    assert "3 recorded." in call("inventory", "record", "shop.db", "sales.csv", "--plenty")[2]
    (tmp_path / "stock.csv").write_text(ODOO_STOCK.replace("12.0", "0.0"))
    (tmp_path / "items.csv").write_text("sku,supplier,lead_time\nTEA-1,Mill,2\nHONEY,Mill,3\nMug,,\n")
    words = "decide", "shop.db", "stock.csv", "--date", "2026-11-18", "-o", "rfq.csv"
    code, _, said = call("inventory", *words, "--format", "odo")
    assert (code, "--format must be one of" in said) == (2, True)
    assert "Did you mean 'odoo'?" in said
    code, _, said = call("inventory", *words, "--format", "odoo", "--items", "items.csv")
    assert code == 2
    assert "these have none: Mug." in said
    assert "and ask again." in said
    call("inventory", "set", "shop.db", "--sku", "Mug", "--supplier", "Pots", "--from", "2026-11-18")
    code, _, said = call("inventory", *words, "--format", "odoo")
    assert code == 0, said
    with Shop(tmp_path / "shop.db") as shop:
        advised = {
            a.sku: a.order
            for a in shop.decide([Count("TEA-1", 3), Count("HONEY", 4), Count("Mug", 0)], date(2026, 11, 18)).advice
        }
    own = {series.sku: series.ordered.tolist() for series in read_own(tmp_path / "rfq.csv").series}
    assert own == {sku: [order] for sku, order in advised.items() if order}
    assert call("inventory", *words[:-1], "po.xlsx", "--format", "erpnext")[0] == 0
    assert {series.sku for series in read_own(tmp_path / "po.xlsx").series} == own.keys()


def test_a_backtest_of_what_was_ordered_in_odoo(call, tmp_path):
    days = [date(2026, 1, 5) + timedelta(day) for day in range(90)]
    sales = "".join(
        f"S{n},{day} 12:30:00,Sales Order,[TEA-1] Green tea,{3 + n % 3}\n" for n, day in enumerate(days)
    )
    head = "Order Reference,Order Date,Status,Order Lines/Product,Order Lines/Quantity\n"
    (tmp_path / "sales.csv").write_text(head + sales)
    lines = [Advice("TEA-1", day, 0, 0, order=28, supplier="Mill") for day in days[::7]]
    (tmp_path / "own.xlsx").write_bytes(workbook_of_csv(erp_orders_csv(lines, "odoo")))
    code, out, said = call("inventory", "backtest", "sales.csv", *COSTS, "--own", "own.xlsx")
    assert code == 0, said
    assert "you paid about" in out
    assert "sales.csv is taken for order lines that Odoo exported" in said
    assert "own.xlsx is taken for purchase orders that Odoo exported" in said

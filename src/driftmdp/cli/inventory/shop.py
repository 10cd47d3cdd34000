"""The commands of a shop, from ``driftmdp inventory init`` to ``driftmdp inventory backup``."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.inventory.options import (
    Capacity,
    Columns,
    Duplicates,
    FixedCost,
    Holding,
    LeadTime,
    LostSale,
    LotSize,
    Negatives,
    UnitCost,
    argument,
    as_columns,
    as_day,
    as_lot,
    checked_out,
    write_or_print,
)
from driftmdp.cli.output import print_columns, remark
from driftmdp.display import counted
from driftmdp.inventory import (
    Costs,
    Shop,
    events_csv,
    explain_in_words,
    history_csv,
    orders_csv,
    read_counts,
    read_sold,
)

Database = Annotated[Path, argument("The shop's database, made by `init`.")]
Sku = Annotated[str, argument("The item.")]
HISTORY_COLUMNS = ("stock", "coming", "expected", "advice", "ordered", "sales")


def init(
    shop: Annotated[Path, argument("The database to make; it must not exist yet.")],
    capacity: Capacity,
    fixed_cost: FixedCost,
    unit_cost: UnitCost,
    lost_sale: LostSale,
    holding: Holding,
    lot_size: LotSize = "auto",
    lead_time: LeadTime = 0,
) -> None:
    """Make a shop's database. Costs and capacity are in lots, and cannot be changed later.

    With --lot-size auto, as in a backtest, an item's lot is chosen when 60 days of its sales are recorded at once.
    Without such a history use a number, or a column lot.
    """
    costs = Costs(fixed_cost, unit_cost, lost_sale, holding)
    Shop.create(shop, costs, capacity, lead_time, as_lot(lot_size)).close()
    first = (
        f" Past sales first: driftmdp inventory record {shop} history.csv --plenty." if lot_size == "auto" else ""
    )
    remark(f"Made {shop}.{first} Each morning: driftmdp inventory decide {shop} stock.csv")


def decide(
    shop: Database,
    stock: Annotated[
        Path,
        argument("A CSV file with columns sku and stock, counted this morning. Optional: date, coming and lot."),
    ],
    day: Annotated[str | None, typer.Option("--date", help="The day, as 2026-11-16; by default today.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the orders go; - prints them.")] = Path(
        "orders.csv"
    ),
    correct: Annotated[
        bool, typer.Option("--correct", help="Replace counts that were given for this day before.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse counts that differ from what the records expect.")
    ] = False,
    column: Columns = None,
) -> None:
    """Say how much to order of each item, from this morning's stock.

    The answer is recorded before it is given: asked again, it is the same.
    """
    checked_out(out, [shop, stock])
    given, counts = read_counts(stock, as_day(day), as_columns(column))
    with Shop(shop) as open_shop:
        decision = open_shop.decide(counts, given or date.today(), correct, strict)
    write_or_print(orders_csv(decision.advice), out)
    for sentence in decision.remarks:
        remark(sentence)
    orders = sum(advice.order > 0 for advice in decision.advice)
    again = f", {decision.repeated} of them decided before" if decision.repeated else ""
    where = "" if str(out) == "-" else f" The orders: {out}"
    remark(f"{decision.day}: {counted(len(decision.advice), 'item')}{again}, {orders} to order.{where}")


def record(
    shop: Database,
    sales: Annotated[
        Path,
        argument(
            "A CSV file with columns date, sku and units sold. Optional: ordered (if not as advised), stock, lot."
        ),
    ],
    day: Annotated[
        str | None, typer.Option("--date", help="The day of all lines, if the file has no column date.")
    ] = None,
    correct: Annotated[
        bool, typer.Option("--correct", help="Replace what was recorded for the same item and day.")
    ] = False,
    plenty: Annotated[
        bool, typer.Option("--plenty", help="Days whose stock is unknown were not sold out: for past sales.")
    ] = False,
    negatives: Negatives = "refuse",
    duplicates: Duplicates = "refuse",
    column: Columns = None,
) -> None:
    """Record what was sold, and learn from it.

    Recording the same again is harmless. What contradicts the shop's records is refused without --correct.
    """
    sold = read_sold(sales, as_day(day), as_columns(column), negatives, duplicates)
    with Shop(shop) as open_shop:
        receipt = open_shop.record(sold, correct, plenty)
    for sentence in receipt.remarks:
        remark(sentence)
    counts = [f"{receipt.recorded} recorded"]
    counts += [f"{receipt.repeated} repeated"] if receipt.repeated else []
    counts += [f"{receipt.corrected} corrected"] if receipt.corrected else []
    remark(f"{', '.join(counts)}.")


def explain(shop: Database, sku: Sku) -> None:
    """Say why an item's order is what it is: demand, memory in use, and level."""
    with Shop(shop) as open_shop:
        print(explain_in_words(open_shop, sku))


def history(shop: Database, sku: Sku) -> None:
    """Show what was counted, advised, ordered and sold, in the order in which it was recorded."""
    with Shop(shop) as open_shop:
        rows = []
        for event in open_shop.history(sku):
            numbers = (getattr(event, name) for name in HISTORY_COLUMNS)
            cells = ["" if number is None else str(number) for number in numbers]
            rows.append([event.day.isoformat(), event.kind, *cells, event.written_at])
    header = ["day", "what", *HISTORY_COLUMNS, "written at"]
    print_columns(rows, header, numbers=range(2, 2 + len(HISTORY_COLUMNS)))


def export(
    shop: Database,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the table goes; - prints it.")] = Path("-"),
    sales: Annotated[
        bool, typer.Option("--sales", help="Only the sales, the last entry of each day, for `record`.")
    ] = False,
) -> None:
    """Write the shop's records as CSV; with --sales only each day's sales, as `record` reads them.

    The second is how to move to a new shop, with other costs or lots: record it there with --plenty.
    """
    checked_out(out, [shop])
    with Shop(shop) as open_shop:
        events = open_shop.history()
        text = history_csv(events, open_shop.lots) if sales else events_csv(events)
    write_or_print(text, out)
    if str(out) != "-":
        remark(f"The shop's records: {out}")


def backup(shop: Database, copy: Annotated[Path, argument("The copy to make; it must not exist yet.")]) -> None:
    """Copy a shop into a new file and check the copy; other commands may run meanwhile."""
    with Shop(shop) as open_shop:
        open_shop.backup(copy)
    remark(f"Copied {shop} to {copy}, and checked the copy.")

"""The commands of ``driftmdp inventory``, each of which parses, calls and prints."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from driftmdp import inventory
from driftmdp.cli.execution import Engine, Scheduler, Workers, saying_warnings, stopping_cleanly
from driftmdp.cli.inventory import options
from driftmdp.cli.inventory.asking import Questions, Yes
from driftmdp.cli.output import print_columns, remark
from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.erp_orders import ERP_PROGRAMS
from driftmdp.report.backtest import money_caveats, money_sentence, summary_rows, write_backtest
from driftmdp.report.forecast_picture import pictured_items, write_forecast_picture
from driftmdp.report.order_list import write_order_lists
from driftmdp.validation import one_of

Database = Annotated[Path, options.argument("The shop's database, made by `init`.")]
Sku = Annotated[str, options.argument("The item.")]
Today = Annotated[str | None, typer.Option("--date", help="The day, as 2026-11-16; by default today.")]
Day = Annotated[str | None, typer.Option("--date", help="The day of all lines, if the file has no column date.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Where the table goes, .csv or .xlsx; - prints it.")]
CORRECT_HELP = "Replace what was given before for the same item and day."
Correct = Annotated[bool, typer.Option("--correct", help=CORRECT_HELP)]
SALES_HELP = "A CSV or Excel file with columns date, sku and units. Optional: in_stock (0: not on sale), stock "
SALES_HELP += (
    "(on the shelf in the morning), ordered (then), demand (1: the units were asked for). Others are ignored."
)
GAPS_HELP = "Days that an item has no line for: zero sales, skip or refuse."
PAGE_HELP = "Folder of the page; by default out/backtest/SALES."
PICTURE_HELP = "An item to draw over time; again for more. By default four."
STOCK_HELP = (
    "A CSV or Excel file with columns sku and stock, counted this morning. Optional: date, coming_1, coming_2, .. "
)
STOCK_HELP += "(units that arrive 1, 2, .. periods later; by default what was ordered here), pack."
FORMAT_HELP = "How the orders are written: csv, or odoo or erpnext, to import them there."
UNTIL_HELP = "The last day that counts: leftovers after its period are worth nothing, and nothing may arrive later."
STRICT_HELP = "Refuse counts that differ from what the records expect."
SOLD_HELP = "A CSV or Excel file with columns date, sku and units sold. Optional: stock, in_stock (0: not on "
SOLD_HELP += "sale, 1: not sold out), ordered (if not as advised), demand, pack."
DEMAND_HELP = "The units were asked for, not only sold: they may be more than there was."
FORECAST_PICTURE_HELP = "Where a picture goes, .png or .svg: recent sales and what is to come."
FIRST_HELP = "The first day of the forecast; by default after the last recorded one."
PLENTY_HELP = "Days whose stock is unknown were not sold out: for past sales."
ONLY_SALES_HELP = "Only the sales, the last entry of each day, for `record`."
HISTORY_COLUMNS = ("stock", "coming", "expected", "advice", "ordered", "received", "sales", "seen")


def backtest(
    sales: Annotated[Path, options.argument(SALES_HELP)],
    capacity: options.Capacity,
    fixed_cost: options.FixedCost,
    unit_cost: options.UnitCost,
    holding: options.Holding,
    lost_sale: options.LostSale = None,
    service: options.Service = None,
    service_measure: options.ServiceMeasure = "units",
    shelf_life: options.ShelfLife = None,
    waste: options.Waste = 0.0,
    pack: options.Pack = "1",
    minimum: options.Minimum = 0,
    lead_time: options.LeadTime = 0,
    period: options.Period = "day",
    order_days: options.OrderDays = "every 1",
    closed_days: options.ClosedDays = "",
    forecaster: options.Forecaster = None,
    items: options.Items = None,
    group: options.Group = None,
    calendar: options.Calendar = None,
    suppliers: options.Suppliers = None,
    column: options.Columns = None,
    date_format: options.DateFormat = None,
    decimal: options.Decimal = None,
    negatives: options.Negatives = "refuse",
    duplicates: options.Duplicates = "refuse",
    gaps: Annotated[str, typer.Option(help=GAPS_HELP)] = "zero",
    own: options.Own = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help=PAGE_HELP, show_default=False)] = None,
    picture: Annotated[list[str] | None, typer.Option("--picture", help=PICTURE_HELP)] = None,
    workers: Workers = None,
    engine: Engine = "auto",
    scheduler: Scheduler = None,
) -> None:
    """Compare ordering rules on past sales: cost, service level, stock and orders.

    The first 60 days (26 weeks) of an item are for learning, and scoring starts after them. Quantities are in
    units, and costs per unit, as for `init`. With --own, the first line says what you paid.
    """
    target = out or Path("out") / "backtest" / sales.stem
    if target.is_file():
        raise InvalidInputError(f"--out must be a folder for the page; {target} is a file.")
    costs = options.as_costs(fixed_cost, unit_cost, lost_sale, holding, service)
    settings, special_days = _settings(items, group, calendar)
    named = options.as_columns(column)
    past = inventory.read_sales(sales, named, negatives, duplicates, gaps, period, lead_time, date_format, decimal)
    deliverers = _suppliers(suppliers)
    done = None if own is None else inventory.read_own(own, duplicates=duplicates)
    chosen = engine if engine != "auto" else "threads" if scheduler is None else "dask"
    with saying_warnings(), stopping_cleanly("Stopping. Nothing was written."):
        found = inventory.backtest(
            past,
            costs,
            options.as_capacity(capacity),
            lead_time,
            options.as_pack(pack),
            workers=workers,
            engine=chosen,
            scheduler=scheduler,
            minimum=minimum,
            period=period,
            order_days=order_days,
            closed_days=closed_days,
            service=service,
            service_measure=service_measure,
            shelf_life=shelf_life,
            waste=waste,
            items=settings.items,
            calendar=special_days,
            forecaster=forecaster,
            own=done,
            suppliers=deliverers.suppliers,
        )
        written = write_backtest(found, target, picture)
    print(money_sentence(found), *money_caveats(found))
    header, rows = summary_rows(found)
    print_columns(rows, header, numbers=range(1, len(header)))
    for sentence in (*settings.remarks, *deliverers.remarks, *found.remarks):
        remark(sentence)
    remark(f"The page, with every item: {written.page}")


def init(
    shop: Annotated[Path, options.argument("The database to make; it must not exist yet.")],
    capacity: options.Capacity,
    fixed_cost: options.FixedCost,
    unit_cost: options.UnitCost,
    holding: options.Holding,
    lost_sale: options.LostSale = None,
    service: options.Service = None,
    service_measure: options.ServiceMeasure = "units",
    shelf_life: options.ShelfLife = None,
    waste: options.Waste = 0.0,
    pack: options.Pack = "1",
    minimum: options.Minimum = 0,
    lead_time: options.LeadTime = 0,
    period: options.Period = "day",
    order_days: options.OrderDays = "every 1",
    closed_days: options.ClosedDays = "",
    forecaster: options.Forecaster = None,
) -> None:
    """Make a shop's database. Quantities are in units, and costs per unit.

    One of --lost-sale and --service says how much an empty shelf hurts. An item may differ from the shop: see
    --items of `record` and `decide`.
    """
    costs = options.as_costs(fixed_cost, unit_cost, lost_sale, holding, service)
    made = inventory.Shop.create(
        shop,
        costs,
        options.as_capacity(capacity),
        lead_time,
        options.as_pack(pack),
        minimum=minimum,
        period=period,
        order_days=order_days,
        closed_days=closed_days,
        service=service,
        service_measure=service_measure,
        shelf_life=shelf_life,
        waste=waste,
        forecaster=forecaster,
    )
    made.close()
    first = f" Past sales first: driftmdp inventory record {shop} history.csv --plenty." if pack == "auto" else ""
    remark(f"Made {shop}.{first} Each morning: driftmdp inventory decide {shop} stock.csv")


def decide(
    shop: Database,
    stock: Annotated[Path, options.argument(STOCK_HELP)],
    day: Today = None,
    until: Annotated[str | None, typer.Option("--until", help=UNTIL_HELP)] = None,
    items: options.Items = None,
    group: options.Group = None,
    calendar: options.Calendar = None,
    suppliers: options.Suppliers = None,
    out: Out = Path("orders.csv"),
    order_format: Annotated[str, typer.Option("--format", help=FORMAT_HELP)] = "csv",
    correct: Correct = False,
    strict: Annotated[bool, typer.Option("--strict", help=STRICT_HELP)] = False,
    yes: Yes = False,
    column: options.Columns = None,
    date_format: options.DateFormat = None,
    decimal: options.Decimal = None,
) -> None:
    """Say how much to order of each item, from this morning's stock.

    The answer is recorded before it is given: asked again, it is the same.
    """
    options.checked_out(out, [shop, stock, items, calendar, suppliers])
    one_of(order_format, "--format", ("csv", *ERP_PROGRAMS))
    remarks: list[str] = []
    named, questions = options.as_columns(column), Questions(yes)
    given, counts = inventory.read_counts(stock, options.as_day(day), named, date_format, decimal, remarks)
    settings, special_days = _settings(items, group, calendar)
    deliverers = _suppliers(suppliers)
    with inventory.Shop(shop) as open_shop:
        decision = open_shop.decide(
            counts,
            given or open_shop.today(),
            correct,
            strict,
            options.as_day(until, "--until"),
            settings.items,
            special_days,
            deliverers.suppliers,
            questions.confirm,
        )
    text = _orders_text(shop.stem, decision, order_format)
    options.write_or_print(text, out)
    lists = write_order_lists(decision.advice, decision.day, out) if str(out) != "-" else []
    for sentence in (*remarks, *settings.remarks, *deliverers.remarks, *questions.others(decision.remarks)):
        remark(sentence)
    orders = sum(advice.order > 0 for advice in decision.advice)
    again = f", {decision.repeated} of them decided before" if decision.repeated else ""
    where = "" if str(out) == "-" else f" The orders: {out}"
    remark(f"{decision.day}: {counted(len(decision.advice), 'item')}{again}, {orders} to order.{where}")
    if lists:
        beside = "an Excel file" if out.suffix.lower() == ".xlsx" else "a CSV file"
        remark(f"By supplier, to print, with {beside} beside: {listed(list(map(str, lists)), separator=', ')}")


def _orders_text(name: str, decision: inventory.Decision, order_format: str) -> str:
    """Return the orders as CSV, in the columns that were asked for."""
    if order_format == "csv":
        return inventory.orders_csv(decision.advice)
    return inventory.erp_orders_csv(decision.advice, order_format, name)


def record(
    shop: Database,
    sales: Annotated[Path, options.argument(SOLD_HELP)],
    day: Day = None,
    items: options.Items = None,
    group: options.Group = None,
    calendar: options.Calendar = None,
    suppliers: options.Suppliers = None,
    correct: Correct = False,
    plenty: Annotated[bool, typer.Option("--plenty", help=PLENTY_HELP)] = False,
    demand: Annotated[bool, typer.Option("--demand", help=DEMAND_HELP)] = False,
    yes: Yes = False,
    negatives: options.Negatives = "refuse",
    duplicates: options.Duplicates = "refuse",
    column: options.Columns = None,
    date_format: options.DateFormat = None,
    decimal: options.Decimal = None,
) -> None:
    """Record what was sold, and learn from it.

    Recording the same again is harmless. What contradicts the shop's records is refused without --correct.
    """
    named, questions = options.as_columns(column), Questions(yes)
    sold = inventory.read_sold(
        sales, options.as_day(day), named, negatives, duplicates, demand, date_format, decimal
    )
    settings, special_days = _settings(items, group, calendar)
    deliverers = _suppliers(suppliers)
    with inventory.Shop(shop) as open_shop:
        receipt = open_shop.record(
            sold,
            correct,
            plenty,
            demand,
            settings.items,
            special_days,
            deliverers.suppliers,
            questions.confirm,
        )
    others = questions.others(receipt.remarks)
    for sentence in (*sold.remarks, *settings.remarks, *deliverers.remarks, *others):
        remark(sentence)
    counts = [f"{receipt.recorded} recorded"]
    counts += [f"{receipt.repeated} repeated"] if receipt.repeated else []
    counts += [f"{receipt.corrected} corrected"] if receipt.corrected else []
    remark(f"{', '.join(counts)}.")


def _settings(
    items: Path | None, group: str | None, calendar: Path | None
) -> tuple[inventory.ItemsFile, tuple[inventory.SpecialDay, ...]]:
    """Return the items' own settings, and the special days, of the files that are given."""
    if group is not None and items is None:
        raise InvalidInputError("--group names a column of --items, which must then be given.")
    settings = inventory.ItemsFile(()) if items is None else inventory.read_items(items, group)
    remarks = list(settings.remarks)
    special_days = () if calendar is None else inventory.read_calendar(calendar, remarks=remarks)
    return inventory.ItemsFile(settings.items, tuple(remarks)), special_days


def _suppliers(path: Path | None) -> inventory.SuppliersFile:
    return inventory.SuppliersFile(()) if path is None else inventory.read_suppliers(path)


def say_present_names(shop: inventory.Shop, skus: Iterable[str]) -> None:
    """Remark on items that have another name now."""
    for sku in skus:
        name = shop.present_name(sku)
        if name != sku:
            remark(f"{sku} is {name} now.")


def forecast(
    shop: Database,
    sku: Annotated[list[str] | None, typer.Option("--sku", help="An item; again for more. By default all.")] = None,
    periods: Annotated[int, typer.Option("--periods", help="How many periods.", min=1, max=366)] = 8,
    day: Annotated[str | None, typer.Option("--date", help=FIRST_HELP)] = None,
    out: Out = Path("-"),
    picture: Annotated[Path | None, typer.Option("--picture", help=FORECAST_PICTURE_HELP)] = None,
) -> None:
    """Say how much will be asked for: mean and quantiles of each item and coming period."""
    options.checked_out(out, [shop])
    if picture is not None:
        options.checked_out(picture, [shop, out], "--picture")
    with inventory.Shop(shop) as open_shop:
        say_present_names(open_shop, sku or [])
        found = open_shop.forecast(sku, periods, options.as_day(day))
        if picture is not None:
            drawn = sku or pictured_items(found)
            write_forecast_picture(found, {name: open_shop.sales_of(name) for name in drawn}, picture)
    options.write_or_print(inventory.forecast_csv(found), out)
    if str(out) != "-":
        remark(f"The forecast: {out}")
    if picture is not None:
        remark(f"The picture: {picture}")


def explain(shop: Database, sku: Sku) -> None:
    """Say why an item's order is what it is: demand, season, what is coming, and the plan."""
    with inventory.Shop(shop) as open_shop:
        say_present_names(open_shop, [sku])
        print(inventory.explain_in_words(open_shop, sku))


def history(shop: Database, sku: Sku) -> None:
    """Show what was counted, advised, ordered and sold, in the order in which it was recorded.

    Changes of the item's name, of its settings (items, terms) and of its special days (calendar) are shown too.
    """
    with inventory.Shop(shop) as open_shop:
        say_present_names(open_shop, [sku])
        rows = []
        for event in open_shop.history(sku):
            numbers = (getattr(event, name) for name in HISTORY_COLUMNS)
            cells = ["" if number is None else str(number) for number in numbers]
            rows.append([str(event.day or ""), event.kind, *cells, event.written_at, event.details or ""])
    header = ["day", "what", *HISTORY_COLUMNS, "written at", "details"]
    print_columns(rows, header, numbers=range(2, 2 + len(HISTORY_COLUMNS)))


def export(
    shop: Database,
    out: Out = Path("-"),
    sales: Annotated[bool, typer.Option("--sales", help=ONLY_SALES_HELP)] = False,
) -> None:
    """Write the shop's records as CSV. With --sales, only each day's sales, as `record` reads them.

    The second is how to move to a new shop, with other costs: record it there.
    """
    options.checked_out(out, [shop])
    with inventory.Shop(shop) as open_shop:
        events = open_shop.history()
        text = inventory.history_csv(events) if sales else inventory.events_csv(events)
    options.write_or_print(text, out)
    if str(out) != "-":
        remark(f"The shop's records: {out}")


def backup(
    shop: Database, copy: Annotated[Path, options.argument("The copy to make; it must not exist yet.")]
) -> None:
    """Copy a shop into a new file and check the copy. Other commands may run meanwhile."""
    with inventory.Shop(shop) as open_shop:
        open_shop.backup(copy)
    remark(f"Copied {shop} to {copy}, and checked the copy.")

"""``driftmdp inventory backtest``: every rule on your own past."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.execution import Engine, Scheduler, Workers, saying_warnings, stopping_politely
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
    as_lot,
)
from driftmdp.cli.output import print_columns, remark
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import backtest as run_backtest
from driftmdp.inventory import read_sales
from driftmdp.kernels import has_compiled_cache
from driftmdp.problems.inventory import Costs
from driftmdp.report.backtest import summary_rows, write_backtest


def backtest(
    sales: Annotated[Path, argument("A CSV file with columns date, sku and units; others are ignored.")],
    capacity: Capacity,
    fixed_cost: FixedCost,
    unit_cost: UnitCost,
    lost_sale: LostSale,
    holding: Holding,
    lot_size: LotSize = "auto",
    lead_time: LeadTime = 0,
    column: Columns = None,
    negatives: Negatives = "refuse",
    duplicates: Duplicates = "refuse",
    gaps: Annotated[
        str, typer.Option(help="Days that an item has no line for: zero sales, skip or refuse.")
    ] = "zero",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the page; by default out/backtest/SALES.", show_default=False),
    ] = None,
    picture: Annotated[
        list[str] | None,
        typer.Option("--picture", help="An item to draw over time; again for more. By default four."),
    ] = None,
    workers: Workers = None,
    engine: Engine = "auto",
    scheduler: Scheduler = None,
) -> None:
    """Compare ordering rules on past sales: cost, service level, stock and orders.

    The first 60 days of an item are for learning, and scoring starts on day 61. Costs and capacity are in lots.
    """
    target = out or Path("out") / "backtest" / sales.stem
    if target.is_file():
        raise InvalidInputError(f"--out must be a folder for the page; {target} is a file.")
    costs = Costs(fixed_cost, unit_cost, lost_sale, holding)
    past = read_sales(sales, as_columns(column), negatives, duplicates, gaps)
    chosen = engine if engine != "auto" else "threads" if scheduler is None else "dask"
    if not has_compiled_cache():
        remark("Compiling; that is done once, and takes half a minute.")
    with saying_warnings(), stopping_politely("Stopping. Nothing was written."):
        found = run_backtest(
            past, costs, capacity, lead_time, as_lot(lot_size), workers=workers, engine=chosen, scheduler=scheduler
        )
        written = write_backtest(found, target, picture)
    header, rows = summary_rows(found)
    print_columns(rows, header, numbers=range(1, len(header)))
    for sentence in found.remarks:
        remark(sentence)
    remark(f"The page, with every item: {written.page}")

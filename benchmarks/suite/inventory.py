"""Inventory: many items decided and recorded, a history of weeks, memory, and a backtest with all rules."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.child import call_in_child
from benchmarks.rows import Row, Speed, as_memory
from benchmarks.timing import seconds_of
from driftmdp.inventory.csv_io import csv_text
from driftmdp.kernels.arrays import Longs

__all__ = ["DAYS", "SHELF", "run", "whole_day", "write_sales"]

SHELF = ["--capacity", "20", "--fixed-cost", "4", "--unit-cost", "0.5", "--lost-sale", "4", "--holding", "0.5"]
DAYS = 305
LIMIT = 2_000_000_000
WEEKLY_ITEMS, WEEKS, DEPARTMENTS = 599, 157, 8  # as many as the contest's
WEEKLY_SHELF = [
    "--period", "week", "--lead-time", "2", "--fixed-cost", "0", "--unit-cost", "0", "--lost-sale", "1",
    "--holding", "0.2", "--capacity", "none",
]  # fmt: skip
FIRST_MONDAY = np.datetime64("2023-01-02")


def run(quick: bool) -> list[Row]:
    """Return the times of whole commands, from a shell."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = _backtests(folder, 5 if quick else 100) + _weekly(folder, 20 if quick else WEEKLY_ITEMS)
        for n_items, lead_time in ((500, 0),) if quick else ((10_000, 0), (10_000, 1), (10_000, 2), (100_000, 0)):
            rows += _mornings(folder, n_items, lead_time)
    return rows


def write_sales(path: Path, n_items: int) -> None:
    """Write a CSV of seasonal demand of wide laws, as in retail."""
    rng = np.random.default_rng(0)
    dates = (np.datetime64("2026-01-01") + np.arange(DAYS)).astype(str).tolist()
    lines = []
    for item in range(n_items):
        mean = rng.uniform(2, 8) * (1 + 0.5 * np.sin(2 * np.pi * (np.arange(DAYS) / 365 + rng.random())))
        units = rng.negative_binomial(1.0, 1 / (1 + mean)).tolist()
        lines += [(day, f"item {item}", sold) for day, sold in zip(dates, units, strict=True)]
    path.write_text(csv_text(("date", "sku", "units"), lines))


def _backtests(folder: Path, n_items: int) -> list[Row]:
    sales = folder / "sales.csv"
    write_sales(sales, n_items)
    rows: list[Row] = []
    for lead_time, limit in ((0, 30.0), (1, None), (2, None)):
        command = ["backtest", str(sales), *SHELF, "--lead-time", str(lead_time), "--out", str(folder / "page")]
        _call(command)  # compiled
        seconds = seconds_of(partial(_call, command))
        what = f"inventory backtest, {n_items} items x {DAYS} days, all rules and the page, lead time {lead_time}"
        rows.append(Speed.under(what, seconds, limit if n_items >= 100 else None))
    return rows


def _weekly_units(n_items: int) -> Longs:
    """Return units by (item, week), with a season, and a negative number where an item was not in stock."""
    rng = np.random.default_rng(0)
    levels = np.exp(rng.normal(0.5, 1.2, (n_items, 1)))
    means = levels * (1 + 0.4 * np.sin(2 * np.pi * np.arange(WEEKS) / 52))
    units = rng.negative_binomial(2.0, 2.0 / (2.0 + means))
    return np.where(rng.random(units.shape) < 0.05, -1, units)


def _weekly(folder: Path, n_items: int) -> list[Row]:
    """Record a history of weeks and decide once: by commands, and by the engine alone."""
    units = _weekly_units(n_items)
    dates = (FIRST_MONDAY + 7 * np.arange(WEEKS + 1)).astype(str).tolist()
    history, items, stock, orders = (
        str(folder / f"weekly-{name}.csv") for name in ("history", "items", "stock", "o")
    )
    lines = [
        (day, f"item {item}", max(0, sold), int(sold >= 0))
        for item, row in enumerate(units.tolist())
        for day, sold in zip(dates[:WEEKS], row, strict=True)
    ]
    Path(history).write_text(csv_text(("date", "sku", "units", "in_stock"), lines))
    departments = [(f"item {item}", f"d{item % DEPARTMENTS}") for item in range(n_items)]
    Path(items).write_text(csv_text(("sku", "department"), departments))
    counts = [(f"item {item}", item % 9, item % 4) for item in range(n_items)]
    Path(stock).write_text(csv_text(("sku", "stock", "coming_1"), counts))
    until = str(FIRST_MONDAY + 7 * (WEEKS + 7))
    for name in ("compiled", "measured"):
        shop = str(folder / f"weekly-{name}.db")
        _call(["init", shop, *WEEKLY_SHELF])
        record = ["record", shop, history, "--items", items, "--group", "department"]
        recorded = seconds_of(partial(_call, record))
        decide = ["decide", shop, stock, "--date", dates[-1], "--until", until, "--out", orders]
        decided = seconds_of(partial(_call, decide))
    what = f"inventory, {n_items} items x {WEEKS} weeks recorded and decided"
    limit = 5.0 if n_items == WEEKLY_ITEMS else None
    learned = call_in_child(weeks_by_engine, n_items).result
    return [
        Speed.under(f"{what}, both commands", recorded + decided, limit),
        Speed.under(f"{what}, the engine alone", learned, limit),
    ]


def weeks_by_engine(n_items: int) -> float:
    """Return the seconds in which the engine learns a history of weeks and decides once, when compiled."""
    from driftmdp.inventory.order_engine import EXACT, NOTHING, OrderEngine
    from driftmdp.inventory.terms import ItemTerms
    from driftmdp.problems.inventory import Costs

    units, all_items = _weekly_units(n_items), np.arange(n_items)
    monday = date.fromisoformat(str(FIRST_MONDAY)).toordinal()
    terms = [
        ItemTerms(Costs(0.0, 0.0, 1.0, 0.2), None, lead_time=2, period="week", group=f"d{item % DEPARTMENTS}")
        for item in range(n_items)
    ]
    seconds = 0.0
    for weeks in (2, WEEKS):  # the first time compiles
        begin = time.perf_counter()
        engine = OrderEngine()
        engine.add_items([f"item {item}" for item in range(n_items)], terms)
        for week in range(weeks):
            sold = np.ascontiguousarray(units[:, week])
            seen = np.where(sold < 0, NOTHING, EXACT).astype(np.int8)
            engine.learn(monday + 7 * week, all_items, seen, np.full(n_items, -1), np.maximum(sold, 0))
        today = monday + 7 * weeks
        engine.decide(today, all_items, all_items % 9, (all_items % 4)[:, None], today + 49)
        seconds = time.perf_counter() - begin
    return seconds


def _mornings(folder: Path, n_items: int, lead_time: int) -> list[Row]:
    """Two days of a shop: the second has beliefs to load."""
    shop, stock, sales = (
        folder / f"{n_items}-{lead_time}-{name}" for name in ("shop.db", "stock.csv", "sales.csv")
    )
    _call(["init", str(shop), *SHELF, "--lot-size", "1", "--lead-time", str(lead_time)])
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 15, n_items).tolist()
    stock.write_text(csv_text(("sku", "stock"), [(f"item {i}", count) for i, count in enumerate(counts)]))
    rows: list[Row] = []
    for day in ("2026-11-16", "2026-11-17"):
        sold = rng.poisson(4, n_items).tolist()
        lines = [(f"item {i}", min(units, counts[i])) for i, units in enumerate(sold)]
        sales.write_text(csv_text(("sku", "units"), lines))
        orders = str(folder / "orders.csv")
        decide = seconds_of(partial(_call, ["decide", str(shop), str(stock), "--date", day, "--out", orders]))
        record = seconds_of(partial(_call, ["record", str(shop), str(sales), "--date", day]))
    limit = 10.0 if n_items == 10_000 and lead_time == 0 else None
    for what, seconds in (("decided", decide), ("recorded", record)):
        named = f"inventory, {n_items:,} items {what}, lead time {lead_time}, the whole command"
        rows.append(Speed.under(named, seconds, limit))
    if n_items == 100_000:
        report = call_in_child(whole_day, str(shop), str(stock), str(sales))
        what = f"peak memory, {n_items:,} items decided and recorded"
        note = (
            f"Whole process, with reading CSV. The database has {as_memory(shop.stat().st_size)} after three days"
        )
        rows.append(Speed.memory(what, report.peak_bytes, LIMIT, "-", note))
    return rows


def whole_day(shop: str, stock: str, sales: str) -> None:
    """Decide and record one more day."""
    from driftmdp.inventory import Shop, read_counts, read_sold

    day = date(2026, 11, 18)
    with Shop(shop) as open_shop:
        open_shop.decide(read_counts(stock)[1], day)
        open_shop.record(read_sold(sales, day))


def _call(arguments: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "driftmdp", "inventory", *arguments], check=True, capture_output=True)

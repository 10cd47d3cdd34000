"""Inventory: many items decided and recorded, memory, and a backtest with all rules."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.child import call_in_child
from benchmarks.rows import Row, Speed, as_memory
from benchmarks.timing import seconds_of
from driftmdp.inventory.csv_io import csv_text

__all__ = ["DAYS", "SHELF", "run", "whole_day", "write_sales"]

SHELF = ["--capacity", "20", "--fixed-cost", "4", "--unit-cost", "0.5", "--lost-sale", "4", "--holding", "0.5"]
DAYS = 305
LIMIT = 2_000_000_000


def run(quick: bool) -> list[Row]:
    """Return the times of whole commands, from a shell."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = _backtests(folder, 5 if quick else 100)
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

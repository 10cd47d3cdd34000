"""Damaged shops: a shop that opens holds what was written, and works. Any other raises one sentence."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import tempfile
from datetime import date, timedelta
from pathlib import Path

from driftmdp.errors import DriftmdpError
from driftmdp.inventory import Costs, Count, Shop, Sold, event_log
from tests.fuzz.csv_files import _command
from tests.fuzz.harness import answered

START = date(2026, 11, 16)
DAYS = 4


def case(rng, folder):
    """Damage a shop that was closed, killed in mid-write, or killed by an earlier version, then use it."""
    files, allowed = states()[rng.integers(len(states()))]
    for end, content in files.items():
        damaged = _damaged(rng, content) if rng.random() < (0.7 if len(files) > 1 else 1) else content
        if damaged is not None:
            Path(f"{folder}/shop.db{end}").write_bytes(damaged)
    path = folder / "shop.db"
    if rng.random() < 0.1:
        words = (
            ["explain", path, "A"],
            ["export", path],
            ["history", path, "B"],
            ["backup", path, folder / "b.db"],
        )
        _command(*words[rng.integers(4)])
    shop = answered(lambda: Shop(path))
    if isinstance(shop, DriftmdpError):
        return
    with contextlib.closing(shop):
        found = lines(shop)
        assert found in allowed, "a damaged shop opens, and says something else"
        assert shop.verify()
        goes_on = answered(lambda: shop.decide([Count("A", 1), Count("New", 2)], START + timedelta(40)))
    if not isinstance(goes_on, DriftmdpError):
        with Shop(path) as again:  # our own writing must not make it worse
            assert again.verify()
            assert lines(again)[: len(found)] == found
            assert len(lines(again)) == len(found) + 2


def lines(shop):
    """Return the lines of a shop."""
    return list(shop.history())


@functools.cache
def states():
    """Return files by ending, and what they may say: of a closed shop, of kills in mid-write, of an old shop."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "shop.db")
        with Shop.create(path, Costs(), 10) as shop:
            for n in range(DAYS):
                shop.decide([Count("A", n), Count("B", 5 - n)], START + timedelta(n))
                shop.record([Sold("A", START + timedelta(n), 1), Sold("B", START + timedelta(n), n)])
            closed = lines(shop)
        found = [({"": path.read_bytes()}, [closed])] * 3
        moments, after = _killed(path)
        found += [({"": content, "-journal": journal}, [closed, after]) for content, journal in moments]
        found += [({"": content}, [closed, after]) for content, _ in moments]
        return found + [_old(Path(name, "old.db"))] * 3


def _killed(path):
    """Return what stands on the disk at some moments of a command, and the lines after it."""
    connect, moments = event_log._connect, {}

    def look():
        journal = Path(f"{path}-journal")
        if journal.exists() and journal.stat().st_size:
            moments[path.read_bytes(), journal.read_bytes()] = None

    def watched(where):
        database = connect(where)
        database.execute("PRAGMA cache_size = 1")  # pages are written when they are changed
        database.set_progress_handler(look, 1)
        return database

    event_log._connect = watched
    try:
        with Shop(path) as shop:
            shop.record([Sold(f"New {n}", START + timedelta(DAYS), n % 5, stock=9) for n in range(400)])
    finally:
        event_log._connect = connect
    with Shop(path) as shop:
        return list(moments), lines(shop)


def _old(path):
    """Return the files of a shop with a write-ahead log, as earlier versions kept. Its end may be lost."""
    Shop.create(path, Costs(), 10).close()
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.execute("PRAGMA journal_mode = WAL")
        old.execute("SELECT * FROM head").fetchall()
        with Shop(path) as shop:
            for n in range(DAYS):
                shop.decide([Count("A", n)], START + timedelta(n))
            whole = lines(shop)
            files = {end: Path(f"{path}{end}").read_bytes() for end in ("", "-wal")}
    return files, [whole[:n] for n in range(len(whole) + 1)]


def _damaged(rng, content):
    """Return damaged bytes, or None for no file at all."""
    damaged, kind = bytearray(content), rng.choice(7, p=(0.4, 0.15, 0.15, 0.1, 0.1, 0.05, 0.05))
    place = int(rng.integers(min(len(damaged), int(rng.choice((120, 4096, 1 << 30))))))
    if kind == 0:
        for _ in range(rng.choice((1, 1, 1, 5, 50))):
            damaged[int(rng.integers(place, min(len(damaged), place + 4096)))] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del damaged[place:]
    elif kind == 2:
        damaged[place : place + int(rng.integers(1, 600))] = rng.bytes(int(rng.integers(1, 600)))
    elif kind == 3:
        size = 1 << int(rng.integers(2, 13))
        damaged[place : place + size] = bytes(len(damaged[place : place + size]))
    elif kind == 4:  # two pages change places
        pages = len(damaged) // 4096
        one, two = (4096 * int(rng.integers(pages + 1)) for _ in range(2))
        damaged[one : one + 4096], damaged[two : two + 4096] = damaged[two : two + 4096], damaged[one : one + 4096]
    elif kind == 5:
        damaged += rng.bytes(int(rng.integers(1, 9000)))
    else:
        return None
    return bytes(damaged)

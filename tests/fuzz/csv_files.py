"""Random CSV files into reading, a shop, and the commands: each is used or refused with one sentence.

After a refusal the shop is what it was, and it opens again. A file that is used has no cell that can be read in two
ways, unless another cell has only one and so decides how the file is written.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import random
import re
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path

from driftmdp.cli import run_cli
from driftmdp.errors import DriftmdpError
from driftmdp.inventory import (
    Costs,
    Count,
    Shop,
    Sold,
    read_calendar,
    read_counts,
    read_items,
    read_sales,
    read_sold,
)
from tests.fuzz.harness import answered

START = date(2026, 11, 16)
# Texts that people and their programs write, one between each pair of bars.
NUMBERS = (
    "1e309|-1|1e3|nan|inf|-0|+5|0x10|1_0||½|\uff11\uff12|\u0663| 4 |\xa05|2147483647|2147483648|1.0|2.00|\u22121"
)
NUMBERS += (
    "|=1+1|True|None|\x1b[31m|7\x00|1e-400|3\u200b|......|111111111111111111111111111111111111111111111111111111"
)
DATES = (
    "2199-12-31|2026-02-30|2026-11-16T00:00|2026-11-16 00:00:00.000|||x|-|2026-11|2026-11-16\x1b[2J| 2026-11-17 "
)
DATES += "|16.11.2026|17.11.26|11/16/2026|16/11/2026|2026-11-16 09:30"
NUMBERS += "|1.000,00|1 000|1'000"
NAMES = '=cmd|+1|@a|\'|a,b|a;b|say "hi"|a\nb|a\r\nb|\t=x|007|NULL|<b>|日本語|🥖|e\u0301|\u202etxt'
NAMES += f"|\x1b]0;owned\x07|a\x9bb|\x00|{'A' * 200}|{'A' * 201}|| |\\|\ufeffA|{'x' * 140_000}|\u2028"
NAMES += "|%s{}|../../x|-o|--help"
ODD_HEADERS = f"SKU|Date||units|{'x' * 50_000}|\x1b[2J\x07|sku |\ufeffsku|a\nb|stok|units\x00"
DOUBTFUL_NUMBERS = "1.000|1,000|12.500|999.000"  # each is read in two ways, unless another number decides
DECISIVE_NUMBERS = r"[\d.]+,\d\d?", r"[\d,]+\.\d\d?"  # a decimal comma, a decimal point
DOUBTFUL_DATES = "3/4/2026|05/06/2026"
DECISIVE_DATES = r"16/11/.*", r"11/16/.*"
NO_DATES = "20261116|2026-W03-1|9999-12-31|0001-01-01|1899-12-30|46342"  # no used file has one
NO_DATES += "|\uff12\uff10\uff12\uff16-11-16|2026-11-16Z|+2026-11-16"
HEADERS = ("date", "sku", "units", "stock", "ordered", "lot", "coming", "in_stock", "demand", "coming_2")
SETTINGS = ("capacity", "holding", "pack", "minimum", "lead_time", "order_days", "period", "group", "service")
SPECIAL = ("name", "factor", "group")
RIGHT = {
    "in_stock": ("0", "1", "yes", "", "TRUE"),
    "demand": ("0", "1", ""),
    "order_days": ("mon,thu", "every 2", "", "munday", "every 2 from 2026-01-05"),
    "period": ("day", "", "week", "month"),
    "service": ("0.9", "", "95"),
    "name": ("sale", "closed", "=x"),
    "group": ("tea", "", "=x"),
    "capacity": ("none", "", "10", "3"),
}
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "utf-32", "cp1252")


def case(rng, folder):
    """Make a file, give it to one of the readers, and look at what became of the shop."""
    dice = random.Random(int(rng.integers(1 << 62)))
    use(dice, folder, "file.csv", *any_file(dice))


def use(dice, folder, name, content, table):
    """Give a file to one of the readers. The table is what it holds, if that is known."""
    file, shop = folder / name, folder / "shop.db"
    file.write_bytes(content)
    shop.write_bytes(small_shop())
    ((act, names),) = dice.choices(ACTS, OFTEN)
    read, used = act(dice, file, shop)
    if read:
        dates = _cells(table, () if act is _set_items else ("date",))  # which it does not read
        assert not dates & {*NO_DATES.split("|")}, "a date that is none was read"
        assert _is_decided(dates, DOUBTFUL_DATES, DECISIVE_DATES), "a date that may mean another one was read"
        numbers = _cells(table, names)
        assert _is_decided(numbers, DOUBTFUL_NUMBERS, DECISIVE_NUMBERS), (
            "a number that may mean another one was read"
        )
    assert [found.name for found in folder.iterdir() if found.name.startswith(("shop.db-", "."))] == []
    with Shop(shop) as again:
        assert again.verify()
        assert used or again._log.number == 2, "a refused file changed the shop"


@functools.cache
def small_shop():
    """The bytes of a shop with two items and one day."""
    with tempfile.TemporaryDirectory() as folder:
        with Shop.create(f"{folder}/shop.db", Costs(), 10) as shop:
            shop.decide([Count("A", 3), Count("B", 0)], START - timedelta(1))
            shop.record([Sold("A", START - timedelta(1), 2), Sold("B", START - timedelta(1), 0)])
        return Path(folder, "shop.db").read_bytes()


def any_file(dice):
    """Return the bytes of a table, possibly damaged, and the table, which is empty if the bytes do not hold it."""
    if dice.random() < 0.03:
        return dice.randbytes(dice.randrange(3000)), []
    table, spoiled = any_table(dice)
    text = _written(dice, table, spoiled)
    content = text.encode(dice.choice(ENCODINGS) if spoiled else "utf-8", "replace")
    return (mutated(dice, content), []) if dice.random() < spoiled else (content, table)


def any_table(dice):
    """Return rows of texts with a header first, and the share of them that is unusual."""
    spoiled = dice.choice((0.0, 0.0, 0.02, 0.3))
    names = dice.choice((HEADERS, HEADERS, SETTINGS, ("date", *SPECIAL)))
    header = dice.sample(names, dice.randrange(2, min(8, len(names)) + 1))
    header = [*dict.fromkeys(("sku", *header))] if dice.random() < 0.9 else header
    header += [name for name in ("date", "units", "stock") if name not in header and dice.random() < 0.8]
    rows = [[_cell(dice, name, spoiled) for name in header] for _ in range(dice.choice((0, 1, 3, 10, 80)))]
    if rows and not spoiled and dice.random() < 0.6:  # one cell only
        row, place = dice.randrange(len(rows)), dice.randrange(len(header))
        rows[row][place] = _cell(dice, header[place], 1.0)
    if spoiled and dice.random() < 0.2:
        header[dice.randrange(len(header))] = dice.choice(ODD_HEADERS.split("|"))
    if dice.random() < 0.01:
        header, rows = header + [f"c{n}" for n in range(5000)], [row + ["1"] * 5000 for row in rows]
    return [header, *rows], spoiled


def _cells(table, names):
    """Return the cells of some columns."""
    header = [name.strip().lower() for name in table[0]] if table else []
    return {row[place].strip() for row in table[1:] for place, name in enumerate(header) if name in names}


def _is_decided(cells, doubtful, decisive):
    """Return whether there is nothing in doubt, or something that decides in one way only."""
    ways = [form for form in decisive if any(re.fullmatch(form, cell) for cell in cells)]
    return not cells & {*doubtful.split("|")} or len(ways) == 1


def _cell(dice, name, spoiled):
    """Return a cell that is right, or one from the pool of what people and their programs write."""
    if dice.random() < spoiled:
        right = {"date": DATES, "sku": NAMES}.get(name, NUMBERS)
        wrong = {"date": f"{NO_DATES}|{DOUBTFUL_DATES}", "sku": NAMES}.get(name, DOUBTFUL_NUMBERS)
        return dice.choice(dice.choice((right, wrong)).split("|"))
    if name == "date":
        return (START + timedelta(dice.randrange(3))).isoformat()
    if name == "sku":
        return dice.choice(("A", "B", "C", "=d", "e,f", "g\nh"))
    if name in RIGHT:
        return dice.choice(RIGHT[name])
    return str(dice.randrange(1 if name == "lot" else 0, 2 if name == "lot" else 20))


def _written(dice, table, spoiled):
    out = io.StringIO(newline="")
    ends, quoting = ("\n", "\r\n", "\r"), (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    with contextlib.suppress(csv.Error):
        csv.writer(
            out,
            delimiter=dice.choice(",;\t|" if spoiled else ",;\t"),
            lineterminator=dice.choice(ends),
            quoting=dice.choice(quoting),
        ).writerows(table)
    return out.getvalue()


def mutated(dice, content):
    """Cut, repeat, and overwrite some bytes."""
    spoiled = bytearray(content)
    for _ in range(dice.randrange(1, 6)):
        place = dice.randrange(len(spoiled) + 1)
        kind = dice.randrange(4)
        if kind == 0:
            del spoiled[place:]
        elif kind == 1:
            spoiled[place : place + dice.randrange(20)] = dice.randbytes(dice.randrange(20))
        elif kind == 2:
            spoiled[place:place] = bytes(dice.choices(b'",;\n\r\0\x1b\xff', k=dice.randrange(1, 9)))
        else:
            spoiled += spoiled[place : place + 200] * dice.randrange(1, 50)
    return bytes(spoiled)


def _choices(dice):
    return dice.choice(("refuse", "zero", "skip")), dice.choice(("refuse", "sum", "last"))


def _is_used(answer):
    return not isinstance(answer, DriftmdpError)


def _read_past(dice, file, shop):
    gaps = dice.choice(("refuse", "zero", "skip"))
    found = answered(lambda: read_sales(file, None, *_choices(dice), gaps))
    if _is_used(found):
        assert all(series.units.size and series.units.min() >= 0 for series in found.series)
        _check_lines("\n".join(found.remarks))
    return _is_used(found), False


def _decide(dice, file, shop):
    day = START if dice.random() < 0.5 else None
    found = answered(lambda: read_counts(file, day))
    if not _is_used(found):
        return False, False
    with Shop(shop) as there:
        decision = answered(lambda: there.decide(found[1], found[0] or START, dice.random() < 0.3))
    if _is_used(decision):
        _check_lines("\n".join(decision.remarks))
    return True, _is_used(decision)


def _record(dice, file, shop):
    found = answered(lambda: read_sold(file, None, None, *_choices(dice)))
    if not _is_used(found):
        return False, False
    with Shop(shop) as there:
        receipt = answered(lambda: there.record(found, dice.random() < 0.3, dice.random() < 0.7))
    if _is_used(receipt):
        _check_lines("\n".join(receipt.remarks))
    return True, _is_used(receipt)


def _set_items(dice, file, shop):
    found = answered(lambda: read_items(file, dice.choice((None, None, "units"))))
    if not _is_used(found):
        return False, False
    _check_lines("\n".join(found.remarks))
    with Shop(shop) as there:
        receipt = answered(lambda: there.record([], items=found.items))
    return True, _is_used(receipt)


def _set_calendar(dice, file, shop):
    found = answered(lambda: read_calendar(file))
    if not _is_used(found):
        return False, False
    with Shop(shop) as there:
        receipt = answered(lambda: there.record([], calendar=found))
    return True, _is_used(receipt)


def _decide_by_command(dice, file, shop):
    out = "-" if dice.random() < 0.5 else str(file.with_name(dice.choice(("orders.csv", "orders.xlsx"))))
    code = _command("decide", shop, file, "--out", out, *(["--date", START] if dice.random() < 0.5 else []))
    return code == 0, code == 0


def _record_by_command(dice, file, shop):
    negatives, duplicates = _choices(dice)
    code = _command("record", shop, file, "--plenty", "--negatives", negatives, "--duplicates", duplicates)
    return code == 0, code == 0


def _backtest_by_command(dice, file, shop):
    costs = "--capacity=5", "--fixed-cost=4", "--unit-cost=1", "--lost-sale=4", "--holding=1"
    return _command("backtest", file, *costs, "--out", file.with_name("out")) == 0, False


ACTS = (
    (_read_past, ("units",)),
    (_decide, ("stock", "coming", "lot")),
    (_record, ("units", "ordered", "stock", "lot")),
    (_decide_by_command, ("stock", "coming", "lot")),
    (_record_by_command, ("units", "ordered", "stock", "lot")),
    (_backtest_by_command, ("units",)),
    (_set_items, ("capacity", "holding", "pack", "lot", "minimum", "lead_time", "service")),
    (_set_calendar, ("factor",)),
)
OFTEN = (15, 28, 28, 6, 6, 2, 10, 5)


def _command(*words):
    """Run a command in this process, and return its exit code."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    before, sys.argv = sys.argv, ["driftmdp", "inventory", *map(str, words)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run_cli()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    assert code in (0, 1, 2), code
    assert "Traceback" not in err.getvalue(), err.getvalue()
    assert "Something went wrong" not in err.getvalue(), err.getvalue()
    _check_lines(err.getvalue())
    assert not set(out.getvalue()) & set(map(chr, (*range(9), *range(14, 32), *range(127, 160)))), out.getvalue()
    return code


def _check_lines(text):
    """Refuse what a terminal would not only show."""
    assert all(line.isprintable() and len(line) < 2000 for line in text.split("\n")), text[:500]

"""``driftmdp inventory``: a shop's day at the command line, its mistakes, and names that mean harm."""

import csv
import io
import sqlite3
from datetime import date, timedelta

import pytest

from driftmdp.inventory import Count, Shop
from driftmdp.inventory.cells import name_from_cell

PRICES = ["--fixed-cost", 4, "--unit-cost", 0.5, "--lost-sale", 4, "--holding", 0.5]
COSTS = ["--capacity", 20, *PRICES, "--lot-size", 1]
HOSTILE = [
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://x","y")',
    "+1",
    "-x",
    "--debug",
    "@SUM(A1)",
    "'=x",
    '"a,b"',
    "a;b",
    "a\tb",
    "\t=x",
    "a\nb",
    "a\n=cmd",
    "a\rb",
    "a\r=cmd",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "Robert'); DROP TABLE batches;--",
    "Käse ½ 🧀",
    "../../etc/passwd",
    "%s %d {0}",
    "NULL",
    "-1",
    "A" * 200,
]


@pytest.fixture
def begun(call, tmp_path):
    """The commands in a folder with a shop and two files."""
    assert call("inventory", "init", "shop.db", *COSTS)[0] == 0
    (tmp_path / "stock.csv").write_text("sku,stock\nMilk 1l,0\nBread,0\n")
    (tmp_path / "sales.csv").write_text("date,sku,units\n2026-11-16,Milk 1l,2\n2026-11-16,Bread,3\n")
    return lambda *words: call("inventory", *words)


def table(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def as_csv(header, rows):
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    return out.getvalue()


def batches(path):
    with Shop(path) as shop:
        assert shop.verify()
        return shop._log.number


# ---- a day


def test_from_init_to_export(begun, tmp_path):
    code, out, err = begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == "2026-11-16: 2 items, 2 to order. The orders: orders.csv"
    orders = (tmp_path / "orders.csv").read_text()
    rows = table(orders)
    assert [(row["date"], row["sku"], row["stock"]) for row in rows] == [
        ("2026-11-16", "Milk 1l", "0"),
        ("2026-11-16", "Bread", "0"),
    ]
    milk, bread = (int(row["order"]) for row in rows)
    assert 0 < milk <= 17
    assert 0 < bread <= 20
    assert orders.splitlines()[0] == "date,sku,order,stock,coming,packs,cost,method"

    code, out, err = begun("record", "shop.db", "sales.csv")
    assert (code, out, err) == (0, "", "2 recorded.\n")
    code, out, err = begun("record", "shop.db", "sales.csv")
    assert (code, out, err) == (0, "", "0 recorded, 2 repeated.\n")

    code, out, err = begun("explain", "shop.db", "Milk 1l")
    assert (code, err) == (0, "")
    for said in (f"Advice for 2026-11-16: order {milk}", "Demand", "Why this order"):
        assert said in out
    code, out, err = begun("history", "shop.db", "Bread")
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [
        ["2026-11-16", "decided"],
        ["2026-11-16", "sold"],
    ]
    code, out, err = begun("export", "shop.db")
    assert (code, err) == (0, "")
    assert [(row["kind"], row["sku"], row["sales"]) for row in table(out)] == [
        ("decided", "Milk 1l", ""),
        ("decided", "Bread", ""),
        ("sold", "Milk 1l", "2"),
        ("sold", "Bread", "3"),
    ]
    code, printed, err = begun("export", "shop.db", "-o", "deep/er/log.csv")
    assert (code, printed) == (0, "")
    assert (tmp_path / "deep/er/log.csv").read_bytes().decode() == out
    assert not list(tmp_path.glob(".*"))
    assert not list(tmp_path.glob("shop.db-*"))


def test_deciding_again_writes_the_same_orders(begun, tmp_path):
    begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    first = (tmp_path / "orders.csv").read_bytes()
    (tmp_path / "orders.csv").write_text("half of it")
    code, out, err = begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    assert (code, out) == (0, "")
    assert "2 of them decided before" in err
    assert (tmp_path / "orders.csv").read_bytes() == first
    (tmp_path / "orders.csv").unlink()
    code, out, err = begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16", "-o", "-")
    assert (code, out.encode()) == (0, first)
    assert "The orders:" not in err
    assert not (tmp_path / "orders.csv").exists()
    assert batches(tmp_path / "shop.db") == 1


def test_today_is_the_day_unless_the_file_or_the_command_says_otherwise(begun, tmp_path):
    before = date.today()
    _, out, _ = begun("decide", "shop.db", "stock.csv", "-o", "-")
    assert before <= date.fromisoformat(table(out)[0]["date"]) <= date.today()
    (tmp_path / "dated.csv").write_text("date,sku,stock\n2026-01-05,Jam,3\n2026-01-05,Tea,3\n")
    _, out, _ = begun("decide", "shop.db", "dated.csv", "-o", "-")
    assert {row["date"] for row in table(out)} == {"2026-01-05"}
    code, _, err = begun("decide", "shop.db", "dated.csv", "-o", "-", "--date", "2026-01-06")
    assert code == 2
    assert "line 2: date must be 2026-01-06 on every line; got 2026-01-05" in err


def test_corrections_and_what_was_really_ordered(begun, tmp_path):
    begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    milk, bread = (int(row["order"]) for row in table((tmp_path / "orders.csv").read_text()))
    begun("record", "shop.db", "sales.csv")
    (tmp_path / "sales.csv").write_text("date,sku,units,ordered\n2026-11-16,Milk 1l,2,9\n2026-11-16,Bread,3,\n")
    code, out, err = begun("record", "shop.db", "sales.csv")
    assert (code, out) == (2, "")
    assert err == (
        "error: sales.csv, line 2: Milk 1l on 2026-11-16 is recorded with 2 sold from a stock of 0 and an order of "
        f"{milk}; got 2 sold "
        "from a stock of 0 and an order of 9. Nothing was done; use --correct if the record was wrong.\n"
    )
    assert batches(tmp_path / "shop.db") == 2
    code, _, err = begun("record", "shop.db", "sales.csv", "--correct")
    assert (code, err) == (0, "0 recorded, 1 repeated, 1 corrected.\n")
    assert begun("record", "shop.db", "sales.csv", "--correct")[2] == "0 recorded, 2 repeated.\n"

    (tmp_path / "stock.csv").write_text("sku,stock\nMilk 1l,3\nBread,4\n")
    code, _, err = begun("decide", "shop.db", "stock.csv", "--date", "2026-11-17", "--strict")
    assert code == 2
    assert "2 counts differ from the records" in err
    assert f"(Milk 1l: counted 3, expected 7; Bread: counted 4, expected {bread - 3})" in err
    assert begun("decide", "shop.db", "stock.csv", "--date", "2026-11-17")[0] == 0
    (tmp_path / "stock.csv").write_text("sku,stock\nMilk 1l,1\n")
    assert begun("decide", "shop.db", "stock.csv", "--date", "2026-11-17")[0] == 2
    assert begun("decide", "shop.db", "stock.csv", "--date", "2026-11-17", "--correct")[0] == 0


def test_past_sales_other_columns_and_lots(begun, tmp_path, call):
    rows = [(f"2026-{n // 28 + 1:02}-{n % 28 + 1:02}", "Nails", 100 + n % 30) for n in range(70)]
    (tmp_path / "past.csv").write_text(as_csv(["Datum", "Artikel", "Menge"], rows))
    names = ["--column", "date=Datum", "--column", "sku=Artikel", "--column", "units=Menge"]
    assert call("inventory", "init", "auto.db", *COSTS, "--lot-size", "auto", "--lead-time", 1)[0] == 0
    code, _, err = begun("record", "auto.db", "past.csv", *names)
    assert code == 2
    assert "--plenty" in err
    code, _, err = begun("record", "auto.db", "past.csv", *names, "--plenty")
    assert (code, err) == (0, "70 recorded.\n")
    (tmp_path / "stock.csv").write_text("sku,stock\nNails,3\n")
    code, out, _ = begun("decide", "auto.db", "stock.csv", "--date", "2026-11-16", "-o", "-")
    (row,) = table(out)
    with Shop(tmp_path / "auto.db") as shop:
        terms = shop.terms_of("Nails")
    assert (terms.pack, terms.capacity) == (11, 220)  # 128 or so in at most 12 of 20 packs
    assert int(row["order"]) == int(row["packs"]) * 11


# ---- mistakes


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["decide", "no.db", "stock.csv"],
            2,
            "no.db must be a shop's database made by `driftmdp inventory init`; there is no such file. "
            "Make one: driftmdp inventory init.",
        ),
        (["decide", "shop.db", "no.csv"], 2, "no.csv must be a CSV file that can be read; there is no"),
        (["decide", "shop.db", "."], 2, ". must be a CSV file that can be read"),
        (["decide", "stock.csv", "stock.csv"], 1, "stock.csv must be"),
        (["decide", "shop.db", "shop.db"], 2, "shop.db must be"),
        (["decide", "shop.db", "sales.csv"], 2, "must have a column 'stock'; its columns are date, sku, units"),
        (["decide", "shop.db", "stock.csv", "--date", "16.11.2026"], 2, "--date must be year-month-day"),
        (["decide", "shop.db", "stock.csv", "--date", "2026-02-30"], 2, "--date must be year-month-day"),
        (["decide", "shop.db", "stock.csv", "--column", "stock"], 2, "--column must be written NAME=WHAT"),
        (["decide", "shop.db", "stock.csv", "--column", "stock="], 2, "--column must be written NAME=WHAT"),
        (["decide", "shop.db", "stock.csv", "--column", "=stock"], 2, "--column must be written NAME=WHAT"),
        (["decide", "shop.db", "stock.csv", "--column", "stok=stock"], 2, "no column 'stok' to rename"),
        (["decide", "shop.db", "stock.csv", "--column", "stock=onhand"], 2, "must have a column 'onhand'"),
        (["decide", "shop.db", "stock.csv", "-o", "."], 2, "--out must be a file; . is a folder"),
        (["decide", "shop.db", "stock.csv", "-o", "stock.csv/x"], 2, "--out must lie in a folder"),
        (["record", "shop.db", "no.csv"], 2, "there is no such file"),
        (["record", "shop.db", "sales.csv"], 2, "is not known"),
        (["record", "shop.db", "sales.csv", "--date", "2026-11-17"], 2, "line 2: date must be 2026-11-17"),
        (["record", "shop.db", "sales.csv", "--date", "yesterday"], 2, "--date must be year-month-day"),
        (["record", "shop.db", "stock.csv", "--date", "2026-11-16"], 2, "must have a column 'units'"),
        (
            ["record", "shop.db", "sales.csv", "--column", "stock=onhand"],
            2,
            "is called there: --column stock=NAME.",
        ),
        (
            ["record", "shop.db", "stock.csv"],
            2,
            "the columns 'date', 'units'; its columns are sku, stock. Say what",
        ),
        (["explain", "shop.db", "Milk 2l"], 2, "shop.db has no item 'Milk 2l'."),
        (["history", "no.db", "Milk"], 2, "there is no such file"),
        (["export", "no.db"], 2, "there is no such file"),
        (["export", "shop.db", "-o", "."], 2, "--out must be a file"),
        (["init", "shop.db", *COSTS], 2, "shop.db must not exist yet; it is left as it is"),
        (["init", ".", *COSTS], 2, "must not exist yet"),
        (["init", "no/such/shop.db", *COSTS], 2, "no/such/shop.db must lie in a folder that exists"),
        (["init", "new.db", *COSTS, "--lot-size", "0"], 2, "--pack must be auto or a whole number"),
        (["init", "new.db", *COSTS, "--lot-size", "-1"], 2, "--pack must be auto or a whole number"),
        (["init", "new.db", *COSTS, "--lot-size", "1.5"], 2, "--pack must be auto or a whole number"),
        (["init", "new.db", *COSTS, "--lot-size", "Auto"], 2, "--pack must be auto or a whole number"),
        (["init", "new.db", *COSTS, "--lot-size", ""], 2, "--pack must be auto or a whole number"),
        (
            ["init", "new.db", *COSTS, "--pack", "auto", "--capacity", "none"],
            2,
            "pack must be a number where there",
        ),
        (["init", "new.db", *COSTS, "--lead-time", "61"], 2, "--lead-time"),
        (["init", "new.db", *COSTS, "--capacity", "0"], 2, "--capacity"),
        (["init", "new.db", *COSTS, "--fixed-cost", "-1"], 2, "--fixed-cost"),
        (["init", "new.db", *COSTS, "--holding", "nan"], 2, "--holding"),
        (["init", "new.db", *COSTS, "--holding", "inf"], 2, "must be a finite number"),
        (["init", "new.db"], 2, "--capacity"),
        (["decide"], 2, "Missing argument"),
    ],
)
def test_mistakes_are_one_sentence_and_change_nothing(begun, tmp_path, words, code, said):
    found, out, err = begun(*words)
    told = " ".join(err.replace("│", " ").split())
    assert (found, out) == (code, "")
    assert said in told
    assert "Traceback" not in err
    assert "Something went wrong" not in err
    assert not (tmp_path / "new.db").exists()
    assert not (tmp_path / "orders.csv").exists()
    assert not list(tmp_path.glob(".*"))
    if "-o" not in words:
        assert batches(tmp_path / "shop.db") == 0


def test_unknown_items_are_answered_with_the_nearest(begun):
    begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    for command in ("explain", "history"):
        code, out, err = begun(command, "shop.db", "milk 1L")
        assert (code, out) == (2, "")
        assert err == "error: shop.db has no item 'milk 1L'. Did you mean 'Milk 1l'?\n"


def test_a_file_without_dates_is_told_about_the_option(begun, tmp_path):
    (tmp_path / "sales.csv").write_text("sku,units\nMilk 1l,2\n")
    code, _, err = begun("record", "shop.db", "sales.csv")
    assert code == 2
    assert "--date" in err


def test_a_lot_that_no_order_could_hold_is_refused_at_once(begun, tmp_path):
    # A defect once: the shop is made, cannot be changed, and refuses every morning.
    code, _, err = begun("init", "new.db", *COSTS, "--lot-size", "99999999999")
    assert code == 2
    assert "pack must be" in err
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("out", ["shop.db", "./shop.db", "link.db"])
@pytest.mark.parametrize("command", ["decide", "export"])
def test_a_table_is_never_written_over_the_shop(begun, tmp_path, command, out):
    # A defect once: -o shop.db replaces the whole log by a table.
    begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    (tmp_path / "link.db").hardlink_to(tmp_path / "shop.db")
    words = ["stock.csv", "--date", "2026-11-17"] if command == "decide" else []
    code, _, err = begun(command, "shop.db", *words, "-o", out)
    assert (tmp_path / "shop.db").read_bytes().startswith(b"SQLite format 3")
    assert batches(tmp_path / "shop.db") >= 1
    if out != "link.db":  # a new file takes the place of a link; the shop is safe
        assert code == 2
        assert err.startswith("error: --out must")


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_table_is_never_written_over_what_belongs_to_the_shop(begun, tmp_path, end):
    # A defect once: while another process has the shop open, its log is replaced by a table.
    with Shop(tmp_path / "shop.db") as shop:
        shop.decide([Count("A", 1)], date(2026, 11, 16))
        (tmp_path / f"shop.db{end}").touch()
        code, _, err = begun("export", "shop.db", "-o", f"shop.db{end}")
        assert code == 2
        assert err.startswith("error: --out must")


def test_orders_are_not_written_over_the_counts(begun, tmp_path):
    # A defect once: -o stock.csv replaces this morning's counts.
    before = (tmp_path / "stock.csv").read_bytes()
    code, _, _ = begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16", "-o", "stock.csv")
    assert code == 2
    assert (tmp_path / "stock.csv").read_bytes() == before


def test_a_bad_line_leaves_old_orders_alone(begun, tmp_path):
    (tmp_path / "orders.csv").write_text("of yesterday")
    (tmp_path / "stock.csv").write_text("sku,stock\nMilk 1l,3\nBread,-1\nJam,x\n")
    code, out, err = begun("decide", "shop.db", "stock.csv")
    assert (code, out) == (2, "")
    assert err == (
        "error: stock.csv has 2 lines that cannot be used: line 3: stock must not be negative; got -1; line 4: "
        "stock must be a whole number; got 'x'. Correct these lines, then try again; nothing was done.\n"
    )
    assert (tmp_path / "orders.csv").read_text() == "of yesterday"


@pytest.mark.parametrize("command", ["decide", "record", "explain", "history", "export"])
def test_a_tampered_shop_is_refused_with_code_1(begun, tmp_path, command):
    begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    (tmp_path / "orders.csv").unlink()
    database = sqlite3.connect(tmp_path / "shop.db")
    database.execute("UPDATE head SET number = 7")
    database.commit()
    database.close()
    more = {"decide": ["stock.csv"], "record": ["sales.csv"], "explain": ["Bread"], "history": ["Bread"]}
    code, out, err = begun(command, "shop.db", *more.get(command, []))
    assert (code, out) == (1, "")
    assert err == (
        "error: shop.db was changed by something other than driftmdp: it ends with batch 1, but 7 were "
        "written. Nothing was done; take the last backup, and record what came after it again.\n"
    )
    assert not (tmp_path / "orders.csv").exists()


# ---- names that mean harm


def test_hostile_names_go_through_a_whole_day_unharmed_and_harmless(begun, tmp_path):
    # A defect once: names with a lone CR fall apart in orders.csv.
    stock = [(cell(name), n % 5) for n, name in enumerate(HOSTILE)]
    (tmp_path / "stock.csv").write_bytes(as_csv(["sku", "stock"], stock).encode())
    code, _, err = begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    assert code == 0, err
    with Shop(tmp_path / "shop.db") as shop:
        assert list(shop.skus) == HOSTILE
    written = (tmp_path / "orders.csv").read_bytes().decode()
    rows = table(written)
    assert harmless(written)
    assert [name_from_cell(row["sku"]) for row in rows] == HOSTILE

    sales = [(row["date"], row["sku"], 1, row["order"]) for row in rows]
    (tmp_path / "sales.csv").write_bytes(as_csv(["date", "sku", "units", "ordered"], sales).encode())
    code, _, err = begun("record", "shop.db", "sales.csv")
    assert (code, err.splitlines()[-1]) == (0, f"{len(HOSTILE)} recorded.")
    with Shop(tmp_path / "shop.db") as shop:
        assert list(shop.skus) == HOSTILE

    assert begun("export", "shop.db", "-o", "log.csv")[0] == 0
    log = (tmp_path / "log.csv").read_bytes().decode()
    assert harmless(log)
    assert [name_from_cell(row["sku"]) for row in table(log)] == HOSTILE * 2

    assert begun("export", "shop.db", "--sales", "-o", "again.csv")[0] == 0
    assert harmless((tmp_path / "again.csv").read_bytes().decode())
    code, _, err = begun("record", "shop.db", "again.csv")
    assert (code, err) == (0, f"0 recorded, {len(HOSTILE)} repeated.\n")


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "--debug" and "\r" not in name])
def test_hostile_names_can_be_explained(begun, tmp_path, name):
    (tmp_path / "stock.csv").write_bytes(as_csv(["sku", "stock"], [(cell(name), 3)]).encode())
    begun("decide", "shop.db", "stock.csv", "--date", "2026-11-16")
    for command in ("explain", "history"):
        code, out, err = begun(command, "shop.db", "--", name)
        assert (code, err) == (0, "")
        assert "2026-11-16" in out


def cell(name):
    """A name as a person would write it: only a leading tab needs a mark, since spaces around are dropped."""
    return f"'{name}" if name.startswith(("\t", "'=")) else name


def harmless(text):
    rows = list(csv.reader(io.StringIO(text, newline="")))
    return len({len(row) for row in rows}) == 1 and not [
        found for row in rows for found in row if found.startswith(tuple("=+-@\t\r"))
    ]


@pytest.mark.parametrize(
    "option", [["--capacity", "1.000"], ["--capacity", "1_0"], ["--lead-time", "1.0"], ["--holding", "1.000"]]
)
def test_options_that_may_mean_two_things_are_refused(call, tmp_path, option):
    code, _, said = call("inventory", "init", "shop.db", *COSTS, *option)
    assert code == 2
    assert f"got '{option[1]}'" in " ".join(said.replace("│", " ").split())
    assert not (tmp_path / "shop.db").exists()


def test_a_backtest_in_weeks_from_a_file_with_stock_outs(call, tmp_path):
    days = [date(2025, 1, 6) + timedelta(7 * week) for week in range(40)]
    lines = [
        f"{day},{sku},{5 * (week % 9 > 0)},{int(week % 9 > 0)}" for week, day in enumerate(days) for sku in "AB"
    ]
    (tmp_path / "sales.csv").write_text("\n".join(["date,sku,units,in_stock", *lines, ""]))
    (tmp_path / "items.csv").write_text("sku,pack,department\nA,4,tea\nB,,tea\n")
    terms = ["--period", "week", "--capacity", "none", "--fixed-cost", "1", "--unit-cost", "0", "--holding", "0.1"]
    words = [
        "inventory",
        "backtest",
        "sales.csv",
        *terms,
        "--items",
        "items.csv",
        "--group",
        "department",
        "--lead-time",
        "2",
    ]
    code, out, err = call(*words, "--service", "0.9")
    assert code == 0
    assert out.splitlines()[0].startswith("With driftmdp, these 2 items would have cost ")
    assert out.splitlines()[2].startswith("driftmdp ")
    assert "10 weeks of items without stock: demand is not known, and is taken as 0." in err
    assert (tmp_path / "out" / "backtest" / "sales" / "by-item.csv").is_file()
    code, _, err = call(*words, "--service", "0.9", "--lost-sale", "2")
    assert (code, "Exactly one of --lost-sale and --service must be given; got both." in err) == (2, True)
    (tmp_path / "sales.csv").write_text("date,sku,units\n2026-11-17,A,3\n")
    code, _, err = call(*words, "--service", "0.9")
    assert "sales.csv, line 2: A week is named by its Monday; got 2026-11-17, a Tuesday. Use 2026-11-16." in err

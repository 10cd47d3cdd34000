"""CSV in and out: what spreadsheets write, what goes wrong in them, and names that mean harm."""

import csv
import io
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Advice, Count, Sold, orders_csv, read_counts, read_sales, read_sold
from driftmdp.inventory.cells import name_from_cell, name_to_cell
from driftmdp.inventory.csv_io import csv_text, read_table
from tests.inventory.shops import MONDAY, refused

HARMFUL = tuple("=+-@\t\r")
HOSTILE = [
    "=cmd",
    "=cmd|' /C calc'!A0",
    "+1",
    "-x",
    "@a",
    "'=x",
    "''=x",
    "'",
    "''",
    "it's",
    '"a,b"',
    '"',
    '""',
    ",",
    ";",
    "a;b",
    "a\tb",
    "\t=x",
    "\r=x",
    "a\nb",
    "a\r\nb",
    "a\rb",
    "a\r=cmd",
    "a\n=cmd",
    "<script>alert(1)</script>",
    "</td><b>",
    "&amp;",
    "Straße 7 ½",
    "日本語",
    "🥖",
    "e\u0301",
    "\u202etxt",
    "1,5",
    "007",
    "1e5",
    "NULL",
    "nan",
    "#REF!",
    "\\",
    "%s{}",
    "A" * 200,
]
names = st.sampled_from(HOSTILE) | st.text(
    st.sampled_from("=+-@'\"\t\r\n,; aA<é") | st.characters(codec="utf-8", min_codepoint=32), max_size=30
)


def as_a_spreadsheet_writes(rows, delimiter=","):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue()


def advice(sku):
    return Advice(sku, MONDAY, stock=2, coming=0, order=6)


# ---- names


@given(cell=names)
@example(cell="a\rb")
@example(cell="x\r=cmd|' /C calc'!A0")
def test_a_name_that_was_read_is_written_and_read_again_exactly(tmp_path_factory, cell):
    path = tmp_path_factory.getbasetemp() / "names.csv"
    path.write_bytes(as_a_spreadsheet_writes([["sku", "stock"], [cell, "3"]]).encode())
    try:
        _, (count,) = read_counts(path)
    except InvalidInputError:
        return  # no name, too long, or a control character
    path.write_bytes(orders_csv([advice(count.sku)]).encode())
    columns = read_table(path, ("sku", "order")).columns
    assert [name_from_cell(cell.strip()) for cell in columns["sku"]] == [count.sku]
    assert columns["order"] == ["6"]


@given(table=st.lists(st.lists(names, min_size=2, max_size=4), max_size=4))
@example(table=[["x\r=cmd", "y"]])
def test_no_written_cell_begins_like_a_formula(table):
    text = csv_text(("one", "two"), table)
    # A defect once, in Python 3.11: a name with a lone CR is not quoted; a spreadsheet begins a new row there.
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len(rows) == 1 + len(table)
    for row, written in zip(table, rows[1:], strict=True):
        assert len(row) == len(written)
        assert not [cell for cell in written if cell.startswith(HARMFUL)]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_survives_its_cell(name):
    assert name_from_cell(name_to_cell(name)) == name
    assert not name_to_cell(name).startswith(HARMFUL)


def test_numbers_are_written_as_they_are():
    assert csv_text(["a", "b"], [[-1, 2.5], ["-1", None]]) == "a,b\n-1,2.5\n'-1,\n"


# ---- what spreadsheets write


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["", "end"])
def test_separators_line_ends_and_byte_order_marks(file, delimiter, end, mark, last):
    table = [["Note", "SKU", " Stock "], ["x", '"a,b;c"', "3"], ["", '"say ""hi"""', " 4 "], ["", "", ""]]
    text = mark + end.join(delimiter.join(row) for row in table) + (end if last else "")
    _, counts = read_counts(file(text))
    assert [(c.sku, c.stock) for c in counts] == [("a,b;c", 3), ('say "hi"', 4)]


def test_quoted_newlines_belong_to_the_name_and_lines_are_counted_as_an_editor_does(file):
    text = 'sku,stock\n"one\ntwo",3\nB,x\n'
    with refused("line 4: stock must be a whole number; got 'x'"):
        read_counts(file(text))
    _, counts = read_counts(file(text.replace("x", "5")))
    assert [c.sku for c in counts] == ["one\ntwo", "B"]


def test_columns_come_in_any_order_and_others_are_ignored(file):
    sold = read_sold(file("units,colour,date,sku\n3,red,2026-11-16,A\n"))
    assert [(s.sku, s.day, s.units, s.ordered) for s in sold] == [("A", MONDAY, 3, None)]


def test_columns_can_be_renamed(file):
    path = file("Artikel;Menge;Datum\nA;3;2026-11-16\n")
    (sold,) = read_sold(path, columns={"sku": "Artikel", "units": "menge", "date": "Datum"})
    assert (sold.sku, sold.units) == ("A", 3)


# ---- files that are not tables


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\n \r\n\n", "it is empty"),
        (b"\xef\xbb\xbf", "it is empty"),
        ("sku,stock\nBrötchen,1\n".encode() + b"K\xe4se,2\n", "must be UTF-8 text; line 3 is not"),
        (b"sku,stock\nA,1\nK\x81se,2\n", "must be UTF-8 text; line 3 is not"),
        ("sku,stock\nA,1\n".encode("utf-16")[:-1], "must be UTF-16 text; line 2 is not"),
        (b"PK\x03\x04\x14\x00\x06\x00", "it is damaged, or none"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "it is not text"),
        (b"sku,stock\nA,1\n\x00\n", "it is not text"),
        (b"sku,stock\n", "must have lines below its header; it has none"),
        (b"sku,stock\n,\n ,\n", "must have lines below its header; it has none"),
        (b'sku,stock\n"A,1\nB,2\n', "must be a CSV file; line 3"),
        (b'sku,stock\n"A"x,1\n', "must be a CSV file; line 2"),
        (b"sku,stock\n" + b"x" * 200_000 + b",1\n", "must be a CSV file; line 2"),
        (b"sku,stock\nA\n", "line 2, must have 2 columns, as the header has; it has 1"),
        (b"sku,stock\nA,1\nB,1,000\n", "line 3, must have 2 columns, as the header has; it has 3"),
        (b"sku,stock\nA,1\nB,2,\n", "line 3, must have 2 columns, as the header has; it has 3"),
        (b"<html><body>Login</body></html>", "it is a web page"),
    ],
)
def test_what_is_no_table_is_refused_by_line(file, content, said):
    with refused(said, "file.csv"):
        read_counts(file(content))


def test_a_folder_and_a_missing_file_are_named(tmp_path):
    with refused("there is no such file", "nowhere.csv"):
        read_counts(tmp_path / "nowhere.csv")
    with refused("Is a directory"):
        read_counts(tmp_path)


def test_our_own_orders_are_counts_without_what_was_decided(file):
    orders = [Advice("A", MONDAY, stock=2, coming=7, order=12, pack=6, cost=1.25, method="exact")]
    said = []
    assert read_counts(file(orders_csv(orders)), remarks=said) == (MONDAY, [Count("A", 2)])
    assert said == [
        "file.csv has orders: its stock counts, but its order, coming, packs, cost, method are not used."
    ]
    assert read_counts(file("sku,stock,coming\nA,2,7\n"))[1][0].coming == (7,)


@pytest.mark.parametrize(
    ("header", "columns", "said"),
    [
        ("sku,stok", {}, ["must have a column 'stock'", "Did you mean 'stok'?", "--column stock=NAME"]),
        ("SKU,Stocks", {}, ["Did you mean 'Stocks'?"]),
        ("article,number", {}, ["its columns are article, number"]),
        ("sku,stock,stock", {}, ["must have one column 'stock'; it has 2"]),
        ("sku,Stock,STOCK", {}, ["must have one column 'stock'; it has 2"]),
        ("sku,stock", {"stock": "onhand"}, ["must have a column 'onhand'"]),
        ("sku,stock", {"coming": "arriving"}, ["must have a column 'arriving'"]),
        ("sku,stock,coming_0", {}, ["coming_1 to coming_59; got coming_0. What arrived this morning is part of"]),
        ("sku,stock,Coming_60", {}, ["coming_1 to coming_59; got Coming_60"]),
        ("sku,stock,coming 0", {}, ["coming_1 to coming_59; got coming 0"]),
        ("name,count", {}, ["must have the columns 'sku', 'stock'; its", "--column sku=NAME --column stock=NAME."]),
        ("sku,amount", {}, ["its columns are sku, amount. Say what"]),
        ("date,sku,units", {}, ["its columns are date, sku, units. It looks like a file for `record`."]),
        ("sku,qty", {"qty": "stock"}, ["Our name comes first: --column stock=qty."]),
        ("sku,stock", {"stocks": "stock"}, ["There is no column 'stocks' to rename here"]),
        ("sku,stock", {"units": "stock"}, ["There is no column 'units' to rename here"]),
    ],
)
def test_wrong_headers_are_explained(file, header, columns, said):
    path = file(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
    with refused(*said):
        read_counts(path, columns=columns)


def test_an_exact_name_wins_over_one_in_capitals(file):
    _, (count,) = read_counts(file("sku,stock,STOCK\nA,1,2\n"))
    assert count.stock == 1


def test_a_file_may_begin_with_empty_lines(file):
    # A defect once: "its columns are ." says nothing; a blank first line is common in exports.
    for empty in ("\n\n", "\r\n", "\r\r", ";\n", " \n", " ; \n", "\t\n"):
        _, (count,) = read_counts(file(f"{empty}sku;stock\nA;1\n"))
        assert count.stock == 1


def test_the_separator_is_that_of_the_header_however_lines_end(file):
    # A defect once: in a file with lone CR the whole text counts, and names with commas decide.
    for end in ("\n", "\r\n", "\r"):
        _, (count,) = read_counts(file(f'sku;stock{end}"a,b,c,d,e,f";1{end}'))
        assert (count.sku, count.stock) == ("a,b,c,d,e,f", 1)


# ---- past sales


def test_past_sales_with_gaps_duplicates_and_negatives_by_line(file):
    text = "date,sku,units\n2026-01-01,A,3\n2026-01-02,B,1\n2026-01-03,A,-2\n2026-01-03,A,5\n2026-01-03,B,1\n"
    path = file(text)
    with refused("line 4: A on 2026-01-03: units must not be negative; got -2", "--negatives"):
        read_sales(path)
    with refused("line 5: A on 2026-01-03 stands on line 4 already", "--duplicates"):
        read_sales(path, negatives="zero")
    with refused("1 gap", "A on 2026-01-02 (before line 5)", "--gaps"):
        read_sales(path, negatives="skip", gaps="refuse")
    found = read_sales(path, negatives="zero", duplicates="sum")
    assert [(s.sku, s.units.tolist()) for s in found.series] == [("A", [3, 0, 5]), ("B", [1, 1])]
    told = "".join(found.remarks)
    assert len(found.remarks) == 3
    assert "1 negative number, taken as no sales: line 4" in told
    assert "1 duplicate line, added up: line 5" in told
    assert "1 gap, taken as no sales: A on 2026-01-02" in told
    skipped = read_sales(path, negatives="skip", gaps="skip")
    assert [s.units.tolist() for s in skipped.series] == [[3, 5], [1, 1]]
    last = read_sales(path, negatives="zero", duplicates="last")
    assert last.series[0].units.tolist() == [3, 0, 5]


def test_a_day_that_no_item_has_is_a_closed_day(file):
    found = read_sales(file("date,sku,units\n2026-01-01,A,3\n2026-01-05,A,1\n"))
    assert found.series[0].units.tolist() == [3, 1]
    assert found.remarks == ()


def test_a_choice_is_spelled_wrong(file):
    with refused("Did you mean 'zero'?"):
        read_sales(file("date,sku,units\n2026-01-01,A,3\n"), negatives="zeros")


def test_a_file_of_negatives_only_has_no_lines(file):
    with refused("it has none that can be used"):
        read_sales(file("date,sku,units\n2026-01-01,A,-3\n"), negatives="skip")


def test_what_the_shelf_had_says_what_sales_mean(file):
    lines = ("1,3,1,,,", "2,0,0,,,", "3,4,,4,,", "4,4,,9,,", "5,0,,0,,", "6,7,,4,3,", "7,5,,4,3,", "8,6,,4,,1")
    days = "".join(f"2026-01-0{line[0]},A{line[1:]}\n" for line in lines)
    (found,) = read_sales(file(f"date,sku,units,in_stock,stock,ordered,demand\n{days}")).series
    assert found.in_stock.tolist() == [True, False, True, True, False, True, True, True]
    assert found.sold_out.tolist() == [False, False, True, False, True, True, False, False]


def test_with_a_lead_time_an_order_of_the_day_is_not_on_sale(file):
    path = file("date,sku,units,stock,ordered\n2026-01-01,A,4,4,6\n2026-01-02,A,0,0,6\n2026-01-03,A,1,4,0\n")
    (at_once,), (later,) = read_sales(path).series, read_sales(path, lead_time=2).series
    assert (at_once.sold_out, at_once.in_stock) == (None, None)
    assert later.sold_out.tolist() == [True, True, False]
    assert later.in_stock.tolist() == [True, False, True]


def test_a_column_is_found_however_its_words_are_joined(file):
    table = read_sold(file("Date,SKU,Units,In Stock,Ordered\n2026-01-01,A,0,0,\n"))
    assert table.in_stock.tolist() == [0]
    assert read_counts(file("sku,stock,coming1,Coming-2\nA,3,4,5\n"))[1][0].coming == (4, 5)


def test_what_is_not_in_stock_may_still_be_asked_for(file):
    path = file("date,sku,units,in_stock\n2026-01-01,A,3,0\n")
    with refused("line 2: units must be 0 where in_stock is 0; got 3"):
        read_sold(path)
    assert list(read_sold(path, demand=True)) == [Sold("A", date(2026, 1, 1), 3, in_stock=False, demand=True)]
    (found,) = read_sales(file("date,sku,units,in_stock,demand\n2026-01-01,A,3,0,1\n")).series
    assert (found.units.tolist(), found.in_stock) == ([3], None)


def test_what_only_one_of_two_added_lines_says_counts(file):
    text = "date,sku,units,in_stock,stock\n2026-01-01,A,3,1,9\n2026-01-01,A,0,0,\n"
    (found,) = read_sold(file(text), duplicates="sum")
    assert (found.units, found.in_stock, found.stock) == (3, True, 9)


def test_weeks_of_a_history_begin_on_mondays(file):
    path = file("date,sku,units\n2026-01-05,A,3\n2026-01-13,A,1\n")
    with pytest.raises(InvalidInputError, match=r"line 3: A week is named by its Monday; got 2026-01-13"):
        read_sales(path, period="week")

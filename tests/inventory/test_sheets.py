"""CSV in and out: what spreadsheets write, what goes wrong in them, and names that mean harm."""

import csv
import io
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Advice, orders_csv, read_counts, read_sales, read_sold
from driftmdp.inventory.sheets import csv_text, name_from_cell, name_to_cell, read_rows
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


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.csv"

    def write(content):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def as_a_spreadsheet_writes(rows, delimiter=","):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue()


def advice(sku):
    return Advice(sku, MONDAY, stock=2, coming=0, order=6, lot=1)


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
    (row,) = read_rows(path, ("sku", "order"))
    assert name_from_cell(row.cells["sku"]) == count.sku
    assert row.cells["order"] == "6"


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
        ("sku,stock\nA,1\nKäse,2\n".encode("latin-1"), "must be UTF-8 text; line 3 is not"),
        ("sku,stock\nA,1\n".encode("utf-16"), "must be UTF-8 text; line 1 is not"),
        ("sku,stock\nA,1\n".encode("utf-16-le"), "it is not text"),
        (b"PK\x03\x04\x14\x00\x06\x00", "it is not text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "must be UTF-8 text; line 1 is not"),
        (b"sku,stock\nA,1\n\x00\n", "it is not text"),
        (b"sku,stock\n", "must have lines below its header; it has none"),
        (b"sku,stock\n,\n ,\n", "must have lines below its header; it has none"),
        (b'sku,stock\n"A,1\nB,2\n', "must be a CSV file; line 3"),
        (b'sku,stock\n"A"x,1\n', "must be a CSV file; line 2"),
        (b"sku,stock\n" + b"x" * 200_000 + b",1\n", "must be a CSV file; line 2"),
        (b"sku,stock\nA\n", "line 2, must have 2 columns, as the header has; it has 1"),
        (b"sku,stock\nA,1\nB,1,000\n", "line 3, must have 2 columns, as the header has; it has 3"),
        (b"sku,stock\nA,1\nB,2,\n", "line 3, must have 2 columns, as the header has; it has 3"),
        (b"<html><body>Login</body></html>", "must have a column 'sku'"),
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


# ---- numbers and dates


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("12.0", 12),
        ("+3", 3),
        ("-0", 0),
        ("007", 7),
        ("1e3", 1000),
        ("1.2E+1", 12),
        (str(2**31 - 1), 2**31 - 1),
    ],
)
def test_whole_numbers(file, text, number):
    _, (count,) = read_counts(file(f"sku,stock\nA,{text}\n"))
    assert count.stock == number
    assert type(count.stock) is int


@pytest.mark.parametrize(
    "text",
    [
        *("nan", "inf", "-inf", "Infinity", "1.5", "x", "0x10", "1_000", "--1", "1e400", "1e12"),
        *("9" * 22, "-1", "2147483648", "1.2.3", "12€", "True", "", "1 000"),
        *('"1,000"', "1e", "½", "\u22121"),
    ],
)
def test_what_is_no_count_is_refused_with_its_line_and_text(file, text):
    # A defect once: 1_000, a habit of Python's, is taken for a number.
    with refused("1 line that cannot be used: line 3: stock must", "nothing was done"):
        read_counts(file(f"sku,stock\nA,1\nB,{text}\n"))


def test_at_most_ten_lines_are_shown_and_the_rest_counted(file):
    text = "sku,stock\n" + "".join(f"A{n},-1\n" for n in range(25))
    with refused("25 lines", "line 2:", "line 11:", "and 15 more") as caught:
        read_counts(file(text))
    assert "line 12" not in str(caught.value)


@pytest.mark.parametrize("text", ["2026-11-16", "2026-11-16 00:00:00", "2026-11-16T00:00:00"])
def test_dates_as_spreadsheets_write_them(file, text):
    (sold,) = read_sold(file(f"date,sku,units\n{text},A,1\n"))
    assert sold.day == date(2026, 11, 16)


@pytest.mark.parametrize(
    "text",
    [
        "16.11.2026",
        "11/16/2026",
        "2026-13-01",
        "2026-02-30",
        "2026-11-16 09:30",
        "46342",
        "x",
        "2026-11-16 00:00 or so",
    ],
)
def test_other_dates_are_refused_with_their_line(file, text):
    # A defect once: whatever follows 00:00 is taken for midnight.
    with refused("line 2: date must be"):
        read_sold(file(f"date,sku,units\n{text},A,1\n"))


def test_every_line_of_a_count_is_for_one_day(file):
    with refused("line 3: date must be 2026-11-16 on every line; got 2026-11-17"):
        read_counts(file("date,sku,stock\n2026-11-16,A,1\n2026-11-17,B,1\n"))
    with refused("line 2: date must be 2026-11-18"):
        read_counts(file("date,sku,stock\n2026-11-16,A,1\n"), date(2026, 11, 18))


def test_an_item_stands_once_in_a_file(file):
    with refused("line 4: A stands on line 2 already"):
        read_counts(file("sku,stock\nA,1\nB,1\nA,1\n"))
    with refused("line 3: =A on 2026-11-16 stands on line 2 already"):
        read_sold(file("date,sku,units\n2026-11-16,=A,1\n2026-11-16,'=A,1\n"))


def test_returns_and_second_lines_in_an_evening(file):
    path = file("date,sku,units,ordered\n2026-11-16,A,3,1\n2026-11-16,A,2,1\n2026-11-16,B,-4,\n")
    with refused("line 4: units must not be negative; got -4", "--negatives"):
        read_sold(path)
    with refused("line 3: A on 2026-11-16 stands on line 2 already", "--duplicates"):
        read_sold(path, negatives="zero")
    found = read_sold(path, negatives="zero", duplicates="sum")
    assert [(s.sku, s.units) for s in found] == [("A", 5), ("B", 0)]
    found = read_sold(path, negatives="skip", duplicates="last")
    assert [(s.sku, s.units) for s in found] == [("A", 2)]
    with refused("it has none that can be used"):
        read_sold(file("date,sku,units\n2026-11-16,B,-4\n"), negatives="skip")


def test_a_sum_is_at_most_what_one_line_may_say(file):
    # A defect once: the sum is an OverflowError later on.
    path = file("date,sku,units\n2026-11-16,A,2147483647\n2026-11-16,A,1\n")
    with refused("2147483647"):
        read_sold(path, duplicates="sum")


def test_a_lot_of_nothing_is_refused(file):
    with refused("line 2: lot must be at least 1; got 0"):
        read_counts(file("sku,stock,lot\nA,1,0\n"))


@pytest.mark.parametrize("sku", ["\x07", "a\x1bb", "x" * 201])
def test_names_that_no_one_can_print_are_refused(file, sku):
    with refused("line 2: sku must be a name of 1 to 200 characters"):
        read_counts(file(f"sku,stock\n{sku},1\n"))
    with refused("sku must be a name"):
        read_counts(file("sku,stock\n,1\n"))


def test_a_complaint_about_a_name_with_a_newline_is_still_one_line(file):
    # A defect once: names are quoted raw in messages, so a name can add lines of its own to the log.
    with refused("already"):
        read_counts(file('sku,stock\n"a\nerror: b",1\n"a\nerror: b",1\n'))


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

"""Cells of a file: numbers, dates and names that are understood, and those that are refused with their line."""

from datetime import date

import pytest

from driftmdp.inventory import read_counts, read_sales, read_sold
from tests.inventory.shops import refused

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
        *("9" * 22, "-1", "2147483648", "1.2.3", "12€", "True", ""),
        *('"1,000"', "1e", "½", "\u22121"),
    ],
)
def test_what_is_no_count_is_refused_with_its_line_and_text(file, text):
    # A defect once: 1_000, a habit of Python's, is taken for a number.
    with refused("1 line that cannot be used: line 3: stock must", "nothing was done"):
        read_counts(file(f"sku,stock\nA,1\nB,{text}\n"))


def test_many_lines_with_one_fault_are_told_of_once(file):
    text = "date,sku,units\n" + "".join(f"{day:02} May 2026,A,1\n" for day in range(1, 13))
    said = "12 lines that cannot be used: lines 2, 3, 4, and 9 more: date must be year-month-day"
    with refused(said, "got '01 May 2026'. In a spreadsheet, format the column as yyyy-mm-dd. Correct") as caught:
        read_sold(file(text))
    assert str(caught.value).count("date must be") == 1


def test_at_most_ten_lines_are_shown_and_the_rest_counted(file):
    text = "sku,stock\n" + "".join(f"A,{n}\n" for n in range(26))
    with refused("25 lines", "line 3:", "line 12:", "and 15 more") as caught:
        read_counts(file(text))
    assert "line 13" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["1.000", "12.500", "999.000", '"1,000"', "+1.000", "-1.000", "001.000", "\uff11.\uff10\uff10\uff10"],
)
@pytest.mark.parametrize("column", ["stock", "units", "lot"])
def test_what_is_a_thousand_to_some_and_one_to_others_is_refused(file, text, column):
    # A defect once: 1.000 is read as 1, and is a thousand in half of the world.
    known = {"stock": "1", "units": "1", "lot": "1", column: text}
    content = "date,sku,stock,units,lot\n2026-11-16,A,{stock},{units},{lot}\n".format(**known)
    said = f"line 2: {column} must be a whole number without a point or comma; got", "which may mean"
    with refused(*said):
        (read_counts if column == "stock" else read_sold)(file(content))
    if column == "units":
        with refused(*said):
            read_sales(file(content))


@pytest.mark.parametrize(
    ("text", "number"), [("1.0", 1), ("2.00", 2), ("0.000", 0), ("1000.000", 1000), ("3.0000", 3), ("1000", 1000)]
)
def test_numbers_that_can_be_read_in_one_way_are_read(file, text, number):
    _, (count,) = read_counts(file(f"sku,stock\nA,{text}\n"))
    assert count.stock == number


@pytest.mark.parametrize("text", ["2026-11-16", "2026-11-16 00:00:00", "2026-11-16T00:00:00"])
def test_dates_as_spreadsheets_write_them(file, text):
    (sold,) = read_sold(file(f"date,sku,units\n{text},A,1\n"))
    assert sold.day == date(2026, 11, 16)


@pytest.mark.parametrize(
    "text",
    [
        "31.11.2026",
        "2026-13-01",
        "2026-02-30",
        "46342",
        "x",
        "2026-11-16 00:00 or so",
        "20261116",
        "2026-W03-1",
        "2026W031",
        "2026-W03",
        "20261116 00:00",
        "\uff12\uff10\uff12\uff16-11-16",
        "9999-12-31",
        "2200-01-01",
        "1899-12-30",
        "0001-01-01",
    ],
)
def test_other_dates_are_refused_with_their_line(file, text):
    # Defects once: whatever follows 00:00 is taken for midnight; so are other forms of ISO 8601, and any year.
    with refused("line 2: date must be year-month-day, such as 2026-11-16, from 1970 to 2199"):
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
    with refused("line 4: B on 2026-11-16: units must not be negative; got -4", "--negatives"):
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


def test_a_hostile_header_is_shown_short_and_harmless(file):
    # A defect once: the header is echoed as it is, with its escape sequences and all of its 50,000 characters.
    for header in ("\x1b]0;owned\x07\x1b[2J", "x" * 50_000, ",".join(f"c{n}" for n in range(5000)), "a\x9b31mb"):
        with refused("must have a column 'sku'; its columns are", "--column sku=NAME") as caught:
            read_counts(file(f"{header},stock\n1,2\n"))
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 600
    for cell in ("\x1b[31m", "x" * 5000, "\u202e1"):
        with refused("line 2:") as caught:
            read_counts(file(f"sku,stock\nA,{cell}\n"))
        assert str(caught.value).isprintable()

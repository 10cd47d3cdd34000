"""Other people's files: the same table in many conventions, what has two meanings, and columns that are guessed."""

import contextlib
import csv
import io
import itertools
from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import read_calendar, read_counts, read_items, read_sales, read_sold, read_suppliers
from driftmdp.inventory.column_names import GUESSES
from driftmdp.inventory.file_conventions import DATE_FORMATS, NUMBER_COLUMNS, SEPARATORS
from driftmdp.inventory.items_csv import COLUMNS as ITEM_COLUMNS
from driftmdp.inventory.suppliers import SUPPLIER_COLUMNS
from driftmdp.validation import nearest_name
from tests.inventory.shops import refused

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
GROUPS = {"comma": ["", ".", " ", "\u00a0", "'"], "point": ["", ",", " ", "\u00a0", "'"]}
CODES = {"dd": "%d", "mm": "%m", "yyyy": "%Y", "yy": "%y"}


def as_day(day, date_format):
    for part in ("yyyy", "dd", "mm", "yy"):
        date_format = date_format.replace(part, CODES[part])
    return day.strftime(date_format)


def as_number(number, decimal, group):
    text = f"{number:,.2f}"
    return text.translate(str.maketrans({",": group, ".": "," if decimal == "comma" else "."}))


def as_file(rows, encoding, separator):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator).writerows(rows)
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    return (mark + out.getvalue()).encode(encoding)


@given(
    lines=st.dictionaries(
        st.tuples(
            st.dates(date(1990, 1, 1), date(2060, 1, 1)), st.text("aZ9äéè ,;|\"'", min_size=1).map("n{}".format)
        ),
        st.integers(0, 9_999_999),
        min_size=1,
        max_size=8,
    ),
    encoding=st.sampled_from(ENCODINGS),
    separator=st.sampled_from(list(SEPARATORS)),
    date_format=st.sampled_from(DATE_FORMATS),
    time=st.sampled_from(["", " 00:00", " 9:30", " 23:59:01", " 11:00 PM"]),
    decimal=st.sampled_from(["comma", "point"]),
    data=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_the_same_table_reads_the_same_however_it_is_written(
    tmp_path_factory, lines, encoding, separator, date_format, time, decimal, data
):
    group = data.draw(st.sampled_from(GROUPS[decimal]))
    lines = {(day, sku.strip()): units for (day, sku), units in lines.items()}
    lines[date(2026, 3, 25), "that decides"] = 1
    written = [
        [as_day(day, date_format) + time, sku, as_number(n, decimal, group)] for (day, sku), n in lines.items()
    ]
    path = tmp_path_factory.getbasetemp() / "written.csv"
    path.write_bytes(as_file([["date", "sku", "units"], *written], encoding, separator))
    found = read_sold(path)
    assert {(sold.day, sold.sku): sold.units for sold in found} == lines
    is_plain = encoding.startswith("utf-8") and separator == ","
    if not is_plain or date_format != "yyyy-mm-dd" or decimal == "comma":
        assert found.remarks[0].startswith("Read written.csv ")


def test_what_was_recognised_is_said_in_one_sentence(file):
    text = "Datum;Artikel;Menge\n25.03.2026;Käse;1.234,00\n26.03.2026;Käse;2\n"
    found = read_sold(file(text.encode("cp1252")))
    assert [(s.sku, s.day, s.units) for s in found] == [
        ("Käse", date(2026, 3, 25), 1234),
        ("Käse", date(2026, 3, 26), 2),
    ]
    assert found.remarks == (
        "Read file.csv as cp1252, separated by semicolons, dates as dd.mm.yyyy, decimal commas.",
        "Columns taken: Datum as date, Artikel as sku, Menge as units.",
    )
    assert read_sales(file(text)).remarks[0] == (
        "Read file.csv separated by semicolons, dates as dd.mm.yyyy, decimal commas."
    )


def test_a_plain_file_has_no_remarks(file):
    assert read_sold(file("\ufeffdate,sku,units\n2026-03-25 00:00,A,1.0\n2026-03-26,A,1e3\n")).remarks == ()


# ---- days


def sold_on(file, *days, **how):
    text = "date,sku,units\n" + "".join(f"{day},{sku},1\n" for sku, day in enumerate(days))
    return [sold.day.isoformat() for sold in read_sold(file(text), **how)]


def test_one_day_decides_for_all(file):
    assert sold_on(file, "01/02/2026", "25/03/2026") == ["2026-02-01", "2026-03-25"]
    assert sold_on(file, "01/02/2026", "03/25/2026") == ["2026-01-02", "2026-03-25"]
    assert sold_on(file, "1.2.26", "2026-02-03") == ["2026-02-01", "2026-02-03"]
    assert sold_on(file, "05/05/2026") == ["2026-05-05"]  # the same in both ways


def test_days_with_two_meanings_are_asked_for(file):
    said = "'01/02/2026' on line 3 may be 2026-02-01 or 2026-01-02", "--date-format dd/mm/yyyy or --date-format mm/"
    with refused("file.csv must have days with one meaning", *said):
        sold_on(file, "05/05/2026", "01/02/2026")
    assert sold_on(file, "01/02/2026", date_format="dd/mm/yyyy") == ["2026-02-01"]
    assert sold_on(file, "01/02/2026", date_format="mm/dd/yyyy") == ["2026-01-02"]
    with refused("date_format must be one of", "got 'dmy'"):
        sold_on(file, "01/02/2026", date_format="dmy")
    with refused("line 2: date must be mm/dd/yyyy or year-month-day", "got '25/02/2026'"):
        sold_on(file, "25/02/2026", date_format="mm/dd/yyyy")


def test_days_that_contradict_the_others_are_refused_by_line(file):
    with refused("1 line that cannot be used: line 4: date must be", "got '03/25/2026'"):
        sold_on(file, "25/03/2026", "26/03/2026", "03/25/2026")
    with refused("1 line that cannot be used: line 3: date must be", "got '30.02.2026'"):
        sold_on(file, "25.03.2026", "30.02.2026")


def test_the_form_that_the_file_has_is_named(file):
    with refused("line 3: date must be dd.mm.yyyy or year-month-day, such as 2026-11-16", "got 'soon'") as caught:
        sold_on(file, "25.03.2026", "soon")
    assert "format the column" not in str(caught.value)


@pytest.mark.parametrize("total", ["Summe;;5", ";Total:;5", "Gesamtsumme;Januar;5,00", " Razem ;;"])
def test_a_total_below_the_lines_is_left_out(file, total):
    found = read_sold(file(f"Datum;Artikel;Menge\n25.03.2026;A;2,0\n26.03.2026;A;3,0\n{total}\n;;\n"))
    assert [sold.units for sold in found] == [2, 3]
    name = next(cell.strip() for cell in total.split(";") if cell.strip())
    assert found.remarks[-1] == f"Left out: line 4, a total ({name!r})."


def test_only_the_last_line_without_a_day_is_a_total(file):
    head = "date,sku,units\n2026-03-25,A,2\n"
    with refused("line 3: date must be year-month-day", "got 'Total'"):
        read_sold(file(f"{head}Total,,2\n2026-03-26,A,3\n"))
    with refused("line 3: date must be year-month-day", "got 'Kasse 1'"):
        read_sold(file(f"{head}Kasse 1,,2\n"))
    assert [sold.sku for sold in read_sold(file("sku,date,units\nA,2026-03-25,2\nTotal,2026-03-25,2\n"))] == [
        *("A", "Total"),
    ]
    day = date(2026, 3, 25)
    assert [sold.sku for sold in read_sold(file("sku,date,units\nA,,2\nTotal,,2\n"), day)] == ["A", "Total"]
    assert [count.sku for count in read_counts(file("sku,stock\nA,2\nTotal,2\n"))[1]] == ["A", "Total"]


def test_days_of_a_calendar_have_no_option(file):
    said = []
    path = file("date;name;factor\n24.12.2026;christmas;1,5\n25.12.2026;closed;\n")
    assert [day.factor for day in read_calendar(path, remarks=said)] == [1.5, None]
    assert said == ["Read file.csv separated by semicolons, dates as dd.mm.yyyy, decimal commas."]
    with refused("may be 2026-02-01 or 2026-01-02. Write days as yyyy-mm-dd."):
        read_calendar(file("date,name\n01/02/2026,christmas\n"))


# ---- numbers


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.000", "2,0"], [1000, 2]),
        (["1,000", "2.0"], [1000, 2]),
        (["1.000", "2.0"], [1, 2]),
        (["1.000", "1.234.567"], [1000, 1234567]),
        (["1 000", "1\u202f234\u202f567", "7"], [1000, 1234567, 7]),
        (["1'000", "1\u2019000,00"], [1000, 1000]),
    ],
)
def test_one_number_decides_for_all(file, texts, numbers):
    text = "sku;stock\n" + "".join(f"{sku};{text}\n" for sku, text in enumerate(texts))
    assert [count.stock for count in read_counts(file(text))[1]] == numbers


def test_numbers_with_two_meanings_are_asked_for(file):
    path = file("sku;stock\nA;1.000\nB;7\n")
    with refused(
        "line 2: stock must be a whole number", "which may mean 1000", "--decimal comma or --decimal point"
    ):
        read_counts(path)
    assert [count.stock for count in read_counts(path, decimal="comma")[1]] == [1000, 7]
    assert [count.stock for count in read_counts(path, decimal="point")[1]] == [1, 7]
    with refused("decimal must be one of 'comma', 'point'; got 'dot'"):
        read_counts(path, decimal="dot")
    with refused("which may mean 6000") as caught:
        read_items(file("sku;pack\nA;6.000\n"))
    assert "--decimal" not in str(caught.value)


def test_numbers_that_contradict_each_other_are_refused_by_line(file):
    with refused("2 lines that cannot be used: line 2", "line 3"):
        read_counts(file("sku;stock\nA;2,5\nB;2.5\n"))


def test_a_wrong_number_is_shown_as_the_file_has_it(file):
    with refused("line 2: Menge must be a whole number; got '2,5'"):
        read_sold(file("Datum;Artikel;Menge\n25.03.2026;A;2,5\n"))
    with refused(
        "line 2: stock must be a whole number; got '1.234,5'; line 3: stock must not be negative; got -1,0"
    ):
        read_counts(file("sku;stock\nA;1.234,5\nB;-1,0\n"))
    with refused("line 2: Datum must be dd.mm.yyyy or", "got '16.11.2300'"):
        read_sold(file("Datum;Artikel;Menge\n16.11.2300;A;2\n"))


def test_amounts_keep_three_decimals(file):
    (item,) = read_items(file("sku;unit_cost;holding\nA;12,345;0,5\n")).items
    assert item.values == {"unit_cost": 12.345, "holding": 0.5}


def test_every_column_of_numbers_may_have_commas(file):
    numbers = {
        name
        for name, read in (ITEM_COLUMNS | SUPPLIER_COLUMNS).items()
        if takes(read, "2") and not takes(read, "x")
    }
    assert {"price", "waste", "order_cost", "capacity"} < numbers <= NUMBER_COLUMNS
    assert dict(read_items(file("sku;price;waste\nA;12,50;0,5\n")).items[0].values) == {"price": 12.5, "waste": 0.5}
    found = read_suppliers(file("supplier;order_cost;minimum_value\nMill;12,50;1.000,00\n"))
    assert found.remarks == ("Read file.csv separated by semicolons, decimal commas.",)
    assert dict(found.suppliers[0].values) == {"order_cost": 12.5, "minimum_value": 1000.0}


def takes(read, text):
    try:
        read(text)
    except ValueError:
        return False
    return True


# ---- columns


def test_a_guess_has_one_meaning():
    names = list(itertools.chain(*GUESSES.values()))
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and name.isalnum() and name.isascii() for name in names)


@pytest.mark.parametrize(
    "header",
    [
        *(
            "Sale date,Item No.,Qty",
            "Datum,Art.-Nr.,Stück",
            "Jour,Code article,Quantité",
            "Fecha,Artículo,Cantidad",
        ),
        *("Data,Articolo,Quantità", "Datum,Artikel,Aantal", "Data,Código do produto,Qtde.", "Dzień,Artykuł,Ilość"),
    ],
)
def test_columns_are_guessed_in_many_languages(file, header):
    (sold,) = read_sold(file(f"{header}\n2026-11-16,A,3\n"))
    assert (sold.sku, sold.day, sold.units) == ("A", date(2026, 11, 16), 3)


def test_optional_columns_are_guessed_with_the_others(file):
    found = read_sold(file("Datum,Artikel,Menge,Bestand,Bestellt,Auf Lager\n2026-11-16,A,3,9,6,1\n"))
    assert (found[0].stock, found[0].ordered, found[0].in_stock) == (9, 6, True)
    own = read_sold(file("date,sku,units,Bestand\n2026-11-16,A,3,9\n"))
    assert (own[0].stock, own.remarks) == (None, ())  # as before there were guesses


def test_two_columns_that_may_be_one_are_refused(file):
    path = file("Datum,Artikel,Artikelnummer,Menge\n2026-11-16,Brot,A,3\n")
    with refused(
        "must have one column 'sku'; 'Artikel' and 'Artikelnummer' may be it. Say which: --column sku=NAME."
    ):
        read_sold(path)
    assert read_sold(path, columns={"sku": "Artikelnummer"})[0].sku == "A"
    found = read_sold(file("Datum,sku,Menge,Bestand,Voorraad\n2026-11-16,A,3,1,2\n"))
    assert found[0].stock is None
    assert "No column is taken as stock: 'Bestand' and 'Voorraad' may be it." in " ".join(found.remarks)


@pytest.mark.parametrize(
    "name",
    ["Verkaufte Menge", "Sold Qty", "Units sold", "Stückzahl (verkauft)", "Pezzi venduti", "Ilość sprzedana"],
)
def test_what_was_sold_may_have_two_words(file, name):
    found = read_sold(file(f"Datum,Artikel,{name}\n2026-11-16,A,3\n"))
    assert found[0].units == 3
    assert found.remarks == (f"Columns taken: Datum as date, Artikel as sku, {name} as units.",)


@pytest.mark.parametrize("name", ["Bestellte Menge", "Verkaufte Ware", "Verkauft Sold", "Menge verkauft netto"])
def test_other_words_are_no_units(file, name):
    with refused("must have a column 'units'"):
        read_sold(file(f"Datum,Artikel,{name}\n2026-11-16,A,3\n"))


def test_two_columns_of_units_are_refused(file):
    with refused("'Menge' and 'Verkaufte Menge' may be it. Say which: --column units=NAME."):
        read_sold(file("Datum,Artikel,Menge,Verkaufte Menge\n2026-11-16,A,3,3\n"))


def test_a_column_with_nearly_the_same_name_is_said(file):
    found = read_sold(file("date,sku,Units,units,In Stock,in_stock\n2026-11-16,A,9,3,0,1\n"))
    assert (found[0].units, found[0].in_stock) == (3, True)
    assert found.remarks == (
        "Column 'Units' of file.csv is not used, but 'units' is.",
        "Column 'In Stock' of file.csv is not used, but 'in_stock' is.",
    )
    with refused("must have one column 'units'; it has 2"):
        read_sold(file("date,sku,Units,UNITS\n2026-11-16,A,9,3\n"))


def test_a_misspelt_column_is_said(file):
    found = read_sold(file("date,sku,units,in_stok,colour\n2026-11-16,A,3,1,red\n"))
    assert found.remarks == ("Column 'in_stok' of file.csv is not used. Did you mean 'in_stock'?",)


def test_a_name_is_not_suggested_for_itself(file):
    # A defect once: "must have a column 'Datum'. Did you mean 'Datum'?"
    assert nearest_name("Datum", ["Datum"]) == ""
    assert nearest_name("Datum", ["Datum", "datums"]) == " Did you mean 'datums'?"
    for unseen in ("\ufeff\ufeffDatum", "\u200bDatum", "Datum\u00a0", "\uff24atum"):
        assert len(read_sold(file(f"{unseen},sku,units\n2026-11-16,A,3\n"), columns={"date": "Datum"})) == 1


UNSEEN = ["", "\ufeff", "\u200b", "\u00ad", "\u2060", "\u034f", "\ufe0f", "\u3164", "\u202a", "\u00a0", " ", "\t"]


@given(
    marks=st.tuples(st.sampled_from(UNSEEN), st.sampled_from(UNSEEN), st.sampled_from(UNSEEN)),
    name=st.sampled_from(["Datum", "datum", "DATUM", "\uff24atum", "Dat\u0075m"]),
    called=st.sampled_from(["Datum", "datum", "Datum ", "\u200bDatum"]),
)
@settings(deadline=None)
def test_a_name_that_looks_like_the_wanted_one_is_it(tmp_path_factory, marks, name, called):
    path = tmp_path_factory.getbasetemp() / "unseen.csv"
    header = f"{marks[0]}{name[:2]}{marks[1]}{name[2:]}{marks[2]}"
    path.write_text(f'"{header}",sku,units\n2026-11-16,A,3\n', encoding="utf-8")
    assert len(read_sold(path, columns={"date": called})) == 1


def test_names_that_look_alike_are_written_so_that_they_differ():
    assert nearest_name("K\u00e4se", ["Ka\u0308se"]) == " Did you mean 'Ka\\u0308se'?"
    assert nearest_name("tea", ["tea\u034f"]) == " Did you mean 'tea\\u034f'?"
    assert nearest_name("tea", ["t\u00e9a"]) == " Did you mean 't\u00e9a'?"
    for name in ("tea ", "tea\u200b", "tea\ufeff", "tea\u00a0"):
        assert "'tea'" not in nearest_name("tea", [name])


def test_the_first_line_may_name_the_separator(file):
    assert read_counts(file('sep=|\nsku|stock\n"a,b;c"|3\n'))[1][0].stock == 3


def test_titles_above_the_header_are_skipped(file):
    title = 'Sales, by day\nShop "Ann"\n\n"two\nlines"\n;;\n'
    found = read_sold(file(f"{title}Datum;Artikel;Menge\n25.03.2026;A;2\n26.03.2026;A;3\n"))
    assert [(sold.day.day, sold.units) for sold in found] == [(25, 2), (26, 3)]
    assert found.line.tolist() == [8, 9]
    assert found.remarks[0] == (
        "Read file.csv separated by semicolons, with its header in line 7, dates as dd.mm.yyyy."
    )
    with refused("line 3: stock must be a whole number; got 'x'"):
        read_counts(file("Monday\nsku,stock\nA,x\n"))
    with refused("line 3, must have 2 columns, as the header has; it has 3"):
        read_counts(file("Monday\nsku,stock\nA,1,2\n"))
    assert read_counts(file("sep=;\nMonday, early\nsku;stock\nA;1\n"))[1][0].stock == 1


def test_a_header_far_below_is_not_found(file):
    assert read_counts(file("title\n" * 19 + "sku,stock\nA,1\n"))[1][0].stock == 1
    with refused("must have the columns 'sku', 'stock'; its columns are title"):
        read_counts(file("title\n" * 20 + "sku,stock\nA,1\n"))
    with refused("must have a column 'stock'; its columns are sku, stok"):
        read_counts(file("title\nsku,stok\nA,1\n"))


# ---- files that are no tables


@given(
    content=st.binary(max_size=60),
    before=st.sampled_from([b"", b"date,sku,units\n", b"\xff\xfe", b"d\0a\0", b"sep="]),
)
@example(content=b"\xff", before=b"\xff\xfe")
@example(content=b'"\n', before=b"sep=")
@example(content=b"\n99/99/9999,A,1\n0/0/0000,B,1,\n", before=b"date,sku,units\n")
def test_any_bytes_are_read_or_refused_in_words(tmp_path_factory, content, before):
    path = tmp_path_factory.getbasetemp() / "bytes.csv"
    path.write_bytes(before + content)
    for read in (read_sold, read_counts, read_items, read_calendar, read_sales):
        with contextlib.suppress(InvalidInputError):  # and no other
            read(path)


@given(cell=st.text("0123456789.,/-' :+T\u00a0eE", max_size=14))
def test_any_cell_is_read_or_refused_in_words(tmp_path_factory, cell):
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    path.write_bytes(
        as_file([["date", "sku", "units"], [cell, "A", cell], ["2026-11-16", "B", cell]], "utf-8", ";")
    )
    with pytest.raises(InvalidInputError):
        read_sold(path)


def test_the_command_says_how_it_read(call, tmp_path):
    costs = ["--capacity", "50", "--fixed-cost", "1", "--unit-cost", "1", "--lost-sale", "5", "--holding", "0.1"]
    call("inventory", "init", "shop.db", *costs)
    (tmp_path / "sales.csv").write_bytes("Datum;Artikel;Menge\n01/02/2026;Käse;3,0\n".encode("cp1252"))
    _, _, said = call("inventory", "record", "shop.db", "sales.csv", "--plenty", "--date-format", "dd/mm/yyyy")
    assert "Read sales.csv as cp1252, separated by semicolons, dates as dd/mm/yyyy, decimal commas." in said
    assert "1 recorded." in said
    (tmp_path / "stock.csv").write_text("Artikel;Bestand\nKäse;1.000\n")
    _, _, said = call("inventory", "decide", "shop.db", "stock.csv", "--date", "2026-02-02", "--decimal", "point")
    assert "Columns taken: Artikel as sku, Bestand as stock." in said

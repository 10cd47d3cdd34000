"""The total that a till or a spreadsheet writes below its lines: known by its first word, and left out."""

from collections.abc import Mapping, Sequence

from driftmdp.inventory.column_names import folded
from driftmdp.inventory.file_conventions import is_day

# English, German, French, Spanish, Italian, Dutch, Portuguese and Polish, without capitals, accents and spaces.
TOTALS = {
    *("total", "totals", "grandtotal", "sum", "totaux", "totalgeneral", "somme", "suma", "sumatotal", "totalgeral"),
    *("summe", "summen", "gesamt", "gesamtsumme", "gesamtergebnis", "endsumme", "insgesamt", "soma"),
    *("totale", "totali", "totalegenerale", "totalecomplessivo", "somma", "totaal", "eindtotaal", "som"),
    *("razem", "sumacalkowita", "sumakoncowa", "ogolem", "lacznie"),
}


def without_total(
    lines: list[int], rows: list[list[str]], places: Mapping[str, int]
) -> tuple[list[int], list[list[str]], list[str]]:
    """Return lines without a total as the last one, and a sentence on it.

    A total begins with a word for it and has no day, while other lines have one. In a table without days nothing
    tells a total from an item of that name, so that nothing is left out.

    Examples
    --------
    >>> from driftmdp.inventory.total_line import without_total
    >>> without_total([2, 3], [["16.11.2026", "A", "5"], ["Summe:", "", "5"]], {"date": 0, "sku": 1, "units": 2})
    ([2], [['16.11.2026', 'A', '5']], ["Left out: line 3, a total ('Summe:')."])
    """
    if "date" not in places or len(rows) < 2 or not _is_total(rows[-1], places["date"]):
        return lines, rows, []
    if not any(row[places["date"]].strip() for row in rows[:-1]):
        return lines, rows, []
    return lines[:-1], rows[:-1], [f"Left out: line {lines[-1]}, a total ({_first(rows[-1])!r})."]


def _is_total(row: Sequence[str], date_place: int) -> bool:
    return folded(_first(row)) in TOTALS and not is_day(row[date_place])


def _first(row: Sequence[str]) -> str:
    return next(cell.strip() for cell in row if cell.strip())

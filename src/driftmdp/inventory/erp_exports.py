"""Files as Odoo and ERPNext export them: recognised by their columns, and turned into plain lines.

An order's first line has what is said of the order, and the lines below it leave that empty. A product is written
``[CODE] Name``. Drafts and cancelled orders, lines without a product, totals, and stock at customers and suppliers
are left out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftmdp.display import counted, listed
from driftmdp.inventory.erp_forms import (
    CHILD_PREFIXES,
    CHILD_SUFFIX,
    FORMS,
    NOT_IN_THE_SHOP,
    NOT_ORDERED,
    ORDERED,
    ExportForm,
)

MAX_NAMES_SHOWN = 5
_CODE = re.compile(r"\[([^\[\]]+)\](?:\s.*)?", re.DOTALL)


@dataclass(frozen=True)
class ErpExport:
    """An export that was recognised.

    Attributes
    ----------
    form
        The kind of export.
    names
        What each of our columns is called in it.
    """

    form: ExportForm
    names: Mapping[str, str]

    @classmethod
    def find(cls, columns: Sequence[str], wanted: Sequence[str], optional: Sequence[str]) -> "ErpExport | None":
        """Return the export that has these columns and what is wanted. A file with our own names is none."""
        plain = {_plain(name): name for name in reversed(columns)}  # of two, the first
        asked = {*wanted, *optional}
        if set(wanted) <= plain.keys():
            return None
        for form in FORMS:
            if not set(wanted) <= form.columns.keys() <= asked:
                continue
            names = {ours: _first(plain, theirs) for ours, theirs in form.columns.items()}
            is_marked = any(_fits(name, mark) for name in plain for mark in form.marks)
            if all(names.values()) and is_marked and not plain.keys() & {*form.strangers}:
                return cls(form, {ours: theirs for ours, theirs in names.items() if theirs})
        return None

    def sentence(self, path: Path, columns: Sequence[str], places: Mapping[str, int]) -> str:
        """Return what was recognised."""
        taken = ", ".join(f"{columns[places[ours]]} as {ours}" for ours in self.form.columns if ours in places)
        return f"{path.name} is taken for {self.form.what} that {self.form.program} exported: {taken}."

    def cleaned(
        self, columns: Sequence[str], places: Mapping[str, int], lines: list[int], rows: list[list[str]]
    ) -> tuple[list[int], list[list[str]], list[str]]:
        """Return the lines that count, as plain ones, and what was left out: a sentence each."""
        keys = [_plain(name) for name in columns]
        rows = _filled_down(keys, rows)
        state, location = (_place(keys, names) for names in (self.form.state, self.form.location))
        beside = places.get("date", location)  # empty in the last line of a report
        left, unknown, kept = _LeftOut(), dict[str, int](), list[int]()
        for number, row in enumerate(rows):
            row[places["sku"]] = _code_of(row[places["sku"]])
            is_total = row[places["sku"]] == "Total" and beside is not None and not row[beside].strip()
            if not row[places["sku"]] or is_total:
                left.add("a product", "")
            elif state is not None and _plain(row[state]) in NOT_ORDERED:
                left.add("state", row[state].strip())
            elif location is not None and _plain(row[location]).startswith(NOT_IN_THE_SHOP):
                left.add("location", row[location].strip())
            else:
                kept.append(number)
                if state is not None and _plain(row[state]) not in ORDERED:
                    unknown[row[state].strip()] = 1
        said = left.sentences()
        if unknown:
            said.append(
                f"Lines with a status that is not known are used: {listed([*unknown], MAX_NAMES_SHOWN, ', ')}."
            )
        return [lines[number] for number in kept], [rows[number] for number in kept], said


class _LeftOut:
    """Counts what is left out, and why."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, int]] = {}

    def add(self, why: str, name: str) -> None:
        """Note a line."""
        names = self._found.setdefault(why, {})
        names[name] = names.get(name, 0) + 1

    def sentences(self) -> list[str]:
        """Return a sentence for each reason."""
        texts = {
            "a product": "without a product, such as notes and totals",
            "state": "of orders that do not hold",
            "location": "of stock that is not in the shop",
        }
        return [
            f"Left out: {counted(sum(names.values()), 'line')} {texts[why]}{_in_brackets(names)}."
            for why, names in self._found.items()
        ]


def _in_brackets(names: Mapping[str, int]) -> str:
    shown = listed([name for name in names if name], MAX_NAMES_SHOWN, ", ")
    return f" ({shown})" if shown else ""


def _plain(name: str) -> str:
    """Return a name without capitals and needless spaces: ``Order Lines / Product`` is ``order lines/product``."""
    return re.sub(r"\s*/\s*", "/", " ".join(name.split())).casefold()


def _first(there: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((there[name] for name in names if name in there), None)


def _place(keys: Sequence[str], names: Sequence[str]) -> int | None:
    return next((keys.index(name) for name in names if name in keys), None)


def _fits(name: str, mark: str) -> bool:
    if mark.endswith("*"):
        return name.startswith(mark[:-1])
    return name.endswith(mark[1:]) if mark.startswith("*") else name == mark


def _filled_down(keys: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows in which every line of an order has what its first line says of the order."""
    is_child = [key.startswith(CHILD_PREFIXES) or key.endswith(CHILD_SUFFIX) for key in keys]
    parents = [place for place, child in enumerate(is_child) if not child] if any(is_child) else []
    filled, above = [], None
    for row in rows:
        row = list(row)
        if above is not None and not any(row[place].strip() for place in parents):
            for place in parents:
                row[place] = above[place]
        above = row if parents else None
        filled.append(row)
    return filled


def _code_of(product: str) -> str:
    """Return the code of a product that is written ``[CODE] Name``, or else the whole text."""
    written = _CODE.fullmatch(product.strip())
    return written[1].strip() if written else product.strip()

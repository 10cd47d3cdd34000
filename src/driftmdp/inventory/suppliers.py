"""Suppliers: when orders may be placed there, how long they take, what an order costs and must have at least.

An item names its supplier (``supplier`` of ``ItemSettings``). It then has the supplier's order days and lead time,
unless it says otherwise, and is ordered together with the supplier's other items.
"""

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftmdp.display import listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory import cells
from driftmdp.inventory.csv_io import LineErrors, read_table
from driftmdp.inventory.file_conventions import Conventions
from driftmdp.inventory.periods import OrderDays
from driftmdp.inventory.terms import MAX_LEAD_TIME
from driftmdp.validation import nearest_name


def _order_days(text: str) -> str:
    return str(OrderDays.parse(text))


SUPPLIER_COLUMNS: dict[str, Callable[[str], Any]] = {
    "order_days": _order_days,
    "lead_time": functools.partial(cells.whole_number, maximum=MAX_LEAD_TIME),
    "order_cost": cells.amount,
    "minimum_units": cells.whole_number,
    "minimum_value": cells.amount,
}


@dataclass(frozen=True)
class Supplier:
    """A supplier's terms.

    Attributes
    ----------
    name
        As items name it.
    values
        Any of order_days (a text), lead_time (in periods of the item), order_cost (of an order, whatever is in it),
        minimum_units and minimum_value (of an order of all its items together). None stands for the shop's, or for
        nothing.
    source
        Where they were read, for messages.
    """

    name: str
    values: Mapping[str, Any]
    source: str = ""

    def __post_init__(self) -> None:
        if not cells.is_name(self.name):
            raise InvalidInputError(
                f"A supplier must have a name of 1 to {cells.LONGEST_NAME} characters; got {self.name!r}."
            )
        for name, value in self.values.items():
            if name not in SUPPLIER_COLUMNS:
                rule = f"values of {self.name} must be settings of a supplier"
                raise InvalidInputError(f"{rule}; got {name!r}.{nearest_name(name, SUPPLIER_COLUMNS)}")
            if value is not None:
                _check_value(self.name, name, value)


def _check_value(supplier: str, name: str, value: Any) -> None:
    """Refuse a value that a file could not have either."""
    try:
        SUPPLIER_COLUMNS[name](str(value))
    except ValueError as error:
        raise InvalidInputError(f"{name} of {supplier} must {error}.") from None


@dataclass(frozen=True)
class SuppliersFile:
    """The suppliers of a file, and remarks on how it is written and on columns that are not used."""

    suppliers: tuple[Supplier, ...]
    remarks: tuple[str, ...] = ()


def read_suppliers(path: str | os.PathLike[str]) -> SuppliersFile:
    r"""Read ``suppliers.csv``: a column supplier, and any of those of ``Supplier``.

    Examples
    --------
    >>> from driftmdp.inventory import read_suppliers
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "suppliers.csv")
    ...     _ = file.write_text("supplier,order_days,order_cost,minimum_value\nMill,\"mon,thu\",25,150\n")
    ...     read_suppliers(file).suppliers[0].values
    {'order_days': 'mon,thu', 'order_cost': 25.0, 'minimum_value': 150.0}
    """
    table = read_table(Path(path), ("supplier",), tuple(SUPPLIER_COLUMNS), given=Conventions(has_option=False))
    errors = LineErrors(str(path))
    names = errors.read(table, "supplier", cells.as_name)
    found = {
        name: errors.read_optional(table, name, parse)
        for name, parse in SUPPLIER_COLUMNS.items()
        if name in table.columns
    }
    suppliers, lines = [], dict[str, int]()
    for place, (line, supplier) in enumerate(zip(table.lines, names, strict=True)):
        if supplier is None:
            continue
        if supplier in lines:
            errors.add(line, f"{supplier} stands on line {lines[supplier]} already")
        lines[supplier] = line
        values = {name: column[place] for name, column in found.items() if column is not None}
        suppliers.append(Supplier(supplier, values, f"{path}, line {line}"))
    errors.raise_if_any("Correct these lines, then try again; nothing was done.")
    if not suppliers:
        raise InvalidInputError(f"{path} must have lines below its header; it has none.")
    unused = f"Columns of {Path(path).name} that are not used: {listed(table.others, separator=', ')}."
    return SuppliersFile(tuple(suppliers), (*table.remarks, *((unused,) if table.others else ())))

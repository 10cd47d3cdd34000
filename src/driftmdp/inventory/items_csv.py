"""``items.csv``: what an item has of its own, one line per item. An empty cell means the shop's."""

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
from driftmdp.inventory.periods import PERIODS, OrderDays
from driftmdp.inventory.terms import MAX_LEAD_TIME, MAX_SHELF_LIFE, MEASURES, NO_LIMIT, parsed_setting
from driftmdp.validation import nearest_name

Parse = Callable[[str], Any]


@dataclass(frozen=True)
class ItemSettings:
    """An item's own settings.

    Attributes
    ----------
    sku
        The item.
    values
        By column of ``items.csv``: capacity (or ``none``), fixed_cost, unit_cost, lost_sale, holding, pack,
        minimum, lead_time, order_days (a text), period, group, service, service_measure, supplier, price,
        shelf_life (or ``none``) and waste. None stands for the shop's.
    source
        Where they were read, for messages: ``items.csv, line 7``.
    """

    sku: str
    values: Mapping[str, Any]
    source: str = ""

    def __post_init__(self) -> None:
        if not cells.is_name(self.sku):
            raise InvalidInputError(
                f"sku must be a name of 1 to {cells.LONGEST_NAME} characters; got {self.sku!r}."
            )
        for name in self.values:
            if name not in COLUMNS:
                rule = f"values of {self.sku} must be settings of an item"
                raise InvalidInputError(f"{rule}; got {name!r}.{nearest_name(name, COLUMNS)}")
        if _has_both(self.values):
            raise InvalidInputError(f"values of {self.sku} must not have both service and lost_sale.")
        for name, parse in (
            ("order_days", OrderDays.parse),
            ("group", cells.as_name),
            ("supplier", cells.as_name),
        ):
            if self.values.get(name) is not None:
                parsed_setting(name, parse, str(self.values[name]))


@dataclass(frozen=True)
class ItemsFile:
    """The items of a file, and remarks on how it is written and on columns that are not used."""

    items: tuple[ItemSettings, ...]
    remarks: tuple[str, ...] = ()


def _has_both(values: Mapping[str, Any]) -> bool:
    return values.get("service") is not None and values.get("lost_sale") is not None


def _capacity(text: str) -> int | str:
    return NO_LIMIT if text.lower() == NO_LIMIT else cells.whole_number(text, 1)


def _shelf_life(text: str) -> int | str:
    return NO_LIMIT if text.lower() == NO_LIMIT else cells.whole_number(text, 1, MAX_SHELF_LIFE)


def _choice(choices: tuple[str, ...], text: str) -> str:
    if text.lower() not in choices:
        raise ValueError(f"be {' or '.join(choices)}; got {text[:40]!r}")
    return text.lower()


def _order_days(text: str) -> str:
    return str(OrderDays.parse(text))


def _share(text: str) -> float:
    share = cells.amount(text)
    if not 0.0 < share < 1.0:
        raise ValueError(f"lie between 0 and 1, as 0.95 does; got {text[:40]!r}")
    return share


COLUMNS: dict[str, Parse] = {
    "capacity": _capacity,
    "fixed_cost": cells.amount,
    "unit_cost": cells.amount,
    "lost_sale": cells.amount,
    "holding": cells.amount,
    "pack": functools.partial(cells.whole_number, minimum=1),
    "minimum": cells.whole_number,
    "lead_time": functools.partial(cells.whole_number, maximum=MAX_LEAD_TIME),
    "order_days": _order_days,
    "period": functools.partial(_choice, PERIODS),
    "group": cells.as_name,
    "service": _share,
    "service_measure": functools.partial(_choice, MEASURES),
    "supplier": cells.as_name,
    "price": cells.amount,
    "shelf_life": _shelf_life,
    "waste": cells.amount,
}


def read_items(
    path: str | os.PathLike[str], group: str | None = None, columns: Mapping[str, str] | None = None
) -> ItemsFile:
    r"""Read ``items.csv``: a column sku, and any of the columns of ``ItemSettings``.

    Parameters
    ----------
    path
        The file.
    group
        The column that names an item's group, if not the one called group.
    columns
        What other columns are called in the file.

    Examples
    --------
    >>> from driftmdp.inventory import read_items
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "items.csv")
    ...     _ = file.write_text("sku,pack,lead_time,department,color\nA,6,,30,red\n")
    ...     found = read_items(file, group="department")
    >>> found.items[0].values, found.remarks
    ({'pack': 6, 'lead_time': None, 'group': '30'}, ('Columns of items.csv that are not used: color.',))
    """
    names = dict(columns or {}) | ({"group": group} if group is not None else {})
    given = Conventions(has_option=False)
    table = read_table(Path(path), ("sku",), tuple(COLUMNS), names, aliases={"lot": "pack"}, given=given)
    errors = LineErrors(str(path))
    skus = errors.read(table, "sku", cells.as_name)
    found = {name: errors.read_optional(table, name, COLUMNS[name]) for name in COLUMNS if name in table.columns}
    items, lines = [], dict[str, int]()
    for place, (line, sku) in enumerate(zip(table.lines, skus, strict=True)):
        values = {name: column[place] for name, column in found.items() if column is not None}
        if _has_both(values):
            errors.add(line, "service and lost_sale must not both be given")
        elif sku is not None:
            if sku in lines:
                errors.add(line, f"{sku} stands on line {lines[sku]} already")
            lines[sku] = line
            items.append(ItemSettings(sku, values, f"{path}, line {line}"))
    errors.raise_if_any("Correct these lines, then try again; nothing was done.")
    if not items:
        raise InvalidInputError(f"{path} must have lines below its header; it has none.")
    unused = f"Columns of {Path(path).name} that are not used: {listed(table.others, separator=', ')}."
    return ItemsFile(tuple(items), (*table.remarks, *([unused] if table.others else [])))

"""Items' own settings, and items that are new: their packs, and a remark on names that may be misspelt."""

from collections.abc import Container, Iterable, Sequence
from datetime import date

import numpy as np

from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.items_csv import ItemSettings
from driftmdp.inventory.lines import Count
from driftmdp.inventory.log_entries import UNKNOWN
from driftmdp.inventory.misspellings import LetterCounts
from driftmdp.inventory.sales_history import WARM_UP, lot_size
from driftmdp.inventory.sales_table import SalesTable
from driftmdp.inventory.terms import Settings
from driftmdp.validation import nearest_name

MAX_NAMES_SHOWN = 5
NO_END = date.max.toordinal()


def record_settings(states: ItemStates, log: EventLog, items: Iterable[ItemSettings]) -> None:
    """Record items' own settings. Those that do not fit the shop's are refused."""
    given = {item.sku: item for item in items}
    for item in given.values():
        try:
            states.check_settings(item.sku, item.values)
        except InvalidInputError as error:
            raise InvalidInputError(f"{item.source or item.sku}: {error} Nothing was done.") from None
    states.append_settings(log, {sku: item.values for sku, item in given.items()})


def not_in_shop(states: ItemStates, items: Iterable[ItemSettings], calendar: Iterable[SpecialDay]) -> list[str]:
    """Return remarks on settings and special days of items and groups that the shop does not have."""
    unknown = [item.sku for item in items if item.sku not in states.numbers]
    kept = [f"Settings are kept for items that were never counted or sold: {listed(unknown)}."] if unknown else []
    groups = {terms.group for terms in states.terms}
    return [*kept, *special_days_of_others(calendar, states.numbers, groups)]


def special_days_of_others(
    calendar: Iterable[SpecialDay], skus: Container[str], groups: Container[str]
) -> list[str]:
    """Return a remark on special days of items and groups that are none of these."""
    lines = tuple(calendar)
    named = [line.sku for line in lines if line.sku and line.sku not in skus]
    named += [f"group {line.group}" for line in lines if line.group and line.group not in groups]
    return [f"Special days of what the shop does not have: {listed(list(dict.fromkeys(named)))}."] if named else []


def add_new_items(states: ItemStates, log: EventLog, lines: Sequence[Count] | SalesTable) -> list[str]:
    """Add the items of lines that are new to the state, and return them. Their packs are recorded first."""
    states.append_settings(log, packs_of_new(states, lines))
    new = [sku for sku in names_of(lines) if sku not in states.numbers]
    states.add_items(new)
    return new


def names_of(lines: Sequence[Count] | SalesTable) -> list[str]:
    """Return the items that lines are about, each once."""
    return lines.skus if isinstance(lines, SalesTable) else [count.sku for count in lines]


def packs_of_new(states: ItemStates, lines: Sequence[Count] | SalesTable) -> dict[str, Settings]:
    """Return the packs of new items that lines give, or that are chosen. A pack that differs is refused."""
    given: dict[str, int] = {}
    for sku, pack, source in _given_packs(lines):
        number = states.numbers.get(sku)
        known = given.setdefault(sku, pack) if number is None else states.terms[number].pack
        if known != pack:
            advice = "Nothing was done; a pack is changed in items.csv."
            raise InvalidInputError(f"{source}{sku} has {counted(known, 'unit')} in a pack; got {pack}. {advice}")
    if states.shop.chooses_packs:
        for place, sku in enumerate(names_of(lines)):
            if sku not in states.numbers and sku not in given and "pack" not in states.timeline.own_on(sku, NO_END):
                given[sku] = _chosen_pack(states, lines, place)
    return {sku: {"pack": pack} for sku, pack in given.items() if sku not in states.numbers}


def _given_packs(lines: Sequence[Count] | SalesTable) -> Iterable[tuple[str, int, str]]:
    """Return items and packs that lines give, and where."""
    if isinstance(lines, SalesTable):
        places = np.flatnonzero(lines.pack != UNKNOWN).tolist()
        return ((lines.skus[lines.sku[place]], int(lines.pack[place]), lines.source(place)) for place in places)
    return ((count.sku, count.pack, count.source) for count in lines if count.pack is not None)


def _chosen_pack(states: ItemStates, lines: Sequence[Count] | SalesTable, place: int) -> int:
    """Return the pack of the item at a place among the names of lines, chosen from its first sales."""
    days = 0
    if isinstance(lines, SalesTable):
        mine = np.flatnonzero(lines.sku == place)
        days = mine.size
        if days >= WARM_UP and states.shop.capacity is not None:
            return lot_size(lines.units[mine[np.argsort(lines.day[mine])]], states.shop.capacity)
    sku = names_of(lines)[place]
    rule = f"{sku} is new, and its pack is chosen from {WARM_UP} days of sales; got {days}"
    advice = "record its history first, give its pack in items.csv, or make the shop with --pack 1."
    raise InvalidInputError(f"{rule}. Nothing was done; {advice}")


def new_names(states: ItemStates, new: Sequence[str], told: Container[str] = ()) -> list[str]:
    """Return a remark on new items if the shop had others: a name may be misspelt. ``told`` are said already."""
    before = states.skus[: len(states.skus) - len(new)]
    new = [sku for sku in new if sku not in told]
    if not new or not before:
        return []
    letters = LetterCounts(before)
    named = [_with_nearest(sku, letters.near(sku)) for sku in new[:MAX_NAMES_SHOWN]]
    named += [""] * (len(new) - len(named))  # they are only counted
    what = "1 item is new" if len(new) == 1 else f"{len(new)} items are new"
    return [f"{what} to this shop: {listed(named, MAX_NAMES_SHOWN)}."]


def _with_nearest(sku: str, names: Sequence[str]) -> str:
    """Return a name, and in brackets the nearest of others, if one is near."""
    near = nearest_name(sku, names).strip()
    return f"{sku} ({near[0].lower()}{near[1:]})" if near else sku

"""The past that a backtest plays: items with their terms and open periods, and remarks on what was left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from driftmdp.display import counted, listed
from driftmdp.errors import InvalidInputError
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.item_paths import ItemPath, item_path, ordinals
from driftmdp.inventory.item_settings import special_days_of_others
from driftmdp.inventory.items_csv import ItemSettings
from driftmdp.inventory.order_engine import AT_LEAST, NOTHING
from driftmdp.inventory.periods import DAY, WEEK, WEEKDAYS, check_period
from driftmdp.inventory.sales_history import Sales, Series, lot_size, warm_up
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.suppliers import Supplier
from driftmdp.inventory.terms import ItemTerms, Settings, ShopTerms, merged

LEAST_WEEKS = 4  # of sales, from which on a weekday without any is taken as closed


@dataclass(frozen=True)
class Past:
    """What is played.

    Attributes
    ----------
    shop
        Its terms, with the weekdays closed on which no item ever sold.
    series, paths
        The items that are long enough to be scored, as given and as played.
    calendar
        Special days.
    remarks
        What was left out, and what is not known: a sentence each.
    """

    shop: ShopTerms
    series: tuple[Series, ...]
    paths: tuple[ItemPath, ...]
    calendar: tuple[SpecialDay, ...]
    remarks: tuple[str, ...]


def past_of(
    sales: Sales,
    shop: ShopTerms,
    items: Iterable[ItemSettings],
    calendar: tuple[SpecialDay, ...],
    suppliers: Iterable[Supplier] = (),
) -> Past:
    """Return the past of all items that have more periods than are needed before scoring."""
    settings = {item.sku: item for item in items}
    deliverers = {supplier.name: supplier for supplier in suppliers}
    closed = _closed_weekdays(sales.series, shop)
    remarks = list(sales.remarks)
    if closed:
        shop = replace(shop, closed_days=shop.closed_days | closed)
        names = " and ".join(f"{WEEKDAYS[number].capitalize()}s" for number in sorted(closed))
        remarks.append(f"Closed on {names}, on which no item has a line.")
        if len(shop.closed_days) == len(WEEKDAYS) - 1:
            remarks.append("Sales by the week need --period week.")
    special_days = SpecialDays(calendar)
    terms = _shared([_terms(series, shop, settings.get(series.sku), deliverers) for series in sales.series])
    _check_periods(sales.series, terms)
    remarks += _supplier_remarks(terms, deliverers)
    remarks += _of_others(sales.series, terms, settings, calendar)
    paths = [item_path(series, each, special_days) for series, each in zip(sales.series, terms, strict=True)]
    first = warm_up(terms[0].period)
    chosen = [place for place, path in enumerate(paths) if path.days.size > first]
    remarks += _remarks(sales.series, paths, first)
    if not chosen:
        raise _too_short(paths, first)
    series, kept = tuple(sales.series[place] for place in chosen), tuple(paths[place] for place in chosen)
    return Past(shop, series, kept, calendar, tuple(remarks))


def scored_from(past: Past, day: int) -> Past:
    """Return a past whose scoring begins on a day, or later. Items that end before it are left out."""
    paths = [replace(path, scored=max(path.scored, int(np.searchsorted(path.days, day)))) for path in past.paths]
    kept = [place for place, path in enumerate(paths) if path.scored < path.days.size]
    if not kept:
        rule = f"sales must go on after {date.fromordinal(day)}, the first day of your own orders, as only then"
        raise InvalidInputError(f"{rule} both can be compared; they do not. Check the years.")
    remarks = list(past.remarks)
    if any(path.scored > before.scored for path, before in zip(paths, past.paths, strict=True)):
        remarks.append(f"Scored from {date.fromordinal(day)} on, the first day of your own orders.")
    if len(kept) < len(paths):
        gone = [path.sku for path in paths if path.scored >= path.days.size]
        remarks.append(f"Left out, as their sales end before that: {listed(gone, separator=', ')}.")
    series, scored = tuple(past.series[place] for place in kept), tuple(paths[place] for place in kept)
    return replace(past, series=series, paths=scored, remarks=tuple(remarks))


def _closed_weekdays(series: Sequence[Series], shop: ShopTerms) -> frozenset[int]:
    """Return weekdays that are not closed by the shop's terms, but have no line in weeks of sales."""
    if shop.period == WEEK:
        return frozenset()
    days = np.unique(np.concatenate([ordinals(each) for each in series]))
    if days[-1] - days[0] + 1 < 7 * LEAST_WEEKS:
        return frozenset()
    open_days = set(((days - 1) % 7).tolist())
    return frozenset(range(7)) - open_days - shop.closed_days


def _terms(
    series: Series, shop: ShopTerms, item: ItemSettings | None, suppliers: Mapping[str, Supplier]
) -> ItemTerms:
    own: Settings = merged({}, item.values) if item is not None else {}
    supplier = suppliers.get(own.get("supplier", shop.supplier))
    offer = {} if supplier is None else merged({}, supplier.values)
    try:
        if shop.chooses_packs and shop.capacity is not None and "pack" not in own:
            own = {**own, "pack": lot_size(series.units, shop.capacity)}
        return shop.for_item(own, offer)
    except InvalidInputError as error:
        sources = [item.source or item.sku] if item is not None else []
        sources += [supplier.source or supplier.name] if supplier is not None else []
        raise InvalidInputError(
            f"{': '.join([' with '.join(sources), ''])}{error}" if sources else str(error)
        ) from None


def _supplier_remarks(terms: Sequence[ItemTerms], suppliers: Mapping[str, Supplier]) -> list[str]:
    """Return remarks on suppliers of no item, and on those of items that are not given."""
    named = {each.supplier for each in terms if each.supplier}
    unused = [name for name in suppliers if name not in named]
    missing = sorted(named - suppliers.keys()) if suppliers else []
    remarks = [f"Suppliers without an item that is sold are not used: {listed(unused)}."] if unused else []
    if missing:
        remarks.append(f"Suppliers that are not given: {listed(missing)}. Their items have the shop's terms.")
    return remarks


def _shared(terms: Sequence[ItemTerms]) -> list[ItemTerms]:
    """Return terms of which equal ones are one object."""
    found: dict[ItemTerms, ItemTerms] = {}
    return [found.setdefault(each, each) for each in terms]


def _check_periods(series: Sequence[Series], terms: Sequence[ItemTerms]) -> None:
    """Refuse days and weeks in one backtest, and weeks that do not begin on a Monday."""
    kinds: Mapping[str, str] = {each.period: one.sku for one, each in zip(series, terms, strict=True)}
    if len(kinds) > 1:
        named = " and ".join(f"{sku} by {period}" for period, sku in sorted(kinds.items()))
        raise InvalidInputError(f"All items of a backtest must have the same period; got {named}.")
    if WEEK not in kinds:
        return
    for one in series:
        days = ordinals(one)
        wrong = np.flatnonzero((days - 1) % 7)
        if wrong.size:
            try:
                check_period(int(days[wrong[0]]), WEEK)
            except InvalidInputError as error:
                raise InvalidInputError(f"{one.sku}: {error}") from None


def _remarks(series: Sequence[Series], paths: Sequence[ItemPath], first: int) -> list[str]:
    """Return remarks on periods whose demand is not known, sales on closed days, and items that are left out."""
    period, remarks = paths[0].terms.period, []
    unknown, at_least = (sum(int((path.says == what).sum()) for path in paths) for what in (NOTHING, AT_LEAST))
    for count, what in (
        (unknown, "without stock: demand is not known, and is taken as 0"),
        (at_least, "sold out: demand was at least what was sold, and is taken as that"),
    ):
        if count:
            subject = f"1 {period} of an item" if count == 1 else f"{count:,} {period}s of items"
            remarks.append(f"{subject} {what}.")
    lost = sum(int(each.units.sum()) for each in series) - sum(int(path.demand.sum()) for path in paths)
    if lost:
        remarks.append(f"Left out, as they were sold on closed days: {counted(lost, 'unit')}.")
    short = [path.sku for path in paths if path.days.size <= first]
    if short and len(short) < len(paths):
        remarks.append(f"Left out, with {first} {period}s or fewer: {listed(short, separator=', ')}.")
    return remarks


def _of_others(
    series: Sequence[Series], terms: Sequence[ItemTerms], settings: Iterable[str], calendar: Iterable[SpecialDay]
) -> list[str]:
    """Return remarks on settings and special days of items and groups without sales."""
    skus = {each.sku for each in series}
    unknown = [sku for sku in settings if sku not in skus]
    found = [f"Settings of items without sales are not used: {listed(unknown)}."] if unknown else []
    return [*found, *special_days_of_others(calendar, skus, {each.group for each in terms})]


def _too_short(paths: Sequence[ItemPath], first: int) -> InvalidInputError:
    period, longest = paths[0].terms.period, max(path.days.size for path in paths)
    rule = f"sales must have an item with more than {first} {period}s, as scoring starts after them"
    are_weeks = period == DAY and all((path.days % 7 == 1).all() for path in paths)
    tip = " All days are Mondays: sales by the week need --period week." if are_weeks else ""
    return InvalidInputError(f"{rule}; the longest has {longest}.{tip}")

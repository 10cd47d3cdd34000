"""Changes of settings from a day on: what may change, and whether it fits all that is there."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.items_csv import COLUMNS, ItemSettings, Parse
from driftmdp.inventory.log_entries import UNKNOWN
from driftmdp.inventory.periods import OrderDays, weekday_names
from driftmdp.inventory.terms import Settings, as_closed_days, parsed_setting
from driftmdp.inventory.terms_timeline import BEGINNING, SHOP, TermsTimeline
from driftmdp.validation import nearest_name

UNDATED = ("group", "period")  # what is learned is shared by group and period, so these hold for the whole past
SHOP_SETTINGS: dict[str, Parse] = {name: parse for name, parse in COLUMNS.items() if name not in UNDATED}
SHOP_SETTINGS["closed_days"] = lambda text: weekday_names(as_closed_days(text))


def checked_values(names: Sequence[str], values: Settings) -> dict[str, Any]:
    """Return settings that items, or the shop if its name is the only one, may have."""
    for name in names:
        if name != SHOP:
            ItemSettings(name, values)
    if SHOP in names:
        _check_shop_values(values)
    return dict(values)


def _check_shop_values(values: Settings) -> None:
    for name, value in values.items():
        if name not in SHOP_SETTINGS:
            why = "is an item's; name the items" if name in COLUMNS else "is not one"
            known = nearest_name(name, SHOP_SETTINGS) if name not in COLUMNS else ""
            raise InvalidInputError(f"A change must name settings of the shop; {name} {why}.{known}")
        if value is None:
            raise InvalidInputError(f"{name} of the shop must have a value; got none.")
    for name, parse in (("order_days", OrderDays.parse), ("closed_days", as_closed_days)):
        if name in values:
            parsed_setting(name, parse, str(values[name]))
    if values.get("service") is not None and values.get("lost_sale") is not None:
        raise InvalidInputError("The shop must not have both service and lost_sale; got both.")


def change_terms(
    states: ItemStates, log: EventLog, names: Sequence[str], first_day: int | None, today: int, values: Settings
) -> int:
    """Record settings from a day on, or from today. Return how many names changed."""
    always = {name: value for name, value in values.items() if name in UNDATED}
    if always and first_day is not None:
        raise InvalidInputError(
            f"{' and '.join(always)} must hold for the whole past, as items share what they learn; got a first day "
            f"of {date.fromordinal(first_day)}. Nothing was done; leave it out."
        )
    dated = {name: value for name, value in values.items() if name not in UNDATED}
    parts = [(BEGINNING, always), (today if first_day is None else first_day, dated)]
    parts = [(day, some) for day, some in parts if some]
    check_fit(states, [(name, day, some) for day, some in parts for name in names])
    return max(states.append_terms(log, names, day, some) for day, some in parts)


def check_fit(
    states: ItemStates, changes: Sequence[tuple[str, int, Settings]], sources: Mapping[str, str] | None = None
) -> None:
    """Refuse settings that do not fit the others on any day from their first on.

    Parameters
    ----------
    states
        The shop.
    changes
        Names of items, of suppliers or of the shop, the first days, and the settings.
    sources
        Where the terms of suppliers were read, by name: only their items are checked.
    """
    names, first_day = [name for name, _, _ in changes], min((day for _, day, _ in changes), default=BEGINNING)
    skus = names if sources is None and SHOP not in names else states.present_skus
    tried = states.timeline.copy()
    for change in changes:
        tried.add(*change)
    for day in tried.days_from(first_day) if changes else ():
        usual = tried.shop_on(day).supplier
        for sku in skus:
            if sources is None:
                _check_item(states, tried, sku, day)
            elif (supplier := tried.own_on(sku, day).get("supplier", usual)) in sources:
                _check_item(states, tried, sku, day, f"{sources[supplier]}, with ")


def _check_item(states: ItemStates, tried: TermsTimeline, sku: str, day: int, where: str = "") -> None:
    since = "" if day == BEGINNING else f", from {date.fromordinal(day)}"
    try:
        terms = tried.terms_on(sku, day)
    except InvalidInputError as error:
        raise InvalidInputError(f"{where}{sku}{since}: {error} Nothing was done.") from None
    item = states.numbers[sku]
    if states.terms[item].period != terms.period and states.last["day"][item] != UNKNOWN:
        rule = f"{sku} must keep its period, a {states.terms[item].period}, as it has records"
        raise InvalidInputError(f"{rule}; got {terms.period}. Nothing was done; give the item a new name.")

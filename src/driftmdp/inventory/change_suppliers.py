"""Changes of suppliers' terms from a day on."""

from collections.abc import Iterable
from datetime import date

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.suppliers import Supplier
from driftmdp.inventory.terms_timeline import BEGINNING, SUPPLIER


def record_suppliers(
    states: ItemStates, log: EventLog, suppliers: Iterable[Supplier], first_day: int = BEGINNING
) -> int:
    """Record suppliers' terms from a day on. Return how many changed. Those that do not fit are refused."""
    given = {supplier.name: supplier for supplier in suppliers}
    for supplier in given.values():
        _check_fit(states, supplier, first_day)
    names = given.items()
    return sum(states.append_terms(log, [SUPPLIER + name], first_day, each.values) for name, each in names)


def _check_fit(states: ItemStates, supplier: Supplier, first_day: int) -> None:
    """Refuse terms that do not fit those of the supplier's items, on any day from the first on."""
    tried = states.timeline.copy()
    tried.add(SUPPLIER + supplier.name, first_day, supplier.values)
    for day in tried.days_from(first_day):
        shop = tried.shop_on(day)
        for sku in states.present_skus:
            if tried.own_on(sku, day).get("supplier", shop.supplier) == supplier.name:
                try:
                    tried.terms_on(sku, day)
                except InvalidInputError as error:
                    where = f"{supplier.source or supplier.name}, with {sku}"
                    since = "" if day == BEGINNING else f" from {date.fromordinal(day)} on"
                    raise InvalidInputError(f"{where}{since}: {error} Nothing was done.") from None

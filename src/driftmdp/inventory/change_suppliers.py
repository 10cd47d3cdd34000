"""Changes of suppliers' terms from a day on."""

from collections.abc import Iterable

from driftmdp.inventory.change_terms import check_fit
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.suppliers import Supplier
from driftmdp.inventory.terms_timeline import BEGINNING, SUPPLIER


def record_suppliers(
    states: ItemStates, log: EventLog, suppliers: Iterable[Supplier], first_day: int = BEGINNING
) -> int:
    """Record suppliers' terms from a day on. Return how many changed. Those that do not fit are refused."""
    given = {each.name: each for each in suppliers}
    new = [each for each in given.values() if states.is_new(SUPPLIER + each.name, first_day, each.values)]
    sources = {each.name: each.source or each.name for each in new}
    check_fit(states, [(SUPPLIER + each.name, first_day, each.values) for each in new], sources)
    return sum(states.append_terms(log, [SUPPLIER + each.name], first_day, each.values) for each in new)

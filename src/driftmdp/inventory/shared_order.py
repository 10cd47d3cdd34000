"""What the items of one supplier share: the cost of an order whatever is in it, and what it must have at least."""

from collections.abc import Mapping
from typing import Any, NamedTuple

ITEM_DEFAULTS = ("order_days", "lead_time")  # what an item has of its supplier, unless it says otherwise
ROUNDING = 1e-9  # of a value that may be missing


class SharedOrder(NamedTuple):
    """What an order to a supplier costs whatever is in it, and the least units and the least value of one."""

    cost: float = 0.0
    minimum_units: int = 0
    minimum_value: float = 0.0

    @property
    def is_alone(self) -> bool:
        """Whether each item may be planned alone."""
        return self == NOTHING_SHARED

    @property
    def has_minimum(self) -> bool:
        """Whether an order must have at least something."""
        return self.minimum_units > 0 or self.minimum_value > 0.0

    @property
    def without_minimum(self) -> "SharedOrder":
        """The same, if an order need not have anything."""
        return SharedOrder(self.cost)

    def has_units(self, units: int) -> bool:
        """Return whether an order has enough units."""
        return units >= self.minimum_units

    def has_value(self, value: float) -> bool:
        """Return whether an order has enough value."""
        return value >= self.minimum_value * (1.0 - ROUNDING)


NOTHING_SHARED = SharedOrder()


def shared_order(supplier: Mapping[str, Any]) -> SharedOrder:
    """Return what the items of a supplier share."""
    return SharedOrder(
        float(supplier.get("order_cost", 0.0)),
        int(supplier.get("minimum_units", 0)),
        float(supplier.get("minimum_value", 0.0)),
    )

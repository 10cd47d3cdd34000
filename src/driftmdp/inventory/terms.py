"""The terms of a shop and of its items: costs, capacity, packs, lead time, order days, service.

What an item does not say itself comes from the shop. Quantities are in units. The exception are shops whose packs
are chosen for them (``auto``), and those that earlier versions made: they give capacity and costs per pack, which
the item's pack turns into units.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, TypeVar

from driftmdp.errors import InvalidInputError
from driftmdp.inventory.cells import LARGEST_NUMBER
from driftmdp.inventory.periods import (
    DAY,
    EVERY_PERIOD,
    PERIODS,
    WEEK,
    OrderDays,
    parse_weekdays,
    period_of,
    weekday,
    weekday_names,
)
from driftmdp.inventory.shared_order import ITEM_DEFAULTS, NOTHING_SHARED, SharedOrder, shared_order
from driftmdp.problems.inventory import Costs
from driftmdp.validation import as_integer, as_number, check_type, one_of

NO_LIMIT = "none"  # as a capacity or a shelf life of its own
AUTO = "auto"  # a pack that is chosen from an item's first sales
MAX_LEAD_TIME = 60
MAX_SHELF_LIFE = 366
DISCONTINUED = "discontinued"  # a setting that has a command of its own
MEASURES = ("units", "periods")
COST_NAMES = {"fixed_cost": "fixed", "unit_cost": "unit", "lost_sale": "lost_sale", "holding": "holding"}
PLAIN_NAMES = (
    *("pack", "minimum", "lead_time", "period", "group", "service", "service_measure", "supplier", "price"),
    *("shelf_life", "waste"),
)
Settings = Mapping[str, Any]  # by name, as JSON has them
Value = TypeVar("Value")


@dataclass(frozen=True)
class ItemTerms:
    """One item's terms, with the shop's filled in.

    Attributes
    ----------
    costs
        Per unit. ``lost_sale`` is not used where ``service`` is given.
    capacity
        The most units on the shelf and on their way, or None.
    pack, minimum
        An order is a multiple of ``pack``, and at least ``minimum``.
    lead_time
        Periods from an order to its arrival.
    period
        ``day`` or ``week``.
    order_days, closed_days
        When an order may be placed, and weekdays without demand, costs and orders.
    group
        The items to share seasons with, or an empty text.
    service, service_measure
        The share of demand to serve, or None: of ``units``, or of ``periods`` that are not sold out.
    supplier, shared_order
        Who delivers it, or an empty text, and what an order from there costs and must have at least.
    price
        What a unit counts for the supplier's minimum value. None means ``costs.unit``.
    shelf_life
        The periods in which a unit can be sold, the one of its arrival included. None: it never spoils.
    waste
        What a unit costs that spoils, beside its price.
    is_discontinued
        Whether it is not ordered any more. What is there is still sold.
    """

    costs: Costs
    capacity: int | None
    pack: int = 1
    minimum: int = 0
    lead_time: int = 0
    period: str = DAY
    order_days: OrderDays = EVERY_PERIOD
    closed_days: frozenset[int] = frozenset()
    group: str = ""
    service: float | None = None
    service_measure: str = "units"
    supplier: str = ""
    price: float | None = None
    shared_order: SharedOrder = NOTHING_SHARED
    shelf_life: int | None = None
    waste: float = 0.0
    is_discontinued: bool = False

    def __post_init__(self) -> None:
        check_type(self.costs, Costs, "costs must be Costs(fixed, unit, lost_sale, holding)")
        as_integer(self.lead_time, "lead_time", 0, MAX_LEAD_TIME)
        _check_sizes(self.capacity, _size(self.pack, "pack"), _size(self.minimum, "minimum", 0))
        _check_days(self)
        if self.service is not None and not 0.0 < as_number(self.service, "service") < 1.0:
            raise InvalidInputError(f"service must lie between 0 and 1, as 0.95 does; got {self.service:g}.")
        one_of(self.service_measure, "service_measure", MEASURES)
        if self.shelf_life is not None:
            as_integer(self.shelf_life, "shelf_life", 1, MAX_SHELF_LIFE)
        as_number(self.waste, "waste", minimum=0.0)

    @property
    def value(self) -> float:
        """What a unit counts for the supplier's minimum value."""
        return self.costs.unit if self.price is None else self.price

    @property
    def fixed_alone(self) -> float:
        """What an order costs, however large it is, if nothing else is ordered with it."""
        return self.costs.fixed + self.shared_order.cost


@dataclass(frozen=True)
class ShopTerms:
    """The terms that an item has unless it says otherwise.

    Attributes
    ----------
    costs, capacity, minimum, lead_time, period, order_days, closed_days, service, service_measure
        As in ``ItemTerms``.
    pack
        A number, or ``auto`` for packs that are chosen from an item's first sales.
    per_pack
        Whether capacity and the costs per unit are given per pack. With ``auto`` they are.
    supplier, price, shelf_life, waste
        As in ``ItemTerms``.
    """

    costs: Costs
    capacity: int | None
    pack: int | str = 1
    minimum: int = 0
    lead_time: int = 0
    period: str = DAY
    order_days: OrderDays = EVERY_PERIOD
    closed_days: frozenset[int] = frozenset()
    service: float | None = None
    service_measure: str = "units"
    per_pack: bool = False
    supplier: str = ""
    price: float | None = None
    shelf_life: int | None = None
    waste: float = 0.0

    def __post_init__(self) -> None:
        if self.pack == AUTO:
            object.__setattr__(self, "per_pack", True)
            if self.capacity is None:
                raise InvalidInputError(
                    "pack must be a number where there is no capacity, from which auto chooses it."
                )
        if self.closed_days and self.period == WEEK:
            days = weekday_names(self.closed_days)
            raise InvalidInputError(f"closed_days must be left out where a period is a week; got {days}.")
        self.for_item({"pack": 1} if self.pack == AUTO else {})

    @property
    def chooses_packs(self) -> bool:
        """Whether a new item's pack is chosen from its first sales."""
        return self.pack == AUTO

    def for_item(self, own: Settings, supplier: Settings | None = None) -> ItemTerms:
        """Return an item's terms from its own settings and its supplier's. Contradictions raise one sentence."""
        shared = shared_order(supplier or {})
        own = {name: value for name, value in (supplier or {}).items() if name in ITEM_DEFAULTS} | dict(own)
        pack = _size(own.get("pack", self.pack), "pack")
        given: dict[str, Any] = {name: own.get(name, getattr(self, name, "")) for name in PLAIN_NAMES}
        capacity, costs = self.capacity, self.costs
        if self.per_pack:
            capacity = None if capacity is None else capacity * pack
            costs = Costs(costs.fixed, *(cost / pack for cost in (costs.unit, costs.lost_sale, costs.holding)))
            given["waste"] = own.get("waste", self.waste / pack)
        if own.keys() & COST_NAMES.keys():
            costs = replace(costs, **{field: own[name] for name, field in COST_NAMES.items() if name in own})
        if "capacity" in own:
            capacity = None if own["capacity"] == NO_LIMIT else own["capacity"]
        if own.get("shelf_life") == NO_LIMIT:
            given["shelf_life"] = None
        if "lost_sale" in own and "service" not in own:
            given["service"] = None
        days = OrderDays.parse(own["order_days"]) if "order_days" in own else self.order_days
        closed = frozenset[int]() if given["period"] == WEEK else self.closed_days
        given["is_discontinued"] = bool(own.get(DISCONTINUED, False))
        return ItemTerms(costs, capacity, order_days=days, closed_days=closed, shared_order=shared, **given)

    def changed(self, values: Settings) -> "ShopTerms":
        """Return the terms with other values of some settings, named as in ``items.csv``."""
        settings = self.as_json()
        if values.get("lost_sale") is not None:
            settings["service"] = None
        for name, value in values.items():
            if name in COST_NAMES:
                settings["costs"][COST_NAMES[name]] = value
            else:
                settings[name] = None if value == NO_LIMIT else value
        return ShopTerms.from_json(settings)

    def as_json(self) -> dict[str, Any]:
        """Return the settings that a database keeps."""
        days = {"order_days": str(self.order_days), "closed_days": weekday_names(self.closed_days)}
        return asdict(self) | days

    @classmethod
    def from_json(cls, settings: Settings) -> "ShopTerms":
        """Return the terms of a database. Earlier versions kept a ``lot``, with capacity and costs per lot."""
        found = {name: value for name, value in settings.items() if name in cls.__dataclass_fields__}
        found["costs"] = Costs(**settings["costs"])
        if "lot" in settings:
            return cls(**found, pack=settings["lot"], per_pack=True)
        found["order_days"] = OrderDays.parse(settings["order_days"])
        found["closed_days"] = as_closed_days(settings["closed_days"])
        return cls(**found)


def as_closed_days(text: str) -> frozenset[int]:
    """Return the weekdays that a shop is closed on, from a text such as ``sun``, which may be empty."""
    if not text:
        return frozenset()
    closed = parse_weekdays(text)
    if len(closed) == 7:
        raise ValueError(f"leave a day open; got {text}")
    return closed


def parsed_setting(name: str, parse: Callable[[str], Value], text: str) -> Value:
    """Return what the text of a setting says, or raise one sentence."""
    try:
        return parse(text)
    except ValueError as error:
        raise InvalidInputError(f"{name} must {error}.") from None


def merged(own: Settings, given: Settings) -> dict[str, Any]:
    """Return an item's settings after new ones were given. None, an empty cell, means the shop's."""
    found = {**own, **given}
    if given.get("service") is not None:
        found.pop("lost_sale", None)
    elif given.get("lost_sale") is not None:
        found.pop("service", None)
    return {name: value for name, value in found.items() if value is not None}


def _size(value: Any, name: str, least: int = 1) -> int:
    number = as_integer(value, name)
    if not least <= number <= LARGEST_NUMBER:
        raise InvalidInputError(f"{name} must be {least} to {LARGEST_NUMBER}; got {number}.")
    return number


def _check_sizes(capacity: int | None, pack: int, minimum: int) -> None:
    """Refuse a pack, or a least order, that the shelf does not take."""
    if capacity is None:
        return
    _size(capacity, "capacity")
    least = max(1, -(-minimum // pack)) * pack
    if pack > capacity:
        raise InvalidInputError(f"pack must be at most the capacity of {capacity}; got {pack}.")
    if least > capacity:
        packs = f", which is {least} in packs of {pack}" if pack > 1 else ""
        raise InvalidInputError(f"minimum must be at most the capacity of {capacity}; got {minimum}{packs}.")


def _check_days(terms: ItemTerms) -> None:
    one_of(terms.period, "period", PERIODS)
    weekdays = terms.order_days.weekdays
    if weekdays and terms.period == WEEK:
        rule = "order_days must be every n, such as every 2, where a period is a week"
        raise InvalidInputError(f"{rule}; got {terms.order_days}.")
    if terms.period == WEEK and weekday(terms.order_days.start) != 0:
        rule = "order_days must be counted from a Monday where a period is a week"
        monday = date.fromordinal(period_of(terms.order_days.start, WEEK))
        raise InvalidInputError(f"{rule}; got {terms.order_days}. Use {monday}.")
    if not weekdays and terms.period == DAY and terms.order_days.every % 7 == 0:
        weekdays = frozenset([weekday(terms.order_days.start)])  # it is always the same
    if weekdays and weekdays <= terms.closed_days:
        closed = weekday_names(terms.closed_days)
        raise InvalidInputError(f"order_days must have an open day; got {terms.order_days}, with {closed} closed.")

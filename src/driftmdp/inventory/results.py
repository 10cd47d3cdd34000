"""The results that a shop returns."""

from dataclasses import dataclass, field
from datetime import date

from driftmdp.display import brief
from driftmdp.inventory.terms import ItemTerms


@dataclass(frozen=True)
class Advice:
    """An order for an item, in units.

    Attributes
    ----------
    sku, day, stock
        The item, the day, and the stock that the order was made for.
    coming
        Units on their way, all together.
    order, pack
        Units to order, or 0: whole packs. Units in a pack.
    cost, method
        The expected cost per period of the plan, and how it was found. None for advice of earlier versions.
    until
        The last day that counted, if one was given.
    supplier
        Who delivers the item, or an empty text.
    price
        What a unit costs, or 0 where it is not known.
    arrives
        The open morning for which the order is promised. None without an order.
    """

    sku: str
    day: date
    stock: int
    coming: int
    order: int
    pack: int = 1
    cost: float | None = None
    method: str | None = None
    until: date | None = None
    supplier: str = ""
    price: float = 0.0
    arrives: date | None = None


@dataclass(frozen=True)
class Decision:
    """What to order on a day.

    Attributes
    ----------
    day, advice
        The day, and an order for each item asked about.
    repeated
        How many of them had been asked about before. Their answer is the same.
    remarks
        Counts that differ from what the records expect, missing days and the like, a sentence each.
    """

    day: date
    advice: list[Advice] = field(repr=False)
    repeated: int = 0
    remarks: tuple[str, ...] = ()

    __repr__ = brief


@dataclass(frozen=True)
class Receipt:
    """How sales, or deliveries, were recorded.

    Attributes
    ----------
    recorded, repeated, corrected
        How many were new, were recorded already, and replaced what was recorded.
    remarks
        What was unusual, a sentence each.
    """

    recorded: int
    repeated: int
    corrected: int
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Withdrawal:
    """What was taken back of a day.

    Attributes
    ----------
    day
        The day.
    sales, advice, deliveries
        Of how many items sales were taken back, of how many count and advice, and of how many deliveries.
    """

    day: date
    sales: int
    advice: int
    deliveries: int = 0


@dataclass(frozen=True)
class SettingsChange:
    """How settings changed.

    Attributes
    ----------
    changed
        Of how many items the settings were new, or 1 for the shop's own.
    special_days
        How many special days were added, or taken back.
    suppliers
        Of how many suppliers the terms were new.
    """

    changed: int
    special_days: int
    suppliers: int = 0


@dataclass(frozen=True)
class Event:
    """One item's entry in the shop's records, with None where it has no number.

    Attributes
    ----------
    number, written_at, kind
        The batch, when it was written, and what it holds: ``decided``, ``sold``, ``received``, ``withdrawn``,
        ``items`` (an item's own settings), ``terms`` (settings from a day on, of an item or, without one, of the
        shop or a supplier), ``calendar`` (a special day), ``renamed`` or ``merged``.
    day, sku
        The day that it is about, None for settings, and the item. A special day of several items has an empty one.
    stock, coming
        Counted in the morning, and on its way, all together.
    expected
        The stock that the records expected. A count that differs is taken as the truth.
    advice, ordered, sales
        In units.
    seen
        What the sales say of demand: ``exact``, ``at least`` on a day that was sold out, ``nothing``, or ``demand``
        if they are what was asked for.
    until, cost, method
        As in ``Advice``.
    details
        Of advice on goods that spoil, their ages: ``left_2 3`` are three units that could be sold in that period
        and the next. Of settings, those that changed. Of a special day, its name, group and factor. Of what is
        withdrawn, ``sales``, ``advice``, ``deliveries``, or several of them. Of a delivery, what becomes of its
        rest.
    received, ordered_on
        Units that came, and the day of their order if it was named.
    """

    number: int
    written_at: str
    kind: str
    day: date | None
    sku: str
    stock: int | None = None
    coming: int | None = None
    expected: int | None = None
    advice: int | None = None
    ordered: int | None = None
    sales: int | None = None
    seen: str | None = None
    until: date | None = None
    cost: float | None = None
    method: str | None = None
    details: str | None = None
    received: int | None = None
    ordered_on: date | None = None


@dataclass(frozen=True)
class DeliveryRecord:
    """What was learned of an item's deliveries, together with those of its supplier's other items.

    Attributes
    ----------
    order_days
        How many order days it was learned from.
    late
        The share of what was due that came after its day, or is overdue.
    mean_delay
        The mean delay of what came, in periods.
    short
        How many of the item's orders were told to be short, and nothing more comes.
    """

    order_days: int
    late: float
    mean_delay: float
    short: int


@dataclass(frozen=True)
class Reason:
    """Why an item's order is what it is.

    Attributes
    ----------
    sku, terms
        The item, and its costs, capacity, pack and the like.
    day, stock, coming
        The morning that it is about, in units: the last one that was counted. If that day's sales are recorded, it
        is the morning of the next period, with the stock that the records expect. A stock of None is not known, and
        the order is for an empty shelf. ``coming`` has what arrives 1, 2, .. periods later.
    periods, level, factor, mean, quantiles
        What is believed of demand: the periods that were learned from, its mean without season and special days,
        what this period multiplies that by, the period's mean, and its quantiles by share.
    covered, covered_demand
        How many periods today's order must last, until the next one can be on the shelf or nothing counts any more,
        and their mean demand.
    order, cost, method
        What to order, the expected cost per period of the plan, and how it was found.
    advice
        The last advice that was given, if any.
    until
        The last day that counts, if there is one.
    ages, spoiled
        Of goods that spoil, the units of the stock that can be sold in 1, 2, .. more periods, and how many units
        are expected to spoil in the evenings of this and the coming periods, of those that are there, coming and
        ordered now. Empty for others.
    overdue
        Units that were due this morning, 1, 2, .. periods ago, and did not come.
    deliveries
        What was learned from deliveries, None if none were told of this item.
    alone
        What would be ordered if nothing else were ordered from its supplier that day. None if it is no part of an
        order to a supplier whose items are ordered together.
    """

    sku: str
    terms: ItemTerms
    day: date
    stock: int | None
    coming: tuple[int, ...]
    periods: int
    level: float
    factor: float
    mean: float
    quantiles: dict[float, float]
    covered: int
    covered_demand: float
    order: int
    cost: float
    method: str
    advice: Event | None
    until: date | None = None
    ages: tuple[int, ...] = ()
    spoiled: tuple[float, ...] = ()
    overdue: tuple[int, ...] = ()
    deliveries: DeliveryRecord | None = None
    alone: int | None = None

    __repr__ = brief

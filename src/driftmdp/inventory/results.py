"""The results that a shop returns."""

from dataclasses import dataclass, field
from datetime import date

from driftmdp.agents.order_explanation import Outlook
from driftmdp.display import brief


@dataclass(frozen=True)
class Advice:
    """An order for an item: units, in whole lots.

    Attributes
    ----------
    sku, day, stock, coming
        The item, the day, and the stock that the order was made for.
    order
        Units to order, or 0.
    lot
        Units in a lot.
    """

    sku: str
    day: date
    stock: int
    coming: int
    order: int
    lot: int


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
    """How sales were recorded.

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
class Event:
    """One item's entry in the shop's records, with None where it has no number.

    Attributes
    ----------
    number, written_at, kind, day, sku
        The batch, when it was written, ``decided`` or ``sold``, the day that it is about, and the item.
    stock, coming
        Counted in the morning, and on its way.
    expected
        The stock that the records expected. A count that differs is taken as the truth.
    advice, ordered, sales
        In units.
    """

    number: int
    written_at: str
    kind: str
    day: date
    sku: str
    stock: int | None
    coming: int | None
    expected: int | None
    advice: int | None
    ordered: int | None
    sales: int | None


@dataclass(frozen=True)
class Reason:
    """Why an item's order is what it is.

    Attributes
    ----------
    sku, lot
        The item, and the units in a lot.
    day, stock, coming
        The morning that it is about, in units: the last one that was counted. If that day's sales are recorded, it
        is the morning after, with the stock that the records expect. None means that the stock is unknown, and the
        outlook is for an empty shelf.
    outlook
        The estimated demand, and the order that follows from it, in lots.
    advice
        The last advice that was given, if any.
    """

    sku: str
    lot: int
    day: date
    stock: int | None
    coming: int
    outlook: Outlook
    advice: Event | None

    __repr__ = brief

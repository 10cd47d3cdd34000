"""Today's advice in words and numbers."""

from __future__ import annotations

import math

import numpy as np

from driftmdp.agents.outlook import MEMORIES, Outlook
from driftmdp.inventory.answers import Event
from driftmdp.inventory.shop import Shop

__all__ = ["explain_in_words"]


def explain_in_words(shop: Shop, sku: str) -> str:
    """Return why an item's order is what it is: the estimate of its demand, the memory in use, and the level.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import date
    >>> from driftmdp.inventory import Costs, Count
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Shop.create(f"{folder}/shop.db", Costs(), capacity=20) as shop:
    ...         decision = shop.decide([Count("A", stock=3)], date(2026, 11, 16))
    ...         print(explain_in_words(shop, "A").splitlines()[1])
    Advice for 2026-11-16: order 17, with 3 on the shelf.
    """
    found, advice = shop.explain(sku)
    lot = shop.lot_of(sku)
    lines = [sku if lot == 1 else f"{sku}, in lots of {lot} units"]
    lines += _advised(found, advice, lot)
    lines += ["", "Demand, as far as sales show it", *_indent(_demand(found, lot))]
    lines += ["", "Memory in use", *_indent(_memory(found))]
    lines += ["", "Why this level", *_indent(_level(shop, found, lot))]
    return "\n".join(lines)


def _advised(found: Outlook, advice: Event | None, lot: int) -> list[str]:
    if advice is None:
        return ["No advice was asked for yet."]
    coming = f" and {advice.coming} coming" if advice.coming else ""
    order = f"order {advice.advice}" if advice.advice else "order nothing"
    said = [f"Advice for {advice.day}: {order}, with {advice.stock} on the shelf{coming}."]
    if advice.expected is not None and advice.expected != advice.stock:
        said.append(f"The book expected {advice.expected} on the shelf; the count was taken for the truth.")
    if found.days and (found.stock, found.order * lot) != (advice.stock, advice.advice):
        said.append(f"As of now, with {found.stock * lot} on the shelf: order {found.order * lot}.")
    return said


def _demand(found: Outlook, lot: int) -> list[str]:
    if not found.days:
        return ["Nothing was sold yet that could be learned from; any demand up to the shelf is possible."]
    top = found.tail.size - 1
    lines = [
        f"About {found.mean * lot:.1f} a day, {found.mean_today * lot:.1f} on this weekday, from {found.days} "
        f"days; what goes beyond {top * lot} counts as {top * lot}.",
        "chance that demand is at least ...",
    ]
    for level in _telling(found):
        lines.append(
            f"  {level * lot:>6}: {found.tail[level]:>4.0%}   (between {found.low[level]:.0%} and "
            f"{found.high[level]:.0%}; planned for: {found.planned[level]:.0%})"
        )
    return lines


def _telling(found: Outlook) -> list[int]:
    """Return the levels where the tail is near 90, 75, 50, 25 and 10%, and the one ordered up to."""
    wanted = (0.9, 0.75, 0.5, 0.25, 0.1)
    levels = {int(np.abs(found.tail[1:] - share).argmin()) + 1 for share in wanted}
    return sorted(levels | {max(1, min(found.stock + found.order, found.tail.size - 1))})


def _memory(found: Outlook) -> list[str]:
    def span(days: float) -> str:
        return "all days" if math.isinf(days) else f"{days:.0f} days"

    weights = ", ".join(
        f"{span(days)} {weight:.0%}" for days, weight in zip(MEMORIES, found.memory_weights, strict=True)
    )
    belief = found.weekday_belief
    week = "It is not clear whether weekdays differ"
    if abs(belief - 0.5) > 0.2:
        week = "Weekdays differ" if belief > 0.5 else "Weekdays seem to be alike"
    return [
        f"{span(found.memory)} predicted its sales best so far; weights: {weights}.",
        f"{week} (belief that they differ: {belief:.0%}).",
    ]


def _level(shop: Shop, found: Outlook, lot: int) -> list[str]:
    costs = shop.costs
    lines = [
        f"A lost sale costs {costs.lost_sale:g}, a lot left in the evening {costs.holding:g}, a lot ordered "
        f"{costs.unit:g}, an order {costs.fixed:g}; the shelf takes {shop.capacity} lots."
    ]
    if found.up_to is not None:
        lines.append(
            f"The cheapest rule for this demand: when {found.reorder * lot} or fewer are left, order up to "  # type: ignore[operator]
            f"{found.up_to * lot}; it costs about {found.cost_per_day:.2f} a day."
        )
    elif shop.lead_time:
        days = "1 day" if shop.lead_time == 1 else f"{shop.lead_time} days"
        lines.append(
            f"Orders take {days}; the cheapest plan for this demand costs about {found.cost_per_day:.2f} a day."
        )
    else:
        lines.append("At these costs an order never pays: not to order is cheapest.")
    if shop.lead_time == 0:
        now = (found.stock + found.order) * lot
        lines.append(f"With {now} on sale, today sells out with a chance of {found.sells_out:.0%}.")
    return lines


def _indent(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]

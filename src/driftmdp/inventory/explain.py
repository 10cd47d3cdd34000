"""An explanation of today's advice as text."""

import math

import numpy as np

from driftmdp.agents.order_explanation import MEMORY_DAYS, Outlook
from driftmdp.display import counted
from driftmdp.errors import one_line
from driftmdp.inventory.results import Reason
from driftmdp.inventory.shop import Shop

CLEAR_WEIGHT = 0.3  # above it, a memory is called the best of the six


def explain_in_words(shop: Shop, sku: str) -> str:
    """Return why an item's order is what it is: the estimate of its demand, the memory in use, and the level.

    Examples
    --------
    >>> from driftmdp.inventory import Shop, explain_in_words
    >>> import tempfile
    >>> from datetime import date
    >>> from driftmdp.inventory import Costs, Count
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Shop.create(f"{folder}/shop.db", Costs(), capacity=20) as shop:
    ...         decision = shop.decide([Count("A", stock=3)], date(2026, 11, 16))
    ...         print(explain_in_words(shop, "A").splitlines()[1])
    Advice for 2026-11-16: order 17, with 3 on the shelf.
    """
    reason = shop.explain(sku)
    lines = [one_line(sku) if reason.lot == 1 else f"{one_line(sku)}, in lots of {reason.lot} units"]
    lines += _advice(reason)
    for title, section in (
        ("Demand, as far as sales show it", _demand(reason)),
        ("Memory in use", _memory(reason.outlook)),
        ("Why this level", _level(shop, reason)),
    ):
        lines += ["", title, *(f"  {line}" for line in section)]
    return "\n".join(lines)


def _advice(reason: Reason) -> list[str]:
    advice, lines = reason.advice, []
    if advice is None:
        lines.append("No advice was asked for yet.")
    else:
        lines.append(f"Advice for {advice.day}: {_order(advice.advice, advice.stock, advice.coming)}")
        if advice.expected is not None and advice.expected != advice.stock:
            lines.append(f"The records expected {advice.expected} on the shelf; the count was taken as the truth.")
    if advice is None or reason.day != advice.day:
        order = reason.outlook.order * reason.lot
        if reason.stock is None:
            lines.append(f"The stock is unknown. With an empty shelf: order {order or 'nothing'}.")
        else:
            expected = _order(order, reason.stock, reason.coming)
            lines.append(f"For {reason.day}, with the stock that the records expect: {expected}")
    return lines


def _order(units: int | None, stock: int | None, coming: int | None) -> str:
    arriving = f" and {coming} coming" if coming else ""
    return f"order {units or 'nothing'}, with {stock} on the shelf{arriving}."


def _demand(reason: Reason) -> list[str]:
    found, lot = reason.outlook, reason.lot
    if not found.days:
        return ["Nothing was on sale yet, so any demand up to the shelf is possible."]
    top = found.tail.size - 1
    means = f"About {found.mean * lot:.1f} per day, {found.mean_today * lot:.1f} on a {reason.day:%A}"
    lines = [f"{means}, from {counted(found.days, 'day')}; demand beyond {top * lot} counts as {top * lot}."]
    if found.unseen > 1:
        lines.append(f"Nothing was on sale on {found.unseen} days since, and demand may have changed meanwhile.")
    lines.append("chance that demand is at least ...")
    for level in _levels_to_show(found):
        ends = f"between {found.low[level]:.0%} and {found.high[level]:.0%}"
        planned = f"planned for: {found.planned[level]:.0%}"
        lines.append(f"  {level * lot:>6}: {found.tail[level]:>4.0%}   ({ends}; {planned})")
    return lines


def _levels_to_show(found: Outlook) -> list[int]:
    """Return the levels where the tail is near 90, 75, 50, 25 and 10%, and the one ordered up to."""
    wanted = (0.9, 0.75, 0.5, 0.25, 0.1)
    levels = {int(np.abs(found.tail[1:] - share).argmin()) + 1 for share in wanted}
    return sorted(levels | {max(1, min(found.stock + found.order, found.tail.size - 1))})


def _memory(found: Outlook) -> list[str]:
    def span(days: float) -> str:
        return "all days" if math.isinf(days) else f"{days:.0f} days"

    pairs = zip(MEMORY_DAYS, found.memory_weights, strict=True)
    weights = ", ".join(f"{span(days)} {weight:.0%}" for days, weight in pairs)
    best = f"A memory of {span(found.memory)} predicted its sales best so far"
    is_clear = found.memory_weights.max() > CLEAR_WEIGHT
    belief = found.weekday_belief
    week = "It is not clear whether weekdays differ"
    if abs(belief - 0.5) > 0.2:
        week = "Weekdays differ" if belief > 0.5 else "Weekdays seem to be alike"
    memory = best if is_clear else "It is not clear which memory is best"
    return [f"{memory}; weights: {weights}.", f"{week} (belief that they differ: {belief:.0%})."]


def _level(shop: Shop, reason: Reason) -> list[str]:
    costs, found, lot = shop.costs, reason.outlook, reason.lot
    lines = [
        f"Costs: {costs.fixed:g} per order, {costs.unit:g} per lot ordered, {costs.lost_sale:g} per lost sale of a "
        f"lot, {costs.holding:g} per lot left in the evening. The shelf holds {shop.capacity} lots."
    ]
    if reason.stock is None:
        lines.append("What follows is for an empty shelf.")
    elif reason.stock > shop.capacity * lot:
        lines.append(f"More is there than the shelf holds; it counts as {shop.capacity * lot}.")
    elif lot > 1 and reason.stock != found.stock * lot:
        lines.append(f"{reason.stock} on the shelf count as {found.stock} lots.")
    if found.up_to is not None and found.reorder is not None:
        left = f"{found.reorder * lot} or fewer are" if found.reorder else "nothing is"
        rule = f"The cheapest rule for an average day: when {left} left, order up to {found.up_to * lot}"
        lines.append(f"{rule}; it costs about {found.cost_per_day:.2f} per day.")
        after = found.stock + found.order
        if (found.order > 0) != (found.stock <= found.reorder) or (found.order and after != found.up_to):
            lines.append(f"A {reason.day:%A} is not an average day, and the order is for it.")
    elif shop.lead_time:
        together = (found.stock + found.coming + found.order) * lot
        orders = f"Orders take {counted(shop.lead_time, 'day')}; with this one, shelf and orders come to {together}"
        lines.append(f"{orders}. The cheapest plan for this demand costs about {found.cost_per_day:.2f} per day.")
    else:
        again = "One is tried now and then, because an empty shelf shows no demand."
        lines.append(f"At these costs and this demand an order does not pay. {again}")
    on_sale = found.stock + (found.order if shop.lead_time == 0 else 0)
    if on_sale:
        chance = found.tail[min(on_sale, found.tail.size - 1)]
        lines.append(f"With {on_sale * lot} on sale, the day sells out with a chance of {chance:.0%}.")
    return lines

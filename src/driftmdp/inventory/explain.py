"""An explanation of today's advice as text."""

from collections.abc import Mapping
from datetime import timedelta

from driftmdp.display import counted
from driftmdp.errors import one_line
from driftmdp.inventory.periods import days
from driftmdp.inventory.results import Reason
from driftmdp.inventory.shop import Shop
from driftmdp.inventory.terms import ItemTerms

PLANS = {  # how a plan was found; other methods say why nothing is ordered
    "exact": "computed exactly",
    "simulated": "the best of several, by simulation",
    "for service": "made for the service target, by simulation",
}
LEAST_WASTE, MOST_WASTE_DAYS = 0.05, 4  # units that are told, and evenings
BELOW_MINIMUM = "below the minimum"  # the method of an item that is worth ordering, but not enough with it
IDLE = {"too late": "it would arrive after the last day that counts"}  # the other reasons say enough


def explain_in_words(shop: Shop, sku: str) -> str:
    """Return why an item's order is what it is: its demand, its season, what is coming, and the plan.

    Examples
    --------
    >>> from driftmdp.inventory import Shop, explain_in_words
    >>> import tempfile
    >>> from datetime import date
    >>> from driftmdp.inventory import Costs, Count
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Shop.create(f"{folder}/shop.db", Costs(), capacity=20) as shop:
    ...         decision = shop.decide([Count("A", stock=20)], date(2026, 11, 16))
    ...         print(explain_in_words(shop, "A").splitlines()[1])
    Advice for 2026-11-16: order nothing, with 20 on the shelf.
    """
    reason = shop.explain(sku)
    name = one_line(reason.sku)
    lines = [name if reason.terms.pack == 1 else f"{name}, in packs of {reason.terms.pack}"]
    lines += _advice(reason)
    sections = (
        ("Demand", _demand(reason)),
        ("Deliveries", _deliveries(reason)),
        ("Why this order", _order_reasons(reason)),
    )
    for title, section in sections:
        if not section:
            continue
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
        if reason.day == advice.day and reason.order != advice.advice:
            now = f"it would be to order {reason.order or 'nothing'}, which is explained here"
            lines.append(f"Asked again with what is known and set now, {now}.")
    if advice is None or reason.day != advice.day:
        if reason.stock is None:
            lines.append(f"The stock is unknown. With an empty shelf: order {reason.order or 'nothing'}.")
        else:
            expected = _order(reason.order, reason.stock, sum(reason.coming) + sum(reason.overdue))
            lines.append(f"For {reason.day}, with the stock that the records expect: {expected}")
    return lines


def _order(units: int | None, stock: int | None, coming: int | None) -> str:
    arriving = f" and {coming} coming" if coming else ""
    return f"order {units or 'nothing'}, with {stock} on the shelf{arriving}."


def _demand(reason: Reason) -> list[str]:
    period = reason.terms.period
    if not reason.periods:
        return [f"Nothing was learned of it yet; {_mean(reason.mean)} a {period} are assumed."]
    usual = f"About {_mean(reason.level)} a {period}, from {counted(reason.periods, period)} of sales."
    this = f"In the week of {reason.day}" if period == "week" else f"On {reason.day:%A}, {reason.day}"
    if reason.method == "closed":
        return [usual, f"{this}: closed."]
    return [usual, f"{this}: about {_mean(reason.mean)}, {_season(reason.factor)}.", _spread(reason.quantiles)]


def _deliveries(reason: Reason) -> list[str]:
    """Return lines on deliveries, of an item of which some are told."""
    told, period = reason.deliveries, reason.terms.period
    if told is None:
        return []
    who = f" from {reason.terms.supplier}" if reason.terms.supplier else ""
    lines = [f"Deliveries{who} are recorded: {counted(told.order_days, 'order day')} so far."]
    if told.late or told.mean_delay:
        when = "later" if told.mean_delay > 0 else "earlier"
        mean = f", {abs(told.mean_delay):.1f} {period}s {when} than promised on average" if told.mean_delay else ""
        lines.append(f"{told.late:.0%} of what was due came late or is overdue{mean}. The plan foresees it.")
    elif told.order_days:
        lines.append("All of it came on its day, and the plan counts on that.")
    if told.short:
        lines.append(f"{counted(told.short, 'order')} of this item came short.")
    late = [(units, after) for after, units in enumerate(reason.overdue) if units]
    texts = [f"{units} due {'this morning' if not ago else f'{counted(ago, period)} ago'}" for units, ago in late]
    return lines + ([f"Overdue: {', '.join(texts)}."] if texts else [])


def _mean(units: float) -> str:
    """Return a mean with a digit behind the point, or two digits of a small one."""
    return f"{units:.2g}" if 0.0 < units < 1.0 else f"{units:.1f}"


def _spread(quantiles: Mapping[float, float]) -> str:
    low, _, middle, _, high = quantiles.values()
    if not high:
        return "At least 19 times in 20 none."
    half = f"{middle:.0f} or fewer" if middle else "none"
    return f"Half of the time {half}, 9 times in 10 between {low:.0f} and {high:.0f}."


def _season(factor: float) -> str:
    share = round(100 * (factor - 1))
    if not share:
        return "as usual"
    return f"{abs(share)}% {'more' if share > 0 else 'less'} than usual, by season, weekday and special days"


def _order_reasons(reason: Reason) -> list[str]:
    terms, costs = reason.terms, reason.terms.costs
    lost = f", {costs.lost_sale:g} per unit of lost sales" if terms.service is None else ""
    lines = [
        f"Costs: {costs.fixed:g} per order, {costs.unit:g} per unit ordered, {costs.holding:g} per unit left over "
        f"at the end of a {terms.period}{lost}.",
        *_limits(terms),
        f"{_when(terms)} {_arrivals(reason)}".rstrip(),
    ]
    if reason.method == BELOW_MINIMUM:
        return [*lines, _below_minimum(reason)]
    if reason.method not in PLANS:
        return [*lines, f"No order now: {IDLE.get(reason.method, reason.method)}."]
    lines += _spoiling(reason)
    together = (reason.stock or 0) + sum(reason.coming) + sum(reason.overdue) + reason.order
    shelf = "" if reason.stock is not None else ", from an empty shelf,"
    return [
        *lines,
        *_pulled_along(reason),
        f"With this order{shelf} there are {together} for the {counted(reason.covered, terms.period)} until "
        f"{_end_of_cover(reason)}, in which about {_mean(reason.covered_demand)} are asked for.",
        f"The plan costs about {reason.cost:.2f} per {terms.period}; it was {PLANS[reason.method]}.",
    ]


def _below_minimum(reason: Reason) -> str:
    """Return that a supplier's minimum is out of reach: with all that was counted that morning, or alone."""
    advice, supplier = reason.advice, reason.terms.supplier
    if advice is not None and advice.day == reason.day and advice.method == BELOW_MINIMUM:
        return f"No order now: what is worth ordering from {supplier} does not reach the minimum of an order."
    return f"No order now: alone it does not reach the minimum of an order to {supplier}."


def _pulled_along(reason: Reason) -> list[str]:
    """Return whether an item is reason enough for an order to its supplier, or joins one, if it is part of one."""
    supplier = reason.terms.supplier
    if reason.alone is None or not reason.order:
        return []
    if reason.alone:
        return [f"It alone is worth an order to {supplier} today."]
    return [f"Alone it would not be worth an order to {supplier} today. It joins that of other items."]


def _spoiling(reason: Reason) -> list[str]:
    """Return how old the goods are, and how many of them will spoil, if they do."""
    terms = reason.terms
    if terms.shelf_life is None:
        return []
    step = days(terms.period)
    ends = [reason.day + timedelta(step * place) for place in range(len(reason.ages))]
    left = [(units, end) for units, end in zip(reason.ages, ends, strict=True) if units]
    until = ", ".join(
        f"{units}{'' if place else ' can be sold'} until {end}" for place, (units, end) in enumerate(left)
    )
    old = f" Of the {sum(reason.ages)} on the shelf, {until}." if left else ""
    lost = [
        f"{_mean(units)} on {reason.day + timedelta(step * place)}"
        for place, units in enumerate(reason.spoiled)
        if units >= LEAST_WASTE
    ]
    life = f"It can be sold for {counted(terms.shelf_life, terms.period)}.{old}"
    if not lost:
        return [life, "Hardly any will spoil."]
    more = ", and more later" if len(lost) > MOST_WASTE_DAYS else ""
    waste, price = f"Expected to spoil: {', '.join(lost[:MOST_WASTE_DAYS])}{more}", terms.waste + terms.costs.unit
    return [
        life,
        f"{waste}. At {price:g} per unit, with its price, that is {price * sum(reason.spoiled):.2f} in all.",
    ]


def _end_of_cover(reason: Reason) -> str:
    covered = days(reason.terms.period) * reason.covered
    if reason.until is None or covered <= (reason.until - reason.day).days:
        return "the next order can be on the shelf"
    return f"{reason.until}, the last day that counts"


def _limits(terms: ItemTerms) -> list[str]:
    """Return lines on the service target and the shelf, if there are such limits."""
    lines = []
    if terms.service is not None:
        what = (
            "units asked for are served" if terms.service_measure == "units" else f"{terms.period}s do not sell out"
        )
        lines.append(f"Target: {terms.service:.1%} of the {what}.")
    if terms.capacity is not None:
        lines.append(f"The shelf takes {terms.capacity}, with what is on its way.")
    return lines


def _when(terms: ItemTerms) -> str:
    arrival = (
        "is on sale at once" if not terms.lead_time else f"arrives after {counted(terms.lead_time, terms.period)}"
    )
    every = (
        "" if terms.order_days.every == 1 and not terms.order_days.weekdays else f" Order days: {terms.order_days}."
    )
    return f"An order {arrival}.{every}{_supplier(terms)}"


def _supplier(terms: ItemTerms) -> str:
    """Return who delivers an item, and what its orders share."""
    if not terms.supplier:
        return ""
    shared = terms.shared_order
    cost = f", where an order costs {shared.cost:g} whatever is in it" if shared.cost else ""
    least = [f"{shared.minimum_units} units"] if shared.minimum_units else []
    least += [f"a value of {shared.minimum_value:g}"] if shared.minimum_value else []
    minimum = f" An order there needs {' and '.join(least)}." if least else ""
    together = "" if shared.is_alone else " Its items are ordered together."
    return f" It comes from {terms.supplier}{cost}.{minimum}{together}"


def _arrivals(reason: Reason) -> str:
    period = reason.terms.period
    coming = [f"{units} in {counted(after, period)}" for after, units in enumerate(reason.coming, 1) if units]
    return f"On their way: {', '.join(coming)}." if coming else ""

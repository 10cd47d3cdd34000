"""What deliveries an item's orders had, in plain Python: the oracle of kernels/deliveries.py, for periods of a day.

``orders`` are (day, due, units), ``told`` are (day, ordered_on or None, units, is_cancelled).
"""


def followed(orders, told):
    """Return the orders of which deliveries are told, as [day, due, units, left], oldest first."""
    begin = min(day for day, *_ in told)
    named = {ordered_on for _, ordered_on, *_ in told if ordered_on is not None}
    if any(day == begin and ordered_on is None for day, ordered_on, *_ in told):
        before = [order for order in orders if order[0] < begin]
        if before:
            named.add(min(before, key=lambda order: (abs(order[1] - begin), order[0]))[0])
    return [[day, due, units, units] for day, due, units in orders if due >= begin or day in named]


def received(orders, told, today):
    """Return the open units by (day, due), what came of each order day on which day, and what was too much."""
    mine, begin = followed(orders, told), min(day for day, *_ in told)
    first = [order for order in orders if order[0] < begin]
    nearest = min(first, key=lambda order: (abs(order[1] - begin), order[0]))[0] if first else None
    came, extra = [], 0
    for day, ordered_on, units, is_cancelled in sorted(told, key=lambda line: (line[0], line[1] or -1)):
        if day > today:
            continue
        waiting = [order for order in mine if order[0] < day]
        oldest = sorted((order for order in waiting if order[3]), key=lambda order: order[1])
        if ordered_on is not None:
            queue = [order for order in waiting if order[0] == ordered_on]
        elif day == begin and nearest is not None:
            queue = [order for order in waiting if order[0] == nearest]
            queue += [order for order in oldest if order[0] != nearest]
        else:
            queue = oldest
        touched = queue[0] if queue else None
        for order in queue:
            part = min(units, order[3])
            if part:
                order[3] -= part
                units -= part
                came.append((order[0], day, part))
                touched = order
        extra += units
        if is_cancelled and touched is not None:
            touched[3] = 0
    return {(order[0], order[1]): order[3] for order in mine if order[3] and order[0] < today}, came, extra

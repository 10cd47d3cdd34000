"""Goods that spoil, slowly and obviously: every unit is a number, the periods that it can still be sold in."""

import functools


def sell_and_age(units, demand):
    """Return the units left for the next morning, how many were sold, and how many spoiled."""
    oldest_first = sorted(units)
    kept = oldest_first[min(demand, len(units)) :]
    return [left - 1 for left in kept if left > 1], len(units) - len(kept), sum(left == 1 for left in kept)


def best_cost(terms, ages, coming, laws, is_open):
    """Return the least expected cost of all periods, and the smallest order that has it, by trying every order."""

    @functools.cache
    def solve(h, shelf, way):
        if h == len(laws):
            return 0.0, 0
        load, found = len(shelf) + sum(way), []
        orders = [0]
        if is_open[h]:
            orders += [a for a in range(terms.pack, terms.capacity - load + 1, terms.pack) if a >= terms.minimum]
        for order in orders:
            line = [*way, order] if terms.lead_time > 0 else []
            there = [*shelf, *([terms.shelf_life] * order if terms.lead_time == 0 else [])]
            cost = terms.unit * order + (terms.fixed if order else 0.0)
            for x, chance in enumerate(laws[h] if is_open[h] else [1.0]):
                if chance > 0:
                    left, sold, spoiled = sell_and_age(there, x)
                    paid = terms.lost * (x - sold) + terms.waste * spoiled
                    paid += terms.holding * len(left) if is_open[h] else 0.0
                    arrived = [terms.shelf_life] * (line[0] if line else 0)
                    cost += chance * (paid + solve(h + 1, tuple(sorted([*left, *arrived])), tuple(line[1:]))[0])
            found.append((round(cost, 9), order))
        return min(found)

    shelf = tuple(k + 1 for k, units in enumerate(ages) for _ in range(units))
    return solve(0, shelf, tuple(coming))

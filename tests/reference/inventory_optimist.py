"""The optimist of an inventory that sees only its sales, and (s, S) rules along a path, in plain loops.

====================  ============================================================================
S                     capacity; demand is 0, 1, ..., S - 1, or "S or more"
law[x]                Pr(X = x), x = 0 .. S; the last one is Pr(X >= S)
y, Y                  units on sale on a day; units sold, min(X, y)
h[k][j]               hazard: Pr(X = j | X >= j) as memory k has it
at_risk, stops        how often demand was seen to reach level j, and to end there, fading
s, up                 an (s, S) rule: order up to `up` when stock + coming <= s; s = -1 never orders
====================  ============================================================================

A day costs f 1[a > 0] + c a + h (left in the evening) - l (sold): what a sale saves, not what demand lost.
"""

import math

import numpy as np

MEMORIES = (5, 15, 45, 135, 405, math.inf)
LARGEST_HAZARD = 0.999


class Demand:
    """What is known of one item's demand."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.at_risk = [[0.0] * capacity for _ in MEMORIES]
        self.stops = [[0.0] * capacity for _ in MEMORIES]
        self.weights = [1 / len(MEMORIES)] * len(MEMORIES)
        self.observed = [0.0] * 7
        self.expected = [0.0] * 7
        self.belief = 0.5
        self.days = self.unseen = 0

    def hazards(self):
        """h[k][j]: each memory leans on its own levels nearby, and they lean on the next longer memory."""
        levels = range(self.capacity)
        h = [None] * len(MEMORIES)
        for k in reversed(range(len(MEMORIES))):
            h[k] = []
            for j in levels:
                near_stops = sum(0.5 ** abs(level - j) * self.stops[k][level] for level in levels)
                near_risk = sum(0.5 ** abs(level - j) * self.at_risk[k][level] for level in levels)
                if k == len(MEMORIES) - 1:
                    a, b = 0.5, 0.5 * (self.capacity / 2 + 1)
                else:
                    a, b = 4 * h[k + 1][j], 4
                around = (a + near_stops) / (b + near_risk)
                mixed = (self.stops[k][j] + 32 * around) / (self.at_risk[k][j] + 32)
                h[k].append(min(LARGEST_HAZARD, mixed))
        return h

    def tilt(self, weekday):
        return (self.observed[weekday] + 20) / (self.expected[weekday] + 20)

    def believed(self, weekday):
        return (1 - self.belief) + self.belief * self.tilt(weekday)

    def tail(self, theta):
        """G[j] = Pr(X >= j), j = 0 .. S, with every hazard times theta."""
        h = self.hazards()
        tail = [1.0]
        for j in range(self.capacity):
            total = 0.0
            for k, weight in enumerate(self.weights):
                survival = 1.0
                for i in range(j + 1):
                    survival *= 1 - min(LARGEST_HAZARD, theta * h[k][i])
                total += weight * survival
            tail.append(total)
        return tail

    def spread(self, theta):
        """The relative deviation of the tail: Greenwood's formula with the memories' mean number at risk."""
        tail = self.tail(theta)
        variance = 0.0
        spread = [0.0]
        for j in range(self.capacity):
            at_risk = 0.5 + sum(weight * self.at_risk[k][j] for k, weight in enumerate(self.weights))
            stay = tail[j + 1] / tail[j]
            variance += (1 - stay) / (stay * at_risk)
            spread.append(math.sqrt(variance))
        return spread

    def optimistic_law(self, theta):
        """The law whose tail lies a tenth of a deviation above the estimate, and never rises."""
        tail, spread = self.tail(theta), self.spread(theta)
        law = []
        above = 1.0
        for j in range(self.capacity):
            below = min(above, tail[j + 1] * (1 + 0.1 * spread[j + 1]))
            law.append(above - below)
            above = below
        return [*law, above]

    def in_doubt(self, law):
        """A law mixed with the prior's, geometric with mean S / 2, by 1 - (1 - 1/405)^unseen."""
        loyalty, stays = (1 - 1 / 405) ** self.unseen, 1 - 1 / (self.capacity / 2 + 1)
        prior = [stays**x * (1 - stays) for x in range(self.capacity)] + [stays**self.capacity]
        return [loyalty * p + (1 - loyalty) * other for p, other in zip(law, prior, strict=True)]

    def learn(self, weekday, on_sale, sold):
        if on_sale > 0:
            self._weigh(weekday, on_sale, sold)
        for k, memory in enumerate(MEMORIES):
            for j in range(self.capacity):
                self.at_risk[k][j] *= 1 - 1 / memory
                self.stops[k][j] *= 1 - 1 / memory
            for j in range(min(sold + 1, on_sale)):
                self.at_risk[k][j] += 1
            if sold < on_sale:
                self.stops[k][sold] += 1
        self.days += 1
        if on_sale == 0:
            self.unseen += 1
        elif sold < on_sale:
            self.unseen = 0

    def _weigh(self, weekday, on_sale, sold):
        """Bayes over memories and over whether weekdays differ, then the weekday's stops."""
        h, tilt, q, old = self.hazards(), self.tilt(weekday), self.belief, self.weights
        n = len(MEMORIES)
        plain = [likelihood(h[k], on_sale, sold) for k in range(n)]
        moved = [likelihood([min(LARGEST_HAZARD, tilt * x) for x in h[k]], on_sale, sold) for k in range(n)]
        total = sum(old[k] * ((1 - q) * plain[k] + q * moved[k]) for k in range(n))
        if total > 0:
            self.weights = [
                0.99 * old[k] * ((1 - q) * plain[k] + q * moved[k]) / total + 0.01 / n for k in range(n)
            ]
            self.belief = 0.99 * q * sum(old[k] * moved[k] for k in range(n)) / total + 0.005
        expected = 0.0
        for j in range(min(sold + 1, on_sale)):
            expected += sum(self.weights[k] * h[k][j] for k in range(n))
        for day in range(7):
            self.observed[day] *= 1 - 1 / 365
            self.expected[day] *= 1 - 1 / 365
        self.expected[weekday] += expected
        if sold < on_sale:
            self.observed[weekday] += 1


def likelihood(hazards, on_sale, sold):
    """Pr(sales of `sold`, with `on_sale` on the shelf)."""
    result = 1.0
    for j in range(sold):
        result *= 1 - hazards[j]
    return result * hazards[sold] if sold < on_sale else result


# Days, states and plans. --------------------------------------------------------------------------------


class Shop:
    """Costs f, c, l, h, the shelf, and the lead time 0, 1 or 2."""

    def __init__(self, fixed, unit, lost, holding, capacity, lead_time):
        self.fixed, self.unit, self.lost, self.holding = fixed, unit, lost, holding
        self.capacity, self.lead_time = capacity, lead_time

    def day(self, stock, coming, order, demand):
        """Return on sale, sold, cost, and tomorrow's stock and coming."""
        on_sale = stock + order if self.lead_time == 0 else stock
        sold = min(demand, on_sale)
        left = on_sale - sold
        cost = self.unit * order + self.holding * left - self.lost * sold
        if order > 0:
            cost += self.fixed
        if self.lead_time == 0:
            tomorrow = left, 0
        elif self.lead_time == 1:
            tomorrow = left + order, 0
        else:
            tomorrow = left + coming, order
        return on_sale, sold, cost, *tomorrow

    def states(self):
        """(stock, coming), as far as capacity allows."""
        coming = self.capacity if self.lead_time == 2 else 0
        everything = range(self.capacity + 1)
        return [(s, q) for s in everything for q in range(coming + 1) if s + q <= self.capacity]

    def orders(self, stock, coming):
        return range(self.capacity - stock - coming + 1)

    def expected(self, stock, coming, order, law, values):
        """E[cost of the day + value of the next state]."""
        total = 0.0
        for demand, probability in enumerate(law):
            if probability > 0:
                _, _, cost, *tomorrow = self.day(stock, coming, order, demand)
                total += probability * (cost + values[tuple(tomorrow)])
        return total


def plan(shop, law, values=None, precision=1e-10):
    """Return the least average cost and the relative values {(stock, coming): v}, v = 0 when empty.

    Damped relative value iteration. Whenever its greedy policy's own values solve the optimality equation
    they are the answer, and there is no need to iterate on.
    """
    states = shop.states()
    v = dict(values) if values else dict.fromkeys(states, 0.0)
    while True:
        greedy = {}
        for state in states:
            totals = [shop.expected(*state, a, law, v) for a in shop.orders(*state)]
            greedy[state] = totals.index(min(totals))
        exact = policy_values(shop, law, greedy)
        for average, u in [exact] if exact else []:
            changes = [best(shop, state, law, u) - u[state] - average for state in states]
            if max(abs(change) for change in changes) < precision:
                return average, u
        for _ in range(10):
            new = {state: best(shop, state, law, v) for state in states}
            changes = [new[state] - v[state] for state in states]
            v = {state: 0.5 * (v[state] - v[0, 0]) + 0.5 * (new[state] - new[0, 0]) for state in states}
            if max(changes) - min(changes) < precision:
                return (max(changes) + min(changes)) / 2, v


def best(shop, state, law, values):
    return min(shop.expected(*state, a, law, values) for a in shop.orders(*state))


def policy_values(shop, law, policy):
    """Average cost g and values u with g + u[i] = cost[i] + sum_j P[i][j] u[j], u = 0 when empty; or None."""
    states = shop.states()
    place = {state: i for i, state in enumerate(states)}
    matrix = np.eye(len(states))
    costs = np.zeros(len(states))
    for i, state in enumerate(states):
        for demand, probability in enumerate(law):
            _, _, cost, *tomorrow = shop.day(*state, policy[state], demand)
            costs[i] += probability * cost
            matrix[i, place[tuple(tomorrow)]] -= probability
    matrix[:, place[0, 0]] = 1.0  # u of the empty shelf is 0: its column holds g
    try:
        solution = np.linalg.solve(matrix, costs).tolist()
    except np.linalg.LinAlgError:  # several recurrent classes: there is no one average cost
        return None
    average = solution[place[0, 0]]
    return average, {**dict(zip(states, solution, strict=True)), (0, 0): 0.0}


class Optimist:
    """Learns from sales, plans for the optimistic law, and takes today's weekday into account."""

    def __init__(self, shop):
        self.shop = shop
        self.demand = Demand(shop.capacity)
        self.values = None

    def totals(self, weekday, stock, coming, doubting=False):
        """Expected cost of every order today, plus what follows."""
        law = self.demand.optimistic_law(1.0)
        today = self.demand.optimistic_law(self.demand.believed(weekday))
        if doubting:
            law, today = self.demand.in_doubt(law), self.demand.in_doubt(today)
        _, self.values = plan(self.shop, law, self.values)
        orders = self.shop.orders(stock, coming)
        return [self.shop.expected(stock, coming, a, today, self.values) for a in orders]

    def decide(self, weekday, stock, coming):
        order = smallest_of_the_best(self.totals(weekday, stock, coming))
        if order == 0 and stock + coming == 0 and self.demand.unseen > 0:
            order = min(1, smallest_of_the_best(self.totals(weekday, stock, coming, doubting=True)))
        return order


def smallest_of_the_best(totals, tie=1e-9):
    return next(a for a, total in enumerate(totals) if total <= min(totals) + tie)


# (s, S) rules and other yardsticks. ---------------------------------------------------------------------


def follow(shop, path, choose):
    """Costs, orders, units on sale and sales by day, from an empty shop; choose(t, stock, coming, sales)."""
    stock = coming = 0
    costs, orders, shelves, sales = [], [], [], []
    for t, demand in enumerate(path):
        order = choose(t, stock, coming, sales)
        assert 0 <= order <= shop.capacity - stock - coming
        on_sale, sold, cost, stock, coming = shop.day(stock, coming, order, demand)
        costs.append(cost)
        orders.append(order)
        shelves.append(on_sale)
        sales.append(sold)
    return costs, orders, shelves, sales


def order_up_to(s, up, stock, coming):
    return max(0, up - stock - coming) if stock + coming <= s else 0


def cost_of_levels(shop, path, first, scored, last, s, up):
    """What (s, up) costs on the days scored .. last - 1, when empty on day `first`."""
    costs, *_ = follow(shop, path[first:last], lambda t, stock, coming, _: order_up_to(s, up, stock, coming))
    return sum(costs[scored - first :])


def all_levels(capacity):
    """All rules that order, by `up` and then by s."""
    return [(s, up) for up in range(1, capacity + 1) for s in range(up)]


def cheapest_levels(shop, path, first, scored, last):
    """The (s, up) that costs least on the days scored .. last - 1."""
    costs = {rule: cost_of_levels(shop, path, first, scored, last, *rule) for rule in all_levels(shop.capacity)}
    return min(costs, key=costs.get)


def average_cost(shop, law, s, up):
    """Cost a day of (s, up) in the long run with lead time 0, by its stationary distribution.

    The chain is that of units on sale, from `up` on: a shelf that falls to s or less is filled at once.
    """
    assert shop.lead_time == 0
    assert 0 <= s < up
    if law[0] == 1.0:  # nothing is ever sold: the shelf stays full
        return shop.holding * up
    levels = list(range(s + 1, up + 1))
    n = len(levels)
    moves = np.zeros((n, n))
    costs = [0.0] * n
    for i, y in enumerate(levels):
        for demand, probability in enumerate(law):
            left = y - min(demand, y)
            order = order_up_to(s, up, left, 0)
            moves[i, levels.index(left + order)] += probability
            ordering = shop.unit * order + (shop.fixed if order > 0 else 0.0)
            costs[i] += probability * (shop.holding * left - shop.lost * (y - left) + ordering)
    system = np.eye(n) - moves.T
    system[-1] = 1.0  # any one equation of balance follows from the others
    stationary = np.linalg.solve(system, np.array([0.0] * (n - 1) + [1.0]))
    return sum(p * cost for p, cost in zip(stationary.tolist(), costs, strict=True))


def best_levels(shop, law, tie=1e-9):
    """All (s, up) of least average cost with lead time 0, and that cost."""
    costs = {rule: average_cost(shop, law, *rule) for rule in all_levels(shop.capacity)}
    least = min(costs.values())
    return [rule for rule in costs if costs[rule] <= least + tie], least


def empirical_law(seen, capacity):
    counts = [0] * (capacity + 1)
    for x in seen:
        counts[min(x, capacity)] += 1
    return [count / len(seen) for count in counts]


def roll_levels(shop, path, window=60, censored=True, fit=None):
    """Follow the (s, up) that is best for the last days' sales or demand; the costs, orders, shelves, sales.

    fit(seen) returns (s, up); unless given, best_levels of the empirical law.
    """

    def choose(t, stock, coming, sales):
        seen = (sales if censored else path[:t])[-window:]
        if len(sales) < 14:
            rule = shop.capacity - 1, shop.capacity
        elif fit:
            rule = fit(seen)
        else:
            (rule, *_), _ = best_levels(shop, empirical_law(seen, shop.capacity))
        return order_up_to(*rule, stock, coming)

    return follow(shop, path, choose)


def roll_base_stock(shop, path, ratio, window=60):
    """Order every day up to a quantile of own sales over lead time + 1 days."""

    def choose(t, stock, coming, sales):
        level = shop.capacity if len(sales) < 14 else base_stock(sales[-window:], shop, ratio)
        return max(0, level - stock - coming)

    return follow(shop, path, choose)


def base_stock(sales, shop, ratio):
    days = shop.lead_time + 1
    sums = [sum(sales[i : i + days]) for i in range(len(sales) - days + 1)]
    if not sums:
        return shop.capacity
    for level in range(shop.capacity):
        if sum(total <= level for total in sums) / len(sums) >= ratio:
            return level
    return shop.capacity


def kaplan_meier(times, died):
    """{time of a death: Pr(survival beyond it)}; the textbook's product limit."""
    survival, result = 1.0, {}
    for time in sorted({t for t, d in zip(times, died, strict=True) if d}):
        at_risk = sum(t >= time for t in times)
        deaths = sum(t == time and d for t, d in zip(times, died, strict=True))
        survival *= 1 - deaths / at_risk
        result[time] = survival
    return result

"""Inventory control with lost sales, Section 7.1 of the paper.

The day's demand X is given by its probabilities `law[x] = Pr(X = x)`, x = 0, 1, ..., as long a list
as the reader wants to sum over. Stock s is 0..S, the order a is 0..S - s.
"""


def cost(s, a, x, *, fixed, unit, lost, holding):
    """C(s, a) for one demand x: f 1[a > 0] + c a + l [x - s - a]^+ + h [s + a - x]^+."""
    total = unit * a
    if a > 0:
        total += fixed
    if x > s + a:
        total += lost * (x - s - a)
    if s + a > x:
        total += holding * (s + a - x)
    return total


def pseudo_reward(s, a, x, *, fixed, unit, lost, holding):
    """R^pse(s, a), written with the censored demand Y = min(s + a, X) only."""
    y = min(s + a, x)
    total = -unit * a - holding * max(s + a - y, 0) + lost * y
    if a > 0:
        total -= fixed
    return total


def transition_probabilities(law, capacity):
    """p[s][a][s2] = Pr(s + a - min(s + a, X) = s2), summed demand by demand."""
    table = []
    for s in range(capacity + 1):
        rows = []
        for a in range(capacity - s + 1):
            row = [0.0] * (capacity + 1)
            for x, probability in enumerate(law):
                row[s + a - min(s + a, x)] += probability
            rows.append(row)
        table.append(rows)
    return table


def mean_costs(law, capacity, **costs):
    """E[C(s, a)] as [s][a]."""
    return _mean(cost, law, capacity, costs)


def mean_pseudo_rewards(law, capacity, **costs):
    """E[R^pse(s, a)] as [s][a]."""
    return _mean(pseudo_reward, law, capacity, costs)


def mixed_with_uniform(law, capacity, zeta):
    """Give every demand 0..S mass zeta and scale the law to what is left (Assumption 3)."""
    left = 1.0 - zeta * (capacity + 1)
    mixed = [left * probability for probability in law]
    for x in range(capacity + 1):
        mixed[x] += zeta
    return mixed


def _mean(what, law, capacity, costs):
    table = []
    for s in range(capacity + 1):
        row = []
        for a in range(capacity - s + 1):
            row.append(sum(q * what(s, a, x, **costs) for x, q in enumerate(law)))
        table.append(row)
    return table

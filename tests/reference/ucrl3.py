"""UCRL3, from its specification: Bourel, Maillard and Talebi (2020), arXiv 2004.09656.

One interval for each next state, from two time-uniform inequalities, and extended value iteration over supports
that grow only while the states outside could matter (NOSS). The formulas are those of the authors' package.
"""

import math

from tests.reference.kl_ucrl import PLAIN_SWEEPS, WarmOptimist

ETA = 1.12
BISECTIONS = 100


class UCRL3(WarmOptimist):
    """Bounds of a pair seen n times at the level delta / (SA (3 + 3 S)).

    A next state that always followed has a chance of at least certainty^(1/n), which is no bound: the authors' code
    has certainty = 0.5.
    """

    def __init__(self, n_actions, horizon, *, certainty=0.5, **options):
        super().__init__(n_actions, horizon, **options)
        self.certainty = certainty

    @property
    def level(self):
        return self.delta / (self.n_pairs * (3 + 3 * self.n_states))

    def reward_radius(self, rewards, t):
        n = len(rewards)
        if n == 0:
            return math.inf
        mean = sum(rewards) / n
        variance = max(0.0, sum(r * r for r in rewards) / n - mean * mean)
        a = peeling(n, self.level)
        bernstein = math.sqrt(2 * variance * a) + 7 * a / 3
        hoeffding = math.sqrt((1 + 1 / n) * math.log(math.sqrt(n + 1) / self.level) / (2 * n))
        return self.scale * min(bernstein, hoeffding)

    def start_episode(self):
        self.intervals, self.joined = {}, {}
        super().start_episode()

    def interval(self, pair, p):
        """The lower and upper bound of a next state seen with frequency p. Remembered, as many share one."""
        n = self.visits[pair]
        if (n, p) not in self.intervals:
            low, high = (bound(p, n, self.level, self.scale) for bound in (lower_bound, upper_bound))
            self.intervals[n, p] = max(low, self.certainty ** (1 / n)) if p == 1 else low, high
        return self.intervals[n, p]

    def best_transition(self, pair, p_hat, u):
        bounds = [self.interval(pair, p) for p in p_hat]
        seen = [s for s, p in enumerate(p_hat) if p > 0]
        kappa = 10 * (max(u) - min(u)) * len(seen) / max(self.visits.values()) ** (2 / 3)
        f = [value - min(u) for value in u]
        if self.sweep_number <= PLAIN_SWEEPS:
            support = near_optimistic_support(seen, f, bounds, kappa)
        else:  # supports do not shrink any more, so that plans converge
            support = near_optimistic_support(seen, f, bounds, kappa, self.joined.get(pair, 0))
            self.joined[pair] = len(support) - len(seen)
        return min(u) + filled(support, f, bounds)


def near_optimistic_support(seen, f, bounds, kappa, joined=0):
    """NOSS: the states seen, one of the best, and others while those outside could matter.

    The `joined` best of the others are in it from the beginning.
    """
    others = sorted((s for s in range(len(f)) if s not in seen), key=lambda s: -f[s])
    n = max(joined, int(max(f[s] for s in seen) < max(f)))
    while n < len(others):
        inside = filled([*seen, *others[:n]], f, bounds)
        matters = filled([*seen, *others[: n + 1]], f, bounds) > inside
        if not matters or filled(others[n:], f, bounds) <= min(kappa, inside):
            break
        n += 1
    return [*seen, *others[:n]]


def filled(states, f, bounds):
    """max of sum f q over lower <= q <= upper in these states, where the sum of q is at most 1."""
    left = 1 - sum(bounds[s][0] for s in states)
    value = sum(bounds[s][0] * f[s] for s in states)
    for s in sorted(states, key=lambda s: -f[s]):
        more = max(0.0, min(left, bounds[s][1] - bounds[s][0]))
        value += more * f[s]
        left -= more
    return value


def peeling(n, level):
    return ETA * math.log(math.log(ETA * n) * math.log(ETA**2 * n) / (math.log(ETA) ** 2 * level)) / n


def variance_factor(q):
    """g of Berend and Kontorovich."""
    if q in (0, 1):
        return 0.0
    return 0.25 if q == 0.5 else (0.5 - q) / math.log(1 / q - 1)


def bernstein_radius(q, n, level):
    a = peeling(n, level)
    return math.sqrt(2 * q * (1 - q) * a) + a / 3


def sub_gaussian_radius(q, n, level, above):
    factor = q * (1 - q) if above and q >= 0.5 else variance_factor(q)
    return math.sqrt(2 * (1 + 1 / n) * math.log(2 * math.sqrt(n + 1) / level) / n * factor)


def upper_bound(p, n, level, scale):
    """The largest q with q - p <= both radii at q."""
    radii = (lambda q: bernstein_radius(q, n, level), lambda q: sub_gaussian_radius(q, n, level, above=True))
    return min(_last_true(lambda q, r=radius: q - p <= scale * r(q), p, 1.0) for radius in radii)


def lower_bound(p, n, level, scale):
    """The smallest q with p - q <= both radii at q."""
    radii = (lambda q: bernstein_radius(q, n, level), lambda q: sub_gaussian_radius(q, n, level, above=False))
    return max(_last_true(lambda q, r=radius: p - q <= scale * r(q), p, 0.0) for radius in radii)


def _last_true(holds, start, end):
    """The last point from start to end at which a condition holds that holds up to some point."""
    if holds(end):
        return end
    for _ in range(BISECTIONS):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return start

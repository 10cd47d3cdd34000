"""UCRL3, from its specification: Bourel, Maillard and Talebi (2020), arXiv 2004.09656.

One interval for each next state, from two time-uniform inequalities, and extended value iteration over supports
that grow only while the states outside could matter (NOSS). The formulas are those of the authors' package.
"""

import math

from tests.reference.kl_ucrl import WarmOptimist

ETA = 1.12
BISECTIONS = 100


class UCRL3(WarmOptimist):
    """Bounds of a pair seen n times at the level delta / (SA (3 + 3 S))."""

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
        self.intervals = {}
        super().start_episode()

    def interval(self, pair, p):
        """The lower and upper bound of a next state seen with frequency p. Remembered, as many share one."""
        key = self.visits[pair], p
        if key not in self.intervals:
            self.intervals[key] = (
                lower_bound(p, self.visits[pair], self.level, self.scale),
                upper_bound(p, self.visits[pair], self.level, self.scale),
            )
        return self.intervals[key]

    def best_transition(self, pair, p_hat, u):
        bounds = [self.interval(pair, p) for p in p_hat]
        seen = [s for s, p in enumerate(p_hat) if p > 0]
        kappa = 10 * (max(u) - min(u)) * len(seen) / max(self.visits.values()) ** (2 / 3)
        f = [value - min(u) for value in u]
        support = near_optimistic_support(seen, f, bounds, kappa)
        return min(u) + filled(support, f, bounds)


def near_optimistic_support(seen, f, bounds, kappa):
    """NOSS: the states seen, one of the best, and others while those outside could matter."""
    support = list(seen)
    if max(f[s] for s in support) < max(f):
        support.append(f.index(max(f)))
    while True:
        outside = [s for s in range(len(f)) if s not in support]
        if not outside or filled(outside, f, bounds) <= min(kappa, filled(support, f, bounds)):
            return support
        support.append(max(outside, key=lambda s: f[s]))


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

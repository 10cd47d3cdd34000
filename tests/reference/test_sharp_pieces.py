"""The inner pieces of the sharp learners' references against brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.reference.imed_rl import divergence, reward_law
from tests.reference.kl_ucrl import kl_maximum
from tests.reference.ucrl3 import (
    bernstein_radius,
    filled,
    lower_bound,
    near_optimistic_support,
    sub_gaussian_radius,
    upper_bound,
)


def primal_divergence(atoms, weights, mu, top):
    """The least KL(F, G) over the laws G on the atoms and the top whose mean is at least mu, by scipy."""
    support = np.append(atoms, top)
    f = np.append(weights, 0.0)

    def kl(g):
        return float(np.sum(f[f > 0] * np.log(f[f > 0] / g[f > 0])))

    def slopes(g):
        return np.where(f > 0, -f / g, 0.0)

    laws = [
        {"type": "eq", "fun": lambda g: g.sum() - 1, "jac": lambda g: np.ones(g.size)},
        {"type": "ineq", "fun": lambda g: g @ support - mu, "jac": lambda g: support},
    ]
    start = (f + 0.5 / f.size) / 1.5
    bounds = [(1e-12, 1.0)] * f.size
    return minimize(kl, start, jac=slopes, bounds=bounds, constraints=laws, options={"ftol": 1e-14}).fun


@pytest.mark.parametrize("seed", range(20))
def test_the_divergence_of_imed_is_the_primal_minimum(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    top = 1 + 2 * rng.random()
    atoms, weights = top * rng.random(n), rng.dirichlet(np.ones(n))
    mean = float(weights @ atoms)
    mu = mean + (top - mean) * (0.05 + 0.9 * rng.random())
    found = divergence(atoms.tolist(), weights.tolist(), mu, top)
    assert found == pytest.approx(primal_divergence(atoms, weights, mu, top), rel=1e-5, abs=1e-7)


def test_the_divergence_of_bernoulli_is_the_binary_one():
    found = divergence([0.0, 1.0], [0.7, 0.3], 0.6, 1.0)
    assert found == pytest.approx(0.3 * np.log(0.3 / 0.6) + 0.7 * np.log(0.7 / 0.4), abs=1e-12)
    assert divergence([0.0, 1.0], [0.7, 0.3], 0.2, 1.0) == 0


def test_a_reward_law_on_the_grid_keeps_its_mean():
    rewards = np.random.default_rng(0).random(40).tolist()
    law = reward_law(rewards)
    assert len(law) <= 17
    assert sum(law.values()) == pytest.approx(1)
    assert sum(v * w for v, w in law.items()) == pytest.approx((0.5 + sum(rewards)) / 41)


def kl(p, q):
    with np.errstate(divide="ignore"):
        return float(np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])))


def random_ball(rng):
    """Return frequencies with zeros, a radius and values, some of them tied."""
    n = int(rng.integers(1, 6))
    p_hat = rng.multinomial(int(rng.integers(1, 12)), rng.dirichlet(np.ones(n))).astype(float)
    u = rng.integers(0, 4, n).astype(float) if rng.random() < 0.5 else rng.random(n)
    return p_hat / p_hat.sum(), float(10 ** rng.uniform(-3, 1)), u


@pytest.mark.parametrize("seed", range(40))
def test_the_maximum_over_a_ball_of_the_divergence(seed):
    rng = np.random.default_rng(seed)
    p_hat, radius, u = random_ball(rng)
    q = np.array(kl_maximum(p_hat.tolist(), radius, u.tolist()))
    assert (q >= 0).all()
    assert q.sum() == pytest.approx(1)
    assert kl(p_hat, q) <= radius + 1e-7
    assert q @ u >= p_hat @ u - 1e-12
    for _ in range(100):
        other = rng.dirichlet(np.ones(u.size))
        share = rng.random() ** 3  # many of them near enough
        other = (1 - share) * p_hat + share * other
        if kl(p_hat, other) <= radius:
            assert other @ u <= q @ u + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_the_maximum_over_a_ball_of_the_divergence_is_that_of_scipy(seed):
    rng = np.random.default_rng(100 + seed)
    p_hat, radius, u = random_ball(rng)
    ours = float(np.array(kl_maximum(p_hat.tolist(), radius, u.tolist())) @ u)
    seen = p_hat > 0
    laws = [
        {"type": "eq", "fun": lambda q: q.sum() - 1, "jac": lambda q: np.ones(q.size)},
        {
            "type": "ineq",
            "fun": lambda q: radius - kl(p_hat, q),
            "jac": lambda q: np.where(seen, p_hat / q, 0.0),
        },
    ]
    start = 0.999 * p_hat + 0.001 / u.size
    found = minimize(
        lambda q: -(q @ u),
        start,
        jac=lambda q: -u,
        bounds=[(1e-9, 1.0)] * u.size,
        constraints=laws,
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert ours == pytest.approx(-found.fun, abs=1e-5)


GRID = np.linspace(0, 1, 2001)


@pytest.mark.parametrize("scale", [1.0, 0.2])
@pytest.mark.parametrize("n", [1, 2, 7, 100, 10_000])
def test_the_bounds_of_ucrl3_are_the_ends_of_where_both_inequalities_hold(n, scale):
    """Every point between the bounds satisfies them, no point outside does: the sets are intervals."""
    level = 0.05 / 60
    for p in {0.0, 1 / n, (n // 2) / n, (n - 1) / n, 1.0}:
        low, high = lower_bound(p, n, level, scale), upper_bound(p, n, level, scale)
        assert 0 <= low <= p <= high <= 1
        for q in GRID:
            gap = abs(q - p)
            radii = bernstein_radius(q, n, level), sub_gaussian_radius(q, n, level, above=q > p)
            if min(abs(q - low), abs(q - high)) > 1e-9 and q != p:
                assert (low < q < high) == (gap <= scale * min(radii))


@pytest.mark.parametrize("seed", range(30))
def test_the_supports_of_ucrl3_are_nearly_optimistic(seed):
    """What is left out is worth at most kappa and what is inside, or changes nothing. No smaller one would do."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    lower, f = rng.dirichlet(np.ones(n)) * rng.random(n), rng.random(n)
    f -= f.min()
    seen = [s for s in range(n) if rng.random() < 0.6] or [0]
    lower = np.where(np.isin(np.arange(n), seen), lower, 0.0)
    bounds = list(zip(lower, np.minimum(1, lower + 0.4 * rng.random()), strict=True))
    kappa = float(rng.random())
    support = near_optimistic_support(seen, f.tolist(), bounds, kappa)
    outside = [s for s in range(n) if s not in support]
    inside, left_out = filled(support, f, bounds), filled(outside, f, bounds)
    assert set(seen) | {int(f.argmax())} <= set(support)
    best_outside = [max(outside, key=lambda s: f[s])] if outside else []
    would_change = filled([*support, *best_outside], f, bounds) > inside
    assert left_out <= min(kappa, inside) or not would_change
    assert inside <= filled(range(n), f, bounds) <= inside + left_out + 1e-12
    grown = support[len(seen) :]
    if grown and grown[-1] != int(f.argmax()):
        shorter = support[:-1]
        rest = [*outside, support[-1]]
        assert filled(rest, f, bounds) > min(kappa, filled(shorter, f, bounds))

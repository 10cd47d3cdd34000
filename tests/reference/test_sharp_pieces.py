"""The inner pieces of the sharp learners' references against brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.reference.imed_rl import divergence, reward_law


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

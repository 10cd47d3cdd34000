import pickle

import numpy as np
import pytest
import scipy.stats

import driftmdp as dm
from driftmdp.errors import InvalidInputError

LOW, HIGH = (dm.Mdp(dm.Space([2]), rewards, [[1], [1]]) for rewards in ([0.0, 0.5], [0.2, 1.0]))
WORLD = dm.DriftingMdp([LOW, HIGH], [[1, 0], [0.5, 0.5]])


def test_the_default_range_is_exact():
    assert dm.Problem(WORLD).reward_range == (0.0, 0.75)
    free = dm.DriftingMdp([LOW, HIGH], [0, 0], reward_weights=[[1, -1], [0, 2]])
    assert dm.Problem(free).reward_range == (-0.5, 2.0)


def test_luck_is_the_same_for_the_same_generator():
    problem = dm.Problem(WORLD)
    one, two = problem.draw_noise(np.random.default_rng(3)), problem.draw_noise(np.random.default_rng(3))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert all(part.shape == (2,) for part in one)


def test_noise_may_be_a_word_or_an_object():
    assert dm.Problem(WORLD, noise="gaussian(0.5)").noise == dm.gaussian(0.5)
    assert str(dm.Problem(WORLD, noise=dm.gaussian(0.5)).noise) == "gaussian(0.5)"


def test_pickles():
    problem = dm.problems.inventory(capacity=3, horizon=5)
    copy = pickle.loads(pickle.dumps(problem))
    assert copy.name == "inventory-v1"
    assert copy.reward_range == problem.reward_range
    assert np.array_equal(copy.cost_shift, problem.cost_shift)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dm.Problem(LOW), "drifting must be a DriftingMdp; got <Mdp: "),
        (lambda: dm.Problem(WORLD, start=1), "start must be at most 0; got 1."),
        (
            lambda: dm.Problem(WORLD, noise="bernuli"),
            "noise must be 'none', 'anchor', 'bernoulli', 'binomial(n)' or 'gaussian(sigma)'",
        ),
        (lambda: dm.Problem(WORLD, noise="gaussian"), "noise 'gaussian' must name its standard deviation; write"),
        (lambda: dm.Problem(WORLD, noise="gaussian(x)"), "sigma of noise must be a finite number"),
        (
            lambda: dm.Problem(WORLD, noise="gaussian(-1)"),
            "sigma of noise must be a finite number that is not negative; got '-1'.",
        ),
        (
            lambda: dm.Problem(WORLD, reward_range=(0, 0.7)),
            "reward_range must contain every mean reward, which lie in",
        ),
        (lambda: dm.Problem(WORLD, reward_range=(1, 0)), "reward_range must contain every mean reward"),
        (lambda: dm.Problem(WORLD, reward_range=5), "reward_range must be two finite numbers (lo, hi); got 5."),
        (lambda: dm.Problem(WORLD, reward_range=(0, np.inf)), "reward_range must be two finite numbers"),
        (
            lambda: dm.Problem(dm.DriftingMdp([LOW, HIGH], [0], [[1, 0]]), noise="anchor"),
            "noise 'anchor' must not be used with reward_weights",
        ),
    ],
)
def test_wrong_input_gets_one_sentence(make, message):
    with pytest.raises(InvalidInputError) as error:
        make()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("trials", "chance"), [(1, 0.3), (7, 0.82), (1000, 0.5), (1000, 0.999), (4, 0.0), (4, 1.0)]
)
def test_binomial_noise_is_the_inverse_of_the_distribution_function(trials, chance):
    world = dm.DriftingMdp.stationary(dm.Mdp(dm.Space.uniform(1, 1), [chance], [[1.0]]), 200)
    problem = dm.Problem(world, noise=f"binomial({trials})", reward_range=(0.0, 1.0))
    draws = problem.draw_noise(np.random.default_rng(5))
    counts = [problem.sample(t, 0, 0, draws).reward * trials for t in range(1, 201)]
    uniforms = draws.noise if chance <= 0.5 else 1.0 - draws.noise  # the rarer outcome is counted
    np.testing.assert_allclose(counts, scipy.stats.binom.ppf(uniforms, trials, chance).clip(0), atol=1e-9)

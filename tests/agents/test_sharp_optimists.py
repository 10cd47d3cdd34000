"""UCRL3 and KLUCRL: their confidence sets, the inner maxima over them, and plans."""

import math

import numpy as np
import pytest
from scipy import optimize

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from driftmdp.kernels import bernoulli_bounds as bounds
from driftmdp.kernels import extended_value_iteration, kl_ball, near_optimistic_support
from driftmdp.kernels.plan_arrays import new_workspace

SPACE = dm.Space.uniform(3, 2)


def one_row(p, radius, slack=None):
    """Sets of one row with the observed next states 0, 1, ... of a few."""
    sets = new_workspace(8, 1, 8, slack is not None).sets
    n = len(p)
    sets.indptr[:2], sets.support[0], sets.radius[0] = (0, n), n, radius
    sets.indices[:n], sets.data[:n], sets.weight[:] = np.arange(n), p, 1.0
    if slack is not None:
        sets.slack[:n] = slack
    return sets


def divergence(p, q):
    seen = p > 0
    return float(np.sum(p[seen] * np.log(p[seen] / q[seen])))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("radius", [1e-4, 0.05, 1.0])
def test_the_kl_maximum_is_that_of_a_general_solver(seed, radius):
    rng = np.random.default_rng(seed)
    u, p = rng.random(5), rng.dirichlet(np.ones(4))
    top = u.max() if seed % 2 else u[:4].max()  # a state that was never observed may be the best
    found = kl_ball.maximize_kl_ball(one_row(p, radius), 0, u, top)
    values, whole = np.append(u[:4], top), np.append(p, 0.0)
    start = np.append(0.999 * p, 0.001)
    solved = optimize.minimize(
        lambda q: -q @ values,
        start,
        bounds=[(1e-12, 1.0)] * 5,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1.0},
            {"type": "ineq", "fun": lambda q: radius - divergence(whole, q)},
        ],
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert found == pytest.approx(-solved.fun, abs=2e-6)


def test_the_kl_maximum_of_two_states_is_the_bernoulli_bound():
    for p, radius in ((0.3, 0.02), (0.5, 3.0), (0.01, 1e-6), (0.2, 2000.0)):
        found = kl_ball.maximize_kl_ball(one_row([1 - p, p], radius), 0, np.array([0.0, 1.0]), 1.0)
        kl = p * math.log(p / found) + (1 - p) * math.log((1 - p) / (1 - found)) if found < 1.0 else math.inf
        assert kl == pytest.approx(radius, rel=1e-6) or (found == 1.0 and radius > 30)


@pytest.mark.parametrize("unit", [1e-160, 1.0, 1e150])
@pytest.mark.parametrize("radius", [0.0, 5e-324, 1e-30, 1e-13, 1e-6, 1e300])
def test_the_kl_maximum_has_no_gaps(radius, unit):
    """However small or large the radius and the values are, the maximum is between the mean and the best value."""
    for top in (1.0, 3.0):
        found = kl_ball.maximize_kl_ball(one_row([0.5, 0.5], radius), 0, unit * np.array([0, 1, top]), unit * top)
        assert 0.5 * (1 - 1e-12) <= found / unit <= top
        if radius <= 1e-6:
            assert found / unit == pytest.approx(0.5 + math.sqrt(2 * radius * 0.25), abs=2e-9)


def test_one_observed_state_keeps_exp_minus_radius():
    u = np.array([0.25, 1.0])
    assert kl_ball.maximize_kl_ball(one_row([1.0], 0.7), 0, u, 1.0) == pytest.approx(1 - 0.75 * math.exp(-0.7))
    assert kl_ball.maximize_kl_ball(one_row([1.0], 0.7), 0, u, 0.25) == 0.25


@pytest.mark.parametrize("n", [1, 7, 400, 10**6])
@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_bounds_are_the_ends_of_what_is_plausible(n, scale):
    a, c = bounds.peeling(n, 12.0), bounds.laplace(n, 12.0)
    assert a == pytest.approx(
        1.12 * (12 + math.log(math.log(1.12 * n) * math.log(1.12**2 * n) / math.log(1.12) ** 2)) / n
    )

    def excess(p, q, up):
        """How far q is beyond the tighter radius."""
        g = q * (1 - q) if up and q >= 0.5 else bounds.variance_factor(q)
        return abs(q - p) - scale * min(math.sqrt(2 * q * (1 - q) * a) + a / 3, math.sqrt(c * g))

    for p in (0.0, 0.001, 0.2, 0.5, 0.9, 1.0):
        low, high = bounds.lower_bound(p, a, c, scale), bounds.upper_bound(p, a, c, scale)
        assert 0.0 <= low <= p <= high <= 1.0
        for q, up, beyond in ((low, False, low - 1e-9), (high, True, high + 1e-9)):
            assert excess(p, q, up) <= 1e-9
            assert not 0.0 < beyond < 1.0 or excess(p, beyond, up) > -1e-12


def test_the_variance_factor_is_smooth_at_one_half():
    assert bounds.variance_factor(0.5) == 0.25
    for side in (0.5 - 1e-4, 0.5 + 1e-4):
        inner = bounds.variance_factor(side + (1e-9 if side < 0.5 else -1e-9))
        assert inner == pytest.approx(bounds.variance_factor(side), abs=1e-11)


def near_optimistic(u, lower, slack, radius, kappa, joined=0.0):
    sets = one_row(lower, radius, slack)
    order = np.argsort(u).astype(np.int32)
    return near_optimistic_support.maximize_near_optimistically(
        sets, 0, u.size, u, order, np.zeros(u.size), kappa, joined
    )


def test_without_tolerance_the_support_is_that_of_full_optimism():
    rng = np.random.default_rng(3)
    for _ in range(20):
        u, p = rng.random(7), rng.dirichlet(np.ones(3))
        lower, slack, radius = 0.7 * p, np.full(3, 0.1), 0.05
        value, _ = near_optimistic(u, lower, slack, radius, 0.0)
        sets, n = one_row(lower, radius, slack), u.size
        order, empty = np.argsort(u).astype(np.int32), np.empty(0)
        full = extended_value_iteration.maximize_intervals(
            sets, 0, n, u, order, np.zeros(n), False, np.empty(0, np.int32), empty
        )
        # Full optimism must place all mass, here what finds no place has the least value.
        assert value == pytest.approx(full, abs=1e-12)


def test_states_join_until_the_others_could_add_no_more_than_kappa():
    u = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    lower, slack = np.array([0.5]), np.array([0.5])  # state 0 was observed
    # The best state joins in any case, with 0.2. Outside: 0.2 (3 + 2 + 1) = 1.2, then 0.6, then 0.2.
    expected = ((math.inf, 0.8 + 0.6, 2.0), (0.7, 0.8 + 0.6, 2.0), (0.5, 0.8 + 0.6 + 0.2, 3.0))
    for kappa, value, joined in expected:
        assert near_optimistic(u, lower, slack, 0.2, kappa) == (pytest.approx(value), joined)
    assert near_optimistic(u, lower, slack, 0.2, math.inf, joined=3.0)[1] == 3.0


@pytest.mark.parametrize("kind", [dm.agents.UCRL3, dm.agents.KLUCRL])
def test_plans_are_certain_to_one_over_t(kind):
    problem = dm.problems.river_swim(horizon=1500)
    agent = kind.for_problem(problem, scale=0.1)
    assert agent.plan().gain == 1.0  # nothing is known
    assert dm.simulate(agent, problem, seed=2).sweeps.max() <= 1000
    agent.reset()
    rng, state = np.random.default_rng(0), 0
    for _ in range(400):
        agent.act(state)
        assert agent.last_plan.residual <= 1.0 / agent.last_plan.t
        assert agent.last_plan.method == "sweeps"
        following = int(rng.integers(6))
        agent.observe(float(rng.random()), following)
        state = following
    assert agent.last_plan.gain < 1.0


@pytest.mark.parametrize("kind", [dm.agents.UCRL3, dm.agents.KLUCRL])
def test_rewards_have_the_units_of_their_range(kind):
    space = dm.Space.uniform(50, 2)
    one, other = kind(space, 100, delta=0.1), kind(space, 100, delta=0.1, reward_range=(-2.0, 6.0))
    rng, state = np.random.default_rng(0), 0
    for _ in range(100):
        action, following, reward = one.act(state), int(rng.integers(3)), float(rng.random())
        assert other.act(state) == action
        one.observe(reward, following)
        other.observe(-2.0 + 8.0 * reward, following)
        state = following
    assert other.last_plan.gain == pytest.approx(-2.0 + 8.0 * one.last_plan.gain)


def test_certainty_holds_mass_where_one_next_state_always_followed():
    promised = {}
    for certainty in (0.0, 0.5):
        agent = dm.agents.UCRL3(dm.Space.uniform(2, 1), 100, delta=0.1, certainty=certainty)
        for state in [0] * 20 + [1]:
            agent.act(state)
            agent.observe(0.0 if state == 0 else 1.0, state)
        agent.plan()
        promised[certainty] = np.diff(agent.beliefs().bias)[0]
    # State 1 pays and state 0 does not: leaving state 0 at most 1 - 0.5^(1/20) of the time takes longer.
    assert promised[0.5] > 5 * promised[0.0]


def test_a_forgotten_pair_leaves_its_bounds_to_no_other():
    """The slot of a forgotten pair is taken over by another one, here with as many visits."""
    agent = dm.agents.UCRL3(dm.Space.uniform(2, 1), 1000, scale=0.01)
    for state, reward in ((0, 0.9), (1, 0.1)) * 4:
        agent.act(state)
        agent.observe(reward, state)
    agent.plan()
    before = agent.explain(1).actions
    agent.forget_pair(0)
    agent.plan()
    assert agent.explain(1).actions[0].reward == before[0].reward < 0.2
    with pytest.raises(InvalidInputError, match="pair must be at most 1; got 2"):
        agent.forget_pair(2)


def test_bad_parameters():
    for kind in (dm.agents.UCRL3, dm.agents.KLUCRL):
        for given, rule in (
            ({"delta": 0.0}, "delta must be positive; got 0"),
            ({"delta": 2.0}, "delta must be at most 1; got 2"),
            ({"scale": 0.0}, "scale must be positive; got 0"),
            ({"reward_range": (1.0, 0.0)}, "reward_range must be two finite numbers"),
        ):
            with pytest.raises(InvalidInputError, match=rule):
                kind(SPACE, 10, **given)
    with pytest.raises(InvalidInputError, match="certainty must be at most 1; got 2"):
        dm.agents.UCRL3(SPACE, 10, certainty=2.0)
    with pytest.raises(InvalidInputError, match="reward_range must be two finite numbers"):
        dm.agents.UCRL3(SPACE, 10, reward_range=None)

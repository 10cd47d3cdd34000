"""Bandits that watch for changes play and alarm as their plain transcriptions in tests/reference do."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.kernels.kl_ucb import kl_upper_bound
from tests.agents.comparing import compare
from tests.agents.worlds import agent_rng, random_problem
from tests.reference import adswitch
from tests.reference import changing_bandits as reference
from tests.reference.xoshiro import Xoshiro

T = 240
NOISES = ("bernoulli", "none", "gaussian(0.2)", "anchor")


def jumping(seed, horizon=T):
    """Return a bandit whose means are drawn anew three times; rewards lie in any range."""
    rng = np.random.default_rng(seed)
    n_arms, low, width = int(rng.integers(2, 6)), rng.normal(), 3 * rng.random()
    space = dm.Space.uniform(1, n_arms)
    anchors = [dm.Mdp(space, low + width * rng.random(n_arms), np.ones((n_arms, 1))) for _ in range(4)]
    noise = ("bernoulli", "gaussian(0.1)")[seed % 2]
    drifting = dm.DriftingMdp(anchors, np.arange(horizon, dtype=np.int32) * 4 // horizon)
    return dm.Problem(drifting, noise=noise, reward_range=(low, low + width))


def problems(horizon=T):
    """Yield bandits of 1 to 5 arms that drift or jump."""
    for seed in range(4):
        yield seed, random_problem(seed, horizon, 1, NOISES[seed])
    for seed in range(4, 8):
        yield seed, jumping(seed, horizon)
    yield 8, dm.problems.bandit(n_arms=3, horizon=horizon, drift="abrupt", changes=3)


def check(agent, oracle, problem, seed, **options):
    """Compare a run, and the live one with it. Return its transcription."""
    counts = problem.space.n_actions.tolist()
    plain = oracle(counts, problem.horizon, reward_range=problem.reward_range, **options)
    run = compare(agent, plain, problem, seed)
    live = dm.simulate(agent, problem, seed, compiled=False)
    np.testing.assert_array_equal(live.actions, run.actions)
    if hasattr(plain, "alarms"):
        assert [tuple(alarm) for alarm in run.summary.alarms] == plain.alarms
        assert [tuple(alarm) for alarm in live.summary.alarms] == plain.alarms
    return plain


def draws(seed):
    return Xoshiro.seeded_by(agent_rng(seed))


@pytest.mark.parametrize("restarts", ["local", "global"])
@pytest.mark.parametrize(
    ("alpha", "growing", "delta", "xi", "test_every", "split_every"),
    [
        (0.2, True, 0.3, 1.0, 1, 1),
        (0.1, False, 1.0, 0.3, 3, 10),
        (0.0, False, 0.5, 3.0, 10, 4),
        (1.0, True, 0.9, 1.0, 2, 1),
    ],
)
def test_glr_kl_ucb(restarts, alpha, growing, delta, xi, test_every, split_every):
    used = {
        "alpha": alpha,
        "growing": growing,
        "delta": delta,
        "xi": xi,
        "test_every": test_every,
        "split_every": split_every,
        "restarts": restarts,
    }
    alarms = 0
    for seed, problem in problems():
        agent = dm.agents.GLRklUCB.for_problem(problem, **used)
        alarms += len(check(agent, reference.GLRklUCB, problem, seed, **used).alarms)
    assert alarms > 4


@pytest.mark.parametrize(
    ("window", "threshold", "gamma", "xi"),
    [(10, 2.5, 0.2, 2.0), (30, 4.0, 0.05, 0.5), (2, 0.7, 1.0, 2.0), (8, 2.0, 0.0, 2.0)],
)
def test_m_ucb(window, threshold, gamma, xi):
    used = {"window": window, "threshold": threshold, "gamma": gamma, "xi": xi}
    alarms = 0
    for seed, problem in problems():
        agent = dm.agents.MUCB.for_problem(problem, **used)
        alarms += len(check(agent, reference.MUCB, problem, seed, **used).alarms)
    assert alarms > 4


@pytest.mark.parametrize(
    ("warmup", "epsilon", "threshold", "alpha", "xi"),
    [(10, 0.05, 3.0, 0.2, 2.0), (1, 0.3, 1.0, 1.0, 2.0), (25, 0.0, 2.0, 0.05, 0.5), (5, 0.1, 2.0, 0.0, 2.0)],
)
def test_cusum_ucb(warmup, epsilon, threshold, alpha, xi):
    used = {"warmup": warmup, "epsilon": epsilon, "threshold": threshold, "alpha": alpha, "xi": xi}
    alarms = 0
    for seed, problem in problems():
        agent = dm.agents.CUSUMUCB.for_problem(problem, **used)
        alarms += len(check(agent, reference.CUSUMUCB, problem, seed, draws=draws(seed), **used).alarms)
    assert alarms > 4


@pytest.mark.parametrize(
    ("c1", "test_every", "scale", "horizon"), [(4.0, 1, 0.35, 80), (2.0, 7, 0.4, T), (1.0, 1, 0.2, 60)]
)
def test_ad_switch(c1, test_every, scale, horizon):
    used = {"c1": c1, "test_every": test_every, "scale": scale}
    alarms = evictions = obligations = 0
    for seed, problem in problems(horizon):
        agent = dm.agents.AdSwitch.for_problem(problem, **used)
        plain = check(agent, adswitch.AdSwitch, problem, seed, draws=draws(seed), **used)
        alarms += len(plain.alarms)
        evictions += len(plain.evictions)
        obligations += len(plain.obliged)
    assert alarms > 4
    assert evictions > 9
    assert obligations > 9


def test_ad_switch_fulfils_its_obligations():
    """Arms without noise are evicted at once, and none changes. With seed 21, checks are due at times 37 and 48."""
    used = {"c1": 2.0, "test_every": 20, "scale": 0.3}
    problem = dm.problems.bandit(n_arms=2, horizon=200, drift="stationary", noise="none")
    agent = dm.agents.AdSwitch.for_problem(problem, **used)
    plain = check(agent, adswitch.AdSwitch, problem, 21, draws=draws(21), **used)
    assert (plain.alarms, plain.fulfilled) == ([], 2)


def test_ad_switch_starts_again_where_no_arm_would_be_left():
    """Radii are wide and evictions easy: over intervals of different lengths, other arms look worse."""
    used = {"c1": 0.001, "test_every": 20, "scale": 1.0}
    problem = dm.problems.bandit(n_arms=3, horizon=80)
    alarms = 0
    for seed in range(6):
        agent = dm.agents.AdSwitch.for_problem(problem, **used)
        alarms += len(check(agent, adswitch.AdSwitch, problem, seed, draws=draws(seed), **used).alarms)
    assert alarms > 4


@pytest.mark.parametrize(
    ("discount", "successes", "failures"), [(0.95, 1.0, 1.0), (1.0, 2.0, 1.5), (0.3, 1.0, 4.0), (0.0, 1.0, 1.0)]
)
def test_discounted_thompson(discount, successes, failures):
    used = {"discount": discount, "successes": successes, "failures": failures}
    for seed, problem in problems(120):
        agent = dm.agents.DiscountedThompson.for_problem(problem, **used)
        check(agent, reference.DiscountedThompson, problem, seed, draws=draws(seed), **used)


@pytest.mark.parametrize("changes", [None, 0, 1, 4])
@pytest.mark.parametrize(("n_arms", "horizon"), [(3, 5000), (5, 200), (2, 10)])
def test_the_parameters_are_those_of_the_papers(changes, n_arms, horizon):
    problem = dm.problems.bandit(n_arms=n_arms, horizon=horizon)
    known = 1 if changes is None else changes
    alpha, delta = reference.glr_parameters(n_arms, horizon, changes)
    made = dm.agents.GLRklUCB.for_problem(problem, changes=changes).summary()
    assert (made.alpha, made.threshold) == pytest.approx((alpha, np.log(1 / delta)))
    window = min(reference.m_ucb_window(n_arms, horizon, 0.5), horizon // 2 * 2)
    b, gamma = reference.m_ucb_parameters(n_arms, horizon, window, known)
    made = dm.agents.MUCB.for_problem(problem, changes=changes).summary()
    assert (made.window, made.threshold, made.alpha) == pytest.approx((window, b, gamma))
    h, alpha = reference.cusum_parameters(horizon, max(1, known))
    made = dm.agents.CUSUMUCB.for_problem(problem, changes=changes).summary()
    assert (made.window, made.threshold, made.alpha) == pytest.approx((100, h, alpha))


def test_the_window_of_m_ucb_follows_from_the_least_change():
    problem = dm.problems.bandit(n_arms=4, horizon=5000)
    made = dm.agents.MUCB.for_problem(problem, least_change=0.4).summary()
    assert made.window == reference.m_ucb_window(4, 5000, 0.4)


@pytest.mark.parametrize("p", [0.0, 1e-12, 0.01, 0.5, 0.999, 1 - 2**-53, 1.0])
def test_the_kl_index_has_twelve_digits(p):
    for level in (1e-9, 1e-3, 0.1, 5.0, 800.0):
        assert kl_upper_bound(p, level) == pytest.approx(decimal_kl_upper(p, level), abs=1e-12, rel=0)


def decimal_kl_upper(p, level):
    """The largest q in [p, 1] with kl(p, q) <= level, by halving, with forty digits."""
    with localcontext() as context:
        context.prec = 40
        p, level = Decimal(p), Decimal(level)

        def part(x, y):
            return x * (x / y).ln() if x else x

        low, high = p, Decimal(1)
        for _ in range(60):
            middle = (low + high) / 2
            within = part(p, middle) + part(1 - p, 1 - middle) <= level
            low, high = (middle, high) if within else (low, middle)
        return float(low)

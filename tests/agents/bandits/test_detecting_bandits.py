"""Closed forms and laws of the bandits that detect changes, and of discounted Thompson sampling."""

import math

import numpy as np
import pytest

import driftmdp as dm
from driftmdp import kernels
from driftmdp.errors import InvalidInputError

ARMS = dm.Space.uniform(1, 2)
FREE = {("state/alarms", "t"), ("state/alarms", "arm")}  # shown, never used


def feed(agent, rewards, arm=0):
    """Give an arm its rewards, whatever is advised, until an alarm. Return how many it took, or None."""
    for n, reward in enumerate(rewards, 1):
        agent.act(0)
        agent.observe(float(reward), 0, action=arm)
        if agent.summary().alarms:
            return n
    return None


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.3, 0.5, 0.999999, 1.0])
@pytest.mark.parametrize("level", [0.0, 1e-12, 1e-3, 0.4, 7.0, 500.0])
def test_the_kl_bound_is_the_root(mean, level):
    bound = kernels.kl_ucb.kl_upper_bound(mean, level)
    assert mean <= bound <= 1.0
    if bound < 1.0 - 1e-9 and bound > mean:
        assert kernels.kl_ucb.bernoulli_kl(mean, bound) == pytest.approx(level, rel=1e-6, abs=1e-13)
    if mean == 0.0:
        assert bound == pytest.approx(1 - math.exp(-level), abs=1e-15)


def test_glr_fires_when_its_closed_form_says_so():
    """After n zeros and m ones the best split is between them, where the ratio is (n + m) times the entropy."""

    def fires(n, m, delta):
        share = n / (n + m)
        entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
        return (n + m) * entropy > 1.5 * math.log(n + m) - math.log(delta)

    agent = dm.agents.GLRklUCB(ARMS, 1000, delta=0.01, test_every=1, split_every=1)
    expected = next(m for m in range(1, 100) if fires(30, m, 0.01))
    assert feed(agent, [0] * 30 + [1] * 100) == 30 + expected
    assert agent.summary().alarms == ((30 + expected, 0),)
    assert agent.counts().tolist() == [0, 0]


@pytest.mark.parametrize(("restarts", "left"), [("local", [0, 1]), ("global", [0, 0])])
def test_a_restart_is_local_or_global(restarts, left):
    agent = dm.agents.GLRklUCB(ARMS, 1000, restarts=restarts, test_every=1, split_every=1)
    agent.act(0)
    agent.observe(0.5, 0, action=1)
    assert feed(agent, [0] * 30 + [1] * 100) is not None
    assert agent.counts().tolist() == left


def test_m_ucb_fires_when_the_halves_differ_by_more_than_b():
    agent = dm.agents.MUCB(ARMS, 1000, window=20, threshold=6.5)
    assert feed(agent, [0] * 30 + [1] * 30) == 37


def test_cusum_fires_when_a_walk_exceeds_h():
    agent = dm.agents.CUSUMUCB(ARMS, 1000, warmup=10, epsilon=0.1, threshold=2.0)
    assert feed(agent, [0] * 30 + [1] * 30) == 33  # 3 x 0.9 > 2
    agent = dm.agents.CUSUMUCB(ARMS, 1000, warmup=10, epsilon=0.1, threshold=2.0)
    assert feed(agent, [1] * 30 + [0] * 30) == 33


def test_what_is_explored_by_the_clock():
    agent = dm.agents.GLRklUCB(dm.Space.uniform(1, 3), 100, changes=1, alpha=0.5, xi=0.0)
    arms = []
    for _ in range(12):
        arms.append(agent.act(0))
        agent.observe(float(arms[-1] == 1), 0)
    assert arms == [0, 1, 2, 1, 1, 1] * 2  # every arm in 6 = 3 / 0.5 steps


def test_random_exploration_reaches_every_arm_alike():
    """The peer's never reaches the last."""
    problem = dm.problems.bandit(n_arms=4, horizon=4000)
    run = dm.simulate(dm.agents.CUSUMUCB.for_problem(problem, alpha=1.0), problem, 1)
    assert np.bincount(run.actions, minlength=4).min() > 900


def brute_force_test(history, arm, log):
    """Compare every pair of intervals of an arm, condition (3) of AdSwitch, as it is written."""
    rewards = [x for a, x in history if a == arm]
    n = len(rewards)
    blocks = [(np.mean(rewards[i:j]), j - i) for i in range(n) for j in range(i + 1, n + 1)]
    return any(
        abs(mean - np.mean(rewards[i:])) > math.sqrt(2 * log / size) + math.sqrt(2 * log / (n - i))
        for mean, size in blocks
        for i in range(n)
    )


def test_ad_switch_finds_what_all_pairs_of_intervals_show():
    """In one walk per step, where the paper compares O(t^3) pairs."""
    rewards = np.random.default_rng(0).random(90) < np.repeat([0.02, 0.98], 45)
    agent = dm.agents.AdSwitch(ARMS, 90, c1=1000.0, test_every=1, scale=0.7)
    found = feed(agent, rewards)
    history = [(0, float(x)) for x in rewards]
    log = 0.49 * math.log(90)
    assert found is not None
    assert brute_force_test(history[:found], 0, log)
    assert not brute_force_test(history[: found - 1], 0, log)


def test_ad_switch_evicts_by_its_closed_form_and_plays_good_arms_in_turn():
    agent = dm.agents.AdSwitch(ARMS, 1000, c1=4.0, test_every=1, seed=1)
    arms = []
    for _ in range(80):
        arms.append(agent.act(0))
        agent.observe(float(arms[-1] == 1), 0)
    plays = math.floor(4.0 * math.log(1000)) + 2  # the first n with 1 > sqrt(4 ln T / (n - 1))
    assert arms[: 2 * plays - 1] == [0, 1] * (plays - 1) + [0]
    assert set(arms[2 * plays :]) == {1}
    assert agent.summary().good == (1,)


def test_discounted_thompson_fades_every_arm():
    """The peer fades the arm that is played, once per other arm."""
    agent = dm.agents.DiscountedThompson(ARMS, discount=0.5, seed=1)
    for reward, arm in ((1.0, 0), (0.0, 1), (1.0, 1)):
        agent.act(0)
        agent.observe(reward, 0, action=arm)
    np.testing.assert_allclose(agent.counts(), [0.25, 1.5])
    np.testing.assert_allclose(agent.mean_rewards(), [1.25 / 2.25, 2.0 / 3.5])


def test_defaults_are_the_papers():
    glr = dm.agents.GLRklUCB(ARMS, 5000).summary()
    assert (glr.alpha, glr.threshold) == pytest.approx((math.sqrt(2 * math.log(5000) / 5000), math.log(5000) / 2))
    cusum = dm.agents.CUSUMUCB(ARMS, 5000, changes=5).summary()
    assert (cusum.alpha, cusum.threshold) == pytest.approx((math.sqrt(math.log(1000) / 1000), math.log(1000)))
    monitored = dm.agents.MUCB(ARMS, 5000, changes=5, window=200).summary()
    b = math.sqrt(100 * math.log(2 * 2 * 5000**2))
    assert (monitored.threshold, monitored.window) == (pytest.approx(b), 200)
    assert monitored.alpha == pytest.approx(math.sqrt(5 * 2 * (2 * b + 3 * math.sqrt(200)) / 10000))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dm.agents.MUCB(ARMS, 100, window=102), "window must be at most the horizon of 100 steps; got 102"),
        (lambda: dm.agents.MUCB(ARMS, 100, window=51), "window must be even, as its halves are compared; got 51"),
        (
            lambda: dm.agents.MUCB(ARMS, 100, least_change=0.1),
            r"horizon of 100 steps; got 0.1, whose window is \d+",
        ),
        (lambda: dm.agents.MUCB(ARMS, 100, gamma=1.5), "gamma must be at most 1; got 1.5"),
        (lambda: dm.agents.GLRklUCB(ARMS, 100, delta=3.0), "delta must be at most 1; got 3"),
        (lambda: dm.agents.GLRklUCB(ARMS, 100, delta=0.0), "delta must be at least 1e-300; got 0"),
        (lambda: dm.agents.GLRklUCB(ARMS, 100, changes=-1), "changes must be at least 0; got -1"),
        (lambda: dm.agents.GLRklUCB(ARMS, 100, restarts="none"), "restarts must be"),
        (lambda: dm.agents.CUSUMUCB(ARMS, 100, warmup=0), "warmup must be at least 1; got 0"),
        (lambda: dm.agents.CUSUMUCB(ARMS, 100, epsilon=-0.1), "epsilon must be at least 0; got -0.1"),
        (lambda: dm.agents.AdSwitch(ARMS, 100, test_every=0), "test_every must be at least 1; got 0"),
        (lambda: dm.agents.AdSwitch(ARMS, 100, c1=-1.0), "c1 must be at least 0; got -1"),
        (lambda: dm.agents.DiscountedThompson(ARMS, discount=1.1), "discount must be at most 1; got 1.1"),
        (lambda: dm.agents.DiscountedThompson(ARMS, 0.9, successes=0.5), "successes must be at least 1; got 0.5"),
    ],
)
def test_bad_parameters_get_one_sentence(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def feed_any(agent, steps):
    for t in range(steps):
        arm = agent.act(0)
        agent.observe(float((arm + t // 100) % 3 == 0), 0)


@pytest.mark.parametrize("name", ["GLRklUCB", "MUCB", "CUSUMUCB", "AdSwitch", "DiscountedThompson"])
def test_damaged_snapshots_are_refused(tmp_path, name):
    problem = dm.problems.bandit(n_arms=3, drift="abrupt", horizon=600)
    parameters = {"window": 20, "threshold": 4.0} if name == "MUCB" else {}
    agent = dm.agents.builtin()[name].for_problem(problem, **parameters)
    dm.simulate(agent, problem, 1, compiled=False)
    agent.reset()
    feed_any(agent, 400)
    agent.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    for key in [key for key in arrays if key.startswith("state/")]:
        if arrays[key].size and arrays[key].dtype.names:
            for field in arrays[key].dtype.names:
                damaged = {other: array.copy() for other, array in arrays.items()}
                damaged[key][field] = -7 if arrays[key].dtype[field].kind == "i" else np.nan
                np.savez(tmp_path / "b.npz", **damaged)
                if (key, field) not in FREE:
                    with pytest.raises(InvalidInputError, match="must be a whole snapshot"):
                        dm.agents.load(tmp_path / "b.npz")


@pytest.mark.parametrize(("first", "rest"), [(1 - 2**-53, 1.0), (5e-324, 0.0)])
def test_glr_takes_no_rounding_at_an_end_of_the_range_for_a_change(first, rest):
    agent = dm.agents.GLRklUCB(ARMS, 100, test_every=1, split_every=1)
    assert feed(agent, [first, *(20 * [rest])]) is None

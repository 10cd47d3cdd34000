import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import driftmdp as dm
from driftmdp.errors import InvalidInputError, NotConvergedError
from driftmdp.planning import extended_value_iteration, extended_value_iteration_over_intervals
from tests.reference import extended_value_iteration as reference
from tests.strategies import random_space

METHODS = ["fast", "paper"]


def instance(seed, max_states=6, radii=(0.0, 0.05, 0.4, 1.2, 2.0, 3.0), zero=True):
    """Return random inputs: ragged, sparse rows, never seen pairs, every kind of radius."""
    rng = np.random.default_rng(seed)
    space = random_space(rng, int(rng.integers(1, max_states + 1)))
    p_hat = np.zeros((space.n_pairs, space.n_states))
    for pair in range(space.n_pairs):
        if rng.random() < 0.8:
            support = rng.choice(space.n_states, rng.integers(1, space.n_states + 1), replace=False)
            p_hat[pair, support] = rng.dirichlet(np.ones(support.size))
    chosen = np.array(radii if zero else radii[1:])
    return space, rng.random(space.n_pairs), p_hat, rng.choice(chosen, space.n_pairs), rng


def nested(space, values):
    return [list(values[space.offsets[s] : space.offsets[s + 1]]) for s in range(space.n_states)]


def best_in_ball(p_hat, radius, u):
    """The inner maximum as a linear program: p and |p - p_hat| <= slack, sum of slack <= radius."""
    n = len(u)
    if p_hat.sum() == 0 or radius >= 2:
        return max(u)
    eye = np.eye(n)
    above = np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, n)), np.ones((1, n))]])
    limit = np.concatenate([p_hat, -p_hat, [radius]])
    found = linprog(
        np.concatenate([-u, np.zeros(n)]),
        A_ub=above,
        b_ub=limit,
        A_eq=[[1.0] * n + [0.0] * n],
        b_eq=[1.0],
    )
    return -found.fun


def best_in_box(lower, upper, u):
    found = linprog(-u, A_eq=[[1.0] * len(u)], b_eq=[1.0], bounds=list(zip(lower, upper, strict=True)))
    return -found.fun


def check_certificate(space, plan, best, precision):
    """Check Properties 1 and 2 of [CSZ20] app:evi, the first with the maximum outside the sum."""
    assert plan.bias.min() == 0.0
    assert 0 <= plan.residual <= precision
    transitions = plan.transitions.toarray()
    np.testing.assert_allclose(transitions.sum(axis=1), 1.0, atol=1e-9)
    assert transitions.min() >= 0
    for pair in range(space.n_pairs):
        s, action = space.state_and_action(pair)
        inner = best(pair, plan.bias)
        assert transitions[pair] @ plan.bias == pytest.approx(inner, abs=1e-7), "p~ attains the maximum"
        assert plan.gain + plan.bias[s] >= plan.rewards[pair] + inner - 1e-7
        if action == plan.policy[s]:
            assert plan.rewards[pair] >= plan.gain + plan.bias[s] - inner - plan.residual - 1e-7


@given(st.integers(0, 10_000), st.sampled_from(METHODS), st.booleans())
def test_the_certificate_holds_from_any_start_and_the_inner_maximum_is_its_linear_program(seed, method, warm):
    space, rewards, p_hat, radius, rng = instance(seed, zero=False)
    start = 10 * rng.normal(size=space.n_states) if warm else None
    plan = extended_value_iteration(space, rewards, p_hat, radius, 1e-3, start, method)
    check_certificate(space, plan, lambda pair, u: best_in_ball(p_hat[pair], radius[pair], u), 1e-3)


@given(st.integers(0, 10_000), st.sampled_from(METHODS), st.booleans())
def test_intervals_have_the_certificate_too(seed, method, warm):
    space, rewards, p_hat, radius, rng = instance(seed, zero=False)
    start = 10 * rng.normal(size=space.n_states) if warm else None
    half = (radius / 2)[:, None] * rng.random(p_hat.shape)
    lower, upper = np.maximum(0, p_hat - half), np.minimum(1, p_hat + half)
    unseen = p_hat.sum(axis=1) == 0
    lower[unseen], upper[unseen] = 0.0, 0.0
    upper[~unseen] = np.maximum(upper[~unseen], 0.01)
    plan = extended_value_iteration_over_intervals(space, rewards, lower, upper, 1e-3, start, method)
    whole = np.where(unseen[:, None], 1.0, upper)
    check_certificate(space, plan, lambda pair, u: best_in_box(lower[pair], whole[pair], u), 1e-3)


@given(st.integers(0, 10_000))
def test_upper_elsewhere_says_the_same_as_a_dense_upper(seed):
    space, rewards, p_hat, _, rng = instance(seed)
    half = 0.3 * rng.random(space.n_pairs)
    seen = p_hat.sum(axis=1) > 0
    lower = np.where(seen[:, None], np.maximum(0, p_hat - half[:, None]), 0.0)
    upper = np.where(p_hat > 0, np.minimum(1, p_hat + half[:, None]), half[:, None])
    upper[~seen] = 1.0
    sparse = sp.csr_array(np.where(p_hat > 0, upper, 0.0))
    elsewhere = np.where(seen, half, 1.0)
    dense = extended_value_iteration_over_intervals(space, rewards, lower, upper, 1e-7)
    thin = extended_value_iteration_over_intervals(
        space, rewards, sp.csr_array(lower), sparse, 1e-7, upper_elsewhere=elsewhere
    )
    assert thin.gain == pytest.approx(dense.gain, abs=1e-6)


@given(st.integers(0, 10_000))
def test_paper_sweeps_as_the_reference_does(seed):
    space, rewards, p_hat, radius, _ = instance(seed, zero=False)
    plan = extended_value_iteration(space, rewards, p_hat, radius, 0.01, method="paper")
    slow = reference.extended_value_iteration(
        nested(space, rewards), nested(space, p_hat.tolist()), nested(space, radius), 0.01
    )
    assert plan.method == "paper"
    assert plan.iterations == slow.sweeps
    assert plan.gain == pytest.approx(slow.gain, abs=1e-9)
    np.testing.assert_allclose(plan.bias, slow.bias, atol=1e-9)
    for s, values in enumerate(slow.values):
        assert plan.policy[s] == reference.choose(values, [0] * len(values), "first")


@given(st.integers(0, 10_000))
def test_fast_and_paper_agree_within_the_precision(seed):
    space, rewards, p_hat, radius, _ = instance(seed, max_states=12, zero=False)
    fast = extended_value_iteration(space, rewards, p_hat, radius, 1e-6)
    paper = extended_value_iteration(space, rewards, p_hat, radius, 1e-6, method="paper")
    assert fast.gain == pytest.approx(paper.gain, abs=2e-6)
    for plan in (fast, paper):  # the policy is worth what is certified, in the optimistic MDP
        model = dm.Mdp(space, plan.rewards, plan.transitions)
        assert dm.planning.policy_gain(model, plan.policy).min() >= plan.gain - plan.residual - 1e-9


@given(st.integers(0, 10_000))
def test_radius_zero_is_the_ordinary_optimal_gain_even_if_periodic(seed):
    rng = np.random.default_rng(seed)
    from tests.strategies import random_mdp

    space = random_space(rng, int(rng.integers(1, 9)))
    mdp = random_mdp(rng, space, 3, deterministic=bool(seed % 2))
    for method in METHODS:
        plan = extended_value_iteration(
            space, mdp.rewards, mdp.transitions, np.zeros(space.n_pairs), 1e-6, method=method
        )
        assert plan.gain == pytest.approx(dm.planning.optimal_gain(mdp).gain, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 50, 400])
@pytest.mark.parametrize("method", METHODS)
def test_a_periodic_ring_with_radius_zero_converges(n, method):
    space = dm.Space.uniform(n, 1)
    ring = np.roll(np.eye(n), 1, axis=1)
    plan = extended_value_iteration(space, np.arange(n) / n, ring, np.zeros(n), 1e-6, method=method)
    assert plan.gain == pytest.approx((n - 1) / 2 / n, abs=1e-6)
    assert (plan.method == "fast") == (method == "fast")


@pytest.mark.parametrize("method", METHODS)
def test_the_perils_near_identity_needs_few_iterations(method):
    space = dm.Space.uniform(2, 2)
    p_hat = [[1, 0], [1 - 1e-4, 1e-4], [0, 1], [1e-4, 1 - 1e-4]]
    plan = extended_value_iteration(space, [0, 0, 1, 1], p_hat, np.full(4, 2e-4), 1e-4, method=method)
    assert plan.gain == pytest.approx(1.0, abs=1e-3)
    assert plan.iterations < (20 if method == "fast" else 1020)
    if method == "paper":
        assert plan.method == "paper, then accelerated"
        slow = reference.extended_value_iteration([[0, 0], [1, 1]], nested(space, p_hat), [[2e-4] * 2] * 2, 1e-4)
        assert plan.gain == pytest.approx(slow.gain, abs=1e-9)
        np.testing.assert_allclose(plan.bias, slow.bias, rtol=1e-9)


@pytest.mark.parametrize("n", [40, 200, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("radius", [0.0, 1e-3, 0.05])
def test_long_chains_converge_to_the_plain_answer(n, radius):
    mdp = dm.problems.river_swim(n_states=n, horizon=1).drifting.at(1)
    plan = extended_value_iteration(mdp.space, mdp.rewards, mdp.transitions, np.full(2 * n, radius), 1e-6)
    check_certificate(
        mdp.space,
        plan,
        lambda pair, u: reference.inner_maximum(mdp.transitions[[pair]].toarray()[0].tolist(), radius, u.tolist())[
            0
        ],
        1e-6,
    )


@pytest.mark.parametrize("method", METHODS)
def test_what_does_not_communicate_raises_with_the_best_certificate(method):
    space = dm.Space.uniform(2, 1)
    with pytest.raises(NotConvergedError, match="residual of at most") as caught:
        extended_value_iteration(space, [0.0, 1.0], np.eye(2), [0.0, 0.0], 1e-3, method=method)
    assert caught.value.best.residual == pytest.approx(1.0)
    assert caught.value.best.gain == pytest.approx(1.0)


def test_all_vacuous_is_closed_in_two_sweeps():
    space = dm.Space.uniform(1000, 3)
    rewards = np.random.default_rng(3).random(3000)
    plan = extended_value_iteration(
        space, rewards, sp.csr_array((3000, 1000)), np.zeros(3000), 1e-9, method="paper"
    )
    assert plan.iterations == 2
    assert plan.gain == pytest.approx(rewards.max(), abs=1e-15)


def test_ties_go_to_the_first_action_within_a_billionth():
    space = dm.Space.uniform(1, 3)
    plan = extended_value_iteration(space, [0.5, 0.5 + 5e-10, 0.5], np.ones((3, 1)), np.zeros(3), 1e-3)
    assert plan.policy.tolist() == [0]


def test_dense_and_sparse_rows_give_the_same_plan():
    rng = np.random.default_rng(5)
    space = dm.Space.uniform(40, 2)
    p_hat = rng.dirichlet(np.full(40, 0.1), 80)
    p_hat[p_hat < 1e-3] = 0
    p_hat /= p_hat.sum(axis=1, keepdims=True)
    rewards, radius = rng.random(80), rng.random(80)
    dense = extended_value_iteration(space, rewards, p_hat, radius, 1e-8)
    sparse = extended_value_iteration(space, rewards, sp.csr_array(p_hat), radius, 1e-8)
    assert dense.gain == pytest.approx(sparse.gain, abs=1e-8)
    long = extended_value_iteration(space, rewards, sp.csr_array(p_hat), radius, 1e-8, method="paper")
    assert dense.gain == pytest.approx(long.gain, abs=1e-8)


def test_a_good_start_takes_one_iteration():
    space, rewards, p_hat, radius, _ = instance(7, zero=False)
    plan = extended_value_iteration(space, rewards, p_hat, radius, 1e-6)
    again = extended_value_iteration(space, rewards, p_hat, radius, 1e-5, start=plan.bias + 3)
    assert again.iterations == 1


SPACE = dm.Space.uniform(2, 1)
GOOD = {"space": SPACE, "reward_upper": [0, 1], "p_hat": np.eye(2), "radius": [0.1, 0.1], "precision": 1e-3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"space": 3}, "space must be a Space"),
        ({"reward_upper": [1]}, r"reward_upper must have shape \(2,\)"),
        ({"reward_upper": [1, np.nan]}, r"reward_upper\[1\] must be finite"),
        ({"p_hat": np.eye(3)}, r"p_hat must have shape \(2, 2\), pairs by states; got \(3, 3\)"),
        (
            {"p_hat": [[0.5, 0.4], [0, 1]]},
            r"p_hat\[s=0, a=0\] must sum to 1 within 1e-9, or to 0 if never seen; got a sum of 0.9",
        ),
        (
            {"p_hat": [[1.5, -0.5], [0, 1]]},
            r"p_hat\[s=0, a=0, next state 1\] must be a number that is not negative",
        ),
        ({"p_hat": "table"}, "p_hat must be a table"),
        ({"radius": [0.1, -1]}, r"radius\[s=1, a=0\] must not be negative; got -1"),
        ({"precision": -1}, "precision must be at least 0"),
        ({"start": [1, 2, 3]}, r"start must have shape \(2,\)"),
        ({"method": "quick"}, "method must be one of 'fast', 'paper'"),
    ],
)
def test_wrong_inputs_get_a_sentence(change, message):
    with pytest.raises(InvalidInputError, match=message):
        extended_value_iteration(**(GOOD | change))


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([[0.9, 0.9], [0, 0]], np.ones((2, 2)), r"lower\[s=0, a=0\] must sum to at most 1"),
        (np.zeros((2, 2)), [[0.4, 0.4], [1, 1]], r"upper\[s=0, a=0\] must sum to at least 1"),
        ([[0, 0], [0.5, 0.0]], [[1, 1], [0.2, 1]], r"lower\[s=1, a=0\] must be at most upper"),
        (np.zeros((2, 2)), [[1, 1], [1, 1.2]], r"upper at most 1"),
    ],
)
def test_wrong_intervals_get_a_sentence(lower, upper, message):
    with pytest.raises(InvalidInputError, match=message):
        extended_value_iteration_over_intervals(SPACE, [0, 1], lower, upper, 1e-3)


def test_zeros_of_a_dense_upper_are_elsewhere_too():
    space = dm.Space.uniform(3, 1)
    upper = np.array([[0.9, 0.9, 0], [0.9, 0.9, 0], [0, 0.9, 0.9]])
    gains = [
        extended_value_iteration_over_intervals(
            space, [0.0, 0, 1], np.zeros((3, 3)), table, 1e-6, upper_elsewhere=0.3
        ).gain
        for table in (upper, sp.csr_array(upper))
    ]
    assert gains == pytest.approx([0.75, 0.75], abs=1e-6)


@pytest.mark.parametrize("value", [-0.1, 1.5, [0.1, 0.2, 0.3], "a"])
def test_wrong_upper_elsewhere_gets_a_sentence(value):
    with pytest.raises(InvalidInputError, match="upper_elsewhere must"):
        extended_value_iteration_over_intervals(
            SPACE, [0, 1], np.zeros((2, 2)), np.ones((2, 2)), 1e-3, upper_elsewhere=value
        )


def test_sparse_intervals_take_what_they_hold():
    n = 20_000
    space = dm.Space.uniform(n, 1)
    ring = sp.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    stay = sp.eye_array(n, format="csr")
    rewards = np.zeros(n)
    rewards[0] = 1.0
    plan = extended_value_iteration_over_intervals(
        space, rewards, 0.1 * ring, sp.csr_array(0.9 * stay + 0.9 * ring), 1e-2, start=-np.arange(n)[::-1] * 0.02
    )
    assert plan.residual <= 1e-2


def test_unsound_sparse_input_gets_a_sentence():
    matrix = sp.csr_array(np.array([[0.5, 0.5], [0.0, 1.0]]))
    matrix.indices[0] = 2_000_000_000
    with pytest.raises(InvalidInputError, match="p_hat must be a sound sparse matrix"):
        extended_value_iteration(SPACE, [0, 1], matrix, [0.1, 0.1], 1e-3)


@pytest.mark.parametrize("change", [{"start": [-1e308, 1e308]}, {"reward_upper": [1.7e308, -1.7e308]}])
def test_what_would_overflow_gets_a_sentence(change):
    with pytest.raises(InvalidInputError, match=r"must be at most 1e\+150 in size"):
        extended_value_iteration(**(GOOD | change))


def test_rounding_is_named_as_the_reason():
    rng = np.random.default_rng(0)
    space = dm.Space.uniform(20, 2)
    p_hat, radius = rng.dirichlet(np.ones(20), 40), np.full(40, 0.1)
    with pytest.raises(NotConvergedError, match="Rounding keeps it there"):
        extended_value_iteration(space, rng.random(40), p_hat, radius, 0.0)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.problems.inventory import Empirical, Geometric, NegativeBinomial, Poisson, Seasonal
from tests.problems.inventory.cases import LAW_NAMES, PATHS, law, masses, masses_by_mean
from tests.problems.tables import flat, mdp_of, rewards_of, transitions_of
from tests.reference import (
    diameter_by_enumeration,
    gain_by_enumeration,
    mean_costs,
    mean_pseudo_rewards,
    mixed_with_uniform,
    reward_variation,
    transition_probabilities,
    transition_variation,
)

CAPACITY, HORIZON, ZETA = 4, 12, 0.03
PRICES = {"fixed": 3.0, "unit": 0.7, "lost": 5.0, "holding": 0.4}


def make(demand, capacity=CAPACITY, horizon=HORIZON, zeta=ZETA, **shelf):
    costs = {**PRICES, **shelf}
    return dm.problems.inventory(
        capacity,
        horizon,
        demand,
        fixed_cost=costs["fixed"],
        unit_cost=costs["unit"],
        lost_sale=costs["lost"],
        holding=costs["holding"],
        zeta=zeta,
    )


def day(name, path, t, zeta=ZETA):
    """The demand that the world must have on day t, uncensored."""
    return mixed_with_uniform(masses(name, path, t, HORIZON).tolist(), CAPACITY, zeta)


every_law_and_path = pytest.mark.parametrize("path", PATHS), pytest.mark.parametrize("name", LAW_NAMES)


def everywhere(test):
    """Run a test for every law along every path."""
    for mark in every_law_and_path:
        test = mark(test)
    return test


@everywhere
def test_transitions_are_the_papers_definition(name, path):
    problem = make(law(name, path))
    for t in (1, 5, 12):
        expected = transition_probabilities(day(name, path, t), CAPACITY)
        for ours, theirs in zip(transitions_of(problem.drifting.at(t)), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)


@everywhere
def test_rewards_are_the_mean_pseudo_rewards(name, path):
    problem = make(law(name, path))
    for t in (1, 5, 12):
        expected = mean_pseudo_rewards(day(name, path, t), CAPACITY, **PRICES)
        np.testing.assert_allclose(problem.drifting.rewards_at(t), flat(expected), atol=1e-9)


@everywhere
def test_mean_costs_are_those_of_the_true_demand_however_large(name, path):
    problem = make(law(name, path))
    for t in (1, 5, 12):
        expected = mean_costs(day(name, path, t), CAPACITY, **PRICES)
        np.testing.assert_allclose(problem.mean_costs(t), flat(expected), rtol=1e-9, atol=1e-9)


@everywhere
def test_expected_demand_is_that_of_the_mixed_law(name, path):
    problem = make(law(name, path))
    for t in (1, 5, 12):
        pmf = np.array(day(name, path, t))
        assert problem.expected_demand[t - 1] == pytest.approx(np.arange(pmf.size) @ pmf, rel=1e-9)
    np.testing.assert_allclose(problem.cost_shift, 5.0 * problem.expected_demand)


@everywhere
def test_every_demand_up_to_the_capacity_has_mass_zeta(name, path):
    weights = make(law(name, path)).drifting.weights.matrix.toarray()
    assert weights.min() >= ZETA - 1e-15
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)


def test_the_last_weight_is_the_tail():
    problem = make(Poisson(6.0), zeta=0.0)
    pmf = masses_by_mean("poisson", 6.0, 1.0)
    weights = problem.drifting.weights.matrix.toarray()
    np.testing.assert_allclose(weights[0], [*pmf[:CAPACITY], pmf[CAPACITY:].sum()], atol=1e-12)


def test_capacity_s_means_s_plus_one_states_and_half_a_square_of_pairs():
    problem = make(Poisson(1.0), capacity=7)
    assert problem.space.n_actions.tolist() == [8, 7, 6, 5, 4, 3, 2, 1]
    assert (problem.space.n_states, problem.space.n_pairs) == (8, 8 * 9 // 2)


def test_anchors_alone_need_not_communicate_but_every_day_does():
    problem = make(Poisson(2.0))
    assert not any(dm.planning.is_communicating(anchor) for anchor in problem.drifting.anchors[1:-1])
    assert dm.planning.is_communicating(problem.drifting.at(1))


def test_the_anchor_that_was_drawn_is_the_demand():
    problem = make(Poisson(Seasonal(3, 2, 7)), horizon=200)
    draws = problem.draw_noise(np.random.default_rng(4))
    for t in range(1, 201):
        reward, left, demand = problem.sample(t, 1, 2, draws)
        sales = min(3, demand)
        assert left == 3 - sales
        assert reward == pytest.approx(problem.costs.pseudo_reward(1, 2, sales))


@given(
    law_name=st.sampled_from(["poisson", "negative-binomial", "geometric"]),
    mean=st.floats(0.1, 8),
    dispersion=st.floats(0.3, 5),
    capacity=st.integers(1, 6),
    share=st.floats(0, 1),
    shelf=st.tuples(*[st.floats(0, 10)] * 4),
)
def test_any_inventory_is_the_papers(law_name, mean, dispersion, capacity, share, shelf):
    named = dict(zip(PRICES, shelf, strict=True))
    zeta = share / (capacity + 1)
    demand = {
        "poisson": Poisson(mean),
        "negative-binomial": NegativeBinomial(mean, dispersion),
        "geometric": Geometric(mean),
    }[law_name]
    problem = make(demand, capacity, 1, zeta, **named)
    pmf = mixed_with_uniform(masses_by_mean(law_name, mean, dispersion)[:800].tolist(), capacity, zeta)
    mdp = problem.drifting.at(1)
    rows = [row for rows in transition_probabilities(pmf, capacity) for row in rows]
    np.testing.assert_allclose(mdp.transitions.toarray(), rows, atol=1e-9)
    np.testing.assert_allclose(mdp.rewards, flat(mean_pseudo_rewards(pmf, capacity, **named)), atol=1e-6)
    np.testing.assert_allclose(problem.mean_costs(1), flat(mean_costs(pmf, capacity, **named)), atol=1e-6)


@everywhere
def test_pseudo_rewards_and_costs_differ_in_gain_by_l_times_mean_demand(name, path):
    """Proposition 6, by solving the MDP of the true costs itself."""
    problem = make(law(name, path))
    for t in (2, 9):
        pmf = day(name, path, t)
        costs = [[-value for value in row] for row in mean_costs(pmf, CAPACITY, **PRICES)]
        true = dm.planning.optimal_gain(mdp_of(costs, transition_probabilities(pmf, CAPACITY))).gain
        pseudo = dm.planning.optimal_gain(problem.drifting.at(t)).gain
        assert pseudo - true == pytest.approx(5.0 * problem.expected_demand[t - 1], abs=1e-7)


@pytest.mark.parametrize("path", PATHS)
def test_a_small_shelf_has_the_brute_force_gain(path):
    mdp = make(law("poisson", path), capacity=2).drifting.at(3)
    best = gain_by_enumeration(rewards_of(mdp), transitions_of(mdp))
    assert dm.planning.optimal_gain(mdp).gain == pytest.approx(best.max(), abs=1e-8)


@pytest.mark.parametrize(
    "demand", [Poisson(5.0), Geometric(3.0), NegativeBinomial(4.0, 2.0), Empirical([1, 5, 2, 0, 3, 0, 0, 9])]
)
@pytest.mark.parametrize(("unit", "lost", "holding"), [(0.5, 4.0, 0.5), (0.0, 1.0, 2.0), (3.0, 2.0, 0.1)])
def test_without_a_fixed_cost_the_gain_is_that_of_the_best_base_stock(demand, unit, lost, holding):
    capacity = 10
    problem = make(demand, capacity, 1, 0.01, fixed=0.0, unit=unit, lost=lost, holding=holding)
    weights = problem.drifting.weights.matrix.toarray()[0]
    x = np.arange(capacity + 1)
    levels = [
        (lost - unit) * (weights @ np.minimum(x, y)) - holding * (weights @ np.maximum(y - x, 0))
        for y in range(capacity + 1)
    ]
    assert dm.planning.optimal_gains(problem.drifting)[0] == pytest.approx(max(levels), abs=1e-8)


def test_without_a_fixed_cost_the_best_policy_orders_up_to_one_level():
    problem = make(Poisson(4.0), 10, 1, 0.01, fixed=0.0, unit=0.5, lost=4.0, holding=0.5)
    policy = dm.planning.optimal_gain(problem.drifting.at(1)).policy
    level = policy[0]
    assert 0 < level < 10
    assert (policy == np.maximum(0, level - np.arange(11))).all()


def test_a_fixed_cost_makes_small_orders_a_waste():
    policy = dm.planning.optimal_gain(make(Poisson(4.0), 10, 1, 0.01, fixed=8.0).drifting.at(1)).policy
    ordering = np.flatnonzero(policy)
    assert policy[ordering].min() > 1
    assert np.ptp((policy + np.arange(11))[ordering]) == 0


@given(shelf=st.tuples(*[st.floats(0, 10)] * 4), capacity=st.integers(1, 8))
def test_the_reward_range_is_met_by_the_anchors(shelf, capacity):
    problem = make(Poisson(2.0), capacity, 1, 0.01, **dict(zip(PRICES, shelf, strict=True)))
    rewards = problem.drifting.anchor_rewards
    assert problem.reward_range == pytest.approx((rewards.min(), rewards.max()), abs=1e-9)


def test_any_stock_can_be_reached_with_probability_zeta_from_any_other():
    """Assumption 2, by ordering up to the capacity; so the diameter is at most 1 / zeta."""
    problem = make(Geometric(0.2))
    for t in (1, 12):
        mdp = problem.drifting.at(t)
        reach = np.array([mdp.successors(s, CAPACITY - s) for s in range(CAPACITY + 1)])
        assert reach.min() >= ZETA - 1e-15
        assert dm.planning.diameter(mdp) <= 1 / ZETA


def test_a_small_shelf_has_the_brute_force_diameter():
    mdp = make(Poisson(1.0), capacity=2).drifting.at(1)
    brute = diameter_by_enumeration(transitions_of(mdp))
    assert dm.planning.diameter(mdp) == pytest.approx(brute, rel=1e-9)


def test_the_largest_zeta_makes_demand_uniform():
    problem = make(Poisson(1.0), zeta=1 / (CAPACITY + 1))
    np.testing.assert_allclose(problem.drifting.weights.matrix.toarray(), 1 / (CAPACITY + 1), atol=1e-15)
    np.testing.assert_allclose(problem.expected_demand, CAPACITY / 2)


@everywhere
def test_the_variation_is_that_of_the_dense_tables(name, path):
    problem = make(law(name, path))
    days = [day(name, path, t) for t in range(1, HORIZON + 1)]
    b_r = reward_variation([mean_pseudo_rewards(pmf[:400], CAPACITY, **PRICES) for pmf in days])
    b_p = transition_variation([transition_probabilities(pmf[:400], CAPACITY) for pmf in days])
    variation = problem.drifting.variation()
    assert variation.reward == pytest.approx(b_r, abs=1e-9)
    assert variation.transition == pytest.approx(b_p, abs=1e-9)


def test_the_default_is_seasonal_poisson_demand():
    problem = dm.problems.inventory(horizon=3)
    mean = 6 + 4 * np.sin(2 * np.pi * np.arange(1, 4) / 2500)
    uniform = 21 * 0.002
    np.testing.assert_allclose(problem.expected_demand, (1 - uniform) * mean + uniform * 10)
    assert (problem.capacity, problem.zeta, problem.start, str(problem.noise)) == (20, 0.002, 0, "anchor")


def test_a_table_makes_the_same_world_as_its_law():
    table = {"law": "geometric", "mean": {"path": "trend", "start": 1, "end": 3}}
    one, two = make(table), make(Geometric({"path": "trend", "start": 1, "end": 3}))
    assert (one.drifting.weights.matrix != two.drifting.weights.matrix).nnz == 0


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"capacity": 0}, "capacity must be at least 1; got 0."),
        ({"capacity": 2.5}, "capacity must be a whole number; got 2.5."),
        ({"horizon": 0}, "horizon must be at least 1; got 0."),
        ({"zeta": -0.1}, "zeta must be at least 0; got -0.1."),
        (
            {"capacity": 3, "zeta": 0.3},
            "zeta must be at most 1 / (capacity + 1) = 0.25, the mass of a uniform demand; got 0.3.",
        ),
        ({"capacity": 3, "start": 4}, "start must be at most 3; got 4."),
        ({"demand": None}, "demand must be a law such as Poisson(6) or a table with a 'law'; got None."),
    ],
)
def test_wrong_parameters_are_answered_with_one_sentence(parameters, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.inventory(**parameters)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["fixed_cost", "unit_cost", "lost_sale", "holding"])
def test_a_negative_cost_is_refused_under_the_name_it_was_given(name):
    with pytest.raises(dm.errors.InvalidInputError, match=f"^{name} must be at least 0; got -1.$"):
        dm.problems.inventory(horizon=1, **{name: -1.0})

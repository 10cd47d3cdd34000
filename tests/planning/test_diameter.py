import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp import kernels
from driftmdp.errors import InvalidInputError, NotConvergedError
from driftmdp.planning import diameter, diameters, max_diameter
from driftmdp.planning.diameter import _by_elimination, _by_target, _eliminate
from driftmdp.problems.garnet import garnet_mdp
from tests.reference.diameter import diameter_by_enumeration
from tests.strategies import communicating_mdps


def cycle(n: int, slip: float = 0.0) -> dm.Mdp:
    i = np.arange(n)
    transitions = np.zeros((n, 1, n))
    transitions[i, 0, (i + 1) % n] += 1 - slip
    transitions[i, 0, i] += slip
    return dm.Mdp.from_dense(np.zeros((n, 1)), transitions)


def walk(n: int) -> dm.Mdp:
    """Return the simple random walk on a ring."""
    i = np.arange(n)
    transitions = np.zeros((n, 1, n))
    transitions[i, 0, (i + 1) % n] += 0.5
    transitions[i, 0, (i - 1) % n] += 0.5
    return dm.Mdp.from_dense(np.zeros((n, 1)), transitions)


@given(communicating_mdps(max_states=4))
def test_diameter_is_that_of_the_definition(mdp):
    rewards, transitions, available = mdp.to_dense()
    del rewards
    table = [[transitions[s, a].tolist() for a in np.flatnonzero(available[s])] for s in range(mdp.space.n_states)]
    assert diameter(mdp) == pytest.approx(diameter_by_enumeration(table), rel=1e-7)


@given(communicating_mdps())
def test_all_methods_agree(mdp):
    model, everyone = mdp.arrays, range(mdp.space.n_states)
    one, two = _by_elimination(model), _by_target(model, everyone)
    assert one == pytest.approx(two, rel=1e-8)
    assert one.residual <= 1e-9


@pytest.mark.parametrize(("n", "slip"), [(2, 0.0), (7, 0.0), (65, 0.0), (7, 0.5), (100, 0.75)])
def test_a_cycle_has_n_minus_one_steps(n, slip):
    assert diameter(cycle(n, slip)) == pytest.approx((n - 1) / (1 - slip))


@pytest.mark.parametrize("n", [4, 30, 100, 200])
def test_a_random_walk_on_a_ring_takes_a_quarter_of_n_squared(n):
    found = diameter(walk(n))
    assert found == pytest.approx(n * n / 4, rel=1e-9)
    assert (found.source - found.target) % n == n // 2


def test_one_state_has_diameter_zero():
    assert diameter(dm.Mdp(dm.Space([2]), [0, 1], [[1], [1]])) == 0.0


@pytest.mark.parametrize("n", [3, 80])
def test_without_a_way_it_is_infinite_and_says_between_which_states(n):
    rows = np.zeros((n, 1, n))
    rows[:, 0, 0] = 1.0
    found = diameter(dm.Mdp.from_dense(np.zeros((n, 1)), rows))
    assert found == np.inf
    assert found.target != 0
    assert found.source != found.target


def test_the_perils_instances_have_diameter_one():
    problem = dm.problems.perils(tau=3)
    assert diameters(problem.drifting).tolist() == [1.0] * 12
    assert max_diameter(problem.drifting) == 1.0


def test_targets_give_a_lower_bound():
    mdp = garnet_mdp(100, 2, 3, 0.5, np.random.default_rng(0))
    whole = diameter(mdp)
    assert diameter(mdp, targets=[whole.target]) == pytest.approx(whole, rel=1e-8)
    assert diameter(mdp, targets=[0, 1]) <= whole + 1e-9
    for targets, message in (([], "targets must name at least one state"), ([100], "targets must be at most 99")):
        with pytest.raises(InvalidInputError, match=message):
            diameter(mdp, targets=targets)


@given(st.integers(0, 10_000))
def test_sparse_elimination_agrees_with_sweeps(seed):
    mdp = garnet_mdp(20, 2, 3, 0.5, np.random.default_rng(seed))
    from driftmdp.kernels import graph

    model = mdp.arrays
    pointer, pairs = graph.reverse(model)
    order, policy, times = np.zeros(20, np.int32), np.zeros(20, np.int32), np.zeros(20)
    graph.reach(model.offsets, pointer, pairs, order, 1, policy)
    assert _eliminate(model, 0, policy, times) <= 1e-9
    assert times.max() == pytest.approx(diameter(mdp, targets=[0]), rel=1e-8)


@given(communicating_mdps(), st.integers(0, 2**32 - 1), st.integers(1, 25), st.floats(0.0, 1e3))
def test_sweeps_bound_the_true_times_whatever_they_start_from(mdp, seed, budget, size):
    model, n = mdp.arrays, mdp.space.n_states
    rng = np.random.default_rng(seed)
    order, policy = np.empty(n, np.int32), np.zeros(n, np.int32)
    order[0] = target = rng.integers(n)
    kernels.graph.reach(model.offsets, *kernels.graph.reverse(model), order, 1, policy)
    truth = diameter(mdp, targets=[target])
    times = size * rng.random(n)
    times[target] = 0.0
    bound = kernels.hitting_times.sweep(model, order, times, budget, 0.0, 0.0)
    assert bound >= truth * (1.0 - 1e-8)
    # From the times themselves the bound is close.
    exact = kernels.hitting_times.sweep(model, order, times, 10_000, 1e-12, 0.0)
    assert exact == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("branching", [2, 3, 30])
def test_targets_that_are_left_out_are_not_the_worst(branching):
    mdp = garnet_mdp(90, 2, branching, 0.5, np.random.default_rng(branching))
    alone = [diameter(mdp, targets=[target]) for target in range(90)]
    whole, worst = diameter(mdp), max(alone)
    assert (whole, whole.source, whole.target) == (worst, worst.source, worst.target)


def test_it_is_a_number_that_pickles_with_what_it_knows():
    found = diameter(cycle(5))
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found == 4.0
    assert (copy.source, copy.target) == (found.source, found.target)
    assert found + 1 == 5.0


@pytest.mark.parametrize("n", [64, 65, 300])
def test_a_chain_where_the_nearest_way_has_two_actions(n):
    """Both actions may lead nearer, one of them with a fourth of the probability: 4^300 steps apart."""
    i = np.arange(n)
    transitions = np.zeros((n, 2, n))
    for action, (up, down) in enumerate([(0.1, 0.4), (0.4, 0.1)]):
        transitions[i, action, np.minimum(i + 1, n - 1)] += up
        transitions[i, action, np.maximum(i - 1, 0)] += down
        transitions[i, action, i] += 0.5
    found = diameter(dm.Mdp.from_dense(np.zeros((n, 2)), transitions))
    assert found.residual <= 1e-9
    assert (n - 1) / 0.3 > found > (n - 1) / 0.3 - 2


def test_a_rare_way_is_a_long_one():
    mdp = dm.Mdp(dm.Space([1, 1]), [0, 1], [[1, 1e-17], [1e-12, 1 - 1e-12]])
    assert diameter(mdp) == pytest.approx(1e17)
    assert dm.planning.hitting_times(mdp, [0, 0], 1)[0] == pytest.approx(1e17)
    assert dm.planning.policy_gain(mdp, [0, 0]) == pytest.approx(1e-5, rel=1e-4)


def test_what_double_precision_cannot_certify_raises():
    n = 60
    i = np.arange(n)
    transitions = np.zeros((n, 1, n))
    transitions[i, 0, np.minimum(i + 1, n - 1)] += 0.1
    transitions[i, 0, np.maximum(i - 1, 0)] += 0.9
    with pytest.raises(NotConvergedError, match="must be certified to a relative error of 1e-6"):
        diameter(dm.Mdp.from_dense(np.zeros((n, 1)), transitions))


@pytest.mark.slow
def test_a_thousand_states_on_a_slippery_grid():
    side = 32
    n = side * side
    x, y = np.divmod(np.arange(n), side)
    moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    to = [np.clip(x + a, 0, side - 1) * side + np.clip(y + b, 0, side - 1) for a, b in moves]
    transitions = np.zeros((n, 4, n))
    for action in range(4):
        for other in range(4):
            np.add.at(transitions, (np.arange(n), action, to[other]), 0.9 / 4 + (0.1 if other == action else 0.0))
    found = diameter(dm.Mdp.from_dense(np.zeros((n, 4)), transitions))
    assert found.residual <= 1e-9
    assert {found.source, found.target} in ({0, n - 1}, {side - 1, n - side})

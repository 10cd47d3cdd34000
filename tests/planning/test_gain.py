import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.errors import InvalidInputError, NotCommunicatingError, NotConvergedError
from driftmdp.planning import gain as gain_module
from driftmdp.planning import gain_by_linear_program, optimal_gain, policy_gain
from driftmdp.problems.garnet import garnet_mdp
from tests.reference.gain import gain_by_enumeration
from tests.strategies import communicating_mdps


def bellman(mdp: dm.Mdp, h: np.ndarray) -> np.ndarray:
    values = mdp.rewards + mdp.transitions @ h
    return np.maximum.reduceat(values, mdp.space.offsets[:-1])


def permuted(mdp: dm.Mdp, order: np.ndarray) -> dm.Mdp:
    """Return the MDP with state ``order[i]`` called i."""
    pairs = np.concatenate([np.arange(mdp.space.offsets[s], mdp.space.offsets[s + 1]) for s in order])
    rows = mdp.transitions.toarray()[pairs][:, order]
    return dm.Mdp(dm.Space(mdp.space.n_actions[order]), mdp.rewards[pairs], rows)


def ring(n: int, rewards_at: int = 0) -> dm.Mdp:
    """Return a deterministic ring with steps in both directions and one reward."""
    i = np.arange(n)
    transitions = np.zeros((n, 2, n))
    transitions[i, 0, (i + 1) % n] = 1.0
    transitions[i, 1, (i - 1) % n] = 1.0
    rewards = np.zeros((n, 2))
    rewards[rewards_at, 0] = 1.0
    return dm.Mdp.from_dense(rewards, transitions)


@given(communicating_mdps())
def test_gain_is_the_optimum_of_both_linear_programs(mdp):
    found = optimal_gain(mdp)
    assert found.gain == pytest.approx(gain_by_linear_program(mdp, "primal").gain, abs=1e-8)
    assert found.gain == pytest.approx(gain_by_linear_program(mdp, "dual").gain, abs=1e-8)


@given(communicating_mdps(max_states=4))
def test_gain_is_the_best_over_all_policies(mdp):
    rewards, transitions, available = mdp.to_dense()
    actions = [np.flatnonzero(row).tolist() for row in available]
    best = gain_by_enumeration(
        [[float(rewards[s, a]) for a in actions[s]] for s in range(len(actions))],
        [[transitions[s, a].tolist() for a in actions[s]] for s in range(len(actions))],
    )
    np.testing.assert_allclose(best, optimal_gain(mdp).gain, atol=1e-7)


@given(communicating_mdps())
def test_the_certificate_holds(mdp):
    found = optimal_gain(mdp)
    difference = bellman(mdp, found.bias) - found.bias
    assert np.ptp(difference) == pytest.approx(found.residual, abs=1e-12)
    assert found.residual <= 1e-9 * max(1.0, np.abs(mdp.rewards).max())
    assert found.lower - 1e-12 <= difference.min()
    assert difference.max() <= found.upper + 1e-12
    assert found.bias.min() == 0.0


@given(communicating_mdps())
def test_the_policy_attains_the_gain_from_every_state(mdp):
    found = optimal_gain(mdp)
    np.testing.assert_allclose(policy_gain(mdp, found.policy), found.gain, atol=1e-8)
    values = mdp.rewards + mdp.transitions @ found.bias
    chosen = values[mdp.space.offsets[:-1] + found.policy]
    np.testing.assert_allclose(chosen, np.maximum.reduceat(values, mdp.space.offsets[:-1]), atol=1e-9)


@given(communicating_mdps(), st.floats(-1e9, 1e9), st.floats(1e-9, 1e9))
def test_gain_shifts_and_scales_with_the_rewards(mdp, shift, scale):
    moved = dm.Mdp(mdp.space, shift + scale * mdp.rewards, mdp.transitions)
    expected = shift + scale * optimal_gain(mdp).gain
    assert optimal_gain(moved).gain == pytest.approx(expected, abs=1e-8 * scale + 1e-13 * abs(shift))


@given(communicating_mdps(), st.randoms(use_true_random=False))
def test_permuting_states_changes_nothing(mdp, random):
    order = np.array(random.sample(range(mdp.space.n_states), mdp.space.n_states))
    one, two = optimal_gain(mdp), optimal_gain(permuted(mdp, order))
    assert two.gain == pytest.approx(one.gain, abs=1e-9)
    assert dm.planning.diameter(permuted(mdp, order)) == pytest.approx(dm.planning.diameter(mdp), rel=1e-7)


@pytest.mark.parametrize("n", [2, 3, 31, 33, 100, 301, 1000])
def test_periodic_rings_of_every_size_class(n):
    found = optimal_gain(ring(n))
    assert found.gain == pytest.approx(0.5, abs=1e-9)
    assert found.residual <= 1e-9


@pytest.mark.parametrize("n", [6, 33, 60, 150, 300, 301, 700])
def test_long_chains_where_sweeps_stall(n):
    """Leaving the wrong bank takes up to 7^700 steps: policies that are as good as multichain."""
    found = optimal_gain(dm.problems.river_swim(n_states=n).drifting.at(1))
    assert found.gain == pytest.approx(3 / 7 if n > 20 else 0.42862243379946396, abs=1e-8)
    assert found.residual <= 1e-9


@pytest.mark.parametrize("n", [40, 400])
def test_a_policy_with_many_recurrent_classes_on_the_way(n):
    """Each state pays to stay a little more than the last: greedy stays everywhere, the best is the last."""
    i = np.arange(n)
    transitions = np.zeros((n, 3, n))
    transitions[i, 0, i] = transitions[i, 1, np.minimum(i + 1, n - 1)] = transitions[i, 2, np.maximum(i - 1, 0)] = (
        1.0
    )
    rewards = np.zeros((n, 3))
    rewards[:, 0] = 1 + i / n
    found = optimal_gain(dm.Mdp.from_dense(rewards, transitions))
    assert found.gain == pytest.approx(1 + (n - 1) / n, abs=1e-9)


@pytest.mark.parametrize("n_states", [33, 301, 1000])
def test_large_sparse_mdps_are_solved_by_sweeps_and_right(n_states):
    mdp = garnet_mdp(n_states, 3, 4, 0.5, np.random.default_rng(n_states))
    found = optimal_gain(mdp)
    assert found.method == "modified policy iteration"
    assert found.gain == pytest.approx(gain_by_linear_program(mdp).gain, abs=1e-8)


def test_sparse_policy_iteration_agrees_with_dense():
    mdp = garnet_mdp(40, 3, 2, 0.5, np.random.default_rng(1))
    policy, bias = np.zeros(40, np.int32), np.zeros(40)
    low, high, _ = gain_module.sparse_policy_iteration(mdp.arrays, policy, bias, 1e-10)
    assert high - low <= 1e-10
    assert 0.5 * (low + high) == pytest.approx(optimal_gain(mdp).gain, abs=1e-9)


def test_two_almost_separate_parts():
    rng = np.random.default_rng(0)
    parts = [garnet_mdp(200, 2, 4, 0.5, rng) for _ in range(2)]
    rows = sp.block_diag([part.transitions for part in parts]) * (1 - 1e-5)
    rows = rows + sp.csr_array((np.full(800, 1e-5), (np.arange(800), rng.integers(0, 400, 800))), shape=rows.shape)
    mdp = dm.Mdp(dm.Space.uniform(400, 2), np.concatenate([parts[0].rewards, 0.5 * parts[1].rewards]), rows)
    found = optimal_gain(mdp, tolerance=1e-6)
    assert found.gain == pytest.approx(gain_by_linear_program(mdp).gain, abs=1e-6)


def test_one_state():
    found = optimal_gain(dm.Mdp(dm.Space([3]), [1, 3, 2], [[1], [1], [1]]))
    assert (found.gain, found.policy.tolist(), found.bias.tolist()) == (3.0, [1], [0.0])


def test_two_absorbing_states_are_refused_by_name():
    mdp = dm.Mdp(dm.Space([1, 1, 2]), [0, 1, 2, 3], [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]])
    with pytest.raises(NotCommunicatingError, match="no policy leads from state 0 to state 1") as error:
        optimal_gain(mdp)
    assert (error.value.source, error.value.target) == (0, 1)
    with pytest.raises(NotCommunicatingError, match="optimal gain may differ from state to state"):
        optimal_gain(mdp, allow_transient=True)


def test_transient_states_need_permission():
    mdp = dm.Mdp(dm.Space([1, 1]), [5, 1], [[0, 1], [0, 1]])
    with pytest.raises(
        NotCommunicatingError, match=r"no policy leads from state 1 to state 0\. .*allow_transient=True"
    ):
        optimal_gain(mdp)
    assert optimal_gain(mdp, allow_transient=True).gain == pytest.approx(1.0)


def test_a_state_that_can_be_held_is_not_transient():
    """State 0 may stay for ever, at 9 a step, but nobody can come back to it."""
    mdp = dm.Mdp(dm.Space([2, 1]), [9, 0, 1], [[1, 0], [0, 1], [0, 1]])
    with pytest.raises(
        NotCommunicatingError, match="can stay away from state 1 for ever when it starts in state 0"
    ):
        optimal_gain(mdp, allow_transient=True)


def test_an_unreachable_tolerance_raises_with_the_best_certificate():
    mdp = dm.problems.river_swim(n_states=20).drifting.at(1)
    with pytest.raises(NotConvergedError, match="Pass tolerance=") as error:
        optimal_gain(mdp, tolerance=0.0)
    assert error.value.best.gain == pytest.approx(3 / 7, abs=1e-6)
    assert 0 < error.value.best.residual < 1e-12


def test_the_mdp_is_not_changed():
    mdp = dm.problems.river_swim().drifting.at(1)
    before = mdp.rewards.copy(), mdp.transitions.toarray()
    optimal_gain(mdp)
    assert np.array_equal(mdp.rewards, before[0])
    assert np.array_equal(mdp.transitions.toarray(), before[1])


@given(communicating_mdps())
def test_the_programs_multipliers_are_the_other_programs_solution(mdp):
    primal, dual = gain_by_linear_program(mdp), gain_by_linear_program(mdp, "dual")
    for found in (primal, dual):
        assert found.occupancy.sum() == pytest.approx(1.0)
        assert found.occupancy @ mdp.rewards == pytest.approx(found.gain, abs=1e-8)
        values = mdp.rewards + mdp.transitions @ found.bias
        assert (found.gain + found.bias[mdp.space.pair_states] >= values - 1e-7).all()


def test_the_form_of_a_program_must_be_known():
    with pytest.raises(InvalidInputError, match="form must be one of 'primal', 'dual'; got 'duall'"):
        gain_by_linear_program(ring(3), "duall")


def birth_death(n: int, up: float, down: float, seed: int = 0) -> dm.Mdp:
    """Return a chain with two actions, one that mostly goes up and one that mostly goes down."""
    i = np.arange(n)
    transitions = np.zeros((n, 2, n))
    for action, (more, less) in enumerate([(up, down), (down, up)]):
        transitions[i, action, np.minimum(i + 1, n - 1)] += more
        transitions[i, action, np.maximum(i - 1, 0)] += less
        transitions[i, action, i] += 1 - more - less
    return dm.Mdp.from_dense(np.random.default_rng(seed).random((n, 2)), transitions)


@pytest.mark.parametrize(
    ("n", "up", "down"),
    [(300, 0.5, 0.1), (301, 0.5, 0.1), (500, 0.01, 0.001), (200, 1e-3, 1e-4), (100, 1e-4, 1e-5)],
)
def test_chains_with_many_places_that_are_hard_to_leave(n, up, down):
    """Between two good places lie valleys that a policy crosses once in 5^100 steps."""
    mdp = birth_death(n, up, down)
    assert optimal_gain(mdp).gain == pytest.approx(gain_by_linear_program(mdp).gain, abs=1e-8)


def test_rows_that_miss_one_are_mended_before_they_add_up():
    exact = birth_death(400, 0.05, 0.05)
    off = dm.Mdp(exact.space, exact.rewards, exact.transitions * (1 + 9e-10))
    assert optimal_gain(off).gain == pytest.approx(optimal_gain(exact).gain, abs=1e-9)


def test_the_default_is_exact_for_rewards_in_money():
    world = dm.problems.inventory(capacity=40, horizon=1, lost_sale=100.0).drifting
    assert optimal_gain(world.at(1)).residual <= 1e-8


def test_the_tolerance_is_the_error_of_the_gain():
    mdp = garnet_mdp(100, 3, 4, 0.5, np.random.default_rng(0))
    for tolerance in (1e-2, 1e-5):
        rough = optimal_gain(mdp, tolerance=tolerance)
        assert rough.residual <= 2 * tolerance
        assert abs(rough.gain - optimal_gain(mdp).gain) <= tolerance


def test_a_program_refuses_probabilities_that_its_solver_drops():
    mdp = dm.Mdp(dm.Space([1, 1]), [0, 1], [[0.5, 0.5], [1 - 1e-10, 1e-10]])
    with pytest.raises(InvalidInputError, match="HiGHS takes those for 0; got 1e-10"):
        gain_by_linear_program(mdp)


@pytest.mark.slow
def test_ten_thousand_states_in_two_halves():
    rng = np.random.default_rng(0)
    parts = [garnet_mdp(5000, 5, 5, 0.5, rng) for _ in range(2)]
    rows = sp.block_diag([part.transitions for part in parts]) * (1 - 1e-3)
    rows = rows + sp.csr_array(
        (np.full(50000, 1e-3), (np.arange(50000), rng.integers(0, 10000, 50000))), rows.shape
    )
    mdp = dm.Mdp(dm.Space.uniform(10000, 5), np.concatenate([parts[0].rewards, 0.8 * parts[1].rewards]), rows)
    found = optimal_gain(mdp)
    difference = bellman(mdp, found.bias) - found.bias
    assert np.ptp(difference) <= 1e-8
    assert found.method == "modified policy iteration"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_programs_agree_on_larger_mdps(seed):
    rng = np.random.default_rng(seed)
    mdp = garnet_mdp(int(rng.integers(50, 400)), int(rng.integers(1, 5)), int(rng.integers(2, 8)), 0.5, rng)
    assert optimal_gain(mdp).gain == pytest.approx(gain_by_linear_program(mdp).gain, abs=1e-8)


@pytest.mark.parametrize("e", [0.0005, 1e-3, 1e-4, 3e-5, 2e-6])
def test_a_loop_that_ties_with_leaving_does_not_make_policies_circle(e):
    """Found by a reviewer: a tie within the rounding of a large bias sent policy iteration round for ever."""
    mdp = dm.Mdp(
        dm.Space([3, 2, 1]),
        np.array([0.0, -1, -1, 2, 1, 4 - 5 * e]),
        np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [1 - e, e, 0]], dtype=float),
    )
    found = dm.planning.optimal_gain(mdp)
    assert found.gain == pytest.approx(dm.planning.gain_by_linear_program(mdp).gain, abs=1e-7)

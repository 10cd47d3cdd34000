"""The unit of the rewards does not matter: planning answers in any unit, and never with infinity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp import planning
from driftmdp.errors import InvalidInputError
from driftmdp.planning.reward_scale import unit_exponent
from tests.strategies import communicating_mdps, drifting_mdps

FACTORS = st.floats(-9.0, 9.0).map(lambda power: 10.0**power)
NEAR = 1e-6


def times(mdp, factor, shift=0.0):
    return dm.Mdp(mdp.space, factor * mdp.rewards + shift, mdp.transitions)


def stretched(world, factor):
    anchors = [times(anchor, factor) for anchor in world.anchors]
    own = None if world.rewards_follow_transitions else world.reward_weights.matrix
    return dm.DriftingMdp(anchors, world.weights.matrix, own)


def plan(mdp, precision):
    balls = np.full(mdp.space.n_pairs, 0.3)
    return planning.extended_value_iteration(mdp.space, mdp.rewards, mdp.transitions, balls, precision)


def test_rewards_of_a_billionth_have_gains_of_a_billionth():
    world = dm.problems.two_state(horizon=50).drifting
    small = planning.gain_path(stretched(world, 1e-9))
    np.testing.assert_allclose(1e9 * small.gains, planning.gain_path(world).gains, rtol=1e-6)
    assert small.residuals.max() <= 1e-17
    mdp = dm.problems.river_swim().drifting.at(1)
    assert planning.optimal_gain(times(mdp, 1e-9)).gain == pytest.approx(1e-9 * 0.4286219, rel=1e-6)


def test_rare_ways_out_are_told_from_rounding_in_any_unit():
    """Two actions differ by a millionth of the rewards: at rewards of 1e-9 a margin of 1e-14 made them equal."""
    rare = 1e-6
    ways = [[0, 1, 0], [1, 0, 0], [0, 1 - rare, rare], [rare, 0, 1 - rare], [rare, 0, 1 - rare], [0, 0.5, 0.5]]
    for factor in (1.0, 1e-9, 1e-12):
        mdp = dm.Mdp(dm.Space.uniform(3, 2), factor * np.array([0.0, -2, -1, 1, 1, 1]), ways)
        found = planning.gain_path(dm.DriftingMdp.stationary(mdp, 2)).gains[0]
        assert found == pytest.approx(factor, rel=1e-5)


@given(communicating_mdps(), FACTORS)
def test_one_gain_scales_with_the_rewards(mdp, factor):
    size, other = np.abs(mdp.rewards).max(), times(mdp, factor)
    best, sized = planning.optimal_gain(mdp), planning.optimal_gain(other)
    assert abs(sized.gain / factor - best.gain) <= NEAR * size
    assert sized.residual <= 1e-6 * factor * size
    worth = planning.policy_gain(other, sized.policy) / factor
    assert (worth >= best.gain - NEAR * size).all()


@given(drifting_mdps(), FACTORS)
def test_gains_and_totals_along_a_world_scale_with_the_rewards(world, factor):
    size, other = max(map(abs, dm.mdp.problem.mean_reward_range(world))), stretched(world, factor)
    for ask in (planning.optimal_gains, lambda w: planning.plan_finite_horizon(w).values):
        np.testing.assert_allclose(ask(other) / factor, ask(world), rtol=0, atol=NEAR * size * world.horizon)


@given(communicating_mdps(), FACTORS)
def test_linear_programs_scale_with_the_rewards(mdp, factor):
    size = np.abs(mdp.rewards).max()
    if mdp.transitions.data.min() < 1e-3:
        return
    for form in ("primal", "dual"):
        found = planning.gain_by_linear_program(times(mdp, factor), form)
        assert abs(found.gain / factor - planning.optimal_gain(mdp).gain) <= NEAR * size
        assert np.ptp(found.bias) >= 0


@given(communicating_mdps(), FACTORS)
def test_optimistic_plans_scale_with_rewards_and_precision(mdp, factor):
    best, sized = plan(mdp, 1e-6), plan(times(mdp, factor), 1e-6 * factor)
    assert abs(sized.gain / factor - best.gain) <= 2e-6
    optimistic = dm.Mdp(mdp.space, sized.rewards, sized.transitions)
    # The certificate: the policy is within the residual of the best, in the unit of the rewards.
    worth = planning.policy_gain(optimistic, sized.policy).max()
    assert worth >= sized.gain - sized.residual - 1e-8 * factor


@given(communicating_mdps(), st.integers(-400, 900))
def test_a_power_of_two_changes_no_digit(mdp, power):
    base = times(mdp, 2.0**-60)
    other = times(mdp, 2.0**power) if not -30 < power < 40 else times(mdp, 2.0**-70)
    factor = other.rewards[0] / base.rewards[0] if base.rewards[0] else 1.0
    if base.rewards[0]:
        one, two = planning.optimal_gain(base, tolerance=0.1), planning.optimal_gain(other, tolerance=0.1 * factor)
        assert two.gain == one.gain * factor
        assert np.array_equal(one.policy, two.policy)


@given(communicating_mdps(), st.floats(-1e6, 1e6))
def test_gains_shift_with_the_rewards(mdp, shift):
    moved = planning.optimal_gain(times(mdp, 1.0, shift)).gain
    assert abs(moved - shift - planning.optimal_gain(mdp).gain) <= 1e-8 * np.ptp(mdp.rewards) + 1e-12 * abs(shift)


@given(st.floats(1e-3, 1e6))
def test_usual_rewards_are_left_alone(size):
    assert unit_exponent([0.0, -size]) == 0
    assert unit_exponent([0.0]) == 0


def test_a_tolerance_is_in_the_unit_of_the_rewards():
    mdp = times(dm.problems.river_swim().drifting.at(1), 1e-9)
    assert planning.optimal_gain(mdp, tolerance=1e-15).residual <= 2e-15
    assert planning.optimal_gain(mdp, tolerance=1.0).residual <= 1e-9
    world = dm.DriftingMdp.stationary(mdp, 3)
    assert planning.gain_path(world, tolerance=1e-15).residuals.max() <= 2e-15


SWITCH = dm.Mdp(dm.Space([2, 1]), [0.0, 0.5, 1.0], [[1, 0], [0, 1], [1, 0]])
ENTRIES = {
    "optimal_gain": lambda mdp: planning.optimal_gain(mdp).gain,
    "optimal_gains": lambda mdp: planning.optimal_gains(dm.DriftingMdp.stationary(mdp, 2)),
    "gain_path": lambda mdp: planning.gain_path(dm.DriftingMdp.stationary(mdp, 2)).gains,
    "policy_gain": lambda mdp: planning.policy_gain(mdp, [1, 0]),
    "primal": lambda mdp: planning.gain_by_linear_program(mdp).gain,
    "dual": lambda mdp: planning.gain_by_linear_program(mdp, "dual").gain,
    "best_total_reward": lambda mdp: planning.best_total_reward(dm.DriftingMdp.stationary(mdp, 2)),
    "plan_finite_horizon": lambda mdp: planning.plan_finite_horizon(dm.DriftingMdp.stationary(mdp, 2)).values,
    "total_reward": lambda mdp: planning.total_reward(dm.DriftingMdp.stationary(mdp, 2), [1, 0]),
    "optimistic": lambda mdp: plan(mdp, 1e-10 * np.abs(mdp.rewards).max()).gain,
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("size", [1.1e300, 1e308, -1.7e308, 1e-301, -5e-324])
def test_rewards_that_doubles_have_no_room_for_are_refused(entry, size):
    with pytest.raises(ValueError, match=r"must be (at most|0 or at least) 1e.* in size"):
        ENTRIES[entry](times(SWITCH, size))


@pytest.mark.parametrize("entry", [name for name in ENTRIES if name != "optimistic"])
@pytest.mark.parametrize("size", [1e151, -1e200, 1e300, 1e-151, 1e-299])
def test_very_large_and_very_small_rewards_are_planned_with(entry, size):
    answer, base = ENTRIES[entry](times(SWITCH, size)), ENTRIES[entry](times(SWITCH, np.sign(size)))
    np.testing.assert_allclose(np.asarray(answer) / abs(size), base, atol=1e-9)


@pytest.mark.parametrize("size", [-1e149, 1e100, 1e-151, 1e-299])
def test_very_large_and_very_small_rewards_have_optimistic_plans(size):
    answer, base = (ENTRIES["optimistic"](times(SWITCH, factor)) for factor in (size, np.sign(size)))
    assert answer / abs(size) == pytest.approx(base, abs=1e-9)


def test_a_bias_that_would_be_infinite_gets_a_sentence():
    slow = dm.Mdp.from_dense([[0.0], [1e300]], [[[1 - 1e-9, 1e-9]], [[1e-9, 1 - 1e-9]]])
    with pytest.raises(InvalidInputError, match="the bias would be infinite"):
        planning.optimal_gain(slow)


def test_totals_that_would_be_infinite_get_a_sentence():
    heap = dm.DriftingMdp([times(SWITCH, 1e300)], [0] * 4, np.full((4, 1), 1.0))
    with pytest.raises(InvalidInputError, match="rewards must be at most 1e"):
        planning.best_total_reward(dm.DriftingMdp([times(SWITCH, 1e300)], [0] * 4, np.full((4, 1), 1e7)))
    assert np.isfinite(planning.best_total_reward(heap))


def test_reward_weights_that_overflow_are_refused():
    with pytest.raises(InvalidInputError, match="reward_weights must keep every r_t finite"):
        dm.DriftingMdp([times(SWITCH, 1e200)], [0], [[1e200]])

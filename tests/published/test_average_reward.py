"""Published answers of average-reward MDPs."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.planning import gain_by_linear_program, optimal_gain, policy_gain

TAXI_SUCCESSORS = [
    [[1 / 2, 1 / 4, 1 / 4], [1 / 16, 3 / 4, 3 / 16], [1 / 4, 1 / 8, 5 / 8]],
    [[1 / 2, 0, 1 / 2], [1 / 16, 7 / 8, 1 / 16]],
    [[1 / 4, 1 / 4, 1 / 2], [1 / 8, 3 / 4, 1 / 8], [3 / 4, 1 / 16, 3 / 16]],
]
TAXI_FARES = [
    [[10, 4, 8], [8, 2, 4], [4, 6, 4]],
    [[14, 0, 18], [8, 16, 8]],
    [[10, 2, 8], [6, 4, 2], [4, 0, 8]],
]


@pytest.fixture
def taxi() -> dm.Mdp:
    """Howard's taxi driver in three towns: cruise, wait at a stand, or take radio calls [H60, ch. 5]."""
    rows = [np.array(row) for state in TAXI_SUCCESSORS for row in state]
    fares = [np.array(row) for state in TAXI_FARES for row in state]
    return dm.Mdp(dm.Space([3, 2, 3]), [p @ f for p, f in zip(rows, fares, strict=True)], np.array(rows))


def test_the_taxi_driver_waits_at_the_stand(taxi):
    """Optimal: action 2 everywhere, gain 13.34 [H60]."""
    found = optimal_gain(taxi)
    assert found.policy.tolist() == [1, 1, 1]
    assert found.gain == pytest.approx(13.34, abs=0.005)
    assert found.gain == pytest.approx(gain_by_linear_program(taxi).gain)


def test_the_taxi_drivers_first_policy_earns_9_2(taxi):
    """The policy iteration in [H60] starts from the largest immediate fares, action 1, with gain 9.2."""
    np.testing.assert_allclose(policy_gain(taxi, [0, 0, 0]), 9.2, atol=1e-9)


def test_the_toy_maker():
    """Howard's toy maker: gain 1 without, 2 with advertising and research [H60, ch. 4]."""
    mdp = dm.Mdp.from_dense([[6, 4], [-3, -5]], [[[0.5, 0.5], [0.8, 0.2]], [[0.4, 0.6], [0.7, 0.3]]])
    np.testing.assert_allclose(policy_gain(mdp, [0, 0]), 1.0)
    found = optimal_gain(mdp)
    assert found.gain == pytest.approx(2.0)
    assert found.policy.tolist() == [1, 1]
    assert found.bias[0] - found.bias[1] == pytest.approx(10.0)  # the relative value in [H60]


def test_river_swim_of_six_states():
    """The optimal gain of the usual RiverSwim is 0.43 in the field's papers; exactly 3601.5 / 8402.5."""
    assert optimal_gain(dm.problems.river_swim().drifting.at(1)).gain == pytest.approx(3601.5 / 8402.5)


def test_the_papers_oracle_collects_7315():
    """PAPER_NOTES and issue 8: 7,315 is available in the paper's low-variation case."""
    gains = dm.planning.optimal_gains(dm.problems.two_state().drifting)
    assert gains.sum() == pytest.approx(7315, abs=0.5)

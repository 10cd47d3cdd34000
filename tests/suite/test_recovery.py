"""Recovery after a change: losses of steps, and the steps until an agent is near the new optimum."""

import numpy as np
import pytest
from benchmarks.recovery import Regime, chosen_agents, phases_of, recoveries, steps_until, table

import driftmdp as dm

BETTER, WORSE = [0.0, 1.0], [1.0, 0.0]


@pytest.fixture(scope="module")
def problem():
    """Return two arms that change places twice, and back to the first."""
    first, second = (dm.Mdp(dm.Space.uniform(1, 2), rewards, [[1.0], [1.0]]) for rewards in (BETTER, WORSE))
    return dm.Problem(dm.DriftingMdp.piecewise([first, second, first], [1001, 2001], horizon=3000))


def test_the_mean_loss_of_a_policy_is_what_its_gain_lacks():
    mdp = dm.problems.garnet(n_states=6, horizon=10).drifting.at(1)
    regime, space = Regime.of(mdp), mdp.space
    best = dm.planning.optimal_gain(mdp)
    policy = (best.policy + 1) % 4
    [often] = dm.planning.stationary_distributions(mdp, policy)
    gain = dm.planning.policy_gain(mdp, policy)[0]
    assert often @ regime.losses[space.offsets[:-1] + policy] == pytest.approx(best.gain - gain)
    assert regime.losses[space.offsets[:-1] + best.policy] == pytest.approx(0.0, abs=1e-9)
    assert regime.losses.min() > -1e-9
    assert regime.is_solved_by(best.policy)


def test_phases_are_those_after_a_change(problem):
    phases = phases_of(problem)
    assert [(phase.first, phase.end, phase.matters) for phase in phases] == [(1000, 2000, True), (2000, 3000, True)]
    assert [phase.regime.losses.tolist() for phase in phases] == [[0.0, 1.0], [1.0, 0.0]]
    assert [phase.regime.random_loss for phase in phases] == [0.5, 0.5]


def test_who_never_changes_is_never_there_and_pays_twice_for_random_play(problem):
    found = recoveries(problem, "arms", chosen_agents(["FixedPolicy(policy=[1])", "Random"]), seeds=[0, 1])
    assert [(one.steps, one.is_never, one.cost) for one in found[:2]] == [(1000, True, 2000.0), (0, False, 0.0)]
    assert all(one.is_never and one.cost == pytest.approx(1000, rel=0.1) for one in found[2:])
    assert "| 500 [500, 500] | 1 of 2 | 1,000 [1,000, 1,000] |" in table(found, is_noisy=False)


def test_the_first_window_near_enough_counts():
    assert steps_until(np.repeat([1.0, 0.0], 50), 0.1, window=20) == (48, False)
    assert steps_until(np.full(5, 0.05), 0.1) == (0, False)

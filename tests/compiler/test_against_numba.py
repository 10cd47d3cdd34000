"""numba as a second oracle: the same sources, compiled by either, give the same bits."""

import copy

import numpy as np
import pytest

import driftmdp as dm
from driftmdp import kernels
from driftmdp.compiled_agents import _by_numba
from tests.compiler.comparing import matches
from tests.compiler.test_language import CASES

# numba has no minus of a bool and no tuple of None, and LLVM makes roots and squares of its powers.
DIFFERENT = {"booleans", "tuples_of_nothing", "powers", "real_powers"}


@pytest.fixture
def compared(monkeypatch):
    """Replace a kernel by one that numba repeats, and that counts its calls."""

    def replace(module, name):
        ours = getattr(module, name)
        numbas, calls = _by_numba(ours), []

        def both(*arguments):
            for_numba = copy.deepcopy(arguments)
            found, expected = ours(*arguments), numbas(*for_numba)
            assert matches(found, expected), f"{ours}: {found!r}, but numba has {expected!r}"
            assert matches(arguments, for_numba), f"{ours} leaves its arguments in another state than numba"
            calls.append(found)
            return found

        monkeypatch.setattr(module, name, both)
        return calls

    return replace


def test_random_numbers(compared):
    calls = compared(kernels.posterior, "gamma")
    state = np.random.default_rng(3).integers(0, 2**64, 4, dtype=np.uint64)
    for shape in np.linspace(1.0, 20.0, 300).tolist():
        kernels.posterior.gamma(state, shape)
    assert len(set(calls)) == 300


def test_linear_equations(compared):
    calls = compared(kernels.policy_iteration, "solve_dense")
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 40):
        kernels.policy_iteration.solve_dense(rng.normal(size=(n, n)), rng.normal(size=n))
    assert len(calls) == 4


@pytest.mark.slow
def test_optimists(compared):
    calls = compared(kernels.optimist, "play")
    for problem in (dm.problems.two_state(horizon=500), dm.problems.river_swim(horizon=500)):
        for settings in ({}, {"planner": "fast"}, {"scale": 0.05}):
            dm.simulate(dm.agents.SWUCRL2CW.for_problem(problem, **settings), problem, seed=1)
    assert len(calls) >= 6


@pytest.mark.slow
def test_posterior_sampling(compared):
    calls = compared(kernels.posterior, "play")
    problem = dm.problems.river_swim(horizon=500)
    dm.simulate(dm.agents.PSRL.for_problem(problem), problem, seed=1)
    assert calls


@pytest.mark.slow
def test_optimal_gains(compared):
    calls = compared(kernels.gain, "solve_along")
    for problem in (dm.problems.two_state(horizon=300), dm.problems.river_swim(horizon=300)):
        dm.planning.optimal_gains(problem.drifting)
    assert calls


@pytest.mark.slow
@pytest.mark.parametrize(("made", "inputs"), [case for case in CASES if case.id not in DIFFERENT])
def test_the_language(made, inputs):
    numbas = _by_numba(made)
    for arguments in inputs:
        ours, for_numba = copy.deepcopy(arguments), copy.deepcopy(arguments)
        found, expected = made(*ours), numbas(*for_numba)
        assert matches(found, expected), f"{made}{arguments}: {found!r}, but numba has {expected!r}"
        assert matches(ours, for_numba)

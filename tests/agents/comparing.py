"""One agent against its plain transcription: the same states, actions, rewards, plans and sweeps."""

import numpy as np

import driftmdp as dm
from tests.agents.worlds import world_draws
from tests.reference.simulation import simulate as reference_simulate


def compare(agent, oracle, problem, seed):
    run = dm.simulate(agent, problem, seed)
    states, actions, rewards, means = reference_simulate(oracle, problem, world_draws(problem, seed))
    wrong = np.flatnonzero(run.actions != np.array(actions))
    assert wrong.size == 0, f"first other action at t={wrong[0] + 1}"
    assert run.states.tolist() == list(states)[: run.horizon]
    np.testing.assert_allclose(run.rewards, rewards, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.mean_rewards, means, rtol=0, atol=1e-12)
    assert run.episode_starts.tolist() == list(oracle.episode_starts)
    assert run.sweeps.tolist() == list(oracle.sweeps)
    return run

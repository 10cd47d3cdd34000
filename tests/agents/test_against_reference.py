"""With planner="paper", every agent takes the actions of its plain transcription in tests/reference."""

import pytest

import driftmdp as dm
from tests.agents.comparing import compare
from tests.agents.worlds import agent_rng, random_problem
from tests.reference import optimists as reference

T = 120
SCALES = (1.0, 0.3, 0.1)
WINDOWS = (1, 2, 7, T, T + 50)
NOISES = ("none", "bernoulli", "gaussian(0.2)", "anchor")


def settings(problem, seed, scale, raw):
    ties = "first" if seed % 4 == 3 else "least-visited"
    return {
        "reward_range": None if raw else problem.reward_range,
        "scale": scale,
        "ties": ties,
        "delta": None if seed % 2 else 0.05,
    }


def problem_for(seed, n_states=None):
    return random_problem(seed, T, n_states, NOISES[seed % len(NOISES)])


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("window", WINDOWS)
def test_swucrl2_cw(window, scale, raw):
    informative = 0
    for seed in range(6):
        problem = problem_for(seed, 1 if seed == 5 else None)
        common = settings(problem, seed, scale, raw)
        widening = (0.0, 0.1, 0.5)[seed % 3]
        agent = dm.agents.SWUCRL2CW(problem.space, T, window, widening, **common)
        oracle = reference.SWUCRL2CW(problem.space.n_actions.tolist(), T, window, widening, **common)
        informative += compare(agent, oracle, problem, seed).vacuous_share < 1
    assert informative or scale > 0.1 or window < 7


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", ["SlidingWindowUCRL2", "SWUCRL"])
def test_windows(name, window, scale):
    for seed in range(10, 14):
        problem = problem_for(seed)
        common = settings(problem, seed, scale, seed % 2)
        agent = getattr(dm.agents, name)(problem.space, T, window, **common)
        oracle = getattr(reference, name)(problem.space.n_actions.tolist(), T, window, **common)
        compare(agent, oracle, problem, seed)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("radii", ["jaksch", "paper"])
def test_ucrl2(radii, scale):
    for seed in range(20, 28):
        problem = problem_for(seed, 1 if seed == 20 else None)
        common = settings(problem, seed, scale, seed % 2) | {"radii": radii}
        agent = dm.agents.UCRL2(problem.space, T, **common)
        compare(agent, reference.UCRL2(problem.space.n_actions.tolist(), T, **common), problem, seed)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "restarts", [{"period": 1}, {"period": 13}, {"period": 500}, {"changes": 1}, {"changes": 5}]
)
def test_ucrl2_s(restarts, scale):
    for seed in range(30, 34):
        problem = problem_for(seed)
        common = settings(problem, seed, scale, seed % 2) | restarts
        agent = dm.agents.UCRL2S(problem.space, T, **common)
        compare(agent, reference.UCRL2S(problem.space.n_actions.tolist(), T, **common), problem, seed)


@pytest.mark.parametrize("scale", SCALES)
def test_variation_aware_ucrl(scale):
    for seed in range(40, 48):
        problem = problem_for(seed)
        common = settings(problem, seed, scale, seed % 2)
        variation = problem.drifting.variation()
        shrink = 0.03 if seed % 3 else 0.0  # so that phases are longer than a step; 0: one phase
        steps = [shrink * variation.reward_steps, shrink * variation.transition_steps]
        agent = dm.agents.VariationAwareUCRL(problem.space, T, *steps, **common)
        lists = [step.tolist() for step in steps]
        oracle = reference.VariationAwareUCRL(problem.space.n_actions.tolist(), T, *lists, **common)
        compare(agent, oracle, problem, seed)


@pytest.mark.parametrize("scale", [*SCALES, 0.03])
def test_ucrl2b(scale):
    for seed in range(50, 60):
        problem = problem_for(seed, 1 if seed == 50 else None)
        common = settings(problem, seed, scale, seed % 2)
        agent = dm.agents.UCRL2B(problem.space, T, **common)
        compare(agent, reference.UCRL2B(problem.space.n_actions.tolist(), T, **common), problem, seed)


@pytest.mark.parametrize("scale", [0.3, 0.03])
@pytest.mark.parametrize("name", ["UCRL2", "UCRL2B"])
def test_vanishing_episodes(name, scale):
    for seed in range(150, 155):
        problem = problem_for(seed, 1 if seed == 150 else None)
        common = settings(problem, seed, scale, seed % 2)
        agent = getattr(dm.agents, name)(problem.space, T, episodes="vanishing", **common)
        oracle = getattr(reference, f"Vanishing{name}")(problem.space.n_actions.tolist(), T, **common)
        compare(agent, oracle, problem, seed)
        live = dm.simulate(agent, problem, seed, compiled=False)
        assert live.episode_starts.tolist() == list(oracle.episode_starts)
        doubling = dm.simulate(getattr(dm.agents, name)(problem.space, T, **common), problem, seed)
        assert len(oracle.episode_starts) > doubling.episode_starts.size


@pytest.mark.parametrize("every", [None, 11])
def test_vanishing_episodes_after_restarts(every):
    period, schedule = 37, dm.agents.VanishingMultiplicative(every)
    memory = dm.agents.SinceRestart(range(1, T + 1, period))
    for seed in range(156, 159):
        problem = problem_for(seed)
        radii, reading = dm.agents.JakschRadii(0.05, 0.1), {"reward_range": problem.reward_range}
        agent = dm.agents.Optimist(problem.space, T, memory, radii, schedule, **reading)
        given = {"every": every, "period": period, "delta": 0.05, "scale": 0.1} | reading
        compare(agent, reference.VanishingUCRL2S(problem.space.n_actions.tolist(), T, **given), problem, seed)


def test_yardsticks():
    for seed in range(60, 64):
        problem = problem_for(seed)
        counts = problem.space.n_actions.tolist()
        compare(dm.agents.Random(problem.space), reference.Random(counts, T, agent_rng(seed)), problem, seed)
        policy = [count - 1 for count in counts]
        compare(
            dm.agents.FixedPolicy(problem.space, policy), reference.FixedPolicy(counts, T, policy), problem, seed
        )
        path = dm.planning.gain_path(problem.drifting)
        policies = [path.policy(t).tolist() for t in range(1, T + 1)]
        compare(dm.agents.Oracle.for_problem(problem), reference.Oracle(counts, T, policies), problem, seed)


@pytest.mark.parametrize("n_states", [5, 8])
def test_larger_worlds(n_states):
    for seed in range(70, 72):
        problem = random_problem(seed, 400, n_states)
        common = {"reward_range": problem.reward_range, "scale": 0.1}
        counts = problem.space.n_actions.tolist()
        agent = dm.agents.SWUCRL2CW(problem.space, 400, 60, 0.05, **common)
        compare(agent, reference.SWUCRL2CW(counts, 400, 60, 0.05, **common), problem, seed)
        agent = dm.agents.UCRL2B(problem.space, 400, **common)
        compare(agent, reference.UCRL2B(counts, 400, **common), problem, seed)


@pytest.mark.parametrize("seed", range(4))
def test_a_window_longer_than_the_run_without_widening_is_ucrl2_with_the_same_radii(seed):
    problem = random_problem(seed, 500)
    common = {"scale": 0.1}
    one = dm.agents.SWUCRL2CW.for_problem(problem, window=problem.horizon + 1, widening=0.0, **common)
    other = dm.agents.UCRL2.for_problem(problem, radii="paper", **common)
    run, fresh = dm.simulate(one, problem, seed), dm.simulate(other, problem, seed)
    assert run.actions.tolist() == fresh.actions.tolist()
    assert run.episode_starts.tolist() == fresh.episode_starts.tolist()

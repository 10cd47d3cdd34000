"""BORL is its transcription in tests/reference, block by block; its extremes work; its summary is true."""

import json
import math
import warnings

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import ClippedGammaWarning, InvalidInputError
from tests.agents.comparing import compare
from tests.agents.worlds import agent_rng, random_problem, world_draws
from tests.reference import borl as reference

NOISES = ("none", "bernoulli", "gaussian(0.2)", "anchor")
TWO = dm.Space.uniform(2, 2)


def pair(problem, seed, **options):
    """Return BORL and its oracle with the same settings and the same draws."""
    agent = dm.agents.BORL.for_problem(problem, **options)
    common = options | {"reward_range": agent.reward_range, "feedback_range": agent.feedback_range}
    return agent, reference.BORL(problem.space.n_actions.tolist(), problem.horizon, rng=agent_rng(seed), **common)


def play(agent, reward, steps):
    """Give the same reward for so many steps."""
    for _ in range(steps):
        agent.act(0)
        agent.observe(reward, 0)


@pytest.mark.parametrize("mode", ["paper", "bounded"])
@pytest.mark.parametrize("master", ["exp3p", "exp3"])
@pytest.mark.parametrize("raw", [False, True])
def test_it_is_its_transcription(raw, master, mode):
    learned = 0
    for seed in range(6):
        n_states = 1 if seed == 5 else 2
        problem = random_problem(seed, 400, n_states, NOISES[seed % 4])
        options = {"master": master, "mode": mode, "scale": (1.0, 0.3, 0.1)[seed % 3]}
        options |= {"reward_range": None} if raw else {}
        options |= {"ties": "first"} if seed % 2 else {"delta": 0.05}
        agent, oracle = pair(problem, seed, **options)
        summary = compare(agent, oracle, problem, seed).summary
        assert summary.chosen.tolist() == oracle.chosen
        np.testing.assert_allclose(summary.feedback, oracle.block_rewards, rtol=0, atol=1e-12)
        np.testing.assert_allclose(summary.probabilities, oracle.probabilities_by_block, rtol=0, atol=1e-12)
        learned += np.ptp(summary.probabilities[-1]) > 1e-6
    assert learned if mode == "bounded" else not learned  # at this horizon the paper's gamma is 1: uniform


def test_the_papers_problem_step_for_step():
    problem = dm.problems.two_state(horizon=1500)
    for scale in (1.0, 0.1):
        agent, oracle = pair(problem, 3, mode="bounded", scale=scale)
        compare(agent, oracle, problem, 3)


@pytest.mark.parametrize("mode", ["paper", "bounded"])
def test_line_6_to_the_letter_is_its_transcription(mode):
    drawn = set()
    for seed, scale in enumerate((1.0, 0.1, 0.1)):
        problem = random_problem(seed, 400, 1 if seed == 2 else 2)
        agent, oracle = pair(problem, seed, mode=mode, scale=scale, arms="printed")
        summary = compare(agent, oracle, problem, seed).summary
        assert summary.chosen.tolist() == oracle.chosen
        np.testing.assert_allclose(summary.probabilities, oracle.probabilities_by_block, rtol=0, atol=1e-12)
        drawn |= {widening for _, widening in summary.chosen_arms}
    assert drawn == {0.0, 1.0}


def test_line_6_to_the_letter_has_arms_several_times():
    plan = dm.agents.BORL.schedule(TWO, 5000, arms="printed")
    corrected = dm.agents.BORL.schedule(TWO, 5000)
    assert plan.widenings == (1.0, 0.0, 0.0, 0.0, 0.0)
    assert (plan.n_arms, len(set(plan.arms)), plan.gamma) == (35, 14, corrected.gamma)
    agent = dm.agents.BORL(TWO, 5000, mode="bounded", arms="printed", seed=1)
    play(agent, 0.5, 500)
    assert str(agent.summary()).startswith("EXP3.P over 35 arms (window, widening, 14 of them distinct), gamma 0.5")
    assert "distinct" not in str(dm.agents.BORL(TWO, 5000, mode="bounded").summary())


def test_one_step_has_one_widening_as_printed_too():
    assert dm.agents.BORL.schedule(dm.Space.uniform(1, 1), 1, arms="printed").widenings == (1.0,)


def test_the_printed_arms_are_kept_in_a_snapshot(tmp_path):
    agent = dm.agents.BORL(TWO, 500, mode="bounded", arms="printed", seed=3)
    play(agent, 0.5, 120)
    agent.save(tmp_path / "printed.npz")
    loaded = dm.agents.load(tmp_path / "printed.npz")
    assert loaded.arms == "printed"
    for again in (agent, loaded):
        play(again, 0.5, 380)
    assert str(loaded.summary()) == str(agent.summary())


def test_a_snapshot_from_before_the_parameter_is_read(tmp_path):
    """At its default the parameter is not written, so the file is as it was when there was none."""
    agent = dm.agents.BORL(TWO, 500, mode="bounded", seed=3)
    assert "arms" not in agent.parameters
    agent.save(tmp_path / "before.npz")
    with np.load(tmp_path / "before.npz") as file:
        assert list(json.loads(str(file["header"]))["parameters"]) == [
            *("space", "horizon", "reward_range", "feedback_range", "master", "mode"),
            *("delta", "scale", "planner", "ties", "seed"),
        ]
    assert dm.agents.load(tmp_path / "before.npz").arms == "corrected"


def test_the_schedule_of_the_papers_problem():
    plan = dm.agents.BORL.schedule(TWO, 5000)
    assert (plan.block_length, plan.n_arms, plan.n_blocks, round(plan.gamma, 2)) == (476, 35, 11, 3.53)
    assert plan.arms == tuple((window, widening) for window in plan.windows for widening in plan.widenings)


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("n_states", [1, 2, 4])
def test_extremes(n_states, horizon):
    """T = 1 and 2, one state, and blocks longer than the horizon."""
    problem = random_problem(n_states, horizon, n_states)
    agent, oracle = pair(problem, 1)
    assert n_states > 1 or dm.agents.BORL.schedule(problem.space, 1).block_length > 1
    run = compare(agent, oracle, problem, 1)
    assert run.summary.feedback.size == math.ceil(horizon / run.summary.block_length)


def test_one_action_and_one_state():
    problem = dm.Problem(dm.DriftingMdp.stationary(dm.Mdp(dm.Space.uniform(1, 1), [0.5], [[1.0]]), 20))
    run = dm.simulate(dm.agents.BORL.for_problem(problem), problem, 0)
    assert run.actions.tolist() == [0] * 20


def test_a_shorter_problem_ends_within_a_block():
    problem = random_problem(1, 100, 2)
    agent = dm.agents.BORL(problem.space, 5000, reward_range=problem.reward_range)
    summary = dm.simulate(agent, problem, 0).summary
    assert (summary.chosen.size, summary.feedback.size) == (1, 0)


def test_the_summary_says_what_was_chosen():
    problem = dm.problems.two_state(horizon=5000)
    with pytest.warns(ClippedGammaWarning, match=r"gamma of BORL is 3.53 for 35 arms and 11 rounds"):
        agent = dm.agents.BORL.for_problem(problem)
    run = dm.simulate(agent, problem, seed=7)
    summary = run.summary
    assert (summary.gamma, round(summary.formula_gamma, 2), summary.clipped) == (1.0, 3.53, True)
    assert summary.starts.tolist() == [1 + 476 * block for block in range(11)]
    np.testing.assert_allclose(summary.probabilities, 1 / 35, rtol=1e-12)
    assert summary.chosen_arms == tuple(agent.schedule(TWO, 5000).arms[arm] for arm in summary.chosen)
    units = (run.rewards[:476] - problem.reward_range[0]) / np.ptp(problem.reward_range)
    assert summary.feedback[0] == pytest.approx(units.sum() / 476)
    assert "clipped from 3.53 (every arm as likely)" in str(summary)
    assert len(str(summary).splitlines()) == 3 + 11
    assert str(summary).endswith("(240 steps)")
    assert summary.sizes.sum() == 5000


def test_the_warning_comes_once_for_an_agent():
    problem = dm.problems.two_state(horizon=500)
    with pytest.warns(ClippedGammaWarning) as said:
        agent = dm.agents.BORL.for_problem(problem)
    assert [warning.filename for warning in said] == [__file__]  # the user's line, not the library's
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClippedGammaWarning)
        dm.simulate(agent, problem, seed=1)
        agent.reset()
        agent.copy().act(0)


def test_nothing_is_said_of_parameters_that_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidInputError, match="planner must be one of"):
            dm.agents.BORL(TWO, 100, planner="quick")


def test_rewards_outside_the_range_at_the_end_of_a_block():
    """A restart forgets the pair whose range would be doubted; that must not disturb the agent."""
    agent = dm.agents.BORL(TWO, 500, reward_range=(0.0, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(agent, 1.5, 500)
    assert (agent.summary().feedback[:-1] == 1.0).all()


def test_feedback_far_outside_its_range_is_said_once():
    agent = dm.agents.BORL(TWO, 500, reward_range=None, feedback_range=(-5.0, 5.0))
    match = r"mean reward of block 1 is 50, far outside the range of its master \(-5, 5\)"
    with pytest.warns(UserWarning, match=match) as said:
        play(agent, 50.0, 500)
    assert len(said) == 1


@pytest.mark.parametrize("seed", range(8))
def test_a_warning_that_is_an_error_leaves_a_whole_step(seed):
    """Every block ends in a doubt that raises; the agent must go on as the one that was not disturbed."""
    ranges = {"reward_range": None, "feedback_range": (0.0, 1.0)}
    agent = dm.agents.BORL(TWO, 400, seed=seed, **ranges)
    undisturbed = dm.agents.BORL(TWO, 400, seed=seed, **ranges)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in range(400):
            agent._range_monitor.warned = frozenset()
            assert agent.act(t % 2) == undisturbed.act(t % 2)
            try:
                agent.observe(50.0, (t + 1) % 2)
            except UserWarning:
                assert agent.t > 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                undisturbed.observe(50.0, (t + 1) % 2)
            assert agent.t == undisturbed.t == t + 2
    assert str(agent.summary()) == str(undisturbed.summary())


def test_the_window_and_the_widening_in_force():
    problem = random_problem(3, 400, 2)
    agent = dm.agents.BORL.for_problem(problem)
    state, draws = problem.start, world_draws(problem, 1)
    for t in range(1, 401):
        action = agent.act(state)
        assert (agent.window, agent.widening) == agent.summary().chosen_arms[-1]
        assert agent.explain(state).widening == agent.widening
        sample = problem.sample(t, state, action, draws)
        agent.observe(sample.reward, sample.next_state)
        state = sample.next_state


def test_bounded_keeps_the_conditions_of_exp3p():
    problem = dm.problems.two_state(horizon=5000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = dm.agents.BORL.for_problem(problem, mode="bounded")
    params = agent._blocks.params
    assert params.mixing == 0.5
    assert (1 + params.bonus) * 35 * params.rate <= params.mixing * (1 + 1e-12)


def test_raw_rewards_need_a_feedback_range():
    with pytest.raises(InvalidInputError, match="feedback_range must be two finite numbers"):
        dm.agents.BORL(TWO, 100, reward_range=None)
    assert dm.agents.BORL.for_problem(random_problem(1, 50), reward_range=None).feedback_range is not None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"master": "exp3-p"}, "Did you mean 'exp3p'"),
        ({"mode": "bound"}, "Did you mean 'bounded'"),
        ({"arms": "print"}, "arms must be one of 'corrected', 'printed'; got 'print'"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"space": 2}, "space must be a Space"),
        ({"feedback_range": (1.0, 0.0)}, "feedback_range must be two finite numbers"),
        ({"master": "EXP3.P"}, "Did you mean 'exp3p'"),
        ({"scale": 0.0}, "scale must be positive"),
    ],
)
def test_wrong_parameters_get_one_sentence(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        dm.agents.BORL(**{"space": TWO, "horizon": 100} | parameters)


def test_a_feedback_range_that_is_too_small_is_refused():
    problem = dm.problems.two_state(horizon=100)
    agent = dm.agents.BORL(TWO, 100, reward_range=None, feedback_range=(0.0, 0.5))
    with pytest.raises(InvalidInputError, match="feedback_range must contain the problem's"):
        dm.simulate(agent, problem, 0)

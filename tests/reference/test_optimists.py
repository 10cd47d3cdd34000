"""The optimists' oracle itself: linear programs, the properties of EVI, and episodes counted by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

import driftmdp
from tests.reference import gain_by_enumeration
from tests.reference.extended_value_iteration import (
    PLAIN_SWEEPS,
    choose,
    extended_value_iteration,
    extended_value_iteration_over_intervals,
    inner_maximum,
    interval_maximum,
)
from tests.reference.optimists import (
    SWUCRL,
    SWUCRL2CW,
    UCRL2,
    UCRL2B,
    UCRL2S,
    FixedPolicy,
    Oracle,
    Random,
    SlidingWindowUCRL2,
    VariationAwareUCRL,
    restart_time,
)
from tests.reference.simulation import simulate

SLACK = 1e-9


def ball_by_linear_program(p_hat, radius, u):
    """max u.p over p = p_hat + up - down, with sum(up + down) <= radius."""
    n = len(u)
    eye, nil = np.eye(n), np.zeros((n, n))
    answer = linprog(
        np.r_[-np.array(u), np.zeros(2 * n)],
        A_ub=np.r_[np.zeros(n), np.ones(2 * n)][None, :],
        b_ub=[radius],
        A_eq=np.block([[eye, -eye, eye], [np.ones((1, n)), nil[:1], nil[:1]]]),
        b_eq=np.r_[p_hat, 1.0],
    )
    return -answer.fun


def some_distribution(rng, n):
    p = rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.7)
    return (p / p.sum()).tolist() if p.sum() > 0 else [1.0] + [0.0] * (n - 1)


def some_sets(rng, n_states=3, largest=1.0):
    n_actions = rng.integers(1, 4, n_states)
    rewards = [rng.random(k).tolist() for k in n_actions]
    p_hat = [[some_distribution(rng, n_states) for _ in range(k)] for k in n_actions]
    radius = [(0.05 + largest * rng.random(k)).tolist() for k in n_actions]
    p_hat[0][0] = [0.0] * n_states
    return rewards, p_hat, radius


def intervals_around(rng, p_hat):
    lower = [[[max(0.0, p - rng.random() / 3) for p in row] for row in rows] for rows in p_hat]
    upper = [[[min(1.0, p + rng.random() / 3) for p in row] for row in rows] for rows in p_hat]
    n_states = len(p_hat)
    lower[0][0], upper[0][0] = [0.0] * n_states, [1.0] * n_states
    return lower, upper


def check_properties(plan, rewards, maximum, precision):
    """Properties 1 and 2, the max outside the sum (PAPER_NOTES 18)."""
    assert min(plan.bias) == 0
    assert plan.residual <= precision
    for s, row in enumerate(rewards):
        for a, reward in enumerate(row):
            value, _ = maximum(s, a, plan.bias)
            assert plan.gain + plan.bias[s] >= reward + value - SLACK
            assert sum(plan.transitions[s][a]) == pytest.approx(1.0)
        policy = choose(plan.values[s], [0] * len(row), "first")
        after = np.dot(plan.transitions[s][policy], plan.bias)
        assert row[policy] >= plan.gain + plan.bias[s] - after - precision - SLACK


def gain_over_corners(rewards, maximum):
    """The best gain when every corner of every set, found by its ranking of the states, is an action."""
    n = len(rewards)
    rankings = list(itertools.permutations(range(n)))
    transitions = [[maximum(s, a, u)[1] for a in range(len(rewards[s])) for u in rankings] for s in range(n)]
    repeated = [[r for r in row for _ in rankings] for row in rewards]
    return gain_by_enumeration(repeated, transitions).max()


# The inner maximum. --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_the_ball_is_maximised_as_by_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    p_hat, u, radius = some_distribution(rng, n), rng.normal(size=n).round(1).tolist(), 2.2 * rng.random()
    value, p = inner_maximum(p_hat, radius, u)
    assert value == pytest.approx(ball_by_linear_program(p_hat, radius, u))
    assert sum(p) == pytest.approx(1.0)
    assert min(p) >= 0
    assert sum(abs(x - y) for x, y in zip(p, p_hat, strict=True)) <= radius + SLACK


@pytest.mark.parametrize("seed", range(40))
def test_intervals_are_maximised_as_by_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    p_hat, u = some_distribution(rng, n), rng.normal(size=n).round(1).tolist()
    lower = [max(0.0, p - rng.random() / 2) for p in p_hat]
    upper = [min(1.0, p + rng.random() / 2) for p in p_hat]
    value, p = interval_maximum(lower, upper, u)
    answer = linprog(-np.array(u), A_eq=np.ones((1, n)), b_eq=[1.0], bounds=list(zip(lower, upper, strict=True)))
    assert value == pytest.approx(-answer.fun)
    assert sum(p) == pytest.approx(1.0)


def test_nothing_seen_and_a_vast_radius_go_to_the_best_state():
    assert inner_maximum([0.0, 0.0, 0.0], 0.1, [1.0, 5.0, 5.0]) == (5.0, [0.0, 1.0, 0.0])
    assert inner_maximum([0.5, 0.5, 0.0], 2.0, [1.0, 5.0, 5.0]) == (5.0, [0.0, 1.0, 0.0])
    assert inner_maximum([0.5, 0.25, 0.25], 0.5, [1.0, 0.0, 3.0])[1] == [0.5, 0.0, 0.5]


def test_intervals_that_hold_no_distribution_are_refused():
    with pytest.raises(ValueError, match="no distribution"):
        interval_maximum([0.0, 0.0], [0.4, 0.4], [1.0, 0.0])


# Extended value iteration. -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("precision", [1.0, 0.1, 0.001])
def test_both_properties_hold_over_balls(seed, precision):
    rewards, p_hat, radius = some_sets(np.random.default_rng(seed))
    plan = extended_value_iteration(rewards, p_hat, radius, precision)
    check_properties(plan, rewards, lambda s, a, u: inner_maximum(p_hat[s][a], radius[s][a], u), precision)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("precision", [1.0, 0.1, 0.001])
def test_both_properties_hold_over_intervals(seed, precision):
    rng = np.random.default_rng(seed)
    rewards, p_hat, _ = some_sets(rng)
    lower, upper = intervals_around(rng, p_hat)
    plan = extended_value_iteration_over_intervals(rewards, lower, upper, precision)
    check_properties(plan, rewards, lambda s, a, u: interval_maximum(lower[s][a], upper[s][a], u), precision)


@pytest.mark.parametrize("seed", range(20))
def test_the_gain_is_the_best_over_all_corners(seed):
    rewards, p_hat, radius = some_sets(np.random.default_rng(seed), n_states=2)
    plan = extended_value_iteration(rewards, p_hat, radius, 0.001)
    best = gain_over_corners(rewards, lambda s, a, u: inner_maximum(p_hat[s][a], radius[s][a], u))
    assert best - SLACK <= plan.gain <= best + 0.001


def test_nearly_still_states_are_planned_past_the_thousandth_sweep():
    """Staying in state 1 pays 1; a step out of state 0 has probability at most 0.0001 (PAPER_NOTES 31)."""
    rewards = [[0.0], [1.0]]
    p_hat, radius = [[[1.0, 0.0]], [[0.0, 1.0]]], [[0.0002], [0.0002]]
    plan = extended_value_iteration(rewards, p_hat, radius, 0.01)
    assert PLAIN_SWEEPS < plan.sweeps <= PLAIN_SWEEPS + 2
    assert plan.gain == pytest.approx(1.0, abs=0.01)
    assert plan.bias == pytest.approx([0.0, 10000.0])
    check_properties(plan, rewards, lambda s, a, u: inner_maximum(p_hat[s][a], radius[s][a], u), 0.01)


@pytest.mark.parametrize("seed", range(5))
def test_the_helped_iteration_finds_the_gain_over_all_corners(seed):
    rng = np.random.default_rng(seed)
    rewards = [rng.random(2).tolist() for _ in range(2)]
    still = [0.001 * rng.random(2), 0.001 * rng.random(2)]
    p_hat = [[[1 - x, x] for x in still[0]], [[x, 1 - x] for x in still[1]]]
    radius = (1e-4 + 1e-4 * rng.random((2, 2))).tolist()
    plan = extended_value_iteration(rewards, p_hat, radius, 1e-6)
    best = gain_over_corners(rewards, lambda s, a, u: inner_maximum(p_hat[s][a], radius[s][a], u))
    assert plan.sweeps > PLAIN_SWEEPS
    assert best - SLACK <= plan.gain <= best + 2e-6


def test_a_cycle_without_radius_is_planned():
    plan = extended_value_iteration([[0.0], [1.0]], [[[0.0, 1.0]], [[1.0, 0.0]]], [[0.0], [0.0]], 0.1)
    assert plan.sweeps == PLAIN_SWEEPS + 1
    assert plan.gain == pytest.approx(0.5)
    assert plan.bias == pytest.approx([0.0, 0.5])


def test_still_states_without_radius_cannot_be_planned():
    with pytest.raises(RuntimeError, match="communicating"):
        extended_value_iteration([[0.0], [1.0]], [[[1.0, 0.0]], [[0.0, 1.0]]], [[0.0], [0.0]], 0.1)


def test_sets_without_radius_are_the_ordinary_mdp():
    """Howard's toy maker earns 2."""
    rewards = [[6.0, 4.0], [-3.0, -5.0]]
    p_hat = [[[0.5, 0.5], [0.8, 0.2]], [[0.4, 0.6], [0.7, 0.3]]]
    plan = extended_value_iteration(rewards, p_hat, [[0.0, 0.0], [0.0, 0.0]], 1e-6)
    assert plan.gain == pytest.approx(2.0, abs=1e-6)
    assert [choose(row, [0, 0], "first") for row in plan.values] == [1, 1]


def test_the_first_plan_is_one_sweep():
    plan = extended_value_iteration([[0.3, 1.0], [0.0]], [[[0.0, 0.0]] * 2, [[0.0, 0.0]]], [[9.0] * 2, [9.0]], 1.0)
    assert plan.sweeps == 1
    assert plan.values == [[0.3, 1.0], [0.0]]
    assert (plan.gain, plan.bias, plan.residual) == (1.0, [0.0, 0.0], 1.0)


def test_ties_go_to_the_least_visited_then_the_first():
    values = [1.0, 1.0 + 5e-10, 1.0, 0.9]
    assert choose(values, [3, 2, 2, 0], "least-visited") == 1
    assert choose(values, [3, 2, 2, 0], "first") == 0
    assert choose([1.0, 1.0 + 2e-9], [0, 5], "least-visited") == 1


# Episodes by hand. ---------------------------------------------------------------------------------------


def walk(agent, n_steps, step):
    """Actions and counts of an agent whose world is (reward, next state) = step(t, state, action)."""
    state, actions, counts = 0, [], []
    for t in range(1, n_steps + 1):
        counts.append(agent.counts())
        action = agent.act(state)
        actions.append(action)
        reward, state = step(t, state, action)
        agent.observe(reward, state)
    return actions, counts


def stay(t, state, action):
    return 0.5, state


def alternate(t, state, action):
    return 0.5, 1 - state


def test_a_window_of_one_plans_at_every_step():
    agent = SWUCRL2CW([2, 2], 12, window=1, widening=0.1)
    _, counts = walk(agent, 12, alternate)
    assert agent.episode_starts == list(range(1, 13))
    assert [sum(now.values()) for now in counts] == [0] + [1] * 11


def test_a_window_of_two_plans_at_every_even_step_while_the_states_alternate():
    agent = SWUCRL2CW([1, 1], 9, window=2, widening=0.0)
    _, counts = walk(agent, 9, alternate)
    assert agent.episode_starts == [1, 2, 4, 6, 8]
    assert [sum(now.values()) for now in counts] == [0, 1] + [2] * 7


def test_a_window_of_two_in_one_state_plans_at_the_third_step_too():
    """At t = 3, nu = 1 >= N+ = 1; at later odd t, nu = 1 < N+ = 2."""
    agent = SWUCRL2CW([1], 9, window=2, widening=0.0)
    walk(agent, 9, stay)
    assert agent.episode_starts == [1, 2, 3, 4, 6, 8]


def test_one_pair_doubles():
    agent = SlidingWindowUCRL2([1], 66, window=66)
    walk(agent, 66, stay)
    assert agent.episode_starts == [1, 2, 3, 5, 9, 17, 33, 65, 66]
    assert len(agent.sweeps) == 9
    agent = UCRL2([1], 66)
    walk(agent, 66, stay)
    assert agent.episode_starts == [1, 2, 3, 5, 9, 17, 33, 65]


def test_vacuous_radii_take_the_least_visited_action():
    """Before t = 10, by hand: (N_0, N_1) is (0,0) (1,0) (1,1) (2,1) (2,2), then two steps of 0, two of 1."""
    agent = SWUCRL2CW([2], 100, window=100, widening=0.0)
    actions, _ = walk(agent, 9, stay)
    assert actions == [0, 1, 0, 1, 0, 0, 1, 1, 0]
    assert agent.episode_starts == [1, 2, 3, 4, 5, 7, 9]
    agent = SWUCRL2CW([2], 100, window=100, widening=0.0, ties="first")
    actions, _ = walk(agent, 9, stay)
    assert actions == [0] * 9
    assert agent.episode_starts == [1, 2, 3, 5, 9]


def test_a_two_state_toy_is_walked_by_hand():
    """Action 0 stays, action 1 moves; all values tie, so the least visited of the last 3 steps is taken.

    t = 1, s = 0: no counts, 0, stay.    t = 2, s = 0: nu = 1 >= 1; N(0,0) = 1: 1, move.
    t = 3, s = 1: a multiple of 3; 0, stay (N(0,.) = 1, 1).    t = 4, s = 1: nu(1,0) = 1; N(1,0) = 1: 1, move.
    t = 5, s = 0: the plan of 4 saw steps 1..3: N(0,.) = 1, 1: 0, nu = 0: go on; stay.
    t = 6, s = 0: a multiple of 3; steps 3..5: N(0,.) = 1, 0: 1, move.
    t = 7, s = 1: the plan of 6 saw N(1,.) = 1, 1: 0, nu = 0: stay.
    t = 8, s = 1: nu(1,0) = 1 >= 1; steps 5..7: N(1,.) = 1, 0: 1, move.
    """
    agent = SWUCRL2CW([2, 2], 100, window=3, widening=0.0)
    actions, counts = walk(agent, 8, lambda t, s, a: (0.5, s if a == 0 else 1 - s))
    assert actions == [0, 1, 0, 1, 0, 1, 0, 1]
    assert agent.episode_starts == [1, 2, 3, 4, 6, 8]
    assert counts[7] == {(0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 1): 0}


@pytest.mark.parametrize("window", [1, 2, 5, 13, 40])
def test_the_window_holds_the_last_steps_and_the_episodes_are_few(window):
    rng = np.random.default_rng(window)
    agent = SWUCRL2CW([2, 1, 3], 40, window=window, widening=0.2)
    _, counts = walk(agent, 40, lambda t, s, a: (float(rng.random()), int(rng.integers(3))))
    for t, now in enumerate(counts, 1):
        assert sum(now.values()) == min(window, t - 1)
    assert set(range(window, 41, window)) <= set(agent.episode_starts)
    bound = (40 // window + 1) * (6 * (1 + int(math.log2(window))) + 1)  # PAPER_NOTES 21
    assert len(agent.episode_starts) == len(agent.sweeps) <= bound


# What a plan is made of. ---------------------------------------------------------------------------------


def fed(agent, steps):
    """The agent, having seen these (state, action, reward, next state), about to plan."""
    agent.steps = list(steps)
    agent.visits = agent.counts()
    return agent


def test_an_unseen_pair_has_the_top_reward_and_the_whole_simplex():
    agent = fed(SWUCRL2CW([2], 10, window=10, widening=0.0, scale=0.0), [(0, 0, 0.25, 0)])
    assert agent.reward_upper((0, 0)) == 0.25
    assert agent.reward_upper((0, 1)) == 1.0
    assert agent.p_hat((0, 1)) == [0.0]
    agent.start_episode()
    assert agent.policy == [1]


def test_the_raw_reading_has_no_top():
    radius = 2 * math.sqrt(2 * math.log(2 * 10 * 10))
    agent = fed(SWUCRL2CW([2], 10, window=10, widening=0.0, reward_range=None), [(0, 0, -3.0, 0)] * 4)
    assert agent.reward_upper((0, 0)) == pytest.approx(-3.0 + radius / 2)
    assert agent.reward_upper((0, 1)) == pytest.approx(radius)


def test_rewards_are_mapped_to_the_unit_interval():
    agent = fed(SWUCRL2CW([1], 10, window=10, widening=0.0, scale=0.01, reward_range=(-2.0, 2.0)), [(0, 0, 0, 0)])
    assert agent.reward_upper((0, 0)) == pytest.approx(0.5 + 0.02 * math.sqrt(2 * math.log(100)))
    agent = fed(SWUCRL2CW([1], 10, window=10, widening=0.0, scale=0.0, reward_range=(3.0, 3.0)), [(0, 0, 3.0, 0)])
    assert agent.reward_upper((0, 0)) == 0.0


def test_the_radii_are_those_of_each_paper():
    steps = [(0, 0, 0.0, 0), (0, 0, 1.0, 1)] * 2
    paper = fed(SWUCRL2CW([2, 1], 100, window=9, widening=0.1, delta=0.5, scale=0.5), steps)
    assert paper.transition_radius(4, 5) == pytest.approx(0.1 + 0.5 * 2 * math.sqrt(4 * math.log(600) / 4))
    jaksch = fed(UCRL2([2, 1], 100, delta=0.5), steps)
    assert jaksch.reward_radius([0.0] * 4, 5) == pytest.approx(math.sqrt(7 * math.log(60) / 8))
    assert jaksch.transition_radius(4, 5) == pytest.approx(math.sqrt(28 * math.log(30) / 4))
    bernstein = fed(UCRL2B([2, 1], 100, delta=0.5, scale=0.01), steps)
    log = math.log(144)
    width = 0.01 * (2 * math.sqrt(log / 16) + 6 * log / 4)
    assert bernstein.reward_upper((0, 0)) == pytest.approx(0.5 + width)
    assert bernstein.lower((0, 0)) == pytest.approx([0.5 - width] * 2)
    assert bernstein.upper((0, 0)) == pytest.approx([0.5 + width] * 2)
    assert (bernstein.lower((1, 0)), bernstein.upper((1, 0))) == ([0.0, 0.0], [1.0, 1.0])


def test_a_bernstein_interval_opens_to_states_never_reached():
    agent = fed(UCRL2B([1, 1], 100, delta=0.5, scale=0.1), [(0, 0, 0.5, 0)] * 50)
    assert agent.upper((0, 0))[1] == pytest.approx(0.1 * 6 * math.log(6 * 2 * 50 / 0.5) / 50)


# Restarts. -----------------------------------------------------------------------------------------------


def test_a_period_forgets_and_begins_again():
    agent = UCRL2S([1], 12, period=5)
    _, counts = walk(agent, 12, stay)
    assert agent.episode_starts == [1, 2, 3, 5, 6, 7, 8, 10, 11, 12]
    assert [now[0, 0] for now in counts] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    assert [agent.life_time(t) for t in (1, 5, 6, 10, 11)] == [1, 5, 1, 5, 1]


def test_changes_restart_at_the_cubes():
    assert [restart_time(i, 2) for i in range(1, 7)] == [1, 2, 7, 16, 32, 54]
    assert restart_time(10**6, 10**3) == 10**12
    agent = UCRL2S([1], 20, changes=2, delta=0.5)
    _, counts = walk(agent, 20, stay)
    assert [t for t, now in enumerate(counts, 1) if now[0, 0] == 0] == [1, 2, 7, 16]
    assert agent.episode_starts == [1, 2, 3, 4, 6, 7, 8, 9, 11, 15, 16, 17, 18, 20]
    assert agent.transition_radius(1, 20) == pytest.approx(math.sqrt(14 * math.log(2 * 5 / 0.125)))


def test_a_window_of_sw_ucrl_does_not_end_episodes():
    agent = SWUCRL([1], 20, window=4)
    walk(agent, 20, stay)
    assert agent.episode_starts == [1, 2, 3, 5, 9, 13, 17]
    assert agent.counts() == {(0, 0): 4}


def test_phases_grow_with_the_square_and_know_their_variation():
    """V = 2/4 + 1/2 = 1 in unit rewards: phases of 1, 4, 9, ... steps from t = 1, 2, 6."""
    reward_steps, transition_steps = [2.0 / 9] * 9, [0.5 / 9] * 9
    agent = VariationAwareUCRL([1], 10, reward_steps, transition_steps, reward_range=(0.0, 4.0))
    assert [t for t in range(1, 11) if agent.life_start(t) == t] == [1, 2, 6]
    variation = [agent.phase_variation(transition_steps, t) for t in range(1, 11)]
    assert variation == pytest.approx([0.0] + [1.5 / 9] * 4 + [2.0 / 9] * 5)
    log = math.log(8 * 3**3 * 10)
    assert agent.reward_radius([0.0] * 2, 4) == pytest.approx(math.sqrt(4 * log) + 3 * 0.5 / 9)
    assert agent.transition_radius(2, 8) == pytest.approx(math.sqrt(4 * log) + 2.0 / 9)
    walk(agent, 10, stay)
    assert agent.episode_starts == [1, 2, 3, 4, 6, 7, 8, 10]


def test_without_variation_there_is_one_phase():
    agent = VariationAwareUCRL([1], 10, [0.0] * 9, [0.0] * 9)
    walk(agent, 10, stay)
    assert agent.episode_starts == [1, 2, 3, 5, 9]


# In a problem. -------------------------------------------------------------------------------------------


def test_everyone_walks_the_two_state_problem():
    problem = driftmdp.problems.two_state(horizon=120)
    draws = problem.draw_noise(np.random.default_rng(3))
    variation = problem.drifting.variation()
    here = ([2, 2], 120)
    agents = [
        SWUCRL2CW(*here, window=11, widening=0.2, reward_range=None),
        SlidingWindowUCRL2(*here, window=11, reward_range=problem.reward_range, scale=0.1),
        UCRL2(*here, reward_range=problem.reward_range),
        UCRL2(*here, radii="paper", reward_range=None),
        UCRL2S(*here, period=24, reward_range=problem.reward_range),
        UCRL2S(*here, changes=3, reward_range=None),
        SWUCRL(*here, window=20, reward_range=problem.reward_range),
        VariationAwareUCRL(*here, variation.reward_steps, variation.transition_steps, reward_range=None),
        UCRL2B(*here, reward_range=problem.reward_range, scale=0.05),
        Random(*here, np.random.default_rng(0)),
        FixedPolicy(*here, [1, 0]),
        Oracle(*here, [[0, 1], [1, 0]] * 60),
    ]
    for agent in agents:
        states, actions, rewards, mean_rewards = simulate(agent, problem, draws)
        assert {len(states), len(actions), len(rewards), len(mean_rewards)} == {120}
        assert rewards == pytest.approx(mean_rewards)
        assert set(actions) <= {0, 1}
        assert all(sweeps >= 1 for sweeps in agent.sweeps)
    for agent in agents[-3:]:
        assert (agent.episode_starts, agent.sweeps) == ([], [])


def test_the_better_arm_is_found_with_small_radii():
    problem = driftmdp.Problem(
        driftmdp.DriftingMdp.stationary(
            driftmdp.Mdp(driftmdp.Space.uniform(1, 2), [0.2, 0.8], [[1.0], [1.0]]), 300
        ),
        noise="bernoulli",
        reward_range=(0, 1),
    )
    draws = problem.draw_noise(np.random.default_rng(5))
    for agent in (UCRL2([2], 300, scale=0.2), UCRL2B([2], 300, scale=0.1), SWUCRL([2], 300, window=150, scale=0.2)):
        actions = simulate(agent, problem, draws)[1]
        assert sum(actions) > 240

"""The trace against a recount by hand, and the regions against their reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.planning import extended_value_iteration
from driftmdp.simulation import simulate_until
from driftmdp.statements.context import turns
from driftmdp.statements.run_trace import (
    best_transitions,
    diameter_of_two_states,
    plain_sweeps,
    trace_run,
    transitions_along,
)
from tests.reference.extended_value_iteration import inner_maximum


@pytest.fixture(scope="module")
def trace():
    problem = dm.problems.garnet(3, 2, branching=2, horizon=300, drift="abrupt", noise="bernoulli")
    return trace_run("small", problem, 5, window=40, widening=0.1, scale=0.05)


def test_what_is_remembered_is_what_the_paper_says(trace):
    """eq:N_sa, the estimates below it and eq:p_bar, by loops over q."""
    space, world = trace.problem.space, trace.problem.drifting
    for m, tau in enumerate(trace.starts):
        counts = np.zeros(space.n_pairs)
        totals, means = np.zeros(space.n_pairs), np.zeros(space.n_pairs)
        seen, true = np.zeros((2, space.n_pairs, 3))
        for q in range(max(1, tau - 40), tau):
            s, a = int(trace.run.states[q - 1]), int(trace.run.actions[q - 1])
            pair = space.pair(s, a)
            following = trace.run.states[q] if q < 300 else trace.run.final_state
            counts[pair] += 1
            totals[pair] += trace.run.rewards[q - 1]
            means[pair] += world.at(q).reward(s, a)
            seen[pair, following] += 1
            true[pair] += world.at(q).successors(s, a)
        divisor = np.maximum(1, counts)
        assert trace.counts[m].tolist() == counts.tolist()
        assert trace.believed_counts[m].tolist() == counts.tolist()
        assert trace.r_hat[m] == pytest.approx(totals / divisor, abs=1e-12)
        assert trace.r_bar[m] == pytest.approx(means / divisor, abs=1e-12)
        assert trace.p_hat[m] == pytest.approx(seen / divisor[:, None], abs=1e-12)
        assert trace.p_bar[m] == pytest.approx(true / divisor[:, None], abs=1e-12)
        assert trace.p_at_start[m] == pytest.approx(world.at(int(tau)).transitions.toarray(), abs=1e-12)


def test_variation_within_the_window(trace):
    moved = trace.problem.drifting.variation()
    for t in range(1, 301):
        tau = trace.starts[trace.starts <= t].max()
        first = max(1, tau - 40)
        assert trace.var_r[t - 1] == pytest.approx(moved.reward_steps[first - 1 : t - 1].sum(), abs=1e-12)
        assert trace.var_p[t - 1] == pytest.approx(moved.transition_steps[first - 1 : t - 1].sum(), abs=1e-12)


def test_regret_is_that_of_the_run(trace):
    assert np.cumsum(trace.regret) == pytest.approx(trace.run.dynamic_regret(trace.problem), abs=1e-9)


def test_q_sets_by_their_definition(trace):
    chosen = []
    for m, tau in enumerate(trace.starts):
        if not trace.inside[m] and all(tau - trace.starts[other] > 40 for other in chosen):
            chosen.append(m)
    assert trace.q_set == chosen
    cover = [any(0 <= tau - trace.starts[q] <= 40 for q in chosen) for tau in trace.starts]
    assert trace.q_cover.tolist() == cover
    assert chosen


def test_the_four_parts_bound_the_regret_where_nothing_is_random():
    trace = trace_run("turns", turns(5000, 2, 1.0), 0, window=100, widening=0.1, scale=0.01)
    assert trace.covered
    assert trace.q_set
    assert trace.regret.sum() <= sum(trace.parts.values())
    assert trace.parts["lost"] == pytest.approx(trace.regret[trace.q_cover[trace.episode]].sum())


def test_pauses_play_the_same_run():
    problem = dm.problems.two_state(horizon=500)
    agent = dm.agents.SWUCRL2CW.for_problem(problem, window=50, widening=0.1, scale=0.1)
    run = dm.simulate(agent, problem, 3)
    starts = run.episode_starts.tolist()
    beliefs = [player.beliefs() for player in simulate_until(agent, problem, 3, starts)]
    assert [belief.planned_at for belief in beliefs] == starts
    for belief, start, end in zip(beliefs, starts, [*starts[1:], 501], strict=True):
        states = run.states[start - 1 : end - 1]
        assert belief.policy[states].tolist() == run.actions[start - 1 : end - 1].tolist()


@pytest.mark.parametrize(
    ("agent", "steps", "message"),
    [
        ("UCRL2", [1001], "steps\\[0\\] must be at most 1000; got 1001"),
        ("UCRL2", [0], "steps\\[0\\] must be at least 1; got 0"),
        ("UCRL2", [500, 100], "steps must increase; got 100 after 500 at steps\\[1\\]"),
        ("UCRL2", [1.5], "steps\\[0\\] must be a whole number"),
        ("UCRL2", 10, "steps must be a list of times; got 10"),
        ("UCRL2", "10", "steps must be a list of times; got '10'"),
        ("Random", [1], "agent must be one whose compiled run can stop.*got Random"),
    ],
)
def test_wrong_pauses_get_one_sentence_at_once(agent, steps, message):
    problem = dm.problems.two_state(horizon=1000)
    with pytest.raises(dm.errors.InvalidInputError, match=message):
        simulate_until(getattr(dm.agents, agent).for_problem(problem), problem, 7, steps)


def test_beliefs_certify_the_plan(trace):
    states = trace.problem.space.pair_states
    assert (trace.upper_values - trace.bias[:, states]).max(axis=1) == pytest.approx(trace.gain, abs=1e-9)


def test_transitions_along_any_kind_of_weights():
    for problem in (
        dm.problems.two_state(horizon=50),
        dm.problems.perils(tau=5),
        dm.problems.inventory(capacity=3, horizon=20),
    ):
        n_pairs = problem.space.n_pairs
        rows = np.repeat(np.arange(problem.horizon), n_pairs)
        found = transitions_along(problem.drifting, rows, np.tile(np.arange(n_pairs), problem.horizon))
        for t in range(1, problem.horizon + 1):
            right = problem.drifting.at(t).transitions.toarray()
            assert found[(t - 1) * n_pairs : t * n_pairs] == pytest.approx(right, abs=1e-12)


@given(
    masses=st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any),
    radius=st.floats(0, 2.5),
    data=st.data(),
)
def test_the_best_transitions_are_the_references(masses, radius, data):
    """Ties among values included."""
    u = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(masses), max_size=len(masses)))
    p_hat = np.array(masses, float) / sum(masses)
    found = best_transitions(p_hat[None], np.array([radius]), np.array(u))[0]
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0
    assert np.abs(found - p_hat).sum() <= radius + 1e-12
    assert found @ u == pytest.approx(inner_maximum(p_hat.tolist(), radius, u)[0], abs=1e-12)


def test_a_pair_never_seen_has_the_whole_simplex():
    assert best_transitions(np.zeros((1, 3)), np.zeros(1), np.array([0.0, 2.0, 1.0])).tolist() == [[0.0, 1.0, 0.0]]


def test_plain_sweeps_are_those_of_the_planner():
    rng = np.random.default_rng(1)
    for _ in range(20):
        space = dm.Space.uniform(3, 2)
        rewards, p_hat = rng.random(6), rng.dirichlet(np.ones(3), size=6)
        radius = 0.3 * rng.random(6)
        sweeps, span = plain_sweeps(space, rewards, p_hat, radius, 1e-3, 1000)
        plan = extended_value_iteration(space, rewards, p_hat, radius, 1e-3, method="paper")
        assert (sweeps, span) == (plan.iterations, pytest.approx(plan.residual, abs=1e-12))


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.floats(0, 0.5))
def test_the_smallest_diameter_of_two_states(away, radius):
    """Against the diameter of the MDP that moves as much as the region allows."""

    def moving(by):
        return np.array([[1 - by[0], by[0]], [1 - by[1], by[1]], [by[2], 1 - by[2]], [by[3], 1 - by[3]]])

    found = diameter_of_two_states(moving(away), np.full(4, radius + 1e-3))
    best = np.minimum(1.0, np.array(away) + (radius + 1e-3) / 2)
    mdp = dm.Mdp(dm.Space.uniform(2, 2), np.zeros(4), moving(best))
    assert found == pytest.approx(float(dm.planning.diameter(mdp)), rel=1e-6)

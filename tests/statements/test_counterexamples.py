"""Every counterexample of docs/paper-notes.md, against the printed formula.

Formulas are transcribed from the paper's LaTeX symbol by symbol, and share no code with the package: an erratum
about others must be right. Where the package is used, it is what is tried.
"""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import driftmdp as dm

NOTES = (Path(__file__).parents[2] / "docs" / "paper-notes.md").read_text()


def item(number):
    """Return the rows of an item of the notes."""
    return "\n".join(line for line in NOTES.splitlines() if line.startswith(f"| {number} |"))


def episodes(pairs, window):
    """Return where episodes begin, from 1: alg:swr-ucrl2, its while loop read as do-while (item 1)."""
    starts, nu, counts = [], {}, {}
    for t, pair in enumerate(pairs, start=1):
        if not starts or t % window == 0 or nu.get(pair, 0) >= max(1, counts.get(pair, 0)):
            starts.append(t)
            recent = pairs[max(t - window, 1) - 1 : t - 1]  # eq:N_sa: q = (tau(m) - W) v 1 .. tau(m) - 1
            nu, counts = {}, {p: recent.count(p) for p in set(recent)}
        nu[pair] = nu.get(pair, 0) + 1
    return starts


# item 35, Lemma 11 -------------------------------------------------------------------------------------------

LEMMA_11 = [0] * 14 + [1] * 2 + [0] * 12 + [1] * 2, 15  # T = 30: j = 1 is floor(T / W) - 1, no edge case


def lines_of_lemma_11(pairs, window, pair):
    """Return the three lines after "With these two observations, we have", for the block that begins at t = W."""
    starts = [start for start in episodes(pairs, window) if window <= start < 2 * window]  # m_j .. m_{j+1} - 1
    ends = [*starts[1:], min(2 * window, len(pairs) + 1)]
    nu = [pairs[start - 1 : end - 1].count(pair) for start, end in zip(starts, ends, strict=True)]  # nu_m, m >= m_j
    first = nu[0] / math.sqrt(max(nu[0], 1))
    first += sum(nu[m] / math.sqrt(max(sum(nu[:m]), 1)) for m in range(1, len(nu)))
    second = math.sqrt(max(nu[0], 1)) + (math.sqrt(2) + 1) * math.sqrt(max(sum(nu), 1))
    third = (math.sqrt(2) + 2) * math.sqrt(max(pairs[window - 1 : 2 * window - 1].count(pair), 1))
    return first, second, third


def test_lemma_11_the_line_before_eq_pf_sto_error_2nd():
    first, second, third = lines_of_lemma_11(*LEMMA_11, pair=0)
    assert len(LEMMA_11[0]) // LEMMA_11[1] - 1 == 1
    assert first == 12.0
    assert [round(line, 2) for line in (second, third)] == [9.36, 11.83]
    assert "12.0 > 11.83" in item(35)
    assert "9.36" in item(35)
    assert "then pair 1 up to T = 30" in item(35)


def test_lemma_11_what_was_published_before_breaks_nothing():
    first, second, third = lines_of_lemma_11([0] * 13 + [1] + [0] * 12, 14, pair=0)
    assert round(first, 2) == 3.46
    assert first <= second <= third


def test_lemma_11_the_agent_itself_makes_these_episodes():
    """Two states with one action each, which lead where the sequence goes; and nu <= N fails where N = 0."""
    pairs, window = LEMMA_11
    space = dm.Space.uniform(2, 1)
    to = [dm.Mdp(space, [0.0, 0.0], np.eye(2)[[state, state]]) for state in (0, 1)]
    world = dm.DriftingMdp(to, np.eye(2)[[*pairs[1:], 0]])
    problem = dm.Problem(world, reward_range=(0.0, 1.0))
    run = dm.simulate(dm.agents.SWUCRL2CW(space, len(pairs), window, 0.1), problem, seed=0)
    assert run.states.tolist() == pairs
    assert run.episode_starts.tolist() == episodes(pairs, window) == [1, 2, 3, 5, 9, 15, 16, 29, 30]
    visits, counts = pairs[14:15].count(1), pairs[:14].count(1)
    assert visits == 1 > counts == 0


# items 21, 22, 33, 34: sums over episodes ----------------------------------------------------------------------


def test_lemma_12_the_number_of_episodes():
    """M(T) <= SA (2 + log_2 W) T / W at S = A = 1, T = W = 66."""
    assert len(episodes([0] * 66, 66)) == 9
    assert round(1 * (2 + math.log2(66)) * 66 / 66, 2) == 8.04


def test_lemma_10_a_change_is_remembered_longer():
    """2 sum_t var_{r,t} <= 2 B_r W, var_{r,t} = sum over q = (tau(m) - W) v 1 .. t - 1; B_{r,100} = 1, W = 100."""
    horizon, window = 400, 100
    starts = episodes([0] * horizon, window)
    var = 0
    for t in range(1, horizon + 1):
        tau = max(start for start in starts if start <= t)
        var += int(max(tau - window, 1) <= 100 <= t - 1)
    assert var == 199 > 1 * window


def test_lemma_9_the_sum_of_precisions():
    """sum_m sum_t 1 / sqrt(tau(m)) <= sum over i = 1 .. ceil(T / W) of W / sqrt(i W), one pair, T = W = 66."""
    starts = episodes([0] * 66, 66)
    left = sum((end - start) / math.sqrt(start) for start, end in itertools.pairwise([*starts, 67]))
    right = sum(66 / math.sqrt(i * 66) for i in range(1, math.ceil(66 / 66) + 1))
    assert [round(left, 1), round(right, 1)] == [17.0, 8.1]
    assert "17.0 > 8.1" in item(34)


def test_lemma_9_the_reward_tells_the_next_state():
    """E[Y_t | H_{t-1}] with R_t in H_{t-1}: capacity 1, s = 0, a = 1, gamma~ = (0, 1), demand 0 or 1, 1/2 each."""
    rewards = {0: -0.3, 1: 2.0}  # -h [s + a - Y]^+ + l Y: they differ, so R_t tells Y
    assert len(set(rewards.values())) == 2
    mean = 0.5 * 1 + 0.5 * 0  # sum over s' of p(s') gamma~(s')
    assert [mean - (1 - demand) for demand in rewards] == [-0.5, 0.5]  # Y_t, given R_t; not 0


def test_lemma_3_its_proof_averages_over_the_window():
    """W = 2, r = 0, 1, 1, tau = 3, one visit at tau - 2: |r_tau - r-| against (1/W) sum_w |r_tau - r_{tau-w}|."""
    r, window, tau, visited = {1: 0.0, 2: 1.0, 3: 1.0}, 2, 3, [1]
    left = abs(r[tau] - sum(r[q] for q in visited) / max(1, len(visited)))
    assert left == 1.0
    assert sum(abs(r[tau] - r[tau - w]) for w in range(1, window + 1)) / window == 0.5


def test_lemmas_1_and_3_where_nothing_was_seen():
    """At t = 1: N = 0, so p- = (1 / N+) times an empty sum is 0, not in the simplex; r- = 0 and var_{r,1} = 0."""
    p_bar, r_bar, var = np.zeros(2) / max(1, 0), 0.0 / max(1, 0), sum(())
    assert p_bar.sum() != 1
    assert abs(0.5 - r_bar) > var


# items 18, 19, 20, 41, 43: planning ----------------------------------------------------------------------------


def largest(direction, centre, radius):
    """Return max of direction' p over the simplex with |p - centre|_1 <= radius: a linear program in (p, |.|)."""
    n = len(centre)
    eye = np.eye(n)
    rows = np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, n)), np.ones((1, n))]])
    sides = np.concatenate([centre, -centre, [radius]])
    mass = np.concatenate([np.ones(n), np.zeros(n)])[None]
    found = linprog(np.concatenate([-np.array(direction), np.zeros(n)]), rows, sides, mass, [1.0])
    return -found.fun


def test_property_1_the_maximum_inside_the_sum():
    """Three states, one action: rho~ + gamma~(s) >= max r + sum over s' of gamma~(s') max over H_p of p(s')."""
    rewards, radius = np.array([0.0, 0.5, 1.0]), 0.4
    centres = np.array([[0.2, 0.4, 0.4]] * 3)
    u = np.zeros(3)
    for _ in range(60):  # alg:evi
        following = rewards + [largest(u, centre, radius) for centre in centres]
        rho, gamma, u = (following - u).max(), u - u.min(), following
    inside = [
        r + sum(gamma[s] * largest(np.eye(3)[s], c, radius) for s in range(3))
        for r, c in zip(rewards, centres, strict=True)
    ]
    outside = [r + largest(gamma, c, radius) for r, c in zip(rewards, centres, strict=True)]
    assert (np.array(inside) > rho + gamma + 0.01).all()
    assert (np.array(outside) <= rho + gamma + 1e-9).all()


def test_lemma_2_a_feasible_solution_with_a_large_span():
    """Two states that swap, r = 0, gamma = (5, 0), rho = 5: feasible for D(r, p), and its span is 5 > 2 D = 2."""
    gamma, rho, p = np.array([5.0, 0.0]), 5.0, np.array([[0.0, 1.0], [1.0, 0.0]])
    assert (rho + gamma >= 0 + p @ gamma).all()
    diameter = 1  # one step from either to the other
    assert max(a - b for a in gamma for b in gamma) == 5 > 2 * diameter


def test_proposition_1_a_ring_that_hardly_moves():
    """40 states in a ring, the first 20 pay 1, later 1 - 1e-9; T = 210, B_r = 1e-9, B_p = 0, D = 39."""
    n, horizon, b_r, diameter = 40, 210, 1e-9, 39
    best = sum((t % n) < 20 for t in range(horizon)) - b_r * horizon  # no choice; at least this
    oracle = 0.5 * horizon
    assert horizon >= b_r + 2 * diameter * 0 > 0
    assert best - oracle > 4.99
    assert round(4 * (diameter + 1) * math.sqrt((b_r + 2 * diameter * 0) * horizon), 3) == 0.073


def test_evi_on_a_ring_of_two_never_stops():
    u = np.zeros(2)
    for _ in range(100):
        following = np.array([1.0, 0.0]) + u[::-1]  # H_p holds the swap only, which communicates
        assert np.ptp(following - u) == 1.0
        u = following


@given(st.integers(1, 6), st.integers(1, 3), st.floats(0.0, 0.5), st.integers(0, 10**6))
def test_algorithm_3_from_zero_has_a_span_of_at_most_the_diameter(n_states, n_actions, radius, seed):
    """Sharper than Lemma 2, for rewards in [0, 1] and the diameter of any p in H_p (paper-notes.md, item 43)."""
    rng = np.random.default_rng(seed)
    space = dm.Space.uniform(n_states, n_actions)
    p_hat = rng.dirichlet(np.full(n_states, rng.choice([0.1, 1.0])), size=space.n_pairs)
    p_hat[::n_actions] = 0.9 * np.eye(n_states)[(np.arange(n_states) + 1) % n_states] + 0.1 * p_hat[::n_actions]
    rewards = rng.choice([0.0, 1.0, 0.3], size=space.n_pairs)
    diameter = float(dm.planning.diameter(dm.Mdp(space, rewards, p_hat)))
    for precision in (1.0, 0.1, 1e-3):
        plan = dm.planning.extended_value_iteration(
            space, rewards, p_hat, np.full(space.n_pairs, radius), precision, method="paper"
        )
        assert np.ptp(plan.bias) <= diameter * (1 + 1e-9) + 1e-9


# items 9, 36, 37, 44: orders -----------------------------------------------------------------------------------


def test_remark_7_the_two_forms_of_eta():
    s, a, t = 2, 1, 1000
    window = s ** (2 / 3) * a**0.5 * t**0.5
    printed, eta = s ** (2 / 3) * a**0.5 * t**-0.5, math.sqrt(window / t)
    assert eta == pytest.approx(s ** (1 / 3) * a**0.25 * t**-0.25)
    assert round(1 - printed / eta, 3) == 0.776


def test_theorem_1_tuned_falls_to_nothing():
    """All terms at W* and eta* over the printed order: without bound as B falls."""
    s, a, t, d = 2, 1, 1000, 1
    ratios = []
    for b in (1e-3, 1e-9, 1e-15):
        b_r = b_p = b / 2
        w = s ** (2 / 3) * a**0.5 * t**0.5 * (b_r + b_p) ** -0.5
        eta = math.sqrt(b_p * w / t)
        inner = b_p * w + s * a**0.5 * t / w**0.5 + t * eta + s * a * t / w + t**0.5
        terms = b_p * w / eta + b_r * w + (s * a) ** 0.5 * t / w**0.5 + d * inner
        ratios.append(terms / (d * (b_r + b_p) ** 0.25 * s ** (2 / 3) * a**0.5 * t**0.75))
    assert ratios[1] == pytest.approx(22.75, abs=0.01)
    assert ratios[2] > 20 * ratios[1]


def test_remark_5_needs_a_window_within_the_horizon():
    arms = t = 1000
    b_r = 1 / arms
    assert 1 / arms <= b_r <= t / arms
    assert arms ** (1 / 3) * t ** (2 / 3) / b_r ** (2 / 3) > t  # W*
    terms = b_r * t + math.sqrt(arms) * t / math.sqrt(t)  # at W = T
    assert terms / (b_r ** (1 / 3) * arms ** (1 / 3) * t ** (2 / 3)) == pytest.approx(10.01)


def test_section_2_the_error_term_exceeds_the_bounds():
    s, a, t, d = 2, 1, 10**5, 1
    b_r = b_p = math.sqrt(t) / 2
    error = 4 * (d + 1) * math.sqrt((b_r + 2 * d * b_p) * t)
    theorem_1 = d * (b_r + b_p) ** 0.25 * s ** (2 / 3) * a**0.5 * t**0.75
    theorem_2 = d * (b_r + b_p + 1) ** 0.25 * s ** (2 / 3) * a**0.5 * t**0.75
    assert t >= b_r + 2 * d * b_p > 0
    assert [round(error), round(theorem_1), round(theorem_2)] == [55098, 37643, 37673]
    assert "55,098" in item(44)
    assert "37,643" in item(44)


# items 11, 12, 38, 46: BORL ------------------------------------------------------------------------------------


def borl(t, s=2, a=2):
    """Return H, Phi, Delta_W, Delta_eta, Delta, the number of blocks, alpha, beta and gamma, as printed."""
    h, phi = math.floor(3 * s ** (2 / 3) * a**0.5 * t**0.5), 1 / (2 * t**0.5)
    steps_w, steps_eta = math.floor(math.log(h)), math.floor(math.log(1 / phi))
    delta, n = (steps_w + 1) * (steps_eta + 1), math.ceil(t / h)
    beta = math.sqrt(math.log(delta) / (delta * n))
    return h, phi, steps_w, steps_eta, delta, n, 0.95 * beta, beta, 1.05 * math.sqrt(delta * math.log(delta) / n)


def test_borl_line_6_and_what_the_proof_drops():
    """floor(Phi^(k / Delta_eta)) is 0 or 1; and eta+ = Phi^(k / Delta_eta) is not in J_eta."""
    _, phi, _, steps, *_ = borl(5000)
    powers = [phi ** (k / steps) for k in range(steps + 1)]
    assert {math.floor(power) for power in powers} == {0, 1}
    arms = {2 ** (1 / 3) * 2**0.25 * power for power in powers}
    assert all(min(abs(power - arm) for arm in arms) > 1e-3 for power in powers)


def test_borl_gamma_is_no_probability():
    h, _, _, _, delta, n, alpha, beta, gamma = borl(5000)
    assert (h, delta, n, round(gamma, 2)) == (476, 35, 11, 3.53)
    u_1 = (1 - gamma) / delta + gamma / delta
    q = np.full(delta, beta / u_1)
    q[0] += 0.7 / u_1  # the first block paid 0.7
    weights = np.exp(alpha * q)
    u = (1 - gamma) * weights / weights.sum() + gamma / delta
    assert round(u[0], 2) == -0.45
    assert "−0.45" in item(12)  # noqa: RUF001
    assert [borl(t)[-1] <= 1 for t in (9_000_000, 9_100_000, 10_750_000, 11_300_000, 11_400_000)] == [
        False,
        True,
        False,
        False,
        True,
    ]


def test_theorem_2_what_its_proof_says_of_the_grid():
    h, _, steps, *_ = borl(100)
    assert abs(h ** (1 / steps) - math.e) > 0.1
    assert h < 3 * 2 ** (2 / 3) * 2**0.5 * 100**0.5 / (0 + 0 + 1) ** 0.5  # W* at B = 0
    b_r, t, size = 0, 100, 2 ** (1 / 3) * 2**0.25
    stars = [(b_p + 1) ** 0.5 * size / ((b_r + b_p + 1) ** 0.25 * t**0.25) for b_p in (99, 99.01, 198)]  # eta*
    assert stars[0] == pytest.approx(size)
    assert size < stars[1] < stars[2]  # with B_r = 0 it fails from B_p > T - 1 on


# items 24, 39: perils and inventory ----------------------------------------------------------------------------


def test_proposition_3_only_one_pair_of_mdps_gives_its_trajectory():
    """All deterministic transitions of two states, two actions and two MDPs: diameter 1, and the proof's states."""
    tau, found = 3, []
    states = [1] * (tau + 1) + [2] * (2 * tau) + [1] * (tau - 1)
    for bits in itertools.product((1, 2), repeat=8):
        first, second = (
            dict(zip("abcd", bits[i : i + 4], strict=True)) for i in (0, 4)
        )  # a1, a2, b1, b2: to where
        if not all(2 in (p["a"], p["b"]) and 1 in (p["c"], p["d"]) for p in (first, second)):
            continue  # the diameter is not 1
        state, seen = 1, []
        for t in range(1, 4 * tau + 1):
            seen.append(state)
            world = first if (t - 1) // tau % 2 == 0 else second
            action = {1: "a", 2: "d"}[state] if t <= 2 * tau else {1: "b", 2: "c"}[state]  # pi^1, then pi^2
            state = world[action]
        if seen == states:
            found.append((first, second))
    assert found == [({"a": 1, "b": 2, "c": 2, "d": 1}, {"a": 2, "b": 1, "c": 1, "d": 2})]


LAW = {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}  # of X_t, for every t


def reward(s, a, x, f=0.5, c=0.25, l=2.0, h=0.75):  # noqa: E741
    """R_t(s, a) = -C_t(s, a), with the demand x."""
    return -(f * (a > 0) + c * a + l * max(x - s - a, 0) + h * max(s + a - x, 0))


def pseudo_reward(s, a, x, f=0.5, c=0.25, l=2.0, h=0.75):  # noqa: E741
    """R^pse_t(s, a), by its last form, which is observable: Y_t = min{s + a, x}."""
    y = min(s + a, x)
    return -f * (a > 0) - c * a - h * max(s + a - y, 0) + l * y


def test_eq_pse3_on_every_path_of_two_steps():
    """Capacity 1, T = 2, s_1 = 0, a_t = S - s_t, l = 2: the left side is -4, the right one -2 (X_1 + X_2)."""
    left, right, realised = {}, {}, {}
    for path in itertools.product(LAW, repeat=2):
        s, left[path], realised[path] = 0, 0.0, 0.0
        for x in path:
            a = 1 - s
            mean, pseudo = (sum(mass * R(s, a, y) for y, mass in LAW.items()) for R in (reward, pseudo_reward))
            left[path] += mean - pseudo  # r_t(s_t, a_t) - r^pse_t(s_t, a_t): X_1 .. X_t settle s_t and a_t
            realised[path] += reward(s, a, x) - pseudo_reward(s, a, x)
            s = s + a - min(s + a, x)
        right[path] = -2.0 * sum(path)
    assert list(left.values()) == pytest.approx([-4.0] * 9)
    assert [path for path in right if right[path] == -4.0] == [(0, 2), (1, 1), (2, 0)]  # on six of nine it fails
    assert realised == pytest.approx(right)  # of realised rewards it is true
    assert sum(right.values()) / 9 == pytest.approx(-4.0)  # and in expectation, which Proposition 6 needs


def test_remark_10_the_way_to_zero():
    """Capacity 1: p_t(0 | s, S - s) is Pr(X >= S), not Pr(X = S - 0)."""
    law = LAW
    to_zero = sum(mass for x, mass in law.items() if 1 - min(1, x) == 0)  # p_t(0 | s, S - s)
    assert to_zero == pytest.approx(2 / 3)
    assert to_zero > law[1]  # Pr(X = S - 0)


# items 14, 45: budgets and radii -------------------------------------------------------------------------------


def test_section_8_the_totals():
    t, v = 5000, 5000**0.2
    cosine = np.cos(5 * v * math.pi * np.arange(1, t + 1) / t)
    beta = 0.5 + 0.3 * np.sin(5 * v * math.pi * np.arange(1, t + 1) / t)
    b_r = max(3, 1) * np.abs(np.diff(cosine)).sum()
    b_p = 2 * np.abs(np.diff(beta)).sum()
    assert [round(b_r, 2), round(b_p, 2)] == [164.66, 32.99]
    assert [round(b_r / v, 2), round(b_p / v, 3)] == [29.98, 6.005]


def test_the_logarithm_of_rad_p_in_the_proof_of_lemma_11():
    """log(ATW / delta) in eq:pf_sto_error_for_p, log(SAT / delta) in eq:Hp: the same for W = S only."""
    s, a, t, delta = 2, 2, 5000, 1 / 5000
    for w in (1, 2, 47):
        assert (a * t * w / delta == s * a * t / delta) == (w == s)


def test_the_sums_of_proposition_1s_proof_are_empty_as_printed():
    """eq:benchmark_step1: tau = t .. t - W + 1 has no member for W >= 2; summed was tau = t .. t + W - 1."""
    t = 10
    for w in (2, 5):
        assert not list(range(t, (t - w + 1) + 1))
        assert len(range(t, (t + w - 1) + 1)) == w

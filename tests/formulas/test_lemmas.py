"""The explicit constants of Theorem 1: by hand, by law, and against schedules that try to break them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from driftmdp.formulas import borl_schedule, bounds, lemmas, paper_radii, tuned
from driftmdp.statements.regret_lemmas import doubling_schedule

TWO = dm.Space.uniform(2, 2)


def block_lengths(horizon, window):
    return np.array([length for length, count in lemmas.blocks(horizon, window) for _ in range(count)])


def test_block_lengths_by_hand():
    assert block_lengths(10, 4).tolist() == [3, 4, 3]
    assert block_lengths(12, 4).tolist() == [3, 4, 4, 1]
    assert block_lengths(3, 4).tolist() == [3]
    assert block_lengths(4, 4).tolist() == [3, 1]
    assert block_lengths(3, 1).tolist() == [1, 1, 1]


@given(st.integers(1, 500), st.integers(1, 600))
def test_blocks_fill_the_horizon_and_begin_at_multiples_of_the_window(horizon, window):
    lengths = block_lengths(horizon, window)
    assert lengths.sum() == horizon
    assert all(start % window == 0 for start in 1 + np.cumsum(lengths)[:-1])
    assert lengths.max() <= window


def test_the_count_of_episodes_by_hand():
    """Blocks of 3, 4 and 3 steps, two pairs: min(3, 2 * 2 + 1), min(4, 2 * 3 + 1), min(3, 5)."""
    assert lemmas.episodes(dm.Space.uniform(1, 2), 10, 4) == 3 + 4 + 3
    assert lemmas.episodes(dm.Space.uniform(1, 1), 100, 200) == 1 * (1 + 6) + 1


@given(st.integers(1, 400), st.integers(1, 500), st.integers(1, 12))
def test_the_count_of_episodes_is_at_most_the_paper_notes_formula(horizon, window, pairs):
    rough = (horizon // window + 1) * (pairs * (1 + int(math.log2(window))) + 1)
    assert lemmas.episodes(dm.Space.uniform(1, pairs), horizon, window) <= rough


@st.composite
def sequences(draw):
    """Any sequence of pairs, made of runs."""
    n_pairs = draw(st.integers(1, 4))
    runs = draw(st.lists(st.tuples(st.integers(0, n_pairs - 1), st.integers(1, 40)), min_size=1, max_size=15))
    return n_pairs, np.concatenate([np.full(length, pair) for pair, length in runs])


@given(sequences(), st.integers(1, 70))
def test_no_sequence_of_pairs_breaks_a_sum(sequence, window):
    n_pairs, pairs = sequence
    starts = np.array(doubling_schedule(pairs, n_pairs, window))
    space = dm.Space.uniform(1, n_pairs)
    assert starts.size <= lemmas.episodes(space, pairs.size, window)
    episode = np.searchsorted(starts, np.arange(1, pairs.size + 1), side="right") - 1
    assert (1 / np.sqrt(starts)[episode]).sum() <= lemmas.precision(space, pairs.size, window) + 1e-9
    counts = np.array([np.bincount(pairs[max(0, s - window - 1) : s - 1], minlength=n_pairs) for s in starts])
    remembered = counts[episode, pairs]
    roots = (1 / np.sqrt(np.maximum(1, remembered))).sum()
    sharper = (1 + math.sqrt(2)) * np.sqrt(n_pairs * block_lengths(pairs.size, window)).sum()
    assert roots <= sharper + 1e-9  # docs/paper-notes.md, item 35
    for scale in (1.0, 0.01):
        radii = scale * paper_radii(remembered, space, pairs.size).reward
        radii = np.maximum(radii, remembered == 0)  # a pair never seen keeps the radius 1
        bound = lemmas.estimation(space, pairs.size, window, diameter=0.0, scale=scale)
        assert 2 * radii.sum() <= bound + 1e-9


@given(
    st.integers(2, 200),
    st.integers(1, 100),
    st.lists(st.floats(0, 1), min_size=1, max_size=200),
)
def test_a_change_is_remembered_for_at_most_two_windows(horizon, window, changes):
    steps = np.resize(changes, horizon - 1)
    starts = np.array(sorted({1, *range(window, horizon + 1, window)}))
    total = 0.0
    for t in range(1, horizon + 1):
        tau = starts[starts <= t].max()
        total += steps[max(1, tau - window) - 1 : t - 1].sum()
    assert 2 * total <= lemmas.variation(horizon, steps.sum(), 0.0, window, 0.0, 0.0) + 1e-9


def test_terms_by_hand():
    assert lemmas.lost_episodes(0.0, 10, 0.0) == 0.0
    assert lemmas.lost_episodes(1.0, 10, 0.0) == math.inf
    assert lemmas.lost_episodes(3.0, 10, 0.5) == 2 * 3 * 10 / 0.5
    assert lemmas.variation(100, 2.0, 3.0, 10, 0.5, 4.0) == 20 * (4 + 48) + 400
    log = math.log(4 * 100 / 0.01)
    unit = 2 * math.sqrt(2 * log)
    expected = (2 + math.sqrt(2)) * (2 * unit + 4 * 3 * math.sqrt(2) * unit) * math.sqrt(4 * 100)
    assert lemmas.estimation(TWO, 100, 200, 3.0) == pytest.approx(expected)
    switching = 2 * 3 * lemmas.episodes(TWO, 100, 200) + 6 * math.sqrt(200 * math.log(100))
    assert lemmas.switching(TWO, 100, 200, 3.0) == pytest.approx(switching + lemmas.precision(TWO, 100, 200))
    assert lemmas.exp3p(1, 100, 0.1) == 0.0
    master = 5.15 * math.sqrt(100 * 3 * math.log(3)) + math.sqrt(300 / math.log(3)) * math.log(10)
    assert lemmas.exp3p(3, 100, 0.1) == pytest.approx(master)


def test_explicit_bounds_are_the_sums_of_their_lemmas():
    t, window, widening, d = 10_000, 500, 0.1, 2.0
    total = (
        lemmas.lost_episodes(1.5, window, widening)
        + lemmas.switching(TWO, t, window, d)
        + lemmas.variation(t, 2.0, 1.5, window, widening, d)
        + lemmas.estimation(TWO, t, window, d)
    )
    assert bounds.theorem_1(TWO, t, 2.0, 1.5, d, window, widening, explicit=True) == pytest.approx(total)
    for bound, rule in ((bounds.theorem_3, "theorem-3"), (bounds.theorem_4, "theorem-4")):
        w = tuned(TWO, t, 2.0, 1.5, rule).window
        total = (
            lemmas.switching(TWO, t, w, 4.0)
            + lemmas.variation(t, 2.0, 1.5, w, 0.0, 4.0)
            + lemmas.estimation(TWO, t, w, 4.0)
        )
        assert bound(TWO, t, 2.0, 1.5, 0.25, explicit=True) == pytest.approx(total)


def test_the_explicit_bound_of_borl_by_hand():
    """The best arm's terms: what sums over blocks, then chance once, the master, and the noise of rewards."""
    t, d = 10_000, 2.0
    plan = borl_schedule(TWO, t)
    h, n = plan.block_length, plan.n_blocks
    deviation = math.sqrt(2 * t * math.log(t))
    best = min(
        lemmas.lost_episodes(1.0, w, eta)
        + lemmas.variation(t, 2.0, 1.0, w, eta, d)
        + n * (2 * d * lemmas.episodes(TWO, h, w) + lemmas.precision(TWO, h, w))
        + n * lemmas.estimation(TWO, h, w, d, log_horizon=t)
        for w, eta in plan.arms
    )
    total = best + 2 * d * deviation + h * lemmas.exp3p(plan.n_arms, n, 1 / t) + 2 * deviation
    assert bounds.theorem_2(TWO, t, 2.0, 1.0, d, explicit=True) == pytest.approx(total)


@pytest.mark.parametrize(
    "bound",
    [
        lambda t, e: bounds.theorem_1(TWO, t, 1.0, 1.0, 2.0, 100, 0.1, explicit=e),
        lambda t, e: bounds.theorem_1_tuned(TWO, t, 1.0, 1.0, 2.0, explicit=e),
        lambda t, e: bounds.theorem_2(TWO, t, 1.0, 1.0, 2.0, explicit=e),
        lambda t, e: bounds.theorem_3(TWO, t, 1.0, 1.0, 0.5, explicit=e),
        lambda t, e: bounds.theorem_4(TWO, t, 1.0, 1.0, 0.5, explicit=e),
        lambda t, e: bounds.bandit(3, t, 1.0, explicit=e),
        lambda t, e: bounds.stationary(TWO, t, 2.0, explicit=e),
        lambda t, e: bounds.oblivious(TWO, t, 1.0, 1.0, 2.0, explicit=e),
    ],
)
def test_constants_and_logarithms_only_add_and_grow_slowly(bound):
    """The explicit form is larger, and its ratio to the order changes by logarithms only."""
    ratios = [bound(t, True) / bound(t, False) for t in (10**6, 10**9, 10**12)]
    assert min(ratios) > 1
    assert max(ratios) / min(ratios) < 20


@pytest.mark.parametrize("order", [10.0, 1e5, 1e12])
def test_the_useful_horizon_of_a_known_bound(order):
    """c sqrt(T) < T from T = c^2 on."""
    found = bounds.useful_horizon(lambda t: math.sqrt(order * t))
    assert order <= found <= 1.02 * order + 2


def test_a_bound_that_is_never_useful():
    assert bounds.useful_horizon(lambda t: 2.0 * t) == math.inf


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("window", lambda: lemmas.episodes(TWO, 10, 0)),
        ("delta", lambda: lemmas.switching(TWO, 10, 5, 1.0, delta=0.0)),
        ("widening", lambda: lemmas.lost_episodes(1.0, 5, -1.0)),
        ("space", lambda: lemmas.estimation("two", 10, 5, 1.0)),
        ("space", lambda: bounds.theorem_1("two", 10, 1.0, 1.0, 1.0, 5, 0.1)),
        ("space", lambda: bounds.theorem_2(2, 10, 1.0, 1.0, 1.0)),
        ("space", lambda: bounds.stationary((2, 2), 10, 1.0)),
        ("space", lambda: bounds.theorem_4(None, 10, 1.0, 1.0, 0.5)),
        ("horizon must be at least 1", lambda: bounds.stationary(TWO, 0, 1.0)),
        ("horizon must be at least 1", lambda: bounds.stationary(TWO, 0, 1.0, explicit=True)),
        ("horizon must be a whole number", lambda: bounds.oblivious(TWO, 1.5, 1.0, 1.0, 1.0)),
        ("scale must be at least 0", lambda: bounds.theorem_1(TWO, 10, 1, 1, 1, 5, 0.1, explicit=True, scale=-1)),
        ("scale must be 1 where", lambda: bounds.theorem_1(TWO, 10, 1, 1, 1, 5, 0.1, scale=0.1)),
        ("zeta must be at most 1", lambda: bounds.theorem_3(TWO, 10, 1.0, 1.0, zeta=2.0)),
        ("n_arms must be at least 1", lambda: bounds.bandit(0, 100, 1.0)),
        ("window must be positive; got -3", lambda: bounds.theorem_1(TWO, 10, 1, 1, 1, -3, 0.1)),
        (
            "bound must return a number from 0 on; got nan at T = 2",
            lambda: bounds.useful_horizon(lambda t: math.nan),
        ),
        ("bound must return a number from 0 on; got None", lambda: bounds.useful_horizon(lambda t: None)),
        ("bound must be a function of T; got 5", lambda: bounds.useful_horizon(5)),
    ],
)
def test_wrong_input_gets_one_sentence(what, call):
    with pytest.raises(InvalidInputError, match=what):
        call()

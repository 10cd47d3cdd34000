"""Orders whose arrival is not certain: draws, promises, costs of paths, and the plans that follow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftmdp.inventory.sample_draws import shifted_uniforms
from driftmdp.kernels.late_orders import (
    EARLIEST,
    LATEST,
    MOST_AGAIN,
    ON_TIME,
    LateOrders,
    columns_needed,
    delay_moments,
    draw_delay,
    expected_coming,
    is_certain,
    move_promises,
    new_late_orders,
    send_order,
    start_late_path,
)
from driftmdp.kernels.ordering_arrays import PROJECTED, ComingPeriods, OrderTerms
from driftmdp.kernels.path_orders import plan_late_on_paths, plan_on_paths
from driftmdp.kernels.path_rules import OrderRule, cost_of_path, fill_levels, new_trial
from tests.reference.varying_leads import VaryingLeads

SEEDS = st.integers(0, 2**32 - 1)
NOTHING = np.zeros(0, np.int64)


def longs(*values):
    return np.array(values, np.int64)


def hazards_of(rng):
    """Hazards that allow early and late orders."""
    found = rng.random(EARLIEST + LATEST + 1)
    found[:EARLIEST] *= rng.choice([0.0, 0.3])
    return found


def late_orders(rng, hazards, coming, overdue, horizon, n_paths, lead):
    uniforms = rng.random((n_paths, columns_needed(horizon, coming.size, overdue.size)))
    shifts = np.zeros(uniforms.shape[1])
    return LateOrders(*new_late_orders(lead, hazards, coming, overdue, uniforms, shifts, horizon, n_paths))


def test_delays_have_their_hazards():
    hazards = ON_TIME.copy()
    hazards[EARLIEST - 1], hazards[EARLIEST], hazards[EARLIEST + 1] = 0.1, 0.5, 0.25
    drawn = [draw_delay(hazards, -EARLIEST, -9, u) for u in (np.arange(20_000) + 0.5) / 20_000]
    shares = [np.mean([delay == d for delay in drawn]) for d in (-1, 0, 1, 2)]
    assert shares == pytest.approx([0.1, 0.45, 0.45 * 0.25, 0.45 * 0.75 * 0.5], abs=1e-3)
    mean, variance = delay_moments(hazards, 5)
    assert (mean, variance) == pytest.approx((np.mean(drawn), np.var(drawn)), abs=0.01)


@given(SEEDS, st.integers(1, 5))
def test_an_order_comes_after_its_morning_and_what_is_open_has_not_come(seed, lead):
    rng = np.random.default_rng(seed)
    hazards, coming, overdue = hazards_of(rng), rng.integers(0, 4, lead - 1), rng.integers(0, 4, 3)
    late = late_orders(rng, hazards, coming, overdue, 12, 9, lead)
    assert late.delays.min() >= 1 - lead
    assert late.first.size == 0 or late.first.min() >= 1
    assert expected_coming(hazards, coming, overdue).sum() == coming.sum() + overdue.sum()


@given(SEEDS, st.integers(1, 4))
def test_on_a_path_all_arrives_and_nothing_stays_promised(seed, lead):
    """What rules see of the coming mornings is what is out, as far as the horizon goes."""
    rng = np.random.default_rng(seed)
    hazards, horizon = hazards_of(rng), 150
    coming, overdue = rng.integers(0, 4, lead - 1), rng.integers(0, 4, 2)
    late = late_orders(rng, hazards, coming, overdue, horizon, 1, lead)
    start_late_path(late, 0)
    promised = np.zeros(horizon, np.int64)
    first = expected_coming(hazards, coming, overdue)
    promised[1 : 1 + first.size] = first
    out, sent = int(first.sum()), int(first.sum())
    for h in range(horizon):
        out -= int(late.truly[h])
        move_promises(late, h, promised)
        if h < 60:
            order = int(rng.integers(0, 5))
            if order:
                promised[h + lead] += order
                send_order(late, 0, h, order)
                out, sent = out + order, sent + order
        if h < 80:
            assert promised[h + 1 :].sum() == out
            assert promised[h + 1 :].min() >= 0
    assert late.truly.sum() == sent


@given(SEEDS, st.integers(0, 4), st.integers(0, 4))
def test_tables_that_are_wider_change_nothing(seed, more_coming, more_overdue):
    """Who else is asked about makes them wide: what of an item is drawn does not depend on it."""
    rng = np.random.default_rng(seed)
    hazards, coming, overdue = hazards_of(rng), rng.integers(0, 4, 2), rng.integers(0, 4, 3)
    wide = np.pad(coming, (0, more_coming)), np.pad(overdue, (0, more_overdue))
    drawn = rng.random((5, columns_needed(12, wide[0].size, wide[1].size)))
    shifts, found = rng.random(drawn.shape[1]), []
    for tables in ((coming, overdue), wide):
        late = LateOrders(*new_late_orders(3, hazards, *tables, drawn, shifts, 12, 5))
        mine = [late.first[:, : coming.size], late.first[:, tables[0].size :][:, : overdue.size]]
        found.append([late.delays.tolist(), *(each.tolist() for each in mine)])
        for path in range(5):
            start_late_path(late, path)
            found[-1].append((late.truly.tolist(), late.moved.tolist()))
    assert found[0] == found[1]


def test_an_overdue_order_is_expected_by_its_hazard():
    hazards = ON_TIME.copy()
    hazards[EARLIEST + 1 :] = 0.25
    assert np.flatnonzero(expected_coming(hazards, NOTHING, longs(3))).tolist() == [3]
    hazards[EARLIEST + 1 :] = 1e-6
    assert np.flatnonzero(expected_coming(hazards, NOTHING, longs(3))).tolist() == [MOST_AGAIN - 1]


def test_what_is_certain():
    assert is_certain(ON_TIME, longs(3), longs(0, 0), 2)
    assert not is_certain(ON_TIME, longs(3, 1), NOTHING, 2)
    assert not is_certain(ON_TIME, longs(3), longs(0, 1), 2)
    doubtful = ON_TIME.copy()
    doubtful[EARLIEST] = 0.99
    assert not is_certain(doubtful, NOTHING, NOTHING, 2)


@given(SEEDS, st.integers(1, 3))
def test_delays_of_none_cost_what_lead_times_that_are_fixed_cost(seed, lead):
    rng = np.random.default_rng(seed)
    terms = OrderTerms(1.0, 0.5, 5.0, 0.5, 40, 1, 0, lead)
    horizon, ones = 10, np.ones(10, np.uint8)
    coming, paths = rng.integers(0, 5, lead - 1), rng.poisson(2.0, (6, horizon)).astype(np.int32)
    late = late_orders(rng, ON_TIME, coming, NOTHING, horizon, 6, lead)
    assert not late.delays.any()
    plain = late._replace(delays=np.zeros((0, 0), np.int64))
    trials = [
        new_trial(terms, 3, NOTHING, coming, paths, ComingPeriods(ones, ones, 0), each) for each in (late, plain)
    ]
    for trial in trials:
        fill_levels(trial, OrderRule(PROJECTED, 0.5, 1.0, 0.0))
    costs = [[cost_of_path(trial, PROJECTED, i, -1) for i in range(6)] for trial in trials]
    assert costs[0] == costs[1]


@pytest.mark.parametrize("lead", [1, 2])
def test_goods_that_spoil_age_from_their_arrival(lead):
    """One unit that comes late can be sold as long as one that is on time."""
    terms = OrderTerms(0.0, 0.0, 1.0, 0.0, 9, 1, 0, lead, 2, 10.0)
    paths, none = np.zeros((1, 12), np.int32), np.zeros(12, np.uint8)
    paths[0, 6] = 1
    hazards = np.zeros(EARLIEST + LATEST + 1)
    hazards[EARLIEST + 4] = 1.0
    for due, spoils in ((1, 0), (0, 1)):  # it arrives in morning 5 or 4, and is good for two periods
        coming, overdue = (longs(1), NOTHING) if due else (NOTHING, longs(1))
        late = late_orders(np.random.default_rng(0), hazards, coming, overdue, 12, 1, lead)
        about = terms, 0, longs(0, 0), expected_coming(hazards, coming, overdue), paths
        trial = new_trial(*about, ComingPeriods(np.ones(12, np.uint8), none, 0), late)
        assert cost_of_path(trial, PROJECTED, 0, -1) == 11.0 * spoils


def plan(terms, law, hazards, stock, waiting, seed=0, horizon=24):
    """Return the order of a state of the reference."""
    ages = (0, *waiting)
    coming = longs(*(ages[terms.lead_time - 1 - j] for j in range(terms.lead_time - 1)))
    overdue = longs(*ages[terms.lead_time :])
    rng, n = np.random.default_rng((seed, stock, *waiting)), 1024
    drawn = shifted_uniforms(rng.random(columns_needed(horizon, coming.size, overdue.size)), n)
    paths = np.searchsorted(np.cumsum(law)[:-1], drawn[:, 1 : horizon + 1], side="right").astype(np.int32)
    late = LateOrders(
        *new_late_orders(terms.lead_time, hazards, coming, overdue, drawn, np.zeros(drawn.shape[1]), horizon, n)
    )
    periods = ComingPeriods(np.ones(horizon, np.uint8), np.ones(horizon, np.uint8), 1)
    return plan_late_on_paths(
        terms, stock, NOTHING, expected_coming(hazards, coming, overdue), paths, periods, late
    )[0]


def test_plans_are_near_the_optimum():
    law, terms = np.array([0.3, 0.3, 0.2, 0.1, 0.1]), OrderTerms(0.0, 0.0, 12.0, 1.0, 8, 1, 0, 1)
    chain = VaryingLeads(terms, law, [0.6, 0.5, 1.0])
    best, policy = chain.optimum()
    assert chain.average_cost(policy) == pytest.approx(best, rel=1e-4)
    hazards = np.ones(EARLIEST + LATEST + 1)
    hazards[:EARLIEST], hazards[EARLIEST], hazards[EARLIEST + 1] = 0.0, 0.6, 0.5
    orders = [min(plan(terms, law, hazards, *state), 8 - state[0] - sum(state[1])) for state in chain.states]
    assert best <= chain.average_cost(orders) < 1.01 * best


def test_without_doubt_the_reference_is_that_of_fixed_lead_times():
    from tests.reference.lost_sales import Chain

    law, terms = np.array([0.4, 0.3, 0.3]), OrderTerms(2.0, 0.0, 6.0, 1.0, 7, 1, 0, 2)
    fixed = Chain(terms, [law], [1], [1]).optimum(1e-7)[0]
    assert VaryingLeads(terms, law, [1.0]).optimum()[0] == pytest.approx(fixed, rel=1e-4)


def test_safety_rises_with_doubt():
    law, terms = np.array([0.3, 0.3, 0.2, 0.1, 0.1]), OrderTerms(0.0, 0.0, 20.0, 0.5, 60, 1, 0, 2)
    orders = []
    for on_time in (1.0, 0.8, 0.4):
        hazards = ON_TIME.copy()
        hazards[EARLIEST] = on_time
        orders.append(plan(terms, law, hazards, 2, (2, 0)))
    assert orders == sorted(orders)
    assert orders[0] < orders[2]
    ones = np.ones(24, np.uint8)
    paths = np.random.default_rng(0).choice(5, (512, 24), p=law).astype(np.int32)
    assert abs(plan_on_paths(terms, 2, longs(2), paths, ComingPeriods(ones, ones, 1))[0] - orders[0]) <= 1

"""Laws of the order engine: what is learned does not depend on how it is told, and orders keep an item's terms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftmdp.inventory import Costs
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.order_engine import AT_LEAST, CLOSED, EXACT, METHODS, NO_ORDER_DAY, NOTHING, TOO_LATE
from driftmdp.inventory.periods import OrderDays
from tests.inventory.engines import MONDAY, decide, drawn, engine_of, learn, longs, terms

CALENDAR = [
    SpecialDay(MONDAY + 17, "sale"),
    SpecialDay(MONDAY + 38, "sale"),
    SpecialDay(MONDAY + 40, "fair", group="b", factor=2.0),
    SpecialDay(MONDAY + 41, "closed"),
]
MIXED = [terms(40, group="a"), terms(group="b"), terms(25, period="week", group="b"), terms(lead_time=3, group="a")]


def sales_of(seed, n_weeks=7):
    """Random sales by (day, item): what they say, what was on sale, units."""
    rng = np.random.default_rng(seed)
    found = {}
    for t in range(7 * n_weeks):
        for item, own in enumerate(MIXED):
            if own.period == "day" or t % 7 == 0:
                units = int(drawn(rng, 4.0, 0.5))
                says = rng.choice([EXACT, AT_LEAST, NOTHING], p=[0.8, 0.15, 0.05])
                found[MONDAY + t, item] = int(says), int(rng.choice([-1, units])), 0 if says == NOTHING else units
    return found


def learn_all(engine, sales, keys):
    for day, item in keys:
        says, on_sale, units = sales[day, item]
        learn(engine, day, units, says, on_sale, [item])


def new_engine(all_terms=MIXED):
    engine = engine_of(all_terms)
    engine.set_calendar(CALENDAR)
    return engine


@settings(max_examples=5)
@given(st.integers(0, 100))
def test_the_order_of_items_within_a_week_does_not_matter(seed):
    sales = sales_of(seed)
    by_day = new_engine()
    for day in sorted({day for day, _ in sales}):
        items = [item for item in range(len(MIXED)) if (day, item) in sales]
        rows = [sales[day, item] for item in items]
        says, on_sale, units = (longs(column) for column in zip(*rows, strict=True))
        by_day.learn(day, longs(items), says.astype(np.int8), on_sale, units)
    shuffled, rng = new_engine(), np.random.default_rng(seed)
    keys = sorted(sales)
    rank = {item: rng.random(20) for item in range(len(MIXED))}
    keys.sort(key=lambda key: ((key[0] - MONDAY) // 7, rank[key[1]][(key[0] - MONDAY) // 7], key[0]))
    learn_all(shuffled, sales, keys)
    assert shuffled.as_bytes() == by_day.as_bytes()


@settings(max_examples=5)
@given(st.integers(0, 100), st.integers(1, 200))
def test_restored_and_gone_on_is_uninterrupted(seed, stop):
    sales = sales_of(seed)
    keys = sorted(sales)
    whole, first = new_engine(), new_engine()
    learn_all(whole, sales, keys)
    learn_all(first, sales, keys[:stop])
    later = new_engine()
    later.restore(first.as_bytes())
    assert later.as_bytes() == first.as_bytes()
    learn_all(later, sales, keys[stop:])
    assert later.as_bytes() == whole.as_bytes()
    day = MONDAY + 56
    assert decide(later, day, 3).order.tolist() == decide(whole, day, 3).order.tolist()


@settings(max_examples=5)
@given(st.integers(0, 100), st.integers(0, 50))
def test_groups_that_come_later_were_always_there(seed, n_days):
    sales = sales_of(seed)
    more = [terms(group="c"), terms(group="d", period="week"), terms(group="a")]
    from_the_beginning, later = new_engine([*MIXED, *more]), new_engine()
    names = from_the_beginning.table.skus
    learn_all(from_the_beginning, sales, sorted(sales))
    keys = sorted(sales)
    learn_all(later, sales, [key for key in keys if key[0] < MONDAY + n_days])
    later.add_items(names[len(MIXED) :], more)
    learn_all(later, sales, [key for key in keys if key[0] >= MONDAY + n_days])
    assert later.as_bytes() == from_the_beginning.as_bytes()


def learned_engine(all_terms, n_days=60, mean=4.0, seed=0):
    """An engine that knows the demand of its items."""
    engine, rng = engine_of(all_terms), np.random.default_rng(seed)
    kinds = np.array([own.period == "week" for own in all_terms])
    for t in range(n_days):
        items = np.flatnonzero(~kinds | (t % 7 == 0))
        if items.size:
            learn(engine, MONDAY + t, drawn(rng, mean, 0.4, items.size), items=items)
    return engine


def test_deciding_changes_nothing_and_repeats():
    engine = learned_engine(MIXED)
    before = engine.as_bytes()
    first, again = decide(engine, MONDAY + 63, 2), decide(engine, MONDAY + 63, 2)
    assert engine.as_bytes() == before
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    one_by_one = [decide(engine, MONDAY + 63, 2, items=[item]).order[0] for item in range(len(MIXED))]
    assert one_by_one == first.order.tolist()
    forecasts = [engine.forecast(MONDAY + 63, longs([0, 1, 3]), 5, [0.1, 0.9]) for _ in range(2)]
    np.testing.assert_array_equal(forecasts[0].quantiles, forecasts[1].quantiles)
    assert engine.as_bytes() == before


def test_beliefs_of_another_shop_are_refused():
    one, three = learned_engine(MIXED[:1], 9), learned_engine(MIXED[:3], 9)
    for engine, content in ((three, one.as_bytes()), (one, three.as_bytes())):
        before = engine.as_bytes()
        with pytest.raises(ValueError, match=r"."):
            engine.restore(content)
        assert engine.as_bytes() == before
    for content in (b"", one.as_bytes()[:-1], one.as_bytes() + b"0"):
        with pytest.raises(ValueError, match=r"."):
            one.restore(content)


order_days = st.sampled_from([OrderDays(), OrderDays.parse("mon,thu"), OrderDays(every=3)])


@st.composite
def any_terms(draw):
    """Terms of a daily item."""
    pack = draw(st.sampled_from([1, 4, 6]))
    minimum = draw(st.sampled_from([0, 5, 12]))
    capacity = draw(st.sampled_from([12, 30, 200, None]))
    costs = Costs(draw(st.sampled_from([0.0, 8.0])), draw(st.sampled_from([0.0, 1.0])), 5.0, 0.5)
    service = draw(st.sampled_from([None, None, 0.9]))
    return terms(
        capacity,
        costs,
        pack=pack,
        minimum=minimum,
        lead_time=draw(st.sampled_from([0, 1, 2, 5])),
        order_days=draw(order_days),
        closed_days=draw(st.sampled_from([frozenset(), frozenset([6])])),
        service=service,
        service_measure=draw(st.sampled_from(["units", "periods"])),
    )


@settings(max_examples=25)
@given(st.lists(any_terms(), min_size=1, max_size=4), st.integers(0, 13), st.data())
def test_orders_keep_the_terms(all_terms, weekday, data):
    engine, day = learned_engine(all_terms, 14), MONDAY + 14 + weekday
    stock = longs([data.draw(st.integers(0, own.capacity or 40)) for own in all_terms])
    width = max(max(own.lead_time for own in all_terms) - 1, 0)
    coming = longs([data.draw(st.lists(st.integers(0, 3), min_size=width, max_size=width)) for _ in all_terms])
    coming = coming.reshape(len(all_terms), width)
    until = data.draw(st.sampled_from([None, day, day + 2, day + 9]))
    orders = decide(engine, day, stock, coming, until)
    for n, own in enumerate(all_terms):
        order, method = int(orders.order[n]), METHODS[orders.method[n]]
        assert order % own.pack == 0
        assert order == 0 or order >= own.minimum
        position = stock[n] + coming[n, : max(own.lead_time - 1, 0)].sum()
        assert order == 0 or own.capacity is None or position + order <= own.capacity
        if (day - 1) % 7 in own.closed_days or not own.order_days.may_order(day, "day"):
            assert order == 0
        if until is not None and day + own.lead_time > until:
            assert order == 0
            assert method == "too late"
        assert np.isfinite(orders.cost[n])
        assert orders.cost[n] >= 0.0


@pytest.mark.parametrize("service", [None, 0.95])
def test_no_order_says_why(service):
    own = terms(lead_time=2, order_days=OrderDays.parse("mon,sun"), closed_days=frozenset([6]), service=service)
    engine = learned_engine([own], 14)
    for day, until, why in ((15, None, NO_ORDER_DAY), (20, None, CLOSED), (14, 15, TOO_LATE), (14, 16, None)):
        orders = decide(engine, MONDAY + day, 0, until=None if until is None else MONDAY + until)
        if why is None:
            assert orders.order[0] > 0
        else:
            assert (orders.order[0], orders.method[0]) == (0, why)


def test_a_week_that_contains_the_last_day_counts():
    engine = learned_engine([terms(period="week", lead_time=2)], 70)
    day = MONDAY + 70
    assert decide(engine, day, 0, until=day + 13).order[0] == 0
    assert decide(engine, day, 0, until=day + 14).order[0] > 0
    assert decide(engine, day, 0, until=day + 20).order[0] > 0


@pytest.mark.parametrize("fixed", [0.0, 6.0])
@pytest.mark.parametrize("capacity", [30, 120])
def test_a_larger_stock_is_never_ordered_more_for(fixed, capacity):
    """Without packs the exact plan at lead time 0 is to order up to a level, from a stock on."""
    own = terms(capacity, Costs(fixed, 0.5, 5.0, 0.5), order_days=OrderDays.parse("mon,thu"))
    engine = learned_engine([own] * (capacity + 1))
    engine.beliefs.units[:], engine.beliefs.exposure[:] = engine.beliefs.units[0], engine.beliefs.exposure[0]
    engine.beliefs.weights[:], engine.rhythm.own_weekdays[:] = engine.beliefs.weights[0], 1.0
    orders = decide(engine, MONDAY + 63, np.arange(capacity + 1))
    assert {METHODS[method] for method in orders.method} == {"exact"}
    assert (np.diff(orders.order) <= 0).all()
    up_to = (orders.order + np.arange(capacity + 1))[orders.order > 0]
    assert len(set(up_to.tolist())) == 1


def test_dearer_lost_sales_are_ordered_more_for():
    own = [terms(60, Costs(0.0, 0.0, lost, 1.0), lead_time=2) for lost in (0.5, 2.0, 8.0, 32.0)]
    engine = learned_engine(own, seed=3)
    engine.beliefs.units[:], engine.beliefs.exposure[:] = engine.beliefs.units[0], engine.beliefs.exposure[0]
    engine.beliefs.weights[:], engine.rhythm.own_weekdays[:] = engine.beliefs.weights[0], 1.0
    orders = decide(engine, MONDAY + 63, 0).order
    assert (np.diff(orders) >= 0).all()
    assert orders[-1] > orders[0]


def test_other_terms_count_from_now_on():
    engine = learned_engine([terms(60)])
    before = decide(engine, MONDAY + 63, 0).order[0]
    engine.set_terms({0: replace(terms(60), pack=12, group="new")})
    after = decide(engine, MONDAY + 63, 0).order[0]
    assert before > 0
    assert after > 0
    assert after % 12 == 0


def test_forecasts_of_closed_days_are_zero_and_quantiles_do_not_fall():
    engine = learned_engine([terms(closed_days=frozenset([6]))] * 2)
    found = engine.forecast(MONDAY + 63, longs([0, 1]), 14, [0.05, 0.5, 0.95])
    assert (found.mean[:, [6, 13]] == 0).all()
    assert (found.mean[:, :6] > 0).all()
    assert (np.diff(found.quantiles, axis=2) >= 0).all()


@pytest.mark.parametrize("units", [2000, 10**5, 10**7, 2**31 - 1])
@pytest.mark.parametrize("service", [None, 0.95])
def test_large_numbers(units, service):
    """A count with too many digits is believed, and planned for, without a crash."""
    own = [
        terms(capacity, lead_time=lead, service=service) for capacity in (None, 10, 10**9) for lead in (0, 2, 60)
    ]
    engine = engine_of(own)
    for t in range(12):
        learn(engine, MONDAY + 7 * t, units if t % 3 else 0, t % 2, units if t % 2 else -1)
    orders = decide(engine, MONDAY + 84, 0)
    assert np.isfinite(orders.cost).all()
    assert (orders.order >= 0).all()
    assert (orders.order[3:6] <= 10).all()
    found = engine.forecast(MONDAY + 84, np.arange(9), 2, [0.1, 0.9])
    assert (found.mean > 0).all()
    assert (found.quantiles >= 0).all()


def test_many_items_are_decided_as_one_by_one():
    """To the last digit of the cost: their sample paths do not depend on how far ahead others are planned."""
    engine = learned_engine([terms(30), terms(lead_time=3), terms(lead_time=9), terms(period="week")] * 40, 15)
    orders, day = decide(engine, MONDAY + 21, 1), MONDAY + 21
    for item in range(0, 160, 7):
        alone = decide(engine, day, 1, items=[item])
        assert (alone.order[0], alone.cost[0]) == (orders.order[item], orders.cost[item])
    backwards = decide(engine, day, 1, items=range(159, -1, -1))
    np.testing.assert_array_equal(backwards.order[::-1], orders.order)


def test_forecasts_of_slow_items_keep_their_mean():
    """The shape of demand that all items share once made the forecasts of slow items 8% too high."""
    rng = np.random.default_rng(3)
    engine, means = engine_of([terms()] * 60), np.geomspace(0.05, 0.2, 60)
    paths = means[:, None] * np.exp(np.cumsum(rng.normal(0.0, 0.03, (60, 400)), axis=1))
    for t in range(400):
        learn(engine, MONDAY + t, rng.poisson(paths[:, t]))
    items = np.arange(60)
    forecast = engine.forecast(MONDAY + 400, items, 7, [0.5]).mean.sum()
    believed = sum(engine.describe(MONDAY + 400 + d, item).level for item in range(60) for d in range(7))
    assert forecast == pytest.approx(believed, rel=0.04)


@pytest.mark.parametrize("fixed", [0.0, 20.0])
@pytest.mark.parametrize("capacity", [40, 1000, None])
def test_the_first_item_of_a_shop_begins_small(capacity, fixed):
    """A defect once: a large capacity was taken for a large demand, and the shelf was filled."""
    costs = Costs(fixed=fixed, unit=0.5, lost_sale=4.0, holding=0.1)
    engine = engine_of([terms(capacity, costs, lead_time=2)])
    assert 1 <= decide(engine, MONDAY, 0).order[0] <= 40

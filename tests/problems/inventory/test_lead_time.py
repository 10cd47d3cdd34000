"""Lead times: states, what follows what, and the best that can be earned, against plain loops."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from driftmdp.problems.inventory import Costs, Empirical, Poisson, Stock


@pytest.mark.parametrize("capacity", [1, 2, 5])
@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_every_place_has_one_state(capacity, lead_time):
    stock = Stock(capacity, lead_time)
    most = capacity if lead_time == 2 else 0
    places = [(s, q) for s in range(capacity + 1) for q in range(min(most, capacity - s) + 1)]
    assert [stock.index(s, q) for s, q in places] == list(range(stock.space.n_states))
    assert list(zip(stock.on_hand.tolist(), stock.coming.tolist(), strict=True)) == places
    assert stock.space.n_actions.tolist() == [capacity - s - q + 1 for s, q in places]


def plain_day(s, q, order, demand, lead_time):
    """What can be sold, what is sold, and the next place."""
    on_sale = s + order if lead_time == 0 else s
    sold = min(on_sale, demand)
    if lead_time == 0:
        return on_sale, sold, (on_sale - sold, 0)
    if lead_time == 1:
        return on_sale, sold, (on_sale - sold + order, 0)
    return on_sale, sold, (on_sale - sold + q, order)


@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_the_anchors_are_days(lead_time):
    costs, capacity = Costs(3.0, 0.7, 5.0, 0.4), 4
    problem = dm.problems.inventory(
        capacity=capacity,
        horizon=1,
        demand=Poisson(2),
        lead_time=lead_time,
        zeta=0.01,
        fixed_cost=3.0,
        unit_cost=0.7,
        lost_sale=5.0,
        holding=0.4,
    )
    stock, world = Stock(capacity, lead_time), problem.drifting
    for demand, anchor in enumerate(world.anchors):
        for state in range(stock.space.n_states):
            s, q = int(stock.on_hand[state]), int(stock.coming[state])
            for order in range(capacity - s - q + 1):
                on_sale, sold, place = plain_day(s, q, order, demand, lead_time)
                following = anchor.successors(state, order)
                assert following[stock.index(*place)] == 1.0
                assert stock.on_sale(state, order) == on_sale
                assert stock.sales(state, order, stock.index(*place)) == sold
                paid = 3.0 * (order > 0) + 0.7 * order + 0.4 * (on_sale - sold) - 5.0 * sold
                assert anchor.rewards[stock.space.pair(state, order)] == pytest.approx(-paid)
    assert problem.costs == costs
    assert problem.lead_time == lead_time


def test_waiting_costs():
    """The longer an order takes, the less is earned; a demand of one a day is served whatever the lead time."""
    gains = [
        dm.planning.optimal_gain(dm.problems.inventory(capacity=8, horizon=1, lead_time=n).drifting.at(1)).gain
        for n in (0, 1, 2)
    ]
    assert gains[0] > gains[1] > gains[2]
    sure = [
        dm.planning.optimal_gain(
            dm.problems.inventory(
                capacity=8, horizon=1, lead_time=n, demand=Empirical([[0, 1]]), zeta=0.0, fixed_cost=0, unit_cost=1
            ).drifting.at(1),
            allow_transient=True,
        ).gain
        for n in (0, 1, 2)
    ]
    assert np.allclose(sure, 3.0)  # l - c for the one that is sold, nothing held over


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Stock(4, 3), "lead_time must be at most 2; got 3."),
        (lambda: Stock(4, -1), "lead_time must be at least 0; got -1."),
        (
            lambda: Stock(4, 1).index(2, 1),
            "coming must be 0 with a lead time of 1: what was ordered is here; got 1.",
        ),
        (lambda: Stock(4, 2).index(2, 3), "coming must be at most 2; got 3."),
        (lambda: dm.problems.inventory(start=21), "start must be at most 20; got 21."),
    ],
)
def test_wrong_places_are_answered_with_one_sentence(make, sentence):
    with pytest.raises(InvalidInputError) as caught:
        make()
    assert str(caught.value) == sentence

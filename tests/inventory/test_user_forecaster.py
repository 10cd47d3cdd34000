"""Forecasters of one's own in an engine: what they are given, what they decide, and what they are refused for."""

import numpy as np
import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import Costs
from driftmdp.inventory.order_engine import AT_LEAST, NOTHING
from driftmdp.inventory.user_forecaster import LEVELS, UserForecaster
from tests.inventory.engines import MONDAY, decide, engine_of, learn, terms

asked = []


def always_six(history, days):
    """Demand is 6, whatever was seen."""
    asked.append((history, days))
    return np.full((days.size, len(LEVELS)), 6.0)


def up_to_twenty(history, days):
    """Demand is anything from 0 to 20."""
    return np.tile(20.0 * np.array(LEVELS), (days.size, 1))


def wrong_shape(history, days):
    return np.zeros(days.size)


def falling(history, days):
    return np.tile(np.arange(len(LEVELS), 0, -1), (days.size, 1))


def negative(history, days):
    return np.full((days.size, len(LEVELS)), -1.0)


def not_a_number(history, days):
    return np.full((days.size, len(LEVELS)), np.nan)


def words(history, days):
    return [["many"] * len(LEVELS)] * days.size


def failing(history, days):
    return days / 0


def nothing(history, days):
    return None


def ragged(history, days):
    return [[1.0], [1.0, 2.0]]


def mine(name, **more):
    return engine_of([terms(**more)], f"{__name__}:{name}")


@pytest.mark.parametrize(
    "name",
    [
        "no_such_module:forecast",
        "json:no_such_function",
        "json:__name__",
        "json:",
        ":forecast",
        "json",
        "",
        ".json:dumps",
        "a b:c",
    ],
)
def test_a_forecaster_that_is_not_there_is_one_sentence(name):
    with pytest.raises(InvalidInputError, match=r"^forecaster must be a function module:name; got .*\.$") as raised:
        UserForecaster(name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "name", ["wrong_shape", "falling", "negative", "not_a_number", "words", "nothing", "ragged"]
)
def test_wrong_quantiles_are_one_sentence(name):
    engine = mine(name)
    with pytest.raises(InvalidInputError, match=rf":{name} must return quantiles of shape \(\d+, 19\)") as raised:
        decide(engine, MONDAY, 0)
    assert "\n" not in str(raised.value)


def test_a_forecaster_that_fails_is_named():
    with pytest.raises(InvalidInputError, match=r":failing must return quantiles; it failed with \w+: .*\.$"):
        decide(mine("failing"), MONDAY, 0)


def test_a_forecast_is_the_forecasters():
    found = mine("up_to_twenty", closed_days=frozenset([6])).forecast(MONDAY, np.array([0]), 7, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(found.mean[0], [10.0] * 6 + [0.0], rtol=0.03)
    np.testing.assert_allclose(found.quantiles[0, 0], [5.0, 10.0, 15.0], atol=1.0)


def test_a_sure_demand_is_ordered_for():
    engine = mine("always_six")
    assert decide(engine, MONDAY, 0).order.tolist() == [6]
    assert decide(engine, MONDAY, 4).order.tolist() == [2]
    assert decide(engine, MONDAY, 9).order.tolist() == [0]


def test_the_critical_quantile_of_its_demand_is_ordered():
    engine = mine("up_to_twenty", costs=Costs(0.0, 0.0, 3.0, 1.0))
    assert decide(engine, MONDAY, 0).order[0] == pytest.approx(15, abs=1)


def test_weeks_and_terms_count():
    engine = mine("always_six", period="week", lead_time=2, pack=4)
    order = decide(engine, MONDAY, 12, np.array([[0]])).order[0]
    assert order % 4 == 0
    assert order >= 4
    assert np.diff(asked[-1][1]).astype(int).tolist() == [7] * (asked[-1][1].size - 1)
    assert asked[-1][1][0] == np.datetime64("2024-01-01")
    assert decide(engine, MONDAY, 0, until=MONDAY + 13).order[0] == 0


def test_a_service_target_counts():
    low, high = (mine("up_to_twenty", service=target) for target in (0.6, 0.97))
    assert decide(low, MONDAY, 0).order[0] < decide(high, MONDAY, 0).order[0]


def test_it_is_given_what_was_seen():
    engine = mine("always_six")
    learn(engine, MONDAY, 3)
    learn(engine, MONDAY + 1, 5, AT_LEAST)
    learn(engine, MONDAY + 2, 0, NOTHING)
    decide(engine, MONDAY + 3, 0)
    history, days = asked[-1]
    assert (history.item, history.units.tolist(), history.sold_out.tolist()) == (0, [3, 5], [False, True])
    assert history.days.tolist() == np.array(["2024-01-01", "2024-01-02"], "M8[D]").tolist()
    assert days[0] == np.datetime64("2024-01-04")


def test_its_beliefs_are_its_history():
    engine = mine("always_six")
    with pytest.raises(ValueError, match="history"):
        engine.restore(engine.as_bytes())

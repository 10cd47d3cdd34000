"""A shop with a forecaster of one's own."""

from driftmdp.inventory import Count, Shop, Sold
from tests.inventory.shops import create, day, refused

NAME = "tests.inventory.a_forecaster:forecast"


def test_a_shop_keeps_its_forecaster_and_all_its_promises(path):
    with create(path, forecaster=NAME, capacity=None) as shop:
        shop.record([Sold("A", day(n), 3 + n % 3, in_stock=True) for n in range(90)])
        first = shop.decide([Count("A", 2)], day(90))
        assert shop.verify()
    with Shop(path) as again:
        assert again.decide([Count("A", 2)], day(90)).advice == first.advice
        assert again.record([Sold("A", day(80), 9, in_stock=True)], correct=True).corrected == 1
        assert again.verify()
        assert again._states.engine.describe(day(90).toordinal(), 0).periods == 90


def test_a_forecaster_that_is_not_there_makes_no_shop(path):
    for name in ("no_such_module:forecast", "json:no_such_name", "json"):
        with refused("forecaster must be a function module:name; got"):
            create(path, forecaster=name)
        assert not path.exists()

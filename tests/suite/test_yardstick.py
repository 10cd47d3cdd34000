"""The search for the best arm in hindsight."""

import math

import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.suite import packaged_suite, parse_suite
from driftmdp.suite.yardstick import NO_RADIUS, ranked_arms
from tests.suite.suites import TINY

HORIZON = 5000


@pytest.fixture(scope="module")
def yardstick():
    return packaged_suite().yardstick


def search(yardstick, regret):
    """Return all arms that are tried, and the best, where a function says the regret."""
    tried, added = [], yardstick.coarse_arms(HORIZON)
    for _ in range(1 + yardstick.refinements):
        tried += added
        regrets = {arm.label: regret(arm) for arm in tried}
        added = yardstick.finer_arms(tried, regrets)
    return tried, ranked_arms(tried, regrets)[0]


def bowl(window, scale, psrl=1e9):
    """Return a regret that grows with the distance from a best arm of SWUCRL2CW."""

    def regret(arm):
        if arm.scale is None:
            return psrl
        distance = abs(math.log(arm.window / window)) + abs(math.log((arm.scale + NO_RADIUS) / (scale + NO_RADIUS)))
        return 100 + distance

    return regret


@pytest.mark.parametrize(("window", "scale"), [(60, 0.02), (3, 0.5), (700, 0.0003), (5000, 1e-6), (2, 1.0)])
def test_the_search_ends_near_the_best_and_costs_less_than_a_grid(yardstick, window, scale):
    tried, best = search(yardstick, bowl(window, scale))
    assert len({arm.label for arm in tried}) == len(tried)
    assert len(tried) * packaged_suite().seeds.tuning.count <= 200  # the first edition: 60 arms on 5 seeds
    assert max(best.window / window, window / best.window) <= 5000 ** (1 / 5 / 4) * 1.1
    assert abs(math.log((best.scale + NO_RADIUS) / (scale + NO_RADIUS))) < math.log(10) / 4 + 0.9


def test_a_kind_that_is_far_behind_is_not_refined(yardstick):
    def n_psrl(level):
        tried, _ = search(yardstick, bowl(60, 0.02, psrl=level))
        return sum(arm.kind.name == "SlidingWindowPSRL" for arm in tried)

    coarse = yardstick.arms[1].windows.count
    assert n_psrl(1000) == coarse
    assert n_psrl(110) > coarse


def test_ends_are_no_edges(yardstick):
    arms = {(arm.kind.name, arm.window, arm.scale): arm.on_edge(HORIZON) for arm in yardstick.coarse_arms(HORIZON)}
    assert not arms["SWUCRL2CW", 5000, 1e-6]
    assert arms["SWUCRL2CW", 5000, 1.0]
    assert arms["SWUCRL2CW", 2, 0.1]
    assert arms["SlidingWindowPSRL", 4, None]
    assert not arms["SlidingWindowPSRL", 5000, None]
    assert not arms["PSRL", None, None]
    coarser = parse_suite(TINY).yardstick.coarse_arms(HORIZON)  # its smallest scale is not nearly 0
    assert all(arm.on_edge(HORIZON) for arm in coarser if arm.scale == 0.02)


def test_a_radius_of_zero_is_refused():
    with pytest.raises(InvalidInputError, match=r"scales\[1\] must be above 0"):
        parse_suite(TINY.replace("scales = [1.0, 0.02]", "scales = [1.0, 0.0]"))

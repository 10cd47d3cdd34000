"""Seasons, weekdays and special days of simulated shops whose truth is known."""

import numpy as np
import pytest

from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.pooled_factors import level_path, week_of_year
from driftmdp.inventory.shared_rhythm import SharedRhythm
from tests.inventory.engines import MONDAY, drawn, engine_of, learn, longs, terms

N_ITEMS, N_WEEKS = 60, 156
WAVE = 2 * np.pi * np.arange(52) / 52
SEASONS = np.exp([0.4 * np.sin(WAVE), -0.3 * np.cos(WAVE)])  # by group and week of the year
WEEKDAYS = np.array([0.8, 0.8, 0.9, 1.0, 1.2, 1.5, 0.8])
GROUPS = np.arange(N_ITEMS) % 2
LEVELS = np.exp(np.random.default_rng(9).normal(1.5, 0.7, N_ITEMS))  # a day


def rows_of(period):
    return [terms(group="ab"[group], period=period) for group in GROUPS]


def weekly_shop(seasons, seed=0, n_weeks=N_WEEKS):
    """An engine after three years of weeks."""
    engine, rng = engine_of(rows_of("week")), np.random.default_rng(seed)
    for t in range(n_weeks):
        day = MONDAY + 7 * t
        week = week_of_year(np.array([day]))[0]
        learn(engine, day, drawn(rng, 7 * LEVELS * seasons[GROUPS, week], 0.2))
    learn(engine, MONDAY + 7 * n_weeks, 0, 2)  # the next block begins
    return engine


def daily_shop(weekdays, lines=(), effect=1.0, seed=0, n_weeks=30):
    """An engine after some weeks of days."""
    engine, rng = engine_of(rows_of("day")), np.random.default_rng(seed)
    engine.set_calendar(lines)
    special = {line.day for line in lines}
    for t in range(7 * n_weeks):
        mean = LEVELS * weekdays[t % 7] * (effect if MONDAY + t in special else 1.0)
        learn(engine, MONDAY + t, drawn(rng, mean, 0.3))
    learn(engine, MONDAY + 7 * n_weeks, 0, 2)
    return engine


def test_seasons_of_groups_are_recovered():
    """To 10 percent, of seasons that go from two thirds to one and a half. 6 percent is the noise of the sums."""
    engine = weekly_shop(SEASONS)
    found = engine.rhythm.seasons[:2]
    error = np.log(found / SEASONS)
    error -= error.mean(axis=1, keepdims=True)  # what a factor has on average belongs to the level
    assert np.sqrt((error**2).mean()) < 0.1
    for group in (0, 1):
        assert np.corrcoef(np.log(found[group]), np.log(SEASONS[group]))[0, 1] > 0.85


def test_a_level_that_followed_the_season_does_not_hide_it():
    """After two years, when the first of them moved the levels. Without the path of the levels it was 0.10."""
    engine = weekly_shop(SEASONS, n_weeks=104)
    error = np.log(engine.rhythm.seasons[:2] / SEASONS)
    error -= error.mean(axis=1, keepdims=True)
    assert np.sqrt((error**2).mean()) < 0.095


def test_the_path_of_levels_counts_an_item_once_a_week():
    """Items of 10 per day and of 10 per week: the daily ones stay, the weekly ones move by a tenth."""
    levels, moves, periods = (np.tile(each, (3, 1)) for each in ([70.0, 10.0], [0.0, 1.0], [7, 1]))
    np.testing.assert_allclose(level_path(levels, moves, periods), [1.0, 1.05, 1.05**2])
    days = [50.0, 0.0], [2.0, 0.0], [5, 0]
    np.testing.assert_allclose(level_path(*(np.tile(each, (2, 1)) for each in days)), [1.0, 1.2])


def test_a_shop_without_seasons_has_none():
    engine = weekly_shop(np.ones((2, 52)))
    assert np.abs(np.log(engine.rhythm.seasons)).max() < 0.03


def test_one_year_says_nothing_of_seasons():
    engine = weekly_shop(SEASONS, n_weeks=50)
    assert (engine.rhythm.seasons == 1.0).all()


def test_a_group_that_comes_after_years_was_always_there():
    engines = [engine_of(rows_of("week")) for _ in range(2)]
    rng = np.random.default_rng(3)
    for t in range(130):
        for n, engine in enumerate(engines):
            if t == (0, 115)[n]:
                engine.add_items(["new"], [terms(group="c", period="week")])
        units = drawn(rng, 7 * LEVELS * SEASONS[GROUPS, t % 52], 0.2)
        for engine in engines:
            learn(engine, MONDAY + 7 * t, units, items=range(N_ITEMS))
    assert engines[0].as_bytes() == engines[1].as_bytes()


def test_weekdays_are_recovered():
    """To 4 percent."""
    engine = daily_shop(WEEKDAYS)
    error = np.log(engine.rhythm.weekdays[:2] / WEEKDAYS)
    error -= error.mean(axis=1, keepdims=True)
    assert np.abs(error).max() < 0.04
    factors = engine.factors.all_factors(np.arange(2), MONDAY + 700 + np.arange(7))
    assert factors == pytest.approx(engine.rhythm.weekdays[GROUPS[:2]] * engine.rhythm.own_weekdays[:2])


def test_a_shop_without_weekdays_has_none():
    engine = daily_shop(np.ones(7))
    assert np.abs(np.log(engine.rhythm.weekdays)).max() < 0.02
    assert np.abs(np.log(engine.rhythm.own_weekdays)).max() < 0.02


def test_items_of_one_group_may_differ_in_their_weekdays():
    """Cake on Sundays, rolls on weekdays: the items' own factors, to 12 percent in the mean, and in no group."""
    engine, rng = engine_of([terms()] * 40), np.random.default_rng(4)
    own = np.where(np.arange(40)[:, None] % 2 == 0, WEEKDAYS, WEEKDAYS[::-1])
    for t in range(7 * 30):
        learn(engine, MONDAY + t, drawn(rng, 8.0 * own[:, t % 7], 0.3))
    learn(engine, MONDAY + 210, 0, 2)
    error = np.log(engine.factors.all_factors(np.arange(40), MONDAY + 700 + np.arange(7)) / own)
    error -= error.mean(axis=1, keepdims=True)
    assert np.sqrt((error**2).mean()) < 0.12
    engine.add_items(["new"], [terms()])
    new = engine.factors.all_factors(longs([40]), MONDAY + 700 + np.arange(7))[0]
    assert new == pytest.approx(engine.rhythm.weekdays[0])


def test_the_effect_of_a_special_day_is_learned():
    """Three times the demand, to 15 percent; and levels are what they are without it, to 3 percent."""
    lines = [SpecialDay(MONDAY + day, "sale") for day in (80, 115, 150, 180)]
    engine, without = daily_shop(WEEKDAYS, lines, effect=3.0), daily_shop(WEEKDAYS)
    assert engine.rhythm.effects["sale"] == pytest.approx(3.0, rel=0.15)
    day = MONDAY + 700
    engine.set_calendar([SpecialDay(day, "sale")])
    factors = engine.factors.special(np.arange(1), np.array([day, day + 1]))[0]
    assert factors.tolist() == [[engine.rhythm.effects["sale"], 1.0]]
    levels = [[e.describe(day, item).level for item in range(N_ITEMS)] for e in (engine, without)]
    assert np.mean(levels[0]) == pytest.approx(np.mean(levels[1]), rel=0.03)
    assert np.mean(levels[0]) == pytest.approx(LEVELS.mean(), rel=0.05)


def test_a_factor_that_is_given_is_used():
    lines = [SpecialDay(MONDAY + day, "sale", factor=3.0) for day in (80, 115, 150, 180)]
    engine = daily_shop(WEEKDAYS, lines, effect=3.0)
    assert engine.rhythm.effects == {}
    day = MONDAY + 700
    engine.set_calendar(
        [SpecialDay(day, "sale", group="b", factor=2.5), SpecialDay(day, "fair", "item 1", factor=2.0)]
    )
    factors = engine.factors.special(np.arange(4), np.array([day]))[0][:, 0]
    assert factors.tolist() == [1.0, 5.0, 1.0, 2.5]
    levels = [engine.describe(day, item).level for item in range(N_ITEMS)]
    assert np.mean(levels) == pytest.approx(LEVELS.mean(), rel=0.05)


def test_the_first_special_day_of_a_name_teaches_no_level():
    engine = daily_shop(np.ones(7), n_weeks=4)
    engine.set_calendar([SpecialDay(MONDAY + 29, "sale")])
    learn(engine, MONDAY + 28, 5)
    before = engine.beliefs.periods.copy(), engine.beliefs.weights.copy()
    learn(engine, MONDAY + 29, 5000)
    np.testing.assert_array_equal(engine.beliefs.periods, before[0])
    np.testing.assert_array_equal(engine.beliefs.weights, before[1])
    learn(engine, MONDAY + 35, 5)
    assert engine.rhythm.effects["sale"] > 20.0


def test_a_closed_day_says_nothing():
    engine = engine_of([terms(closed_days=frozenset([6]))])
    for t in range(70):
        learn(engine, MONDAY + t, 0 if t % 7 == 6 else 4)
    assert engine.describe(MONDAY + 70, 0).periods == 60
    assert engine.describe(MONDAY + 70, 0).level == pytest.approx(4.0, rel=0.02)
    assert engine.describe(MONDAY + 76, 0).factor == 0.0


def test_a_new_item_borrows_its_groups_level():
    engine = engine_of([terms(group="slow")] * 8 + [terms(group="fast")] * 9)
    rng = np.random.default_rng(0)
    for t in range(60):
        learn(engine, MONDAY + t, drawn(rng, np.repeat([1.0, 20.0], [8, 9]), 0.2))
    engine.add_items(["s", "f", "n"], [terms(group=group) for group in ("slow", "fast", "new")])
    learn(engine, MONDAY + 63, 0, 2, items=[0])
    slow, fast, new = (engine.describe(MONDAY + 63, item).level for item in (17, 18, 19))
    assert slow == pytest.approx(1.0, rel=0.3)
    assert fast == pytest.approx(20.0, rel=0.2)
    assert slow < new < 1.5 * fast
    for t in range(20):  # until its own days add up
        learn(engine, MONDAY + 63 + t, 6, items=[17])
    assert engine.describe(MONDAY + 83, 17).level == pytest.approx(6.0, rel=0.2)


def test_weeks_of_the_year():
    days = MONDAY + np.arange(0, 20 * 365)
    weeks = week_of_year(days)
    assert weeks.min() == 0
    assert weeks.max() == 51
    steps = np.diff(weeks[(days - 1) % 7 == 0])
    assert set(steps.tolist()) <= {1, 0, -51}  # the last two of a long year are one


def test_a_rhythm_goes_on_after_a_snapshot():
    rhythm, again = SharedRhythm(), SharedRhythm()
    rhythm.add_groups(2)
    rhythm.add_items(2)
    rhythm.count_weekday(MONDAY, longs([0, 1]), np.array([3.0, 1.0]), np.array([2.0, 2.0]))
    rhythm.count_special(5, "sale", np.array([3.0]), np.array([1.0]))
    rhythm.count_week(MONDAY, longs([0, 1]), np.array([3.0, 1.0]), np.array([2.0, 2.0]))
    rhythm.count_levels(MONDAY, longs([0, 1]), np.array([2.0, 2.0]), np.array([0.1, -0.1]))
    rhythm.renew(longs([0, 1]))
    again.restore(*rhythm.as_arrays())
    for one in (rhythm, again):
        one.count_special(6, "sale", np.array([3.0]), np.array([1.0]))
        one.add_groups(3)
        one.add_items(3)
        one.renew(longs([0, 1, 2]))
    assert again.effects == rhythm.effects
    for one, other in zip(again.as_arrays()[1], rhythm.as_arrays()[1], strict=True):
        np.testing.assert_array_equal(one, other)

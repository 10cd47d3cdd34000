"""Forecasts: means and quantiles of coming periods, as a table and as a picture."""

import csv
import io

import numpy as np
import pytest
from matplotlib.image import imread

from driftmdp.inventory import DemandForecast, Sold, SpecialDay, forecast_csv
from driftmdp.report.forecast_picture import draw_forecast, pictured_items
from tests.inventory.shops import create, day, refused


def test_a_forecast_has_ordered_quantiles_and_follows_the_last_sales(path):
    with create(path, capacity=None) as shop:
        shop.record([Sold(sku, day(n), 3 + n % 4, in_stock=True) for n in range(20) for sku in ("A", "B")])
        found = shop.forecast(periods=5)
        assert found.skus == ("A", "B")
        assert found.days[0].astype(str).tolist() == [day(n).isoformat() for n in range(20, 25)]
        assert found.mean.shape == (2, 5)
        assert (np.diff(found.quantiles, axis=2) >= 0).all()
        assert (found.quantiles[..., 0] <= found.mean).all()
        assert (found.mean <= found.quantiles[..., 4]).all()
        assert shop.forecast(["B"], 2, day(40)).days[0, 0] == np.datetime64(day(40))
        before = shop._log.number
        assert shop.verify()
        assert shop._log.number == before


def test_weeks_are_named_by_their_mondays_and_closed_days_have_no_demand(path, tmp_path):
    with create(path, capacity=None, period="week") as shop:
        shop.record([Sold("A", day(7 * n), 3, in_stock=True) for n in range(4)])
        assert shop.forecast(periods=2).days[0].astype(str).tolist() == ["2026-12-14", "2026-12-21"]
        assert str(shop.forecast(periods=1, day=day(17)).days[0, 0]) == "2026-11-30"
    with create(tmp_path / "days.db", closed_days="sun") as shop:
        closed = [SpecialDay(day(2).toordinal(), "closed")]
        shop.record([Sold("A", day(0), 3, in_stock=True)], calendar=closed)
        assert (shop.forecast(periods=7, day=day(0)).mean[0] == 0).tolist() == [n in (2, 6) for n in range(7)]


def test_a_forecast_needs_days_to_follow(shop):
    with refused("must have recorded sales to begin after"):
        shop.forecast()
    shop.record([Sold("A", day(0), 1, stock=4)])
    with refused("has no item 'B'"):
        shop.forecast(["B"])
    for periods in (0, 367, "3", 1.5):
        with refused("periods must be"):
            shop.forecast(periods=periods)


def test_a_table_of_a_forecast(path):
    with create(path) as shop:
        shop.record([Sold("=A", day(n), 3, in_stock=True) for n in range(3)])
        rows = list(csv.DictReader(io.StringIO(forecast_csv(shop.forecast(periods=2)))))
    assert [(row["date"], row["sku"]) for row in rows] == [("2026-11-19", "'=A"), ("2026-11-20", "'=A")]
    assert list(rows[0]) == ["date", "sku", "mean", "q05", "q25", "q50", "q75", "q95"]
    assert float(rows[0]["q05"]) <= float(rows[0]["mean"]) <= float(rows[0]["q95"])


def test_large_numbers_are_written_whole():
    days = np.array([["2026-11-16"]], "datetime64[D]")
    large = DemandForecast(("A",), days, np.array([[43210.6]]), np.array([[[0.0, 12.5, 1e4, 54321, 1e8]]]))
    assert forecast_csv(large).splitlines()[1] == "2026-11-16,A,43211,0,12.5,10000,54321,100000000"


def test_the_items_with_the_most_demand_are_drawn(path):
    with create(path) as shop:
        shop.record([Sold(f"I{n}", day(d), n, in_stock=True) for n in range(9) for d in range(30)])
        assert pictured_items(shop.forecast(periods=2)) == ["I8", "I7", "I6", "I5"]


@pytest.mark.parametrize("name", ["a.png", "a.svg", "deep/a.PNG"])
def test_a_picture(call, tmp_path, name):
    with create(tmp_path / "shop.db") as shop:
        shop.record([Sold(sku, day(n), 3, in_stock=True) for n in range(3) for sku in ("$A$", "<b>")])
    code, out, err = call("inventory", "forecast", "shop.db", "--sku", "$A$", "--periods", 1, "--picture", name)
    assert (code, len(out.splitlines())) == (0, 2)
    assert f"The picture: {name}" in err
    content = (tmp_path / name).read_bytes()
    assert content.startswith(b"\x89PNG" if name.lower().endswith("png") else b"<?xml")


def test_the_days_that_were_sold_are_drawn(tmp_path):
    with create(tmp_path / "shop.db") as shop:
        shop.record([Sold("A", day(n), 3, in_stock=True) for n in range(5)])
        drawn = draw_forecast(shop.forecast(periods=2), {"A": shop.sales_of("A")})
    pixels = np.rint(255 * imread(io.BytesIO(drawn.png))[..., :3])
    assert (pixels == (0xB9, 0xBE, 0xC6)).all(axis=-1).sum() > 10_000  # and not only in the legend


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--picture", "a.pdf"], "--picture must end with .png or .svg; got 'a.pdf'"),
        (["--picture", "shop.db"], "--picture must be another file"),
        (["--periods", "0"], "--periods"),
        (["--sku", "B"], "has no item 'B'"),
        (["--date", "tomorrow"], "--date must be year-month-day"),
    ],
)
def test_mistakes_of_a_forecast(call, tmp_path, words, said):
    with create(tmp_path / "shop.db") as shop:
        shop.record([Sold("A", day(0), 3, in_stock=True)])
    code, out, err = call("inventory", "forecast", "shop.db", *words)
    assert (code, out) == (2, "")
    assert said in " ".join(err.replace("│", " ").split())

"""A picture of a forecast: what was sold lately, and the demand to come as a fan of quantiles."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from driftmdp.errors import InvalidInputError
from driftmdp.files import write_whole
from driftmdp.inventory import DemandForecast, Series
from driftmdp.report.backtest.text import drawable_name
from driftmdp.report.charts import LIGHT_COLOURS
from driftmdp.report.rendered_figure import STYLE, Axes, RenderedFigure, stacked_axes, styled

PICTURED = 4  # items, if none are named
RECENT = 3  # periods that were sold, per period of the forecast
LEAST_RECENT = 26
FORMATS = (".png", ".svg")
GREY, PALE = "#5a6069", "#b9bec6"
BLUE = LIGHT_COLOURS[0]


def pictured_items(forecast: DemandForecast) -> list[str]:
    """Return the items to draw if none are named: those with the most demand."""
    most = np.argsort(-forecast.mean.sum(axis=1), kind="stable")[:PICTURED]
    return [forecast.skus[item] for item in most.tolist()]


def write_forecast_picture(forecast: DemandForecast, sales: Mapping[str, Series], path: Path) -> None:
    """Write the picture of some items' forecasts. ``sales`` are the items to draw, with what they sold."""
    if path.suffix.lower() not in FORMATS:
        raise InvalidInputError(f"--picture must end with {' or '.join(FORMATS)}; got {path.name!r}.")
    drawn = draw_forecast(forecast, sales)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, drawn.png if path.suffix.lower() == ".png" else drawn.svg.encode())


@styled(STYLE)
def draw_forecast(forecast: DemandForecast, sales: Mapping[str, Series]) -> RenderedFigure:
    """Draw each item's sales and forecast, one below the other."""
    figure, axes = stacked_axes([1.7] * len(sales), top=0.45, gap=0.55, width=8.6)
    for ax, (sku, series) in zip(axes, sales.items(), strict=True):
        _draw_item(ax, forecast, forecast.skus.index(sku), series)
        ax.set_title(drawable_name(sku), fontsize=9, loc="left", fontweight="bold")
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="upper right", ncols=4, frameon=False, fontsize=8)
    return RenderedFigure(figure)


def _draw_item(ax: Axes, forecast: DemandForecast, item: int, series: Series) -> None:
    days, mean, quantiles = forecast.days[item], forecast.mean[item], forecast.quantiles[item]
    recent = max(LEAST_RECENT, RECENT * days.size)
    dates, units = series.dates[-recent:], series.units[-recent:]
    step = np.timedelta64(1, "D") if days.size < 2 else days[1] - days[0]
    width = 0.85 * (step / np.timedelta64(1, "D"))  # a share of a day is no timedelta64[D]: it would be cut to 0
    ax.bar(dates, units, width=width, align="edge", color=PALE, label="sold", zorder=2)
    edges = np.append(days, days[-1] + step)
    for low, high, alpha, label in ((0, 4, 0.2, "9 of 10"), (1, 3, 0.35, "half")):
        tops, bottoms = (np.append(quantiles[:, at], quantiles[-1, at]) for at in (high, low))
        ax.fill_between(
            edges, bottoms, tops, step="post", color=BLUE, alpha=alpha, linewidth=0, label=label, zorder=2
        )
    ax.step(edges, np.append(mean, mean[-1]), where="post", color=BLUE, linewidth=1.6, label="mean", zorder=3)
    ax.axvline(days[0], color=GREY, linewidth=1.0, linestyle="--", zorder=1)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("units")

"""The figures of a backtest: costs per rule, ratios per item, and one item over time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.inventory import Backtest, Trace
from driftmdp.inventory.ordering_rules import TITLES
from driftmdp.report.backtest.comparison import cost_ratio, followable, item_ratios, ordered, ours
from driftmdp.report.backtest.text import drawable_name
from driftmdp.report.charts import LIGHT_COLOURS, line_style
from driftmdp.report.rendered_figure import STYLE, RenderedFigure, stacked_axes, styled
from driftmdp.statistics import Interval

WIDTH = 9.6  # inches
MAX_TICKS = 12
MAX_RATIO = 2.0  # larger ratios are drawn here
GREY, PALE = "#5a6069", "#b9bec6"
BLUE, RED, GREEN = LIGHT_COLOURS[:3]


def _colour(rule: str) -> str:
    return LIGHT_COLOURS[line_style(list(TITLES).index(rule))[0]]


@styled(STYLE)
def draw_totals(backtest: Backtest) -> RenderedFigure:
    """Draw each rule's cost per item and period, and our cost over it, with intervals."""
    rules = ordered(backtest)
    heights = [0.34 * max(2, len(rules))]
    figure, (costs, ratios) = stacked_axes(heights, 2.75, 0.25, top=0.4, gap=0.4, width=WIDTH, columns=2)
    for row, rule in enumerate(rules):
        _draw_estimate(costs, row, backtest.cost_per_period(rule), rule)
        found = None if rule == ours(backtest) else cost_ratio(backtest, ours(backtest), rule)
        if found is not None:
            _draw_estimate(ratios, row, found, rule)
    ratios.axvline(1.0, color=GREY, linewidth=1.0, zorder=1)
    for ax in (costs, ratios):
        ax.set_ylim(len(rules) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
    costs.set_yticks(range(len(rules)), [TITLES[rule] for rule in rules])
    ratios.set_yticks(range(len(rules)), [""] * len(rules))
    costs.set_title(f"cost per item, {backtest.terms.period}", fontsize=9, loc="left")
    ratios.set_title("our cost over its: left of 1, ours is less", fontsize=9, loc="left")
    return RenderedFigure(figure)


def _draw_estimate(ax: Any, row: int, found: Interval, rule: str) -> None:
    """Draw a dot with its interval, hollow if the rule sees what no shop can see."""
    colour = _colour(rule)
    if np.isfinite([found.low, found.high]).all():
        ax.plot([found.low, found.high], [row, row], color=colour, linewidth=2.2, alpha=0.55, zorder=2)
    face = colour if followable(rule) else "white"
    ax.plot(found.estimate, row, "o", markersize=6.5, color=colour, markerfacecolor=face, zorder=3)


@styled(STYLE)
def draw_ratios(backtest: Backtest, others: list[str]) -> RenderedFigure:
    """Draw our cost over that of other rules per item, sorted; below 1 ours is less."""
    shown = [np.minimum(item_ratios(backtest, other), MAX_RATIO) for other in others]
    values = np.concatenate([[1.0], *shown])
    margin = max(0.02, 0.06 * float(np.ptp(values)))
    figure, axes = stacked_axes([2.3], left=0.7, top=0.4, width=WIDTH, columns=len(others))
    for ax, other, ratios in zip(axes, others, shown, strict=True):
        colour, ranks = _colour(other), np.arange(1, ratios.size + 1)
        ax.axhline(1.0, color=GREY, linewidth=1.0, zorder=1)
        size = 4 if ratios.size <= 300 else 2
        ax.plot(ranks, ratios, "o", color=colour, markersize=size, alpha=0.8, zorder=2)
        beyond = ratios >= MAX_RATIO
        ax.plot(ranks[beyond], ratios[beyond], "^", color=colour, markersize=7, zorder=3)
        less = int((ratios < 1).sum())
        ax.set_title(f"over {TITLES[other]}: less in {less:,} of {ratios.size:,}", fontsize=9, loc="left")
        ax.locator_params(axis="x", integer=True)
        ends = (0.5 - 0.02 * ratios.size, ratios.size + 0.5 + 0.02 * ratios.size)
        heights = (float(values.min()) - margin, float(values.max()) + margin)
        ax.set(xlabel="items, sorted by ratio", xlim=ends, ylim=heights)
    axes[0].set_ylabel("our cost over its")
    return RenderedFigure(figure)


@styled(STYLE)
def draw_item(trace: Trace, period: str) -> RenderedFigure:
    """Draw an item over time: demand and our estimate above, order-up-to levels and stock below."""
    from matplotlib.figure import Figure

    height = 4.6
    figure = Figure(figsize=(WIDTH, height))
    left, width = 0.6 / WIDTH, 1 - 0.8 / WIDTH
    top, bottom = (figure.add_axes((left, y / height, width, 1.65 / height)) for y in (2.4, 0.35))
    _draw_demand(top, trace, period)
    _draw_shelf(bottom, trace)
    days, labels = month_ticks(trace.dates)
    for ax in (top, bottom):
        ax.axvspan(0, trace.scored, color=PALE, alpha=0.25, linewidth=0, zorder=0)
        ax.set_xlim(0, trace.dates.size)
        ax.set_xticks(days, labels if ax is bottom else [""] * len(days))
        legend = {"ncols": 3, "frameon": False, "fontsize": 8, "borderpad": 0}
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), **legend)
    top.text(0, 1.04, "not scored", transform=top.get_xaxis_transform(), color=GREY, fontsize=8)
    pack = "" if trace.pack == 1 else f", in packs of {trace.pack:,}"
    figure.text(left, 1 - 0.13 / height, f"{drawable_name(trace.sku)}{pack}", va="top", fontweight="bold")
    return RenderedFigure(figure)


def _draw_demand(ax: Any, trace: Trace, period: str) -> None:
    ceiling = demand_ceiling(trace)
    days = np.arange(trace.demand.size + 1)
    ax.stairs(np.minimum(trace.demand, ceiling), days, fill=True, color=PALE, label="demand", zorder=2)
    middays = days[:-1] + 0.5
    ax.plot(middays, trace.estimate, color=BLUE, linewidth=1.6, label="our estimate of its mean", zorder=3)
    for day in np.flatnonzero(trace.demand > ceiling):
        ax.plot(day + 0.5, ceiling, "^", color=GREY, markersize=5, zorder=4, clip_on=False)
    ax.set(ylim=(0, ceiling), ylabel=f"units per {period}")


def demand_ceiling(trace: Trace) -> float:
    """Return the height up to which demand is drawn: its largest value, unless a few periods stand out by far."""
    usual = 1.5 * float(np.quantile(trace.demand, 0.97))
    top = min(usual, 1.05 * float(trace.demand.max())) if usual > 0 else 1.05 * float(trace.demand.max())
    return max(1.0, 1.05 * float(trace.estimate.max()), top)


def _draw_shelf(ax: Any, trace: Trace) -> None:
    days, highest = np.arange(trace.stock.size + 1), max(1, int(trace.level.max()), int(trace.stock.max()))
    ax.stairs(trace.stock, days, fill=True, color=GREEN, alpha=0.35, label="stock in the evening", zorder=2)
    placed = np.flatnonzero(trace.orders > 0)
    ax.plot(placed + 0.5, trace.level[placed], "o", color=RED, markersize=2.8, label="ordered up to", zorder=4)
    if (
        trace.capacity is not None and trace.capacity <= 2 * highest
    ):  # a shelf that is far larger would hide the rest
        ax.axhline(trace.capacity, color=GREY, linewidth=1.0, linestyle="--", label="capacity", zorder=1)
        highest = max(highest, trace.capacity)
    ax.set(ylim=(0, 1.08 * highest), ylabel="units")


def month_ticks(dates: NDArray[np.datetime64]) -> tuple[list[int], list[str]]:
    """Return the days at which to label the time axis, at most twelve first days of a month, and the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.report.backtest.figures import month_ticks
    >>> month_ticks(np.array(["2026-01-30", "2026-02-02", "2026-02-03"], dtype="datetime64[D]"))
    ([0, 1], ['2026-01', '2026-02'])
    """
    months = dates.astype("datetime64[M]")
    firsts = np.flatnonzero(np.append(True, months[1:] != months[:-1]))
    firsts = firsts[:: -(-firsts.size // MAX_TICKS)]
    return [int(day) for day in firsts], [str(months[day]) for day in firsts]

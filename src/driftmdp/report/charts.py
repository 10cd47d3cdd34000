"""The interactive charts: the Vega-Lite specification of a panel, and the colour and dashes of each line.

A specification holds no numbers, so one serves every panel. The page fills its datasets.

========== ===================================== ==============================================================
dataset    fields                                drawn as
========== ===================================== ==============================================================
``bands``  ``line``, ``part``, ``t``, ``low``,   areas, one for each unbroken part of a line
           ``high``
``lines``  ``line``, ``part``, ``t``, ``mean``   lines, likewise
``points`` ``line``, ``t``, ``mean``, ``low``,   points with bars, where a line has a single point
           ``high``
========== ===================================== ==============================================================

Colours are CSS variables, so the charts follow the page into dark mode.

The colours are those of Okabe and Ito, which remain distinct for readers with colour vision deficiency. Those too
pale for white paper are a little darker on a light background, and black is white on a dark one. Dashes repeat the
information of the colours.
"""

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

Scale = Literal["linear", "log"]

# blue, vermilion, green, purple, orange, sky, black, yellow: the strongest first
LIGHT_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#b8578d", "#c47f00", "#2f93d1", "#000000", "#a39600"]
DARK_COLOURS = ["#3d9fdb", "#ee7733", "#1fbf92", "#dd92bd", "#e69f00", "#7cc8f2", "#f2f2f2", "#f0e442"]

# Lengths of dash and gap, in pixels; the empty list is the solid line.
DASHES: list[list[int]] = [[], [7, 3], [2, 2], [9, 3, 2, 3], [14, 4], [4, 2], [9, 2, 2, 2, 2, 2], [1, 4]]


def line_style(index: int) -> tuple[int, list[int]]:
    """Return the colour (an index into the palettes) and the dashes of the line at a position.

    No two of the first 64 lines share both.

    Examples
    --------
    >>> from driftmdp.report.charts import line_style
    >>> line_style(0), line_style(8)
    ((0, []), (0, [7, 3]))
    """
    colour = index % len(LIGHT_COLOURS)
    turn = index // len(LIGHT_COLOURS)
    return colour, DASHES[(index + turn) % len(DASHES)]


def panel_spec(lines: Sequence[str], time: Scale = "linear", value: Scale = "linear") -> dict[str, Any]:
    """Return the Vega-Lite specification of a panel.

    Parameters
    ----------
    lines
        The ids of the lines, in order; the order decides their colours and dashes.
    time, value
        The scales of the two axes.

    Returns
    -------
    dict
        The specification, as plain values, without numbers.

    Examples
    --------
    >>> from driftmdp.report.charts import panel_spec
    >>> spec = panel_spec(["ucrl2", "borl"], value="log")
    >>> [layer["mark"]["type"] for layer in spec["layer"]]
    ['area', 'line', 'rule', 'point']
    """
    return copy.deepcopy(_panel_spec(tuple(lines), time, value))


@cache  # altair validates every specification, which takes a tenth of a second
def _panel_spec(lines: tuple[str, ...], time: Scale, value: Scale) -> dict[str, Any]:
    import altair as alt

    styles = [line_style(index) for index in range(len(lines))]
    colour = alt.Color("line:N").legend(None).sort(None)
    colour = colour.scale(domain=list(lines), range=[f"var(--line-{number})" for number, _ in styles])
    # Vega reads an empty list of dashes as "nothing given"; [1, 0] is ink without gaps.
    dash = alt.StrokeDash("line:N").legend(None).sort(None)
    dash = dash.scale(domain=list(lines), range=[dashes or [1, 0] for _, dashes in styles])

    # A log scale has no zero, and Vega-Lite warns if `zero` is given with it.
    log = alt.Scale(type="log", nice=False)
    x_scale = log if time == "log" else alt.Scale(type="linear", nice=False, zero=True)
    y_scale = log if value == "log" else alt.Scale(type="linear", nice=True, zero=False)
    x = alt.X("t:Q").title("t").scale(x_scale).axis(tickCount=5)
    mean = alt.Y("mean:Q").title(None).scale(y_scale).axis(tickCount=5)
    low = alt.Y("low:Q").title(None).scale(y_scale)

    # The page leaves out what cannot be drawn, so Vega need not filter for it, which halves the drawing time.
    def layer(dataset: str) -> alt.Chart:
        data = alt.NamedData(dataset, format=alt.JsonDataFormat(parse=None))
        return alt.Chart(data).encode(x=x, color=colour, detail="part:N")

    chart = alt.layer(
        layer("bands").mark_area(opacity=0.16, invalid="filter").encode(y=low, y2="high:Q"),
        layer("lines")
        .mark_line(strokeWidth=2, strokeJoin="round", invalid="filter")
        .encode(y=mean, strokeDash=dash),
        layer("points").mark_rule(strokeWidth=2, invalid="filter").encode(y=low, y2="high:Q"),
        layer("points").mark_point(filled=True, size=60, opacity=1, invalid="filter").encode(y=mean),
    )
    spec: dict[str, Any] = chart.properties(width="container", height=240).to_dict()
    spec.pop("$schema")  # it looks like an address to load
    spec["config"] = _config()
    return spec


def _config() -> dict[str, Any]:
    """Return the style that all parts of a chart share. Titles are in the HTML of the panel around it."""
    axis = {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
        "gridColor": "var(--grid)",
        "domainColor": "var(--rule)",
        "tickColor": "var(--rule)",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleFontStyle": "italic",
        "labelPadding": 4,
        "tickSize": 4,
    }
    return {
        "aria": False,
        "background": "transparent",
        "font": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
        "padding": 2,
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {"grid": False},
        # A fixed width for the labels; otherwise the chart is laid out, and drawn, twice.
        "axisY": {"domain": False, "ticks": False, "minExtent": 42},
    }

"""A report as one self-contained HTML page, which opens from a disk without a network.

Names come from specs and files that anyone may have written, so no text of a report is trusted. The template
escapes all of it. Numbers are JSON without any character that HTML could interpret. Figures are images, which never
run scripts. The page's content security policy admits only the scripts whose hashes it lists, and no request.
"""

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from driftmdp._version import __version__
from driftmdp.experiments.store import writing
from driftmdp.files import write_whole
from driftmdp.report.charts import DARK_COLOURS, LIGHT_COLOURS, Scale, line_style, panel_spec
from driftmdp.report.content import Band, Curve, ReportContent, Table
from driftmdp.report.rendered_figure import RenderedFigure

VENDORED = ["vega.min.js", "vega-lite.min.js", "vega-interpreter.js"]
# star, open star, star, tick, tick, half moon, cross
SIGNS = {"best": "\u2605", "least": "\u2606", "significant": "\u2605"}
SIGNS |= {"kept": "\u2713", "reproduced": "\u2713", "partly": "\u25d0", "not": "\u2717"}


def write_page(
    folder: Path,
    report: ReportContent,
    drawings: Mapping[str, RenderedFigure],
    other_files: Mapping[str, bytes] | None = None,
) -> tuple[Path, list[Path]]:
    """Write figures, other files and ``index.html`` to ``folder``; return the page and the figures' files.

    The folder is made if needed. Each file is written whole or not at all.
    """
    page, figures = render(report).encode(), []
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, drawing in drawings.items():
            figures += drawing.write(folder, name)
        for name, content in {**(other_files or {}), "index.html": page}.items():
            write_whole(folder / name, content)
    return folder / "index.html", figures


def render(report: ReportContent) -> str:
    """Return the HTML page of a report.

    Parameters
    ----------
    report
        The content.

    Returns
    -------
    str
        HTML that contains its style, scripts, numbers and figures; write it to a file as UTF-8.

    Examples
    --------
    >>> from driftmdp.report import render
    >>> from driftmdp.report.content import ReportContent, Section
    >>> lead = Section(id="lead", title="What was found", paragraphs=["1 < 2"])
    >>> report = ReportContent("A page", lead, panels=[], lines=[], settings=[], curves={}, sections=[])
    >>> "<p>1 &lt; 2</p>" in render(report)
    True
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("driftmdp.report", ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"data_uri": _data_uri, "numeric_columns": _numeric_columns}
    scripts, data = _interaction(report)
    return environment.get_template("page.html.jinja").render(
        report=report,
        labels={setting.id: setting.label for setting in report.settings},
        styles=[line_style(index) for index in range(len(report.lines))],
        signs=SIGNS,
        light=LIGHT_COLOURS,
        dark=DARK_COLOURS,
        style=_text("page.css") + (report.filters.style if report.filters else ""),
        scripts=scripts,
        data=data,
        policy=_policy(scripts),
        version=__version__,
    )


def _interaction(report: ReportContent) -> tuple[list[str], str]:
    """Return the scripts of the page and the JSON that they read, both empty if nothing in it moves."""
    if report.panels:
        return [_vendored(name) for name in VENDORED] + [_text("page.js")], _json(chart_data(report))
    if report.filters:
        return [report.filters.script], _json(report.filters.data)
    return [], ""


def chart_data(report: ReportContent) -> dict[str, Any]:
    """Return the data of the charts as plain values, which the page holds as JSON in its element ``data``.

    Numbers that are not finite become None.
    """
    ids = [line.id for line in report.lines]
    scales: tuple[Scale, Scale] = ("linear", "log")
    return {
        "panels": [asdict(panel) for panel in report.panels],
        "lines": [asdict(line) for line in report.lines],
        "settings": [asdict(setting) for setting in report.settings],
        "curves": {key: _curve(curve) for key, curve in report.curves.items()},
        "specs": {value: {time: panel_spec(ids, time, value) for time in scales} for value in scales},
    }


def _curve(curve: Curve) -> dict[str, Any]:
    # Not `asdict`, which copies number by number: that took longer than all the rest of the page.
    return {"t": curve.t, "reward": _band(curve.reward), "regret": _band(curve.regret), "n_seeds": curve.n_seeds}


def _band(band: Band) -> dict[str, list[float | None]]:
    lists: dict[str, Sequence[float | None]] = {"mean": band.mean, "low": band.low, "high": band.high}
    return {
        name: [value if value is not None and math.isfinite(value) else None for value in values]
        for name, values in lists.items()
    }


def _json(value: Any) -> str:
    r"""Return JSON that cannot end its script element, whatever the texts in it are.

    ``json`` writes everything outside ASCII as ``\uXXXX`` (U+2028 too). What HTML could interpret is replaced here.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _text(name: str) -> str:
    return files("driftmdp.report").joinpath(name).read_text(encoding="utf-8")


def _vendored(name: str) -> str:
    """Return a vendored script below its licence, which must accompany every copy."""
    licence = _text(f"vendor/{name.split('.')[0]}.LICENSE")
    return f"/*! {licence}*/\n{_text(f'vendor/{name}')}"


def _policy(scripts: list[str]) -> str:
    """Return the page's content security policy: only these scripts, and no request."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    admitted = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {admitted}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _data_uri(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _numeric_columns(table: Table) -> set[int]:
    """Return the positions of the columns that hold a number anywhere."""
    return {place for row in table.rows for place, cell in enumerate(row) if cell.value is not None}

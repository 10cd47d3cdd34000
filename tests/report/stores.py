"""Folders of results that tests of reports read."""

from pathlib import Path

import pytest

from driftmdp.experiments import Results, parse_spec, run
from driftmdp.report import build
from driftmdp.report.build import BuiltReport
from driftmdp.report.rendered_figure import RenderedFigure

NAMES = ["<script>window.hacked=1</script>", "{{7*7}} & \"quotes\" 'too'", "$x$ <b> $\\frac{"]

HOSTILE = """
name = '<img src=x onerror="window.hacked=1">'
seeds = 3
[curve]
points = 12
[[problems]]
name = "two-state"
label = "<script>window.hacked=1</script>"
parameters = { horizon = 200 }
[[problems]]
name = "two-state"
label = "{{7*7}} & \\"quotes\\" 'too'"
parameters = { horizon = 400 }
[[agents]]
name = "UCRL2"
label = "$x$ <b> $\\\\frac{"
grid = { scale = [1.0, 0.1] }
[[agents]]
name = "BORL"
label = "</script><script>window.hacked=1</script>"
[[agents]]
name = "Random"
label = "</table>"
[report]
split = ["scale"]
"""

HORIZONS = """
seeds = 6
[curve]
points = 20
[[problems]]
name = "two-state"
label = "T = {horizon}"
grid = { horizon = [200, 400, 800] }
[[agents]]
name = "Random"
[[agents]]
name = "UCRL2"
parameters = { scale = 0.1 }
"""


def made(folder: Path, text: str) -> Path:
    """Run a spec and return its folder."""
    run(parse_spec(text), folder)
    return folder


def built_blank(results: Results, baseline: str | None = None) -> BuiltReport:
    """Build a report whose figures are made but not rendered, which takes most of the time of a report."""

    def leave_blank(drawing: RenderedFigure, figure: object) -> None:
        drawing.svg, drawing.png = "<svg/>", b""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RenderedFigure, "__init__", leave_blank)
        return build(results, baseline)

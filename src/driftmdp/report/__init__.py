"""From stored results to tables, figures and one page that opens anywhere."""

from driftmdp.report.building import Built, build
from driftmdp.report.page import render
from driftmdp.report.paper import write_figures
from driftmdp.report.writing import Written, write_report

__all__ = ["Built", "Written", "build", "render", "write_figures", "write_report"]

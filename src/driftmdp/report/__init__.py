"""From stored results to tables, figures and one page that opens anywhere."""

from driftmdp.deprecation import renamed
from driftmdp.report.build import Built, build
from driftmdp.report.page import render
from driftmdp.report.paper import write_figures
from driftmdp.report.write import WrittenReport, write_report

__all__ = ["Built", "WrittenReport", "build", "render", "write_figures", "write_report"]

__getattr__ = renamed(__name__, Written="WrittenReport")

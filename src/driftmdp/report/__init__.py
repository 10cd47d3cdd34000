"""Reports: from stored results to tables, figures and one self-contained page."""

from driftmdp.deprecation import renamed
from driftmdp.report.build import BuiltReport, WrittenReport, build, write_report
from driftmdp.report.page import render
from driftmdp.report.paper import write_figures

__all__ = ["BuiltReport", "WrittenReport", "build", "render", "write_figures", "write_report"]

__getattr__ = renamed(__name__, Built="BuiltReport", Written="WrittenReport")

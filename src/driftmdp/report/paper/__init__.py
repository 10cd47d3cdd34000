"""The paper: its figures drawn from computations of this library, and its claims tested on runs."""

from driftmdp.report.paper.write import EXAMPLES, FIGURES, write_figures

__all__ = ["EXAMPLES", "FIGURES", "write_figures"]

"""One agent against one problem: the compiled loop and the step loop, one behaviour."""

from driftmdp.simulation.fitting import check_fit
from driftmdp.simulation.playing import pauses, simulate
from driftmdp.simulation.run import Run

__all__ = ["Run", "check_fit", "pauses", "simulate"]

"""One agent against one problem: the compiled loop and the step loop, one behaviour."""

from driftmdp.deprecation import renamed
from driftmdp.simulation.loop import simulate, simulate_until
from driftmdp.simulation.run import Run
from driftmdp.simulation.setup import check_fit

__all__ = ["Run", "check_fit", "simulate", "simulate_until"]

__getattr__ = renamed(__name__, pauses="simulate_until")

"""A context with runs that take moments: enough for a broken agent to be caught."""

from driftmdp import problems
from driftmdp.statements import CheckContext
from driftmdp.statements.context import shop, steady_shop, turns
from driftmdp.statements.run_trace import trace_run


class SmallContext(CheckContext):
    def traces(self):
        return self.once("small", self._make_small)

    def _make_small(self):
        two_states = problems.two_state(horizon=2000)
        garnet = problems.garnet(n_states=4, n_actions=2, branching=3, horizon=2500, noise="bernoulli")
        moving = turns(100_000, changes=1, cycles=0.5)
        return [
            trace_run("two-state", two_states, 0, window=1000, widening=0.05, scale=0.4),
            trace_run("Garnet", garnet, 0, window=1000, widening=0.05, scale=0.4),
            trace_run("turns", moving, 0, window=300, widening=0.05, scale=0.001),
        ]

    def long_shop(self):
        return steady_shop(8000)

    def shop_traces(self):
        return self.once("small shops", self._make_small_shops)

    def _make_small_shops(self):
        problem = shop(capacity=3, horizon=4000, zeta=0.1)
        return [trace_run("inventory", problem, 0, window=1000, widening=0.0, scale=0.4)]

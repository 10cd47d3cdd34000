"""The common base class of UCRL3 and KLUCRL: an optimist with sharper confidence sets.

Memory, episodes, ties and explanations are those of every optimist. The plausible sets and the sweeps over them are
in kernels/sharp_optimist.py. Plans are made to precision 1/t, from the bias of the last one.
"""

import dataclasses

from driftmdp import kernels
from driftmdp.agents.base import RunContext
from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import BY_DOUBLING, Confidence, Everything
from driftmdp.agents.plan_explanation import Explanation, Plan
from driftmdp.agents.reward_range import Range
from driftmdp.kernels.arrays import Records
from driftmdp.kernels.detection_arrays import Watch
from driftmdp.kernels.sharp_arrays import SharpArrays, SharpBuffers, new_sharp_buffers
from driftmdp.mdp import Space

ROUNDING = 1e-9  # of a residual, relative


class SharpOptimist(Optimist):
    """The base class of this family. A subclass gives the confidence."""

    certainty = 0.0
    _buffers: SharpBuffers

    def __init__(
        self, space: Space, horizon: int, confidence: Confidence, reward_range: Range | None, seed: int | None
    ) -> None:
        memory, ties = Everything(), "least-visited"
        super().__init__(space, horizon, memory, confidence, BY_DOUBLING, reward_range, "fast", ties, seed)

    @property
    def _sharp(self) -> SharpArrays:
        """Everything that the kernels need."""
        return SharpArrays(self._arrays, self._buffers, self.certainty)

    def _play_some(self, context: RunContext, first: int, last: int, watch: Watch | None = None) -> tuple[int, int]:
        return kernels.sharp_optimist.play(context.inputs, self._sharp, context.record, first, last, watch)

    def _try_plan(self) -> int:
        return kernels.sharp_optimist.plan(self._sharp)

    def _enlarge_workspace(self, stored: int) -> None:
        super()._enlarge_workspace(stored)
        self._buffers = new_sharp_buffers(self.space.n_states, self._memory, self._params.bernstein)

    def forget_pair(self, pair: int) -> None:
        """Forget everything about a pair, and plan again before the next action."""
        super().forget_pair(pair)
        # Another pair may have moved to its slot, with as many visits. Bounds are kept by slot and visits.
        self._buffers.pairs["count"] = 0.0

    def _plan_of(self, facts: Records) -> Plan:
        converged = float(facts["residual"]) * int(facts["t"]) <= 1.0 + ROUNDING
        method = "sweeps" if converged else "sweeps, best plan found"
        return dataclasses.replace(super()._plan_of(facts), method=method)

    def explain(self, state: int) -> Explanation:
        """Return why the plan in force takes its action in ``state``.

        The radius of an action is that of its Kullback-Leibler ball (KLUCRL), or the largest plausible probability
        of a next state that it never led to (UCRL3).

        Examples
        --------
        >>> import driftmdp as dm
        >>> agent = dm.agents.UCRL3(dm.Space.uniform(2, 2), horizon=100)
        >>> agent.act(0)
        0
        >>> agent.observe(0.5, 1)
        >>> agent.act(1)
        0
        >>> print(agent.explain(0).actions[0])
        action 0: promises 1, not remembered
        """
        found = super().explain(state)
        # These sets are never the whole simplex once an action was seen.
        return dataclasses.replace(found, vacuous=all(reason.count == 0 for reason in found.actions))

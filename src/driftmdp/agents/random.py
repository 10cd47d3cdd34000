"""Random: the yardstick that every agent should beat."""

from driftmdp import kernels
from driftmdp.agents.base import RunContext
from driftmdp.agents.step_counter import RandomizedAgent
from driftmdp.mdp import Space


class Random(RandomizedAgent):
    """Choose every action with the same probability.

    Parameters
    ----------
    space
        States and actions.
    seed
        Of the generator used until ``reset(rng)`` gives another; None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=1000)
    >>> run = dm.simulate(dm.agents.Random(problem.space), problem, seed=7)
    >>> bool(400 < run.actions.sum() < 600)
    True
    """

    def __init__(self, space: Space, seed: int | None = None) -> None:
        super().__init__(space, None, seed)
        self.reset()

    def _decide(self, state: int) -> int:
        return int(self._draw() * int(self._offsets[state + 1] - self._offsets[state]))

    def play(self, context: RunContext) -> None:
        """Run a whole problem in compiled code and fill its record."""
        uniforms = self._rng.random(context.record.actions.size)
        kernels.world.play_randomly(*context.inputs, uniforms, context.record)
        self._t += context.record.actions.size

"""BOB: bandit over bandit [CSLZ19]. SW-UCB without knowing how much the world varies.

Blocks of H steps. For each, EXP3 draws a window, SW-UCB restarts with it, and the block's reward / H is fed back.
"""

from driftmdp.agents.bandits.bandit import n_arms_of
from driftmdp.agents.bandits.exponential_weights import warn_if_clipped
from driftmdp.agents.bandits.upper_confidence import LARGEST_XI, UpperConfidence
from driftmdp.agents.block_master import BlockMaster, Blocks
from driftmdp.agents.reward_range import Range, required_range, span_of
from driftmdp.formulas import BobSchedule, bob_schedule
from driftmdp.kernels.arrays import Exp3Params, restart_window
from driftmdp.mdp import Space
from driftmdp.validation import as_integer, as_number


class BOB(BlockMaster, UpperConfidence):
    """SW-UCB with its window chosen block by block by EXP3; nothing to tune.

    Parameters
    ----------
    space
        One state, and the arms as its actions.
    horizon
        T, the number of steps. ``BOB.schedule(space, horizon)`` shows the blocks and windows that follow from it.
    xi
        Factor of SW-UCB's radius; theory asks for more than 1/2.
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Of EXP3's generator until ``reset(rng)`` gives another; None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.bandit(drift="abrupt", horizon=5000)
    >>> run = dm.simulate(dm.agents.BOB.for_problem(problem), problem, seed=7)
    >>> run.summary.arms
    ((1,), (2,), (7,), (19,), (52,), (141,))
    >>> bool(run.dynamic_regret(problem)[-1] < 1000)
    True
    """

    def __init__(
        self, space: Space, horizon: int, xi: float = 0.6, reward_range: Range = (0.0, 1.0), seed: int | None = None
    ) -> None:
        plan, bounds = self.schedule(space, horizon), required_range(reward_range)
        self.xi = as_number(xi, "xi", 0.0, LARGEST_XI)
        share, n_windows = min(1.0, plan.gamma), len(plan.windows)
        steps, arms = as_integer(horizon, "horizon", minimum=1), tuple((window,) for window in plan.windows)
        params = Exp3Params(share / n_windows, 0.0, share, 0.0, 0, bounds[0], span_of(bounds))
        length, n_blocks = plan.block_length, plan.n_blocks
        self._blocks = Blocks(steps, length, n_blocks, ("window",), arms, "EXP3", params, plan.gamma)
        longest = min(length, horizon)
        super().__init__(space, horizon, reward_range, seed, factor=self.xi, window=longest)
        warn_if_clipped(self.name, plan.gamma, share, n_windows, n_blocks, "Use a longer horizon")

    @staticmethod
    def schedule(space: Space, horizon: int) -> BobSchedule:
        """Return the blocks, the windows and EXP3's gamma for a space and a horizon, before any run."""
        return bob_schedule(n_arms_of(space, "BOB"), horizon)

    def _begin_block(self, block: int, arm: int) -> None:
        restart_window(self._memory, self._blocks.kept(self._blocks.arms[arm][0], block))

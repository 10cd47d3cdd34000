"""BORL: bandit over reinforcement learning, [CSZ20] alg:borl. SWUCRL2-CW without knowing how much the world varies.

for block i = 1 .. ceil(T / H)
    draw (W_i, eta_i) from J with the probabilities of eq:p,
    run SWUCRL2-CW with them from nothing for H steps,
    feed the block's reward / H back, eq:borl_update.

Time within a block, which t mod W and the precision use, restarts with it. T stays in the logarithms.
Departs from [CSZ20] alg:borl, line 6, in eta_i (``arms="printed"`` does not), and from eq:borl_exp3_parameter where
gamma is no probability (docs/paper-notes.md, items 11 and 12).
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from driftmdp.agents.bandits.exp3_p import MODES, exp3p_in_force
from driftmdp.agents.bandits.exponential_weights import warn_if_clipped
from driftmdp.agents.block_master import BlockMaster, Blocks
from driftmdp.agents.optimist import Optimist
from driftmdp.agents.optimist_parts import BY_DOUBLING, PaperRadii, SinceRestart
from driftmdp.agents.reward_range import Range, checked_range, span_of
from driftmdp.errors import InvalidInputError
from driftmdp.formulas import BorlSchedule, Exp3pParameters, borl_schedule
from driftmdp.formulas.bandits import exp3_root
from driftmdp.kernels.arrays import Exp3Params, restart_window
from driftmdp.mdp import Problem, Space
from driftmdp.validation import one_of

MASTERS = {"exp3p": "EXP3.P", "exp3": "EXP3"}


class BORL(BlockMaster, Optimist):
    """SWUCRL2-CW with window and widening chosen block by block by a bandit algorithm; nothing to tune.

    ``window`` and ``widening`` are those of the block in force; ``summary()`` has all blocks.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps. ``BORL.schedule(space, horizon)`` shows the blocks and arms that follow from it.
    reward_range
        Bounds (lo, hi) on the mean rewards; None: rewards are used as they are, without a cap.
    feedback_range
        Bounds (lo, hi) on the rewards, as the master sees them: a block's mean is mapped from there to [0, 1] and
        fed back. By default ``reward_range``; the raw reading needs one. ``simulate`` asks that it contain the
        problem's range.
    master
        ``"exp3p"``, or ``"exp3"``, which has no guarantee here: a block's first state depends on earlier choices.
    mode
        ``"paper"``: the master's gamma clipped to 1, which at horizons below about 10^7 is a uniform choice of arms
        (with a ``ClippedGammaWarning``). ``"bounded"``: gamma at most 1/2, and for EXP3.P the learning rate within
        its conditions, so that something is learned.
    delta
        The probability of error, 1/T by default.
    scale
        A factor on every radius; 1 is theory, which is vacuous at horizons of thousands of steps (docs/agents.md).
    planner
        ``"paper"``, [CSZ20] alg:evi verbatim, or ``"fast"``.
    ties
        ``"least-visited"`` or ``"first"``.
    seed
        Of the master's generator until ``reset(rng)`` gives another; None is a fresh one.
    arms
        The widenings to choose from. ``"corrected"``: those of J_eta. ``"printed"``: [CSZ20] alg:borl, line 6, to
        the letter, where eta is 0 or 1 and most arms are there several times.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=5000)
    >>> agent = dm.agents.BORL.for_problem(problem, mode="bounded")
    >>> summary = dm.simulate(agent, problem, seed=7).summary
    >>> len(summary.arms), summary.probabilities.shape, summary.gamma
    (35, (11, 35), 0.5)
    """

    later_parameters: ClassVar[Mapping[str, Any]] = {"arms": "corrected"}

    def __init__(
        self,
        space: Space,
        horizon: int,
        reward_range: Range | None = (0.0, 1.0),
        feedback_range: Range | None = None,
        master: str = "exp3p",
        mode: str = "paper",
        delta: float | None = None,
        scale: float = 1.0,
        planner: str = "paper",
        ties: str = "least-visited",
        seed: int | None = None,
        arms: str = "corrected",
    ) -> None:
        plan = borl_schedule(space, horizon, arms)
        self.arms, self.master = arms, one_of(master, "master", MASTERS)
        self.mode = one_of(mode, "mode", MODES)
        self.feedback_range = checked_range(feedback_range, "feedback_range")
        self._blocks = self._blocks_of(plan, horizon, checked_range(reward_range))
        longest = max(window for window in plan.windows if window < min(plan.block_length, horizon) or window == 1)
        memory = SinceRestart(np.arange(plan.n_blocks) * plan.block_length + 1, longest)
        confidence = PaperRadii(delta, scale)
        super().__init__(space, horizon, memory, confidence, BY_DOUBLING, reward_range, planner, ties, seed)
        self.delta, self.scale = delta, scale
        formula, used = self._blocks.formula_gamma, self._blocks.params.mixing
        warn_if_clipped(self.name, formula, used, plan.n_arms, plan.n_blocks, "Use mode='bounded'")

    def _blocks_of(self, plan: BorlSchedule, horizon: int, reward_range: Range | None) -> Blocks:
        bounds = self.feedback_range or reward_range
        if bounds is None:
            rule = "feedback_range must be two finite numbers (lo, hi) when reward_range is None"
            hint = "The master needs rewards in [0, 1]: give the bounds of yours."
            raise InvalidInputError(f"{rule}; got None. {hint}")
        if self.master == "exp3p":
            gamma = plan.gamma
            used = exp3p_in_force(Exp3pParameters(plan.alpha, plan.beta, gamma), plan.n_arms, self.mode)
        else:
            gamma = exp3_root(plan.n_arms, plan.n_blocks)
            share = min(gamma, 1.0 if self.mode == "paper" else 0.5)
            used = Exp3pParameters(alpha=share / plan.n_arms, beta=0.0, gamma=share)
        params = Exp3Params(used.alpha, used.beta, used.gamma, 0.0, 0, bounds[0], span_of(bounds))
        names, master = ("window", "widening"), MASTERS[self.master]
        return Blocks(horizon, plan.block_length, plan.n_blocks, names, plan.arms, master, params, gamma)

    @staticmethod
    # not the optimist's, when to plan again, which is W_i
    def schedule(space: Space, horizon: int, arms: str = "corrected") -> BorlSchedule:  # type: ignore[override]
        """Return the blocks, the arms and the master's parameters for a space and a horizon, before any run.

        Examples
        --------
        >>> from driftmdp.agents import BORL
        >>> import driftmdp as dm
        >>> plan = BORL.schedule(dm.Space.uniform(2, 2), horizon=5000)
        >>> plan.block_length, plan.n_arms, plan.n_blocks, round(plan.gamma, 2)
        (476, 35, 11, 3.53)
        >>> plan.windows
        (1, 2, 7, 21, 60, 170, 476)
        """
        return borl_schedule(space, horizon, arms)

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return an agent for a problem; in the raw reading the master is fed in the problem's reward range."""
        if isinstance(problem, Problem) and parameters.get("reward_range", problem.reward_range) is None:
            parameters = {"feedback_range": problem.reward_range} | parameters
        return super().for_problem(problem, **parameters)

    @property
    def window(self) -> int:
        """W of the block in force."""
        return int(self._arm_in_force[0])

    @property
    def widening(self) -> float:
        """The widening, eta, of the block in force."""
        return float(self._arm_in_force[1])

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. The master draws from ``rng``, by default from ``seed``."""
        self._phases = self._new_phases()  # arrays of its own: the master writes into them
        super().reset(rng)

    def _begin_block(self, block: int, arm: int) -> None:
        window, widening = self._blocks.arms[arm]
        kept = self._blocks.kept(window, block)
        self._phases.window[block], self._phases.every[block] = kept, window
        self._phases.transition_extra[block] = widening
        restart_window(self._memory, kept)

"""A bandit over learners: for every block of steps a master bandit draws the parameters of the learner.

for block i = 1, 2, ...
    draw an arm with the master's probabilities, restart the learner with the parameters of that arm,
    act until the block is over, and feed its reward, mapped to [0, 1], back to the master.

[CSZ20] alg:borl; BOB is the same over a bandit [CSLZ19].
"""

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.bandits.exponential_weights import restored_logits
from driftmdp.agents.base import ResumableAgent, RunContext
from driftmdp.agents.optimist_parts import require_restarts
from driftmdp.agents.snapshot_checks import generator_text, require, restored_generator
from driftmdp.display import counted
from driftmdp.kernels.arrays import Exp3Params, new_arm_weights
from driftmdp.npz import Arrays


@dataclass(frozen=True)
class Blocks:
    """The arms of a master bandit, its parameters, and its blocks.

    Attributes
    ----------
    horizon, length, n_blocks
        T, H and ceil(T / H); the last block may be shorter.
    names
        The parameters that an arm sets, such as ``("window", "widening")``.
    arms
        The values of each arm, in that order.
    master
        The name of the bandit algorithm.
    params
        Its parameters; ``bottom`` and ``span`` map rewards to [0, 1].
    formula_gamma
        Its share of uniform draws as the formula gives it.
    """

    horizon: int
    length: int
    n_blocks: int
    names: tuple[str, ...]
    arms: tuple[tuple[float, ...], ...]
    master: str
    params: Exp3Params
    formula_gamma: float

    def __post_init__(self) -> None:
        require_restarts(self.n_blocks)

    def start(self, block: int) -> int:
        """Return how many steps come before a block."""
        return min(block * self.length, self.horizon)

    def size(self, block: int) -> int:
        """Return how many steps a block has."""
        return self.start(block + 1) - self.start(block)

    def kept(self, window: float, block: int) -> int:
        """Return how many steps a window must remember: 0 where nothing leaves it within the block."""
        return int(window) if window < self.size(block) else 0


@dataclass(frozen=True, eq=False)
class BlockSummary:
    """The choices of a master bandit, and what they earned.

    Attributes
    ----------
    master
        The name of the bandit algorithm.
    names, arms
        The parameters that an arm sets, and the values of each arm.
    gamma, formula_gamma, clipped
        The master's share of uniform draws, what its formula gives, and whether the two differ. At 1 every arm is
        as likely, whatever was learned.
    block_length
        H.
    starts, sizes
        The time of each block's first step, and how many steps it has; shape (blocks so far,).
    probabilities
        Of each arm at the start of each block, shape (blocks so far, arms).
    chosen
        The number of the arm that was drawn for each block.
    feedback
        What each finished block fed back: the sum of its rewards, mapped to [0, 1], over H. A shorter last block is
        divided by H too.
    """

    master: str
    names: tuple[str, ...]
    arms: tuple[tuple[float, ...], ...] = field(repr=False)
    gamma: float
    formula_gamma: float
    clipped: bool
    block_length: int
    starts: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    probabilities: NDArray[np.float64] = field(repr=False)
    chosen: NDArray[np.int32] = field(repr=False)
    feedback: NDArray[np.float64] = field(repr=False)

    @property
    def chosen_arms(self) -> tuple[tuple[float, ...], ...]:
        """The values of the arm of each block: (W_i, eta_i) of BORL."""
        return tuple(self.arms[arm] for arm in self.chosen)

    def __str__(self) -> str:
        uniform = " (every arm as likely)" if self.gamma >= 1.0 else ""
        clipped = f", clipped from {self.formula_gamma:.3g}" if self.clipped else ""
        distinct = len(set(self.arms))
        repeated = f", {distinct} of them distinct" if distinct < len(self.arms) else ""
        names = " ".join(f"{name:>9}" for name in self.names)
        lines = [
            f"{self.master} over {counted(len(self.arms), 'arm')} ({', '.join(self.names)}{repeated}), "
            f"gamma {self.gamma:.3g}{clipped}{uniform}",
            f"blocks of {counted(self.block_length, 'step')}:",
            f"{'block':>5} {'from t':>8} {names}  probability  feedback",
        ]
        for block, (start, arm) in enumerate(zip(self.starts, self.chosen, strict=True)):
            values = " ".join(f"{value:>9.4g}" for value in self.arms[arm])
            fed = f"{self.feedback[block]:.4f}" if block < self.feedback.size else "-"
            short = "" if self.sizes[block] == self.block_length else f"  ({counted(self.sizes[block], 'step')})"
            share = f"{self.probabilities[block, arm]:>11.4f}"
            lines.append(f"{block + 1:>5} {start:>8} {values}  {share}  {fed:>8}{short}")
        return "\n".join(lines)


class BlockMaster(ResumableAgent):
    """A mixin that restarts a learner for every block, with parameters that a master bandit draws.

    Stands before the learner among a class's bases. The class sets ``_blocks`` before it calls their constructors.
    """

    _blocks: Blocks

    @abstractmethod
    def _begin_block(self, block: int, arm: int) -> None:
        """Start the learner, which is as new, with the parameters of an arm."""

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. The master draws from ``rng``, by default from ``seed``."""
        super().reset(rng)
        blocks = self._blocks
        self._rng = self._generator(rng)
        self._weights = new_arm_weights(blocks.params, len(blocks.arms))
        self._chosen = np.zeros(blocks.n_blocks, np.int32)
        self._probabilities = np.zeros((blocks.n_blocks, len(blocks.arms)))
        self._feedback = np.zeros(blocks.n_blocks)
        self._block, self._gathered = 0, 0.0
        self._draw_arm()

    @property
    def _arm_in_force(self) -> tuple[float, ...]:
        return self._blocks.arms[self._chosen[min(self._block, self._blocks.n_blocks - 1)]]

    def _draw_arm(self) -> None:
        if self._block < self._blocks.n_blocks:
            arm = int(kernels.bandits.draw_arm(self._weights, self._rng.random()))
            self._chosen[self._block] = arm
            self._probabilities[self._block] = self._weights.probabilities
            self._begin_block(self._block, arm)

    def _end_block(self) -> None:
        """Feed the block's reward back, divided by H and clipped to [0, 1], and draw the next arm."""
        blocks = self._blocks
        bottom, span = blocks.params.bottom, blocks.params.span
        mean = bottom + span * self._gathered / blocks.size(self._block)
        what, effect = f"reward of block {self._block + 1}", f"{self.name} learns nothing from it"
        self._range_monitor.check_mean("the range of its master", (bottom, bottom + span), what, mean, effect)
        gain = min(max(self._gathered / blocks.length, 0.0), 1.0)
        self._feedback[self._block] = gain
        kernels.bandits.add_gain(blocks.params, self._weights, int(self._chosen[self._block]), gain)
        self._block, self._gathered = self._block + 1, 0.0
        self._draw_arm()

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        super()._learn(state, action, reward, next_state)  # type: ignore[safe-super]
        self._gathered += (reward - self._blocks.params.bottom) / self._blocks.params.span
        if self.t > self._blocks.start(self._block + 1):
            self._end_block()

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        """Play rows in compiled code, block by block."""
        params = self._blocks.params
        while first < last:
            end = self._blocks.start(self._block + 1)
            until = min(end, last)
            super()._play_rows(context, first, until)  # type: ignore[safe-super]
            units = (context.record.rewards[first:until] - params.bottom) / params.span
            self._gathered = float(np.add.accumulate(np.append(self._gathered, units))[-1])  # as _learn adds them
            if until == end:
                self._end_block()
            first = until
        self._range_monitor.warn()

    def summary(self) -> BlockSummary:
        """Return the arms, their probabilities at each block so far, those drawn, and what they earned."""
        blocks, begun = self._blocks, min(self._block + 1, self._blocks.n_blocks)
        return BlockSummary(
            master=blocks.master,
            names=blocks.names,
            arms=blocks.arms,
            gamma=blocks.params.mixing,
            formula_gamma=blocks.formula_gamma,
            clipped=blocks.formula_gamma > blocks.params.mixing,
            block_length=blocks.length,
            starts=np.arange(begun) * blocks.length + 1,
            sizes=np.array([blocks.size(block) for block in range(begun)]),
            probabilities=self._probabilities[:begun].copy(),
            chosen=self._chosen[:begun].copy(),
            feedback=self._feedback[: self._block].copy(),
        )

    def _state_arrays(self) -> Arrays:
        begun = min(self._block + 1, self._blocks.n_blocks)
        learner = super()._state_arrays()  # type: ignore[safe-super]
        return learner | {
            "rng": generator_text(self._rng),
            "master_logits": self._weights.logits,
            "master_chosen": self._chosen[:begun],
            "master_probabilities": self._probabilities[:begun],
            "master_feedback": self._feedback[: self._block],
            "master_gathered": np.array([self._gathered]),
        }

    def _restore(self, arrays: Arrays) -> None:
        blocks, n_arms = self._blocks, len(self._blocks.arms)
        names = "chosen", "probabilities", "feedback", "gathered"
        chosen, probabilities, feedback, gathered = (arrays[f"master_{name}"] for name in names)
        self._block, begun = feedback.size, min(feedback.size + 1, blocks.n_blocks)
        require(feedback.ndim == 1 and feedback.size <= blocks.n_blocks, "the blocks are wrong")
        require(chosen.shape == (begun,) and chosen.dtype.kind == "i", "the blocks are wrong")
        require(probabilities.shape == (begun, n_arms), "an arm does not exist")
        require(bool(((chosen >= 0) & (chosen < n_arms)).all()), "an arm does not exist")
        for shares in (feedback, probabilities):
            require(bool(((shares >= 0) & (shares <= 1)).all()), "a probability or a feedback is not in [0, 1]")
        self._chosen[:begun], self._probabilities[:begun] = chosen, probabilities
        self._feedback[: self._block], self._gathered = feedback, float(gathered[0])
        require(bool(np.isfinite(self._gathered)), "the reward of the block is wrong")
        self._rng = restored_generator(arrays["rng"])
        self._weights.logits[:] = restored_logits(arrays["master_logits"], n_arms)
        kernels.bandits.update_probabilities(blocks.params, self._weights)
        self._begin_block(begun - 1, int(chosen[-1]))
        super()._restore(arrays)  # type: ignore[safe-super]
        last = blocks.start(self._block + 1) + (begun == self._block)
        require(blocks.start(self._block) < self.t <= last, "the time is not that of the block")

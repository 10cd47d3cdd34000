"""The bidirectional diabolical combination lock of [MZZ21] App. J, after [AHKS20], as a world without end.

========  ==============  ==========================================================================
symbol    name here       meaning
========  ==============  ==========================================================================
H         length          steps of an episode: the start, H - 2 dials and an end
A         n_actions       actions in every state. At the start, 0 opens lock 0 and the others lock 1
q         success         chance that an action does what it should, 0.98
c         consolation     paid by a whole episode in the sink, 1/8, so c / H per step
          low_prize       reward at the poorer end, 0.25. The better one pays 1
========  ==============  ==========================================================================

States: the start, each lock at the steps 2 .. H of an episode, and the sink at the steps 3 .. H: 3 (H - 1) in all.
At a dial one action is right. It leads to the next dial with chance q and pays nothing. Every other action, and
the right one with chance 1 - q, leads to the sink and pays c / H. In the sink every step pays c / H. At an end
every action pays the prize. After H steps comes the start, so an episode's return is H times the reward per step.

With n = H - 2 dials, the best return behind the door of a lock with prize z is

    V(z) = q^n z + (1 - q) (c / H) sum_{k < n} q^k (H - 1 - k)

and the optimal gain is max(q V(z0) + (1 - q) V(z1), q V(z1) + (1 - q) V(z0)) / H, where every dial is worth a try.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from driftmdp.kernels.arrays import Floats
from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.mdp.weights import as_horizon
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import DRIFTS, drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_fraction, as_integer, as_number, one_of

MIN_CHANCE = 0.05  # a chance of 0 would leave the ends out of reach
LOCKS = (0, 1)
Integers = NDArray[np.int64]


class LockRegime(NamedTuple):
    """A regime: which lock has the better end, and which lock action 0 opens."""

    rich: int
    opened: int


REGIMES = {
    "first": LockRegime(0, 0),
    "prizes swapped": LockRegime(1, 0),
    "both swapped": LockRegime(1, 1),
    "doors swapped": LockRegime(0, 1),
}


@register("combination-lock-v1")
def combination_lock(
    length: int = 5,
    n_actions: int = 2,
    success: float = 0.98,
    low_prize: float = 0.25,
    consolation: float = 0.125,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "none",
    seed: int = 0,
) -> Problem:
    """Which of two locks to open, and with which combination, while prizes and doors change.

    An episode has ``length`` steps. The first action opens the door of one of two locks. Then each dial of the lock
    has one right action. A wrong one leads to a sink, which pays a little for the rest of the episode. The end of
    one lock pays 1, that of the other ``low_prize``. Then the next episode starts.

    The position in the lock is endogenous. The prizes drift (rewards) and so does the lock that an action opens
    (transitions), through four regimes: ``first``, ``prizes swapped``, ``both swapped``, ``doors swapped``. From
    each to the next the best first action is another one. The combinations stay. Rewards are amounts, without noise
    in the source. With ``noise="bernoulli"`` each is paid as 1 or 0.

    It tests exploration: random play rarely reaches an end, and small rewards on the way lead into the sink. And it
    tests returning to what looked poor: the lock that was not worth opening becomes the better one.

    [MZZ21] has M = 5,000 episodes, ``abrupt`` and ``gradual``. These are their settings:
    ``combination_lock(horizon=25_000, drift="abrupt", changes=4)`` and ``combination_lock(horizon=25_000,
    drift="gradual")``. Choices of ours are in docs/applications/elsewhere.md.

    Parameters
    ----------
    length
        H, steps of an episode, at least 3.
    n_actions
        A, at least 2.
    success
        Chance that a right action leads to the next dial, and that the first action opens its own lock, 0.05
        to 1.
    low_prize
        Reward at the poorer end, in [0, 1].
    consolation
        Reward of an episode in the sink, paid in equal parts, in [0, 1].
    horizon
        T, steps, so T / length episodes.
    drift
        ``gradual`` (the doors swap, linearly over the horizon), ``abrupt`` (the prizes swap, ``changes`` times), or
        linear from regime to regime: ``slow``, ``seasonal`` and ``fast`` (1, 5 or 20 times), ``reward-only`` and
        ``transition-only`` (twice, with the other fixed). ``stationary``: the first regime for ever.
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Swaps of ``abrupt``, at least 0.
    noise
        Reward noise.
    seed
        Selects the combinations, at least 0.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import combination_lock
    >>> problem = combination_lock(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 4 anchors, 12 states, 24 pairs>
    >>> best = [planning.optimal_gain(anchor) for anchor in problem.drifting.anchors]
    >>> [int(optimum.policy[problem.start]) for optimum in best]
    [0, 1, 0, 1]
    >>> round(5 * best[0].gain, 3)
    0.932
    """
    lock = Lock(
        as_integer(length, "length", minimum=3),
        as_integer(n_actions, "n_actions", minimum=2),
        as_number(success, "success", MIN_CHANCE, 1.0),
        as_fraction(low_prize, "low_prize"),
        as_fraction(consolation, "consolation"),
        as_integer(seed, "seed", minimum=0),
    )
    one_of(drift, "drift", (*DRIFTS, "gradual"))
    names = {"abrupt": ["first", "prizes swapped"], "gradual": ["first", "doors swapped"]}.get(drift, [*REGIMES])
    anchors = [lock.world(REGIMES[name]) for name in names]
    is_gradual = drift == "gradual"
    drifting = drifting_between(anchors, "stationary" if is_gradual else drift, horizon, cycles, changes)
    if is_gradual:
        part = np.linspace(0.0, 1.0, as_horizon(horizon, n_weights=2))
        fixed = np.zeros(part.size, dtype=np.int32)
        drifting = DriftingMdp(anchors, np.column_stack([1.0 - part, part]), reward_weights=fixed)
    return Problem(drifting, noise=noise, reward_range=(0.0, 1.0))


class Lock:
    """The states of two locks, and the world of each regime."""

    def __init__(
        self, length: int, n_actions: int, success: float, low_prize: float, consolation: float, seed: int
    ) -> None:
        self.length, self.n_actions, self.success, self.low_prize = length, n_actions, success, low_prize
        self.comfort = consolation / length
        n_states = 3 * (length - 1)
        self.first_end, self.first_sink = 2 * length - 3, 2 * length - 1
        require_memory(400 * n_states * n_actions, f"length x n_actions = {length * n_actions:,}")
        dials = [f"lock {lock}, step {step}" for step in range(2, length + 1) for lock in LOCKS]
        sinks = [f"sink, step {step}" for step in range(3, length + 1)]
        self.space = Space(np.full(n_states, n_actions), ["start", *dials, *sinks])
        self.right = np.random.default_rng(seed).integers(n_actions, size=(2, length - 2))  # [lock, dial]

    def dial(self, step: ArrayLike, lock: ArrayLike) -> Integers:
        """Return the state of a lock at a step 2 .. H of an episode."""
        return np.asarray(1 + 2 * (np.asarray(step) - 2) + np.asarray(lock))

    def sink(self, step: ArrayLike) -> Integers:
        """Return the state of the sink at a step 3 .. H. After H comes the start."""
        return np.where(np.asarray(step) > self.length, 0, self.first_sink + np.asarray(step) - 3)

    def world(self, regime: LockRegime) -> Mdp:
        """Return the world of a regime."""
        rewards = np.zeros((self.space.n_states, self.n_actions))
        rewards[self.first_end : self.first_sink] = self.low_prize
        rewards[self.first_sink :] = self.comfort
        rewards[self.dial(self.length, regime.rich)] = 1.0
        dials, actions, passes = self._tries()
        rewards[dials, actions] = (1.0 - passes) * self.comfort
        return Mdp(self.space, rewards.ravel(), self._transitions(regime.opened))

    def _tries(self) -> tuple[Integers, Integers, Floats]:
        """Return the state, the action and the chance of the next dial, for every action at every dial."""
        grid = np.meshgrid(np.arange(2, self.length), LOCKS, np.arange(self.n_actions), indexing="ij")
        step, lock, action = (axis.ravel() for axis in grid)
        is_right = action == self.right[lock, step - 2]
        return self.dial(step, lock), action, np.where(is_right, self.success, 0.0)

    def _transitions(self, opened: int) -> sp.csr_array:
        """Return the next-state distribution of each pair if action 0 opens some lock."""
        first = np.arange(self.n_actions)
        aim = np.where(first == 0, opened, 1 - opened)
        dials, actions, passes = self._tries()
        tries = dials * self.n_actions + actions
        ends = np.arange(self.first_end * self.n_actions, self.first_sink * self.n_actions)
        sinks = np.arange(self.first_sink * self.n_actions, self.space.n_pairs)
        outcomes = (  # pair, chance, next state
            (first, self.success, self.dial(2, aim)),
            (first, 1.0 - self.success, self.dial(2, 1 - aim)),
            (tries, passes, dials + len(LOCKS)),
            (tries, 1.0 - passes, self.sink((dials - 1) // len(LOCKS) + 3)),
            (ends, 1.0, 0),
            (sinks, 1.0, self.sink(sinks // self.n_actions - self.first_sink + 4)),
        )
        pairs, chances, following = (
            np.concatenate([np.broadcast_to(outcome[part], outcome[0].shape) for outcome in outcomes])
            for part in range(3)
        )
        shape = self.space.n_pairs, self.space.n_states
        table = sp.coo_array((chances, (pairs, following)), shape=shape).tocsr()
        table.eliminate_zeros()
        return table

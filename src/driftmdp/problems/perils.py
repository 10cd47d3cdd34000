"""The perils of drift: the instance behind [CSZ20] Proposition 3 (Section 6)."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.mdp.weights import as_horizon
from driftmdp.problems.registry import register
from driftmdp.validation import as_integer


@dataclass(frozen=True, eq=False)
class PerilsProblem(Problem):
    """The perils instance with its scripted policies.

    Attributes
    ----------
    tau
        A quarter of the window W = 4 tau.
    """

    tau: int = field(default=1, kw_only=True)

    def scripted_policy(self, t: int) -> NDArray[np.int32]:
        """Return the proof's policy at step t: pi1 in the first half of each window, pi2 in the second.

        pi1 plays a1 in state 1 and b2 in state 2, pi2 plays a2 and b1.
        """
        t = as_integer(t, "t", 1, self.horizon)
        first_half = (t - 1) % (4 * self.tau) < 2 * self.tau
        return np.array([0, 1] if first_half else [1, 0], dtype=np.int32)

    def scripted_trajectory(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the states, shape (T + 1,), and actions, shape (T,), of the scripted policies."""
        states, actions = np.empty(self.horizon + 1, np.int32), np.empty(self.horizon, np.int32)
        tables = [anchor.transitions.toarray().reshape(2, 2, 2) for anchor in self.drifting.anchors]
        leads_to = [table.argmax(axis=2).tolist() for table in tables]
        first, second = (self.scripted_policy(t).tolist() for t in (1, 2 * self.tau + 1))
        states[0] = state = self.start
        for i, anchor in enumerate(self.drifting.weights.arrays.indices.tolist()):
            actions[i] = action = (first if i % (4 * self.tau) < 2 * self.tau else second)[state]
            states[i + 1] = state = leads_to[anchor][state][action]
        return states, actions


@register("perils-v1", later={"noise": "none"})
def perils(tau: int = 25, cycles: int = 1, noise: str = "none") -> PerilsProblem:
    """Two deterministic MDPs that alternate, and mislead every learner that averages its past.

    =====  ===========  ==========  ===========  ==========
    MDP    a1 (in 1)    a2 (in 1)   b1 (in 2)    b2 (in 2)
    =====  ===========  ==========  ===========  ==========
    p1     1 -> 1       1 -> 2      2 -> 2       2 -> 1
    p2     1 -> 2       1 -> 1      2 -> 1       2 -> 2
    =====  ===========  ==========  ===========  ==========

    The world is p1, p2, p1, p2 for tau steps each, a window of W = 4 tau. Under the scripted policies the learner
    almost always sees a self-loop. So the estimated MDP has diameter tau + 1, though every MDP met has diameter 1.
    That is why confidence regions must be widened. The paper's figure and rewards are missing. Here, being in
    state 2 pays 1 (docs/paper-notes.md, item 24).

    Closed form: rho*_t = 1, diameter 1, and the best total reward is T - 1 from state 1.

    Parameters
    ----------
    tau
        Steps before the world changes.
    cycles
        The number of windows of 4 tau steps.
    noise
        Reward noise. Mean rewards are 0 and 1, so Bernoulli noise would change nothing.

    Examples
    --------
    >>> from driftmdp.problems import perils
    >>> problem = perils(tau=2)
    >>> states, actions = problem.scripted_trajectory()
    >>> (states + 1).tolist()
    [1, 1, 1, 2, 2, 2, 2, 1, 1]
    """
    tau = as_integer(tau, "tau", minimum=1)
    cycles = as_integer(cycles, "cycles", minimum=1)
    as_horizon(4 * tau * cycles, name="4 x tau x cycles")
    space = Space([2, 2], ["1", "2"], [["a1", "a2"], ["b1", "b2"]])
    rewards = [0.0, 0.0, 1.0, 1.0]
    one, two = [1, 0], [0, 1]
    anchors = [Mdp(space, rewards, [one, two, two, one]), Mdp(space, rewards, [two, one, one, two])]
    turns = np.tile(np.repeat([0, 1, 0, 1], tau), cycles)
    return PerilsProblem(DriftingMdp(anchors, turns), noise=noise, reward_range=(0.0, 1.0), tau=tau)  # type: ignore[arg-type]

"""RiverSwim: a chain where the far reward needs a long effort against the current [SL08]."""

import numpy as np

from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.mdp.weights import as_horizon
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import MOST, blocks, swing
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number, one_of


@register("river-swim-v1")
def river_swim(
    n_states: int = 6, horizon: int = 5000, drift: str = "stationary", cycles: float = 2, noise: str = "none"
) -> Problem:
    """Swim right against the current for much, or drift left for little.

    Swimming left (action 0) always succeeds, and earns 0.005 at the left bank. Swimming right (action 1) moves
    right with probability 0.35, left with 0.05, and else stays. At the banks it leaves the left one with
    probability 0.6, and stays at the right one with 0.6, where it earns 1. These are the numbers of [ORR13].

    It tests patience: the nearby reward misleads. Closed form: under "always right" the chain is a birth-death
    chain with stationary masses proportional to products of 0.6 / 0.05, 0.35 / 0.05, ..., 0.35 / 0.4, and the
    optimal gain is the mass of the right bank (0.4286 for six states).

    Parameters
    ----------
    n_states
        Length of the river, at least 3.
    horizon
        T.
    drift
        ``stationary``, ``drifting`` or ``reversing``. With ``drifting``, the current swings between the numbers
        above and a flood (right 0.05, left 0.35), in which the left bank is best with five states or more. With
        ``reversing``, the river and its mirror image alternate abruptly.
    cycles
        Full swings, or full alternations, over the horizon.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import river_swim
    >>> round(planning.optimal_gain(river_swim().drifting.at(1)).gain, 4)
    0.4286
    """
    n_states = as_integer(n_states, "n_states", minimum=3)
    require_memory(80 * n_states**2, f"n_states = {n_states:,}")
    one_of(drift, "drift", ("stationary", "drifting", "reversing"))
    horizon = as_horizon(horizon, n_weights=2 if drift == "drifting" else 0)
    cycles = as_number(cycles, "cycles", 0.0, MOST / 2)
    river = _river(n_states, right=0.35, left=0.05)
    if drift == "stationary":
        drifting = DriftingMdp.stationary(river, horizon)
    elif drift == "drifting":
        drifting = DriftingMdp([river, _river(n_states, right=0.05, left=0.35)], swing(horizon, cycles))
    else:
        drifting = DriftingMdp([river, _mirror(river)], blocks(horizon, 2, round(2 * cycles) - 1 if cycles else 0))
    return Problem(drifting, noise=noise, reward_range=(0.0, 1.0))


def _river(n: int, right: float, left: float) -> Mdp:
    rewards = np.zeros((n, 2))
    rewards[0, 0], rewards[-1, 1] = 0.005, 1.0
    transitions = np.zeros((n, 2, n))
    states = np.arange(n)
    transitions[states, 0, np.maximum(states - 1, 0)] = 1.0
    middle = states[1:-1]
    transitions[middle, 1, middle + 1] = right
    transitions[middle, 1, middle - 1] = left
    transitions[middle, 1, middle] = 1.0 - right - left
    transitions[0, 1, :2] = 0.4, 0.6
    transitions[-1, 1, -2:] = 0.4, 0.6
    dense = Mdp.from_dense(rewards, transitions)
    return Mdp(Space(dense.space.n_actions, action_names=["left", "right"]), dense.rewards, dense.transitions)


def _mirror(river: Mdp) -> Mdp:
    rewards, transitions, _ = river.to_dense()
    flipped = Mdp.from_dense(rewards[::-1, ::-1], transitions[::-1, ::-1, ::-1])
    return Mdp(river.space, flipped.rewards, flipped.transitions)

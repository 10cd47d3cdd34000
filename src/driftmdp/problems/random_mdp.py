"""Random episodic MDPs, the other world of [NAM25]: H layers of states with random chances and rewards.

========  ==============  ==========================================================================
symbol    name here       meaning
========  ==============  ==========================================================================
H         length          layers, and steps of an episode
S         n_states        states of each layer. The first layer has the start alone
A         n_actions       actions in every state
a         concentration   chances of a pair are Dirichlet(a, ..., a) over the S states of the next layer,
                          but for 1 % that is shared evenly
========  ==============  ==========================================================================

From the last layer every action leads to the start, so an episode's return is H times the reward per step. Layers
share neither chances nor rewards, as in an episodic MDP with P_h and r_h.
"""

import itertools

import numpy as np

from driftmdp.kernels.arrays import Floats
from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import DRIFTS, drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number, one_of

EVEN = 0.01  # of the chance is shared evenly, so that every state can be reached in reasonable time
CONCENTRATIONS = (0.05, 100.0)  # below, all drawn numbers of a pair can be 0


@register("random-mdp-v1")
def random_mdp(
    n_states: int = 5,
    n_actions: int = 3,
    length: int = 5,
    concentration: float = 1.0,
    n_anchors: int = 3,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "bernoulli",
    seed: int = 0,
) -> Problem:
    """Random episodes of a few steps, whose rewards and chances move from one random MDP to the next.

    An episode starts in one state and passes ``length`` layers of ``n_states`` states. Every action leads to every
    state of the next layer with a random chance, and pays a random mean reward, uniform in [0, 1]. Then the next
    episode starts. The state is endogenous. Rewards and transitions drift, with regimes that are independent random
    MDPs. By default a reward is 1 with its mean as the chance, else 0.

    It tests learning and forgetting without structure, where no state is hard to reach: an episode is over after
    ``length`` steps. Looking ahead matters: an action that pays well may lead to a poor state.

    [NAM25] names this world, and its exact sizes and chances could not be read. What is chosen here is in
    docs/applications/elsewhere.md.

    Parameters
    ----------
    n_states
        States of each layer but the first, which has one, at least 1.
    n_actions
        Actions in every state, at least 1.
    length
        H, layers and steps of an episode, at least 2.
    concentration
        Of the Dirichlet law of the chances, from 0.05 (nearly one successor) to 100 (nearly equal chances). With 1
        every distribution is equally likely, but for 1 % of the chance that is shared evenly.
    n_anchors
        Random MDPs to move between, at least 2.
    horizon
        T, steps, so T / length episodes.
    drift
        ``stationary``, ``abrupt`` (jumps), or linear from anchor to anchor and back: ``slow``, ``seasonal`` and
        ``fast`` (1, 5 or 20 times), ``reward-only`` and ``transition-only`` (twice, with the other fixed).
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.
    seed
        Selects the random MDPs, at least 0.

    Examples
    --------
    >>> from driftmdp.problems import random_mdp
    >>> problem = random_mdp(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 21 states, 63 pairs>
    >>> problem.space.state_names[:3]
    ('start', 'step 2, state 0', 'step 2, state 1')
    """
    n_states = as_integer(n_states, "n_states", minimum=1)
    n_actions = as_integer(n_actions, "n_actions", minimum=1)
    length = as_integer(length, "length", minimum=2)
    concentration = as_number(concentration, "concentration", *CONCENTRATIONS)
    one_of(drift, "drift", DRIFTS)
    n_anchors = as_integer(n_anchors, "n_anchors", minimum=2)
    count = 1 if drift == "stationary" else n_anchors
    rng = np.random.default_rng(as_integer(seed, "seed", minimum=0))
    n_total = 1 + n_states * (length - 1)
    entries = count * n_actions * n_total**2
    require_memory(16 * entries, f"n_anchors x n_actions x (n_states x length)^2, about {entries:,},")
    names = [f"step {step}, state {state}" for step in range(2, length + 1) for state in range(n_states)]
    space = Space(np.full(n_total, n_actions), ["start", *names])
    anchors = [_draw_world(space, n_states, concentration, rng) for _ in range(count)]
    drifting = drifting_between(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, noise=noise, reward_range=(0.0, 1.0))


def _draw_world(space: Space, n_states: int, concentration: float, rng: np.random.Generator) -> Mdp:
    """Return one random world: chances layer by layer, then rewards."""
    n_actions = space.n_pairs // space.n_states
    chances = np.zeros((space.n_states, n_actions, space.n_states))
    layers = [range(1), *(range(first, first + n_states) for first in range(1, space.n_states, n_states))]
    for layer, following in itertools.pairwise(layers):
        drawn = _draw_chances(concentration, (len(layer), n_actions, n_states), rng)
        chances[layer.start : layer.stop, :, following.start : following.stop] = drawn
    chances[layers[-1].start :, :, 0] = 1.0
    return Mdp(space, rng.random(space.n_pairs), chances.reshape(space.n_pairs, space.n_states))


def _draw_chances(concentration: float, shape: tuple[int, int, int], rng: np.random.Generator) -> Floats:
    drawn = rng.standard_gamma(concentration, shape)
    return np.asarray((1.0 - EVEN) * drawn / drawn.sum(axis=2, keepdims=True) + EVEN / shape[2])

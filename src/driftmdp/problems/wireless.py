"""An energy-harvesting transmitter on a Gilbert-Elliott channel: when to send a packet, and at which power.

========  ===============  =========================================================================
symbol    name here        meaning
========  ===============  =========================================================================
B, b      battery          units of energy of a full battery, and what is in it, 0 .. B
c         channel          the channel in the last slot, 0 bad or 1 good
(b, c)    state            2 (B + 1) states, index (B + 1) c + b
k         energy           units that an action spends: 0 to wait, 1 at low power, K at high power
f, g      leave_good,      chance that a good channel turns bad, and that a bad one turns good [G60]
          leave_bad
h, m      harvest, parcel  chance that energy arrives in a slot, and how many units of it
theta_c   good_loss,       loss of the channel: the energy that a packet needs, over the energy that arrives of
          bad_loss         one unit sent
q(c, k)   success chances  exp(-theta_c / k), and 0 for k = 0: no outage under Rayleigh fading
r         rewards          sum over c' of Pr(c' | c) q(c', k)
========  ===============  =========================================================================

A step is a slot. The channel moves from c to c', the packet goes through c', and the receiver reports c'. The
battery then holds min(b - k + m, B) units with chance h, and b - k otherwise. This is the model of [AEG17] with the
channel of the last slot always known, so that no belief is needed.

The channel moves whatever is done (exogenous). The battery is what earlier sending left (endogenous).
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.odds import times_odds
from driftmdp.problems.outcomes import transition_table
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number

MIN_CHANCE, MAX_CHANCE = 0.01, 0.99  # a chance of 0 or 1 would leave states out of reach
MAX_LOSS = 100.0


class Airwaves(NamedTuple):
    """Conditions on air: factors of the usual odds of the chances f, g and h, and of the usual losses."""

    leave_good: float
    leave_bad: float
    harvest: float
    loss: float


REGIMES = {
    "usual": Airwaves(1.0, 1.0, 1.0, 1.0),
    "crowded": Airwaves(36.0, 16.0, 1.0, 1.0),  # a neighbour sends in every other slot
    "faint": Airwaves(1.0, 1.0, 2.5, 10.0),
}


@register("wireless-v1")
def wireless(
    battery: int = 12,
    high_power: int = 3,
    parcel: int = 2,
    leave_good: float = 0.1,
    leave_bad: float = 0.2,
    harvest: float = 0.35,
    good_loss: float = 0.15,
    bad_loss: float = 6.0,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "bernoulli",
) -> Problem:
    """When to send, and at which power, with harvested energy and a channel that comes and goes.

    The decision of each slot: wait, send a packet at low power (1 unit of energy) or at high power
    (``high_power`` units), as far as the battery allows.

    - States: the energy in the battery and the channel of the last slot, good or bad. 26 with the defaults.
    - Rewards: the chance that a packet gets through, packets per slot, in the range (0, 1).
    - Endogenous: the battery, which is what earlier sending left. The channel is a Markov chain of its own.
    - Drift: the anchors are three conditions on air. In the ``usual`` one a good channel stays good for a while.
      In the ``crowded`` one a neighbour sends in about every other slot, so that a good slot follows a bad one. In
      the ``faint`` one the receiver is far away, low power rarely gets through, and the sun brings more energy.
    - Noise: a packet gets through or not (``bernoulli``). Energy and channel are random too.

    It tests saving a resource for the right moment while the sign of that moment changes.

    Parameters
    ----------
    battery
        Units of energy of a full battery, at least 1.
    high_power
        Units that high power spends, at least 2. States with less energy do not offer it.
    parcel
        Units that arrive at once, at least 1.
    leave_good, leave_bad
        Chance of the usual channel to turn from good to bad, and from bad to good, 0.01 to 0.99.
    harvest
        Chance of the usual slot that a parcel arrives, 0.01 to 0.99.
    good_loss, bad_loss
        Losses of the usual channel when it is good, 0 to ``bad_loss``, and when it is bad, up to 100. A packet sent
        with k units gets through with chance exp(-loss / k).
    horizon
        T, slots, at least 1.
    drift
        ``stationary`` (the usual conditions), ``slow``, ``seasonal`` and ``fast`` (linear from usual to crowded to
        faint and back, 1, 5 or 20 times), ``reward-only`` and ``transition-only`` (twice, with the other fixed), or
        ``abrupt`` (jumps in that order).
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import wireless
    >>> problem = wireless(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 26 states, 70 pairs>
    >>> problem.space.state_names[19]
    '6 units, good'
    >>> [int(planning.optimal_gain(anchor).policy[19]) for anchor in problem.drifting.anchors]
    [1, 0, 2]
    """
    radio = Radio(
        as_integer(battery, "battery", minimum=1),
        as_integer(high_power, "high_power", minimum=2),
        as_integer(parcel, "parcel", minimum=1),
    )
    leave_good = as_number(leave_good, "leave_good", MIN_CHANCE, MAX_CHANCE)
    leave_bad = as_number(leave_bad, "leave_bad", MIN_CHANCE, MAX_CHANCE)
    harvest = as_number(harvest, "harvest", MIN_CHANCE, MAX_CHANCE)
    good_loss = as_number(good_loss, "good_loss", 0.0, MAX_LOSS)
    bad_loss = as_number(bad_loss, "bad_loss", good_loss, MAX_LOSS)
    anchors = []
    for regime in REGIMES.values():
        gone, back = times_odds(leave_good, regime.leave_good), times_odds(leave_bad, regime.leave_bad)
        channel = np.array([[1 - back, back], [gone, 1 - gone]])
        moves = channel[radio.channel]  # moves[pair, next channel]
        success = radio.success_chances(np.array([bad_loss, good_loss]) * regime.loss)
        transitions = radio.transitions(moves, times_odds(harvest, regime.harvest))
        anchors.append(Mdp(radio.space, (moves * success).sum(axis=1), transitions))
    drifting = drifting_between(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, start=radio.space.n_states - 1, noise=noise, reward_range=(0.0, 1.0))


class Radio:
    """The states of a transmitter, and for each pair the energy left before a harvest and the last channel."""

    def __init__(self, battery: int, high_power: int, parcel: int) -> None:
        self.battery, self.parcel = battery, min(parcel, battery)
        n_states = 2 * (battery + 1)
        require_memory(1800.0 * n_states, f"battery = {battery:,}")
        channel, units = np.divmod(np.arange(n_states), battery + 1)
        names = [f"{b} units, {('bad', 'good')[c]}" for b, c in zip(units, channel, strict=True)]
        n_actions = 1 + (units >= 1) + (units >= high_power)
        self.space = Space(n_actions, names, ["wait", "low power", "high power"][: n_actions.max()])
        states = self.space.pair_states
        action = np.arange(self.space.n_pairs) - self.space.offsets[states]
        self.energy = np.array([0, 1, min(high_power, battery)])[action]
        self.left, self.channel = units[states] - self.energy, channel[states]

    def success_chances(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return q[pair, channel] for the losses of a bad and a good channel."""
        sent = self.energy[:, np.newaxis] > 0
        return np.where(sent, np.exp(-losses / np.maximum(self.energy, 1)[:, np.newaxis]), 0.0)

    def transitions(self, moves: NDArray[np.float64], harvest: float) -> sp.csr_array:
        """Return the next-state distribution of each pair, from ``moves[pair, next channel]``."""
        charged = np.minimum(self.left + self.parcel, self.battery)
        outcomes = [
            (chance * moves[:, channel], (self.battery + 1) * channel + units)
            for chance, units in ((harvest, charged), (1 - harvest, self.left))
            for channel in (0, 1)
        ]
        return transition_table(self.space, outcomes)

"""A driver between the zones of a city: where to wait for the next ride while rush hours come and go.

========  =============  ==========================================================================
symbol    name here      meaning
========  =============  ==========================================================================
z, j      zone           a cell of a grid, row by row. A1 is the first, B1 is south of it
d(z, j)   distances      zones between two cells along streets: rows apart plus columns apart
D(z, j)   ride_steps     steps of a ride, max(d(z, j), 1)
(z, k)    state          idle in z if k = 0, else on a ride that ends in z in k steps
c         centre         the zone that rides go to or come from, by regime
h(z)      remoteness     d(z, c), or for origins of an inbound regime the largest distance minus d(z, c)
l(z)      request        chance of a request in a step of waiting, q + (b - q) e^(-h(z) / reach), times demand
g(j)      destination    law of where rides go, s / Z + (1 - s) e^(-h'(j) / reach) / sum, Z zones
F(D)      fare           tariff (base + rate D)
r         rewards        l(z) (sum_j g(j) F(D(z, j)) - cost) if waiting, -cost if moving
========  =============  ==========================================================================

A ride begins in the step of its request and pays its whole fare then. Every step in which the vehicle moves,
empty or not, costs the same. h' is h with near and far exchanged: where origins are far, destinations are near.

An anchor is a regime with its own centre, direction, demand and tariff. As destinations do not depend on where a
ride begins, g is also the law of the zones where a driver who never moves empty becomes idle. So the gain of this
policy is a renewal reward in closed form, with D(z) = sum_j g(j) D(z, j):

    sum_z g(z) (tariff (base + rate D(z)) - cost D(z)) / sum_z g(z) (1 / l(z) + D(z) - 1)

References: [RZY16], [H60].
"""

from math import floor
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number

MAX_SIDE = 26  # a letter per row
MAX_MONEY = 1000.0
MIN_CHANCE = 0.01  # a chance of 0 would leave states out of reach


class RideDemand(NamedTuple):
    """A regime: its centre as shares of the grid's height and width, its direction, and factors of the usual."""

    south: float
    east: float
    inbound: bool
    demand: float
    tariff: float


REGIMES = {
    "morning": RideDemand(0.5, 0.0, inbound=True, demand=1.0, tariff=1.0),
    "evening": RideDemand(0.5, 0.0, inbound=False, demand=1.0, tariff=1.0),
    "night": RideDemand(1.0, 0.67, inbound=False, demand=0.7, tariff=1.4),
}


@register("transport-v1")
def transport(
    rows: int = 3,
    columns: int = 3,
    busy: float = 0.7,
    quiet: float = 0.1,
    reach: float = 1.0,
    stray: float = 0.4,
    base: float = 3.0,
    rate: float = 4.0,
    cost: float = 0.6,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "bernoulli",
) -> Problem:
    """Where a driver waits for the next ride while rush hours and the centre of demand move.

    In each step of about five minutes an idle driver waits for a request or drives to a neighbouring zone. A ride
    pays by its length and leaves the driver wherever the passenger wanted to go, so the next position is the
    demand's choice as much as the driver's. On a ride there is nothing to decide.

    States are (zone, steps left of the ride). Actions are ``wait`` and the open ways of ``north``, ``south``,
    ``west`` and ``east``, or ``ride``. The reward is the expected fare minus the cost of driving, in units of money
    per step. Endogenous: where the driver is. Drifting: where requests come from, where rides go, how many there
    are and what they pay. The city moves between three regimes. In the ``morning`` rides go from far zones to the
    centre in the west (B1 of a 3 x 3 grid), in the ``evening`` from there outwards, and at ``night`` outwards from
    another centre in the south (C2), fewer and at a higher tariff. Noise: with ``bernoulli`` a step of waiting pays
    the highest mean reward or costs as much as driving, with the right mean. Moving is not noisy.

    It tests going back to a place whose worth drifts. With the defaults the oracle of each step gets 2.28 per step,
    the optimal policy of the average city 1.80, a random one 0.29 (20 seeds). The model follows [RZY16], and [H60]
    for the average reward. The defaults are plausible, not fitted. Sources and choices are in
    docs/applications/transport.md. Rewards are expected money, and ``reward_range`` is their exact range.

    Parameters
    ----------
    rows, columns
        The grid of zones, each from 1 to 26, with at least two zones.
    busy
        Chance of a request per step of waiting in the best zone, from ``quiet`` to 1.
    quiet
        The chance far away from it, 0.01 to ``busy``.
    reach
        Zones over which demand falls by the factor e, from 0.1 to 100.
    stray
        Share of rides that go anywhere, with equal chances, from 0.01 to 1. The others follow the rush.
    base, rate
        A fare is ``base`` (from 0 to 1,000) plus ``rate`` (from 0.01 to 1,000) per zone.
    cost
        Cost of a step of driving, empty or not, from 0 to 1,000.
    horizon
        T, at least 1.
    drift
        ``stationary`` (the morning), ``slow``, ``seasonal`` and ``fast`` (linear from morning to evening to night
        and back, 1, 5 or 20 times), ``reward-only`` and ``transition-only`` (twice, with the other fixed), or
        ``abrupt`` (jumps).
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import transport
    >>> problem = transport(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 30 states, 54 pairs>
    >>> problem.space.state_names[:5]
    ('A1', 'A1, 1 to go', 'A1, 2 to go', 'A1, 3 to go', 'A2')
    >>> evening = planning.optimal_gain(problem.drifting.anchor(1)).policy
    >>> problem.space.action_name(0, evening[0])  # from A1 to the centre in B1
    'south'
    """
    rows, columns = as_integer(rows, "rows", 1, MAX_SIDE), as_integer(columns, "columns", 1, MAX_SIDE)
    as_integer(rows * columns, "rows x columns", minimum=2)
    quiet = as_number(quiet, "quiet", MIN_CHANCE, 1.0)
    busy = as_number(busy, "busy", quiet, 1.0)
    reach = as_number(reach, "reach", 0.1, 100.0)
    stray = as_number(stray, "stray", MIN_CHANCE, 1.0)
    base, rate = as_number(base, "base", 0.0, MAX_MONEY), as_number(rate, "rate", 0.01, MAX_MONEY)
    cost = as_number(cost, "cost", 0.0, MAX_MONEY)
    city = City(rows, columns)
    anchors = []
    for traffic in REGIMES.values():
        origins, destinations = city.pull(traffic, reach)
        requests = traffic.demand * (quiet + (busy - quiet) * origins)
        law = stray / city.n_zones + (1 - stray) * destinations / destinations.sum()
        fares = traffic.tariff * (base + rate * city.ride_steps @ law)
        rewards = np.full(city.space.n_pairs, -cost)
        rewards[city.waiting] = requests * (fares - cost)
        anchors.append(Mdp(city.space, rewards, city.transitions(requests, law)))
    return Problem(drifting_between(anchors, drift, horizon, cycles, changes), noise=noise)


class City:
    """The zones of a grid and the states of a vehicle there.

    ``idle[z]`` is the state of waiting in z, and ``idle[z] + k`` that of a ride that ends there in k steps.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns, self.n_zones = rows, columns, rows * columns
        require_memory(100 * self.n_zones**2, f"(rows x columns)^2 = {self.n_zones**2:,}")
        row, column = np.divmod(np.arange(self.n_zones), columns)
        self.distances = abs(row[:, None] - row) + abs(column[:, None] - column)
        self.ride_steps = np.maximum(self.distances, 1)
        longest = self.ride_steps.max(axis=0)  # to each zone. After its first step it has one less to go
        self.idle = np.concatenate([[0], np.cumsum(longest)[:-1]])
        self.space, self.quietly = self._space(longest)
        self.waiting = self.space.offsets[self.idle]

    def _space(self, longest: NDArray[np.int64]) -> tuple[Space, NDArray[np.int64]]:
        """Return the space, and the next state of each pair if no request comes."""
        state_names, action_names, following = [], [], []
        for zone, count in enumerate(longest.tolist()):
            here, ways = self.idle[zone], self._ways(zone)
            name = f"{ascii_uppercase[zone // self.columns]}{zone % self.columns + 1}"
            state_names += [name, *(f"{name}, {left} to go" for left in range(1, count))]
            action_names += [["wait", *ways], *[["ride"]] * (count - 1)]
            following += [here, *self.idle[[*ways.values()]], *range(here, here + count - 1)]
        return Space([len(names) for names in action_names], state_names, action_names), np.array(following)

    def _ways(self, zone: int) -> dict[str, int]:
        """Return the neighbours of a zone by direction."""
        row, column = divmod(zone, self.columns)
        ways = {
            "north": (row > 0, -self.columns),
            "south": (row < self.rows - 1, self.columns),
            "west": (column > 0, -1),
            "east": (column < self.columns - 1, 1),
        }
        return {way: zone + step for way, (is_open, step) in ways.items() if is_open}

    def pull(self, traffic: RideDemand, reach: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how much each zone attracts requests, and destinations, at most 1.

        Examples
        --------
        >>> from driftmdp.problems.transport import City, REGIMES
        >>> City(1, 3).pull(REGIMES["evening"], reach=1.0)[0].round(2)
        array([1.  , 0.37, 0.14])
        """
        row, column = floor(traffic.south * (self.rows - 1) + 0.5), floor(traffic.east * (self.columns - 1) + 0.5)
        distance = self.distances[row * self.columns + column]
        near, far = np.exp(-distance / reach), np.exp((distance - distance.max()) / reach)
        return (far, near) if traffic.inbound else (near, far)

    def transitions(self, requests: NDArray[np.float64], law: NDArray[np.float64]) -> sp.csr_array:
        """Return the next-state distribution of each pair, from the chances of a request and of destinations."""
        without = np.ones(self.space.n_pairs)
        without[self.waiting] = 1 - requests
        begun = self.idle + self.ride_steps - 1  # [z, j]: the first step of the ride is over
        pairs = np.concatenate([np.arange(without.size), np.repeat(self.waiting, self.n_zones)])
        following = np.concatenate([self.quietly, begun.ravel()])
        chances = np.concatenate([without, np.outer(requests, law).ravel()])
        shape = (self.space.n_pairs, self.space.n_states)
        table = sp.coo_array((chances, (pairs, following)), shape=shape).tocsr()
        table.eliminate_zeros()
        return table

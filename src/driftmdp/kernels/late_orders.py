"""Orders whose day of arrival is not certain, on sample paths.

An order of morning h is *promised* for h + L. Its *delay* d, early if it is less than 0, has hazards: the chance
that it comes with delay d if it did not come before. Delays are drawn for each path and morning, independently, so
that orders may overtake each other. They are common to all rules and orders that are compared.

A path has two calendars of arrivals. What *truly* arrives fills the shelf. Rules see what is *promised* when they
project: an order that did not come on its day is expected after the mean of its remaining time, and again when
it does not come then. An order arrives a period after its morning at the earliest.
"""

from typing import NamedTuple

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs

EARLIEST, LATEST = 4, 20  # periods: delays beyond count as these
LAST_HAZARD_STEPS = 40  # behind LATEST, after which an order comes for certain
MOST_AGAIN = 12  # periods that an overdue order is expected after
ON_TIME = np.append(np.zeros(EARLIEST), np.append(1.0, np.full(LATEST, 0.5)))


class LateOrders(NamedTuple):
    """An item's orders of which arrivals are not certain. With no paths, all arrive on their days.

    ========  ============  ====================================================================================
    lead      int           L
    hazards   (D,)          by delay, from -EARLIEST to LATEST
    coming    (J,)          ``coming[j]`` is promised for j + 1 periods from now
    overdue   (U,)          ``overdue[u]`` was promised for u periods ago, and did not come until this morning
    first     (n, J + U)    in how many periods these come on each path
    delays    (n, H)        delay of an order of each morning, on each path
    again     (...)         in how many more periods an order is expected that is so many overdue
    truly     (H,)          what arrives on the path that is simulated
    moved     (H, A + 1)    units that from a morning on are expected so many periods later
    ========  ============  ====================================================================================
    """

    lead: int
    hazards: Floats
    coming: Longs
    overdue: Longs
    first: Longs
    delays: Longs
    again: Longs
    truly: Longs
    moved: Longs


@kernel
def all_on_time() -> LateOrders:
    """Return that everything arrives on its day."""
    none, nothing = np.zeros((0, 0), np.int64), np.zeros(0, np.int64)
    return LateOrders(0, np.zeros(0), nothing, nothing, none, none, nothing, nothing, none)


@kernel
def is_certain(hazards: Floats, coming: Longs, overdue: Longs, lead: int) -> bool:
    """Return whether all orders arrive on their days, and none is promised for later than today's would be."""
    for d in range(min(hazards.size, EARLIEST)):
        if hazards[d] > 0.0:
            return False
    for u in range(overdue.size):
        if overdue[u] > 0:
            return False
    for j in range(max(lead - 1, 0), coming.size):
        if coming[j] > 0:
            return False
    return hazards.size == 0 or hazards[EARLIEST] >= 1.0 or lead == 0


@kernel
def new_late_orders(
    lead: int,
    hazards: Floats,
    coming: Longs,
    overdue: Longs,
    uniforms: Floats,
    shifts: Floats,
    horizon: int,
    n_paths: int,
) -> LateOrders:
    """Return the orders with all delays drawn.

    Uniform numbers of paths are by column, shifted: H + 1 for demand, then H for the mornings, then in turns one
    for what is coming and one for what is overdue. So an order has its column however wide the tables are.
    """
    n_open = coming.size + overdue.size
    first, delays = np.zeros((n_paths, n_open), np.int64), np.zeros((n_paths, horizon), np.int64)
    for h in range(horizon):
        column = horizon + 1 + h
        for i in range(n_paths):
            drawn = _shifted(uniforms[i, column], shifts[column])
            delays[i, h] = draw_delay(hazards, -EARLIEST, min(1 - lead, 0), drawn)
    for k in range(n_open):
        by_now = k - coming.size if k >= coming.size else -k - 1  # less than 0: not due yet
        column = 2 * horizon + 1 + (2 * by_now + 1 if by_now >= 0 else 2 * k)
        for i in range(n_paths):
            drawn = _shifted(uniforms[i, column], shifts[column])
            since = max(by_now + 1, -EARLIEST)
            first[i, k] = draw_delay(hazards, since, by_now + 1, drawn) - by_now
    again = np.zeros(LATEST + 1, np.int64)
    _fill_again(hazards, again)
    truly, moved = np.zeros(horizon, np.int64), np.zeros((horizon, MOST_AGAIN + 1), np.int64)
    return LateOrders(lead, hazards, coming, overdue, first, delays, again, truly, moved)


@kernel
def columns_needed(horizon: int, n_coming: int, n_overdue: int) -> int:
    """Return how many columns of uniform numbers demand and delays take."""
    return 2 * horizon + 1 + 2 * max(n_coming, n_overdue)


@kernel
def _shifted(uniform: float, shift: float) -> float:
    moved = uniform + shift
    return moved - 1.0 if moved >= 1.0 else moved


@kernel
def hazard_of(hazards: Floats, delay: int) -> float:
    """Return the chance that an order comes with a delay if it did not before. Beyond the ends, that of the end."""
    if delay < -EARLIEST:
        return 0.0
    return hazards[min(delay, LATEST) + EARLIEST]


@kernel
def draw_delay(hazards: Floats, first: int, least: int, uniform: float) -> int:
    """Return a delay of ``least`` or more from a uniform number, of an order that did not come before ``first``."""
    delay, left = first, 1.0
    while delay < max(LATEST, first) + LAST_HAZARD_STEPS:
        chance = hazard_of(hazards, delay) * left
        if uniform < chance:
            break
        uniform -= chance
        left -= chance
        delay += 1
    return max(delay, least)


@kernel
def _fill_again(hazards: Floats, again: Longs) -> None:
    """Fill the mean remaining periods of an order by how long it is overdue, as whole numbers."""
    mean = 1.0 / max(hazards[hazards.size - 1], 1.0 / MOST_AGAIN)
    for u in range(again.size - 1, -1, -1):
        if u + 1 <= LATEST:
            mean = 1.0 + (1.0 - hazards[u + 1 + EARLIEST]) * mean
        again[u] = min(max(int(mean + 0.5), 1), MOST_AGAIN)


@kernel
def delay_moments(hazards: Floats, lead: int) -> tuple[float, float]:
    """Return mean and variance of the delay of an order."""
    left, mean, squares = 1.0, 0.0, 0.0
    for k in range(hazards.size):
        chance = hazards[k] * left if k + 1 < hazards.size else left
        delay = float(max(k - EARLIEST, 1 - lead))
        mean += chance * delay
        squares += chance * delay * delay
        left -= chance
    return mean, max(squares - mean * mean, 0.0)


@kernel
def expected_coming(hazards: Floats, coming: Longs, overdue: Longs) -> Longs:
    """Return what is on its way by the periods in which it is expected this morning, less one."""
    again, found = np.zeros(LATEST + 1, np.int64), np.zeros(max(coming.size, MOST_AGAIN), np.int64)
    _fill_again(hazards, again)
    for j in range(coming.size):
        found[j] += coming[j]
    for u in range(overdue.size):
        found[again[min(u, LATEST)] - 1] += overdue[u]
    return found


@kernel
def start_late_path(late: LateOrders, path: int) -> None:
    """Put what is on its way into the calendar of what truly arrives on a path, and foresee when it is missed."""
    for h in range(late.truly.size):
        late.truly[h] = 0
        for k in range(late.moved.shape[1]):
            late.moved[h, k] = 0
    for j in range(late.coming.size):
        _send(late, late.coming[j], j + 1, j + 1, late.first[path, j])
    for u in range(late.overdue.size):
        arrival = late.first[path, late.coming.size + u]
        _send(late, late.overdue[u], -u, late.again[min(u, LATEST)], arrival)


@kernel
def send_order(late: LateOrders, path: int, h: int, units: int) -> int:
    """Send the order of a morning. Return when it arrives."""
    due = h + late.lead
    arrival = due + late.delays[path, h]
    _send(late, units, due, due, arrival)
    return arrival


@kernel
def _send(late: LateOrders, units: int, due: int, expected: int, arrival: int) -> None:
    """Let units that were promised for ``due``, and are expected at first for ``expected``, arrive."""
    horizon = late.truly.size
    if units == 0:
        return
    if arrival < horizon:
        late.truly[arrival] += units
    while expected < arrival and expected < horizon:
        more = late.again[min(max(expected - due, 0), LATEST)]
        late.moved[expected, more] += units
        expected += more
    if arrival < expected and arrival < horizon:  # it comes before it is expected: at most MOST_AGAIN periods
        late.moved[arrival, expected - arrival] -= units


@kernel
def move_promises(late: LateOrders, h: int, promised: Longs) -> None:
    """Move what did not come this morning, and what came early, in the calendar of what is promised."""
    for k in range(1, late.moved.shape[1]):
        if late.moved[h, k] != 0 and h + k < promised.size:
            promised[h + k] += late.moved[h, k]

"""Demand seen through sales: Kaplan-Meier under several memories at once, their mixture, and a band around it.

A day with y units on sale shows Y = min(X, y). Of the question "given that demand is at least j, does it stop
there?" the day shows the answer for every j < Y (no), and for j = Y if Y < y (yes). If the shelf was emptied it
shows nothing more. Counting askings and stops gives the hazards and so the tail of demand, [KM58]:

=============  ==========================  ====================================================================
symbol         name here                   meaning
=============  ==========================  ====================================================================
R_kj, D_kj     at_risk, stops              askings and stops at j, of which a day is worth 1 - 1/m_k of the next
h_kj           hazards                     Pr(X = j | X >= j) under memory k
G_j            tail                        Pr(X >= j), the mixture of the memories'
w_k            weights                     of the memories, by log-loss of the sales that came, [HW98]
theta_d        tilt                        how much sooner demand stops on weekday d, one factor on all hazards
q              belief                      that the weekdays differ, by log-loss too
u              unseen                      days with nothing on sale since demand was last seen to stop
=============  ==========================  ====================================================================

A memory's hazards borrow from levels nearby, and these from the next longer memory's: few days say little
about one level, but more about all of them. While nothing is on sale anything may happen: each such day moves a
little of the estimate back to the prior, and once an order would pay for that, one unit is ordered to see
(``mix_with_prior``). Every array has the item first, so that one call serves a whole shop.
"""

import math

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats
from driftmdp.kernels.inventory_arrays import Demands, DemandWorkspace

DAY_DECAY = 1.0 - 1.0 / np.array([5.0, 15.0, 45.0, 135.0, 405.0, np.inf])  # what a day leaves
FIXED_SHARE = 0.01  # of the weights is spread evenly each day: the best memory may change
NEIGHBOUR_WEIGHT = 32.0  # askings at which a level counts as much as its surroundings
NEIGHBOUR_DECAY = 0.5  # of a neighbour's counts, for each step away
LONGER_MEMORY_WEIGHT = 4.0  # askings for which the next longer memory's hazard counts
PRIOR_STOPS = 0.5  # stops that the prior has seen, in an item whose demand is half the capacity
MAX_HAZARD = 0.999  # an observation must never be impossible
OPTIMISM = 0.1  # standard deviations that a plan's tail lies above the estimate
PRIOR_ASKINGS = 0.5  # askings that a level has before it is seen: its deviation is large, not infinite
WEEKDAY_DECAY = 1.0 - 1.0 / 365.0  # a year's memory of weekdays
UNSEEN_DAY_DECAY = 1.0 - 1.0 / 405.0  # of the estimate, for each day with nothing on sale
WEEKDAY_PRIOR = 20.0  # stops for which "all weekdays are alike" counts


@kernel
def estimate_hazards(demands: Demands, i: int, workspace: DemandWorkspace) -> None:
    """Fill ``workspace.hazards[memory, level]``, from the longest memory to the shortest."""
    n_memories, n_levels = workspace.hazards.shape
    for k in range(n_memories - 1, -1, -1):
        _sum_nearby(demands.stops, i, k, workspace.stops_nearby)
        _sum_nearby(demands.at_risk, i, k, workspace.risks_nearby)
        for j in range(n_levels):
            # The longest memory leans on the prior, the others on the next longer memory.
            stops, risks = PRIOR_STOPS, PRIOR_STOPS * (0.5 * n_levels + 1.0)
            if k < n_memories - 1:
                stops, risks = LONGER_MEMORY_WEIGHT * workspace.hazards[k + 1, j], LONGER_MEMORY_WEIGHT
            around = (stops + workspace.stops_nearby[j]) / (risks + workspace.risks_nearby[j])
            own, asked = demands.stops[i, k, j], demands.at_risk[i, k, j]
            workspace.hazards[k, j] = min(
                MAX_HAZARD, (own + NEIGHBOUR_WEIGHT * around) / (asked + NEIGHBOUR_WEIGHT)
            )


@kernel
def _sum_nearby(counts: Floats, i: int, k: int, nearby: Floats) -> None:
    """Fill ``nearby[j]`` with the sum over levels l of NEIGHBOUR_DECAY^|l - j| times their counts."""
    # Once up and once down: the cost is that of the levels, not of their pairs.
    total = 0.0
    for j in range(nearby.size):
        total = NEIGHBOUR_DECAY * total + counts[i, k, j]
        nearby[j] = total
    total = 0.0
    for j in range(nearby.size - 1, -1, -1):
        nearby[j] += total
        total = NEIGHBOUR_DECAY * (total + counts[i, k, j])


@kernel
def weekday_tilt(demands: Demands, i: int, weekday: int) -> float:
    """Return theta, the stops of a weekday over those that were expected."""
    return (demands.rhythm[i, 0, weekday] + WEEKDAY_PRIOR) / (demands.rhythm[i, 1, weekday] + WEEKDAY_PRIOR)


@kernel
def believed_tilt(demands: Demands, i: int, weekday: int) -> float:
    """Return the tilt as far as it is believed in."""
    q = demands.belief[i]
    return (1.0 - q) + q * weekday_tilt(demands, i, weekday)


@kernel
def mix_tail(demands: Demands, i: int, workspace: DemandWorkspace, tilt: float) -> None:
    """Fill ``tail[j]`` with Pr(X >= j), j = 0 .. S, and ``spread[j]`` with its relative deviation."""
    n_memories, n_levels = workspace.hazards.shape
    for j in range(n_levels + 1):
        workspace.tail[j] = 0.0
    for k in range(n_memories):
        beyond = demands.weights[i, k]
        workspace.tail[0] += beyond
        for j in range(n_levels):
            beyond *= 1.0 - min(MAX_HAZARD, tilt * workspace.hazards[k, j])
            workspace.tail[j + 1] += beyond
    # Greenwood's deviation, [G26]: the square root of the sum of h / ((1 - h) R) over the levels below.
    variance = 0.0
    workspace.spread[0] = 0.0
    for j in range(n_levels):
        asked = PRIOR_ASKINGS
        for k in range(n_memories):
            asked += demands.weights[i, k] * demands.at_risk[i, k, j]
        stays = workspace.tail[j + 1] / workspace.tail[j]
        variance += (1.0 - stays) / (stays * asked)
        workspace.spread[j + 1] = math.sqrt(variance)


@kernel
def mix_with_prior(demands: Demands, i: int, law: Floats) -> None:
    """Mix a law with the prior's, of hazards 2 / (S + 2), the more the longer nothing was seen."""
    kept = UNSEEN_DAY_DECAY ** demands.unseen[i]
    n_levels = law.size - 1
    stays = 1.0 - 1.0 / (0.5 * n_levels + 1.0)
    prior = 1.0
    for x in range(n_levels):
        law[x] = kept * law[x] + (1.0 - kept) * prior * (1.0 - stays)
        prior *= stays
    law[n_levels] = kept * law[n_levels] + (1.0 - kept) * prior


@kernel
def fill_law(workspace: DemandWorkspace, deviations: float, law: Floats) -> None:
    """Fill ``law[x]`` with Pr(X = x), ``law[S]`` with Pr(X >= S), from a tail raised by some deviations."""
    n_levels = law.size - 1
    before = 1.0
    for j in range(n_levels):
        # The raised tail must still fall.
        after = min(before, workspace.tail[j + 1] * (1.0 + deviations * workspace.spread[j + 1]))
        law[j] = before - after
        before = after
    law[n_levels] = before


@kernel
def predict(demands: Demands, i: int, weekday: int, workspace: DemandWorkspace) -> None:
    """Fill ``workspace.law`` and ``workspace.today``, a day's law and that of this weekday, both optimistic."""
    estimate_hazards(demands, i, workspace)
    mix_tail(demands, i, workspace, 1.0)
    fill_law(workspace, OPTIMISM, workspace.law)
    mix_tail(demands, i, workspace, believed_tilt(demands, i, weekday))
    fill_law(workspace, OPTIMISM, workspace.today)


@kernel
def learn(demands: Demands, i: int, weekday: int, on_sale: int, sales: int, workspace: DemandWorkspace) -> None:
    """Weigh the memories by their predictions of these sales, let the past fade, and count the day."""
    # Nothing on sale says nothing: the day only passes. A shelf that was emptied did not show where demand stops.
    if on_sale == 0:
        demands.unseen[i] += 1
    elif sales < on_sale:
        demands.unseen[i] = 0
    if on_sale > 0:
        estimate_hazards(demands, i, workspace)
        _weigh_memories(demands, i, weekday, on_sale, sales, workspace)
        _count_weekday(demands, i, weekday, on_sale, sales, workspace)
    _, n_memories, n_levels = demands.at_risk.shape
    for k in range(n_memories):
        for j in range(n_levels):
            demands.at_risk[i, k, j] *= DAY_DECAY[k]
            demands.stops[i, k, j] *= DAY_DECAY[k]
        # [KM58]: the day answers for every level below the sales, and for the sales if there was more on sale.
        for j in range(min(sales + 1, on_sale)):
            demands.at_risk[i, k, j] += 1.0
        if sales < on_sale:
            demands.stops[i, k, sales] += 1.0
    demands.days[i] += 1


@kernel
def _weigh_memories(
    demands: Demands, i: int, weekday: int, on_sale: int, sales: int, workspace: DemandWorkspace
) -> None:
    """Weigh each memory, and the belief in weekdays, by the likelihood of the sales, with fixed share [HW98]."""
    n_memories = workspace.hazards.shape[0]
    tilt, q = weekday_tilt(demands, i, weekday), demands.belief[i]
    alike, tilted = 0.0, 0.0
    for k in range(n_memories):
        plain, moved = 1.0, 1.0
        for j in range(sales):
            plain *= 1.0 - workspace.hazards[k, j]
            moved *= 1.0 - min(MAX_HAZARD, tilt * workspace.hazards[k, j])
        # An emptied shelf shows only that demand was at least this large.
        if sales < on_sale:
            plain *= workspace.hazards[k, sales]
            moved *= min(MAX_HAZARD, tilt * workspace.hazards[k, sales])
        weight = demands.weights[i, k]
        alike += weight * plain
        tilted += weight * moved
        workspace.likelihoods[k] = weight * ((1.0 - q) * plain + q * moved)
    total = (1.0 - q) * alike + q * tilted
    if total > 0.0:  # otherwise the likelihoods have underflown, and tell nothing apart
        for k in range(n_memories):
            kept = (1.0 - FIXED_SHARE) * workspace.likelihoods[k]
            demands.weights[i, k] = kept / total + FIXED_SHARE / n_memories
        demands.belief[i] = (1.0 - FIXED_SHARE) * q * tilted / total + 0.5 * FIXED_SHARE


@kernel
def _count_weekday(
    demands: Demands, i: int, weekday: int, on_sale: int, sales: int, workspace: DemandWorkspace
) -> None:
    # Of the stops that the mixture expected, for theta to be compared with.
    expected = 0.0
    for j in range(min(sales + 1, on_sale)):
        for k in range(workspace.hazards.shape[0]):
            expected += demands.weights[i, k] * workspace.hazards[k, j]
    for d in range(7):
        demands.rhythm[i, 0, d] *= WEEKDAY_DECAY
        demands.rhythm[i, 1, d] *= WEEKDAY_DECAY
    demands.rhythm[i, 1, weekday] += expected
    if sales < on_sale:
        demands.rhythm[i, 0, weekday] += 1.0

"""The explanation of an order in numbers: an item's estimated demand, and the plan made from it."""

from dataclasses import dataclass, field

import numpy as np

from driftmdp import kernels
from driftmdp.errors import NotConvergedError
from driftmdp.kernels.arrays import Floats
from driftmdp.kernels.inventory_arrays import Demands, DemandWorkspace, ShelfModel

MEMORY_DAYS = (5.0, 15.0, 45.0, 135.0, 405.0, float("inf"))  # days that each memory spans
BAND_DEVIATIONS = 1.645  # of a band that should hold nine times in ten


@dataclass(frozen=True, eq=False)
class Outlook:
    """An item's estimated demand, and the order that follows from it.

    Quantities are in the units of the shelf, lots perhaps. Demand beyond the capacity S counts as S.

    Attributes
    ----------
    days
        Days on which something was on sale, which were learned from.
    unseen
        Days with nothing on sale since demand was last seen to stop.
    mean, mean_today
        Estimated mean of demand: of a day, and of this weekday.
    tail, low, high
        Estimated Pr(X >= j) for j = 0 .. S on this weekday, and a band around it, 1.645 deviations to each side:
        each memory's own, and the spread between memories. It is wide where sales never reached. For smooth laws
        without drift, a level's band held in 9 of 10 simulations or more. Jumps of a law are smoothed over.
    planned
        The tail that the order is planned for, a little above the estimate: optimism.
    memory_weights
        The weight of each of the ``MEMORY_DAYS``, by how well it predicted sales.
    weekday_belief
        How much it is believed that weekdays differ, from 0 to 1.
    stock, coming, order
        What is there, what arrives tomorrow, and what to order.
    reorder, up_to
        Order up to ``up_to`` when the stock is ``reorder`` or less. None if it is best not to order at all, and
        with a lead time, where the rule also depends on what is coming.
    cost_per_day
        The average cost of a day under this plan. Lost sales count up to the capacity.
    """

    days: int
    unseen: int
    mean: float
    mean_today: float
    tail: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    planned: Floats = field(repr=False)
    memory_weights: Floats = field(repr=False)
    weekday_belief: float
    stock: int
    coming: int
    order: int
    reorder: int | None
    up_to: int | None
    cost_per_day: float

    @property
    def memory(self) -> float:
        """The memory with the largest weight, in days."""
        return MEMORY_DAYS[int(self.memory_weights.argmax())]


def outlook(
    demands: Demands,
    item: int,
    weekday: int,
    shelf: ShelfModel,
    workspace: DemandWorkspace,
    stock: int,
    coming: int,
) -> Outlook:
    """Return an item's estimated demand, and what to order."""
    censored = kernels.censored_demand
    censored.predict(demands, item, weekday, workspace)
    s, up, gain, residual = kernels.order_planning.plan(workspace, shelf)
    require_converged(residual, shelf)
    beyond = 1.0 - np.cumsum(workspace.law[:-1])  # Pr(X > j) as planned for; its sum is the mean of min(X, S)
    planned = np.concatenate([[1.0], 1.0 - np.cumsum(workspace.today[:-1])])
    censored.mix_tail(demands, item, workspace, 1.0)
    mean = float(workspace.tail[1:].sum())
    tail, deviation = _estimate(demands, item, weekday, workspace)
    arrays = shelf, demands, workspace
    order, residual = kernels.inventory_rules.decide(arrays, item, weekday, stock, coming)
    require_converged(residual, shelf)
    ordered = shelf.lead_time == 0 and up > 0
    return Outlook(
        days=round(float(demands.at_risk[item, -1, 0])),  # the longest memory counts days with something on sale
        unseen=int(demands.unseen[item]),
        mean=mean,
        mean_today=float(tail[1:].sum()),
        tail=tail,
        low=np.minimum.accumulate(np.maximum(0.0, tail - BAND_DEVIATIONS * deviation)),
        high=np.minimum.accumulate(np.minimum(1.0, tail + BAND_DEVIATIONS * deviation)),
        planned=planned,
        memory_weights=demands.weights[item].copy(),
        weekday_belief=float(demands.belief[item]),
        stock=stock,
        coming=coming,
        order=int(order),
        reorder=int(s) if ordered else None,
        up_to=int(up) if ordered else None,
        cost_per_day=float(gain + shelf.lost * beyond.sum()),
    )


def _estimate(demands: Demands, item: int, weekday: int, workspace: DemandWorkspace) -> tuple[Floats, Floats]:
    """Return the tail on a weekday, and its deviation: Greenwood's of each memory, and between the memories."""
    tilt = kernels.censored_demand.believed_tilt(demands, item, weekday)
    hazards = np.minimum(kernels.censored_demand.MAX_HAZARD, tilt * workspace.hazards)
    asked = demands.at_risk[item] + kernels.censored_demand.PRIOR_ASKINGS
    first = np.ones((len(hazards), 1))
    tails = np.hstack([first, np.cumprod(1.0 - hazards, axis=1)])
    spread = np.hstack([0.0 * first, np.cumsum(hazards / ((1.0 - hazards) * asked), axis=1)])
    weights = demands.weights[item][:, None]
    tail = (weights * tails).sum(axis=0)
    variance = (weights * (tails**2 * spread + (tails - tail) ** 2)).sum(axis=0)
    return tail, np.sqrt(variance)


def require_converged(residual: float, shelf: ShelfModel) -> None:
    """Refuse a plan whose average cost was not computed to the promised precision."""
    allowed = kernels.order_planning.PLAN_PRECISION * (shelf.fixed + shelf.unit + shelf.lost + shelf.holding)
    if residual > allowed:
        raise NotConvergedError(
            f"A plan's average cost must be known to {allowed:.1g}; after {kernels.order_planning.MAX_SWEEPS} "
            f"sweeps it is known to {residual:.1g}. Use a smaller capacity, or a lead time of 0.",
            best=residual,
        )

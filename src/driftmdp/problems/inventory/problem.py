"""The inventory world: anchors are the censored demands, weights are the day's demand law.

========  ====================================  =======================================================
symbol    name here                             meaning
========  ====================================  =======================================================
S         capacity                              shelf; stock is 0 .. S, so there are S + 1 states
s, a      state, action                         stock before ordering; units ordered, 0 .. S - s
L         lead_time                             days until an order is here; with 2, stock.py's states
X, Y      anchor drawn; sales                   demand; min(X, s + a), all that the seller sees
zeta      zeta                                  least mass of each demand 0 .. S ([CSZ20] Assumption 3)
r^pseudo  rewards                               -f 1[a>0] - c a - h (s + a - Y) + l Y
C         mean_costs                            l E[X_t] - r^pseudo: the true expected cost
========  ====================================  =======================================================

Anchor x is the world in which demand is x for sure (the last one: S or more). It is deterministic and alone
need not communicate. Mixed with Pr(X_t = x) the anchors give p_t exactly, for any drift. The drawn anchor's
reward is the pseudo-reward that the seller observes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import DriftingMdp, Mdp, Problem
from driftmdp.mdp.weights import as_horizon
from driftmdp.problems.inventory.demand import DemandLaw, Poisson, as_demand
from driftmdp.problems.inventory.paths import Seasonal
from driftmdp.problems.inventory.stock import Stock
from driftmdp.problems.registry import register
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_number, readonly

SEASONAL = Poisson(Seasonal(mean=6.0, amplitude=4.0, period=2500.0))


@dataclass(frozen=True)
class Costs:
    """Cost parameters, each at least 0.

    Parameters
    ----------
    fixed
        f, for placing an order at all.
    unit
        c, for each unit ordered.
    lost_sale
        l, for each unit of demand that could not be served.
    holding
        h, for each unit left at the end of the day.
    """

    fixed: float = 4.0
    unit: float = 0.5
    lost_sale: float = 4.0
    holding: float = 0.5

    def __post_init__(self) -> None:
        for name in ("fixed", "unit", "lost_sale", "holding"):
            object.__setattr__(self, name, as_number(getattr(self, name), name, minimum=0.0))

    def true_cost(self, stock: int, order: int, demand: int) -> float:
        """Return C(s, a) for a demand. It cannot be observed when sales are lost.

        Examples
        --------
        >>> from driftmdp.inventory import Costs
        >>> Costs().true_cost(stock=1, order=2, demand=5)  # 4 + 2 * 0.5, and two lost sales
        13.0
        """
        _require_numbers(stock=stock, order=order, demand=demand)
        level = stock + order
        ordering = self.fixed * (order > 0) + self.unit * order
        return ordering + self.lost_sale * max(0, demand - level) + self.holding * max(0, level - demand)

    def pseudo_reward(self, stock: int, order: int, sales: int) -> float:
        """Return R^pseudo(s, a) = -C + l X, which sales Y = min(X, s + a) suffice to know.

        Examples
        --------
        >>> from driftmdp.inventory import Costs
        >>> costs = Costs()
        >>> costs.pseudo_reward(stock=1, order=2, sales=3) == -costs.true_cost(1, 2, 5) + costs.lost_sale * 5
        True
        """
        _require_numbers(stock=stock, order=order, sales=sales)
        left = stock + order - sales
        return -self.fixed * (order > 0) - self.unit * order - self.holding * left + self.lost_sale * sales

    def pseudo_reward_range(self, capacity: int) -> tuple[float, float]:
        """Return bounds on any pseudo-reward: -(f + (c + h) S) and l S."""
        _require_numbers(capacity=capacity)
        return -(self.fixed + (self.unit + self.holding) * capacity), self.lost_sale * capacity


def _require_numbers(**values: float) -> None:
    for name, value in values.items():
        as_number(value, name, minimum=0.0)


@dataclass(frozen=True, eq=False, repr=False)
class InventoryProblem(Problem):
    """An inventory problem in pseudo-rewards, with the data for true costs.

    Attributes
    ----------
    capacity, costs, lead_time, zeta
        As given.
    expected_demand
        E[X_t], shape (T,).
    """

    capacity: int = field(default=0, kw_only=True)
    costs: Costs = field(default_factory=Costs, kw_only=True)
    lead_time: int = field(default=0, kw_only=True)
    zeta: float = field(default=0.0, kw_only=True)
    expected_demand: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), kw_only=True, repr=False)

    @property
    def cost_shift(self) -> NDArray[np.float64]:
        """Return l E[X_t], shape (T,): the true expected cost plus the mean pseudo-reward, [CSZ20] eq:pse1."""
        return self.costs.lost_sale * self.expected_demand

    def mean_costs(self, t: int) -> NDArray[np.float64]:
        """Return the true expected cost of each pair at step t, E[C_t(s, a)], shape (n_pairs,)."""
        rewards = self.drifting.rewards_at(t)
        return np.asarray(self.cost_shift[t - 1] - rewards)


@register("inventory-v1", later={"noise": "anchor"})
def inventory(
    capacity: int = 20,
    horizon: int = 5000,
    demand: DemandLaw | Mapping[str, Any] = SEASONAL,
    fixed_cost: float = 4.0,
    unit_cost: float = 0.5,
    lost_sale: float = 4.0,
    holding: float = 0.5,
    zeta: float = 0.002,
    start: int = 0,
    lead_time: int = 0,
    noise: str = "anchor",
) -> InventoryProblem:
    """How much to order each day when demand drifts and empty shelves hide it.

    Each day: see the stock, order, receive at once, sell min(demand, stock), pay for ordering, holding and lost
    sales. Rewards are the paper's pseudo-rewards, which are observable and differ from the negative cost by
    l E[X_t] in every state and for every action, so that dynamic regret is the same ([CSZ20] Proposition 6);
    ``cost_shift`` and ``mean_costs`` give the true costs.

    It tests learning from censored data in a large action set. Closed form for f = 0 and a fixed law: ordering
    up to the level y that maximises (l - c) E[min(X, y)] - h E[(y - X)+] is optimal, and that is the gain.

    Parameters
    ----------
    capacity
        S, the most units on the shelf.
    horizon
        T.
    demand
        A law, such as ``Poisson(6)`` or ``NegativeBinomial(Trend(2, 9), dispersion=3)``, or the same as a table:
        ``{"law": "poisson", "mean": {"path": "seasonal", "mean": 6, "amplitude": 4, "period": 2500}}`` (the
        default).
    fixed_cost, unit_cost, lost_sale, holding
        f, c, l and h.
    zeta
        Least probability of each demand 0 .. S: the law is mixed with (S + 1) zeta of a uniform one. At most
        1 / (S + 1).
    start
        Units on the shelf at t = 1.
    lead_time
        Days from an order to its arrival: 0 (the paper's model), 1 or 2. With 2 the state also has what arrives
        tomorrow, (S + 1)(S + 2) / 2 states in all.
    noise
        Reward noise. With ``anchor`` a reward is what the day's demand really earned, with ``none`` what it earns
        in the mean.

    Examples
    --------
    >>> from driftmdp.problems import inventory
    >>> problem = inventory(capacity=3, horizon=10)
    >>> problem.space.n_states, problem.space.n_pairs
    (4, 10)
    >>> problem.drifting.at(1).successors(state=1, action=2).round(3)  # 3 on the shelf: 0 .. 3 left
    array([0.933, 0.046, 0.017, 0.004])
    """
    stock = Stock(capacity, lead_time)
    capacity = stock.capacity
    require_memory(56 * stock.space.n_pairs * (capacity + 1), f"capacity = {capacity:,}")
    horizon = as_horizon(horizon, n_weights=capacity + 1)
    zeta = as_number(zeta, "zeta", minimum=0.0)
    if zeta * (capacity + 1) > 1:
        rule = f"zeta must be at most 1 / (capacity + 1) = {1 / (capacity + 1):.6g}, the mass of a uniform demand"
        raise InvalidInputError(f"{rule}; got {zeta:g}.")
    law = as_demand(demand)
    fixed, unit = as_number(fixed_cost, "fixed_cost", minimum=0.0), as_number(unit_cost, "unit_cost", minimum=0.0)
    costs = Costs(fixed, unit, lost_sale, holding)
    uniform = zeta * (capacity + 1)
    weights = (1 - uniform) * law.table(horizon, capacity) + zeta
    return InventoryProblem(
        DriftingMdp(demand_anchors(stock, costs), weights),
        start=stock.index(as_integer(start, "start", 0, capacity)),
        noise=noise,  # type: ignore[arg-type]
        reward_range=costs.pseudo_reward_range(capacity),
        capacity=capacity,
        costs=costs,
        lead_time=stock.lead_time,
        zeta=zeta,
        expected_demand=readonly((1 - uniform) * law.means(horizon) + uniform * capacity / 2),
    )


def demand_anchors(stock: Stock, costs: Costs) -> list[Mdp]:
    """Return the S + 1 worlds in which demand is 0, 1, ..., S for sure."""
    space = stock.space
    state = space.pair_states.astype(np.int64)
    order = np.arange(space.n_pairs) - space.offsets[state]
    on_sale = stock.on_hand[state] + (order if stock.lead_time == 0 else 0)
    ordering = costs.fixed * (order > 0) + costs.unit * order
    rows = np.arange(space.n_pairs + 1)
    anchors = []
    for demand in range(stock.capacity + 1):
        sales = np.minimum(demand, on_sale)
        rewards = -ordering - costs.holding * (on_sale - sales) + costs.lost_sale * sales
        following = stock.after(state, order, sales)
        shape = (space.n_pairs, space.n_states)
        anchors.append(Mdp(space, rewards, sp.csr_array((np.ones(space.n_pairs), following, rows), shape=shape)))
    return anchors

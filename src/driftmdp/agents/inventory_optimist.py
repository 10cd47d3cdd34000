"""InventoryOptimist: how much to order when demand drifts and empty shelves hide it.

SWUCRL2-CW learns every (stock, order) by itself, 231 pairs for a shelf of 20. But demand is shared by all of
them: a day with y units on sale shows min(X, y), a fair sample for every pair with y or less. So only demand is
learned:

each morning
    estimate the tail of demand by Kaplan-Meier under six memories of 5 days to all days, mix them by weight,
    raise it by a tenth of its deviation, which is large for levels never seen and makes them worth a look,
    plan exactly for that law, and order what is best for today's weekday. If that is nothing, the shelf is empty,
    and demand was not seen for long, order one unit to see it.
each evening
    weigh every memory, and the belief that weekdays differ, by how likely it had called the day's sales
    (sold out: at least so many), and spread 1% of the weight evenly, so that it can move (fixed share),
    remember the day.

No window, horizon or budget is set: the weights find the memory. kernels/censored_demand.py has the formulas,
docs/inventory-paper.md what each part is worth.
"""

from typing import Any, ClassVar, Self

import numpy as np

from driftmdp import kernels
from driftmdp.agents.base import ResumableAgent, RunContext
from driftmdp.agents.order_explanation import Outlook, outlook, require_converged
from driftmdp.agents.snapshot_checks import LATEST, require
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.inventory_arrays import N_MEMORIES, Demands, ShelfModel, new_demand_workspace, new_demands
from driftmdp.mdp import Problem
from driftmdp.npz import Arrays
from driftmdp.problems.inventory import Costs, InventoryProblem, Stock
from driftmdp.problems.inventory.stock import as_lead_time
from driftmdp.validation import as_integer, check_type


class InventoryOptimist(ResumableAgent):
    """Order by a censored estimate of drifting demand, with nothing to tune.

    In a simulation the days of the week are counted from the first, a Monday.

    Parameters
    ----------
    costs
        f, c, l and h.
    capacity
        The most units on the shelf.
    lead_time
        Days from an order to its arrival: 0, 1 or 2. With 2, a state is that of ``problems.inventory``.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.inventory(horizon=1000)
    >>> agent = dm.agents.InventoryOptimist(problem.costs, problem.capacity)
    >>> run = dm.simulate(agent, problem, seed=7)
    >>> bool(run.dynamic_regret(problem)[-1] < 500)
    True
    """

    only_for: ClassVar[str] = "inventory"

    def __init__(self, costs: Costs, capacity: int, lead_time: int = 0) -> None:
        self._shelf = as_shelf_model(costs, capacity, lead_time)
        self._stock = Stock(capacity, lead_time)
        super().__init__(self._stock.space, None, None)
        self.costs, self.capacity, self.lead_time = costs, self._stock.capacity, self._stock.lead_time
        self.reward_range = None
        self._places = self._stock.on_hand.copy(), self._stock.coming.copy()
        self.reset()

    @classmethod
    def for_problem(cls, problem: Problem, **parameters: Any) -> Self:
        """Return the agent for an inventory problem."""
        if not isinstance(problem, InventoryProblem):
            rule = f"{cls.__name__} must have an inventory problem, as of driftmdp.problems.inventory()"
            hint = "For other problems use SWUCRL2CW, BORL or another agent."
            raise InvalidInputError(f"{rule}; got {getattr(problem, 'name', problem)!r}. {hint}")
        shelf: dict[str, Any] = {name: getattr(problem, name) for name in ("costs", "capacity", "lead_time")}
        return cls(**shelf | parameters)

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._demands.days[0]) + 1

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. This agent draws nothing."""
        super().reset(rng)
        self._workspace = new_demand_workspace(self.capacity, self.lead_time)
        self._demands = new_demands(1, self.capacity)

    @property
    def _weekday(self) -> int:
        return int(self._demands.days[0]) % 7

    def _decide(self, state: int) -> int:
        stock, coming = int(self._stock.on_hand[state]), int(self._stock.coming[state])
        arrays = self._shelf, self._demands, self._workspace
        order, residual = kernels.inventory_rules.decide(arrays, 0, self._weekday, stock, coming)
        require_converged(residual, self._shelf)
        return int(order)

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        on_sale, sales = self._stock.on_sale(state, action), self._stock.sales(state, action, next_state)
        following = self._stock.after(np.int64(state), np.int64(action), np.int64(sales))  # type: ignore[arg-type]
        if not 0 <= sales <= on_sale or int(following) != next_state:
            rule = f"next_state must be one that sales can lead to from state {state} with an order of {action}"
            raise InvalidInputError(f"{rule}, of which {on_sale} can be sold; got {next_state}.")
        kernels.censored_demand.learn(self._demands, 0, self._weekday, on_sale, sales, self._workspace)

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        arrays = self._shelf, self._demands, self._workspace
        residual = kernels.inventory_rules.play(context.inputs, arrays, context.record, self._places, first, last)
        require_converged(residual, self._shelf)

    def explain(self, state: int) -> Outlook:
        """Return the estimated demand, and the order that follows from it in a state.

        Examples
        --------
        >>> from driftmdp.agents import InventoryOptimist
        >>> from driftmdp.problems.inventory import Costs
        >>> agent = InventoryOptimist(Costs(), capacity=20)
        >>> for _ in range(30):
        ...     order = agent.act(0)
        ...     agent.observe(0.0, next_state=max(0, order - 3))  # three are asked for, every day
        >>> outlook = agent.explain(state=0)
        >>> round(outlook.mean), outlook.order, outlook.memory_weights.sum().round(6)
        (3, 9, np.float64(1.0))
        """
        s = self._state(state, "state")
        stock, coming = int(self._stock.on_hand[s]), int(self._stock.coming[s])
        return outlook(self._demands, 0, self._weekday, self._shelf, self._workspace, stock, coming)

    def summary(self) -> dict[str, Any]:
        """Return the weights of the memories and the belief that weekdays differ."""
        return {
            "memory_weights": self._demands.weights[0].tolist(),
            "weekday_belief": float(self._demands.belief[0]),
        }

    def _state_arrays(self) -> Arrays:
        return dict(zip(Demands._fields, self._demands, strict=True))

    def _restore(self, arrays: Arrays) -> None:
        self._demands = restored_demands(arrays, 1, self.capacity)


def as_shelf_model(costs: Costs, capacity: int, lead_time: int) -> ShelfModel:
    """Return costs, capacity and lead time as kernels take them."""
    check_type(costs, Costs, "costs must be Costs(fixed, unit, lost_sale, holding)")
    capacity = as_integer(capacity, "capacity", minimum=1)
    return ShelfModel(costs.fixed, costs.unit, costs.lost_sale, costs.holding, capacity, as_lead_time(lead_time))


def restored_demands(arrays: Arrays, n: int, capacity: int) -> Demands:
    """Return the demands of n items from arrays. Impossible ones raise ValueError."""
    empty = new_demands(n, capacity)
    found = Demands(*(np.array(arrays[name], getattr(empty, name).dtype, order="C") for name in Demands._fields))
    for name in Demands._fields:
        require(getattr(found, name).shape == getattr(empty, name).shape, f"{name} has the wrong shape")
    sound = (
        all(np.isfinite(array).all() and (array >= 0).all() for array in found)
        and (found.stops <= found.at_risk + 1e-9).all()
        and np.allclose(found.weights.sum(axis=1), 1.0)
        and (found.belief <= 1).all()
        and (found.days < LATEST).all()
        and found.weights.shape[1] == N_MEMORIES
    )
    require(bool(sound), "the counts do not agree")
    return found

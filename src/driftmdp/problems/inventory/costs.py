"""The cost of a day: ordering, lost sales and holding, [CSZ20] Section 7.1."""

from dataclasses import dataclass

from driftmdp.validation import as_number


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

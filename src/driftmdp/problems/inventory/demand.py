"""Laws of demand on 0, 1, 2, ... whose parameter moves along a path.

==================  ===========================================================  =====================
law                 Pr(X = k)                                                    what moves
==================  ===========================================================  =====================
Poisson             m^k e^-m / k!                                                mean m
NegativeBinomial    C(k + r - 1, k) p^r (1 - p)^k, p = r / (r + m)               mean m; dispersion r fixed
Geometric           p (1 - p)^k, p = 1 / (1 + m)                                 mean m
Gamma               F(k + 1/2) - F(k - 1/2): a continuous demand, rounded        mean m; shape fixed
Empirical           given tables, or counts of past demand                       position between tables
==================  ===========================================================  =====================

Every law fills a table by step and demand whose last column is the tail Pr(X >= capacity): with a shelf for
S units, demand beyond S looks like S.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.mdp.weights import as_horizon
from driftmdp.problems.inventory.paths import Constant, PathLike, as_path, build
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_list, as_number, as_table, as_vector, shown

FIRST_TABLE = Constant(0.0)


class DemandLaw(Protocol):
    """A demand distribution for each of T steps."""

    def table(self, horizon: int, capacity: int) -> NDArray[np.float64]:
        """Return Pr(X_t = k) for k < capacity, and Pr(X_t >= capacity) last, shape (T, capacity + 1)."""
        ...

    def means(self, horizon: int) -> NDArray[np.float64]:
        """Return E[X_t], shape (T,)."""
        ...


@dataclass(frozen=True)
class _ByMean:
    """A law with one moving parameter, its mean, and perhaps a positive one that stays fixed."""

    mean: PathLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", as_path(self.mean, "mean"))
        for name in (field.name for field in fields(self) if field.name != "mean"):
            object.__setattr__(self, name, as_number(getattr(self, name), name))
            if getattr(self, name) <= 0:
                raise InvalidInputError(f"{name} must be positive; got {getattr(self, name):g}.")

    def means(self, horizon: int) -> NDArray[np.float64]:
        """Return E[X_t], shape (T,)."""
        means = as_path(self.mean, "mean").values(horizon)
        if means.min() < 0:
            t = int(means.argmin())
            raise InvalidInputError(f"mean demand must not be negative; got {means[t]:g} at t={t + 1}.")
        return means

    def table(self, horizon: int, capacity: int) -> NDArray[np.float64]:
        """Return Pr(X_t = k) for k < capacity, and Pr(X_t >= capacity) last, shape (T, capacity + 1)."""
        levels, place = np.unique(self.means(horizon), return_inverse=True)
        most = _as_capacity(capacity, horizon)
        masses = np.exp(self._log_mass(levels[:, None], np.arange(most)))
        return np.column_stack([masses, self._tail(levels, most)])[place]

    def _log_mass(self, mean: NDArray[np.float64], k: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logarithm of Pr(X = k)."""
        raise NotImplementedError

    def _tail(self, mean: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """Return Pr(X >= k)."""
        raise NotImplementedError


def special() -> Any:
    """Return scipy.special, loaded when needed: it is a quarter of the package's import time."""
    return importlib.import_module("scipy.special")


@dataclass(frozen=True)
class Poisson(_ByMean):
    """Poisson demand.

    Parameters
    ----------
    mean
        E[X_t]: a number, or a path such as :class:`Seasonal`.

    Examples
    --------
    >>> from driftmdp.problems import Poisson
    >>> Poisson(2.0).table(horizon=1, capacity=2).round(4)
    array([[0.1353, 0.2707, 0.594 ]])
    """

    def _log_mass(self, mean: NDArray[np.float64], k: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(special().xlogy(k, mean) - mean - special().gammaln(k + 1))

    def _tail(self, mean: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        return np.asarray(special().gammainc(k, mean))


@dataclass(frozen=True)
class NegativeBinomial(_ByMean):
    """Negative binomial demand: variance mean + mean^2 / dispersion."""

    dispersion: float = 1.0

    def _log_mass(self, mean: NDArray[np.float64], k: NDArray[np.int64]) -> NDArray[np.float64]:
        r = self.dispersion
        ways = -np.log(r + k) - special().betaln(r, k + 1)
        return np.asarray(ways - r * np.log1p(mean / r) + special().xlogy(k, mean / (r + mean)))

    def _tail(self, mean: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        return np.asarray(special().betainc(k, self.dispersion, mean / (self.dispersion + mean)))


@dataclass(frozen=True)
class Geometric(_ByMean):
    """Geometric demand on 0, 1, 2, ...

    Parameters
    ----------
    mean
        E[X_t]: a number, or a path such as :class:`Seasonal`.
    """

    def _log_mass(self, mean: NDArray[np.float64], k: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(special().xlogy(k, mean / (1 + mean)) - np.log1p(mean))

    def _tail(self, mean: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        return np.asarray((mean / (1 + mean)) ** k)


@dataclass(frozen=True)
class Gamma(_ByMean):
    """Continuous demand, rounded to whole units: gamma with variance mean^2 / shape. Shape 1 is exponential.

    It stands in for the continuous demands of [HR09], [ZCS18], [YLS19] and [AJ19] in a model of whole units. Choose
    the unit small against the mean: rounding then changes costs by at most half a unit's.

    Examples
    --------
    >>> from driftmdp.problems import Gamma
    >>> Gamma(2.0).table(horizon=1, capacity=2).round(4)
    array([[0.2212, 0.3064, 0.4724]])
    """

    shape: float = 1.0

    def means(self, horizon: int) -> NDArray[np.float64]:
        """Return E[X_t] of the rounded demand, shape (T,)."""
        levels, place = np.unique(super().means(horizon), return_inverse=True)
        reach = 1 + math.ceil(levels.max() * (1 + 40 / min(self.shape, 1.0))) if levels.size else 1
        sums = np.zeros(levels.size)
        for first in range(1, reach + 1, 4096):  # E[X] is the sum of Pr(X >= k)
            k = np.arange(first, min(first + 4096, reach + 1))
            sums += self._survival(levels[:, None], k).sum(axis=1)
        return sums[place]

    def _survival(self, mean: NDArray[np.float64], k: Any) -> NDArray[np.float64]:
        """Return Pr(X >= k) of the rounded demand."""
        scale = np.where(mean > 0, mean, 1.0) / self.shape
        return np.where(mean > 0, special().gammaincc(self.shape, (k - 0.5) / scale), 0.0)

    def table(self, horizon: int, capacity: int) -> NDArray[np.float64]:
        """Return Pr(X_t = k) for k < capacity, and Pr(X_t >= capacity) last, shape (T, capacity + 1)."""
        levels, place = np.unique(super().means(horizon), return_inverse=True)
        units = np.arange(1, _as_capacity(capacity, horizon) + 1)
        survival = np.column_stack([np.ones(levels.size), self._survival(levels[:, None], units)])
        return np.column_stack([survival[:, :-1] - survival[:, 1:], survival[:, -1]])[place]


@dataclass(frozen=True)
class Empirical:
    """Demand as given by tables, and a path that says where between them.

    Parameters
    ----------
    tables
        One distribution over 0, 1, 2, ..., or several. Counts will do: rows are divided by their sums.
    position
        0 is the first table, 1 the second. In between, their mixture.

    Examples
    --------
    >>> from driftmdp.problems import Empirical
    >>> Empirical([[1, 0], [0, 1]], position=0.25).means(1)
    array([0.25])
    """

    tables: Sequence[Sequence[float]]
    position: PathLike = FIRST_TABLE

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", _checked_tables(self.tables))
        object.__setattr__(self, "position", as_path(self.position, "position"))

    @classmethod
    def from_samples(cls, samples: Sequence[int], position: PathLike = FIRST_TABLE) -> Empirical:
        """Return the law of past demand."""
        values = as_table(samples, "samples")
        if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "iu" or values.min() < 0:
            rule = "samples must be a list of whole numbers that are not negative"
            raise InvalidInputError(f"{rule}; got {samples!r}.")
        return cls([np.bincount(values).tolist()], position)

    def table(self, horizon: int, capacity: int) -> NDArray[np.float64]:
        """Return Pr(X_t = k) for k < capacity, and Pr(X_t >= capacity) last, shape (T, capacity + 1)."""
        capacity = _as_capacity(capacity, horizon)
        width = max(capacity + 1, max(map(len, self.tables)))
        masses = np.array([np.pad(row, (0, width - len(row))) for row in self.tables])
        censored = np.column_stack([masses[:, :capacity], masses[:, capacity:].sum(axis=1)])
        return self._mixed(censored, horizon)

    def means(self, horizon: int) -> NDArray[np.float64]:
        """Return E[X_t], shape (T,)."""
        means = np.array([[np.arange(len(row)) @ np.array(row)] for row in self.tables])
        return self._mixed(means, horizon).ravel()

    def _mixed(self, rows: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
        position = as_path(self.position, "position").values(horizon)
        if position.min() < 0 or position.max() > len(rows) - 1:
            rule = f"position must lie in [0, {len(rows) - 1}] for {len(rows)} tables"
            raise InvalidInputError(f"{rule}; got {position.min():g} to {position.max():g}.")
        here = np.minimum(position.astype(np.int64), max(0, len(rows) - 2))
        part = (position - here)[:, None]
        return np.asarray((1 - part) * rows[here] + part * rows[np.minimum(here + 1, len(rows) - 1)])


def _as_capacity(capacity: Any, horizon: Any) -> int:
    """Validate that a table of this capacity over the horizon fits into memory."""
    most = as_integer(capacity, "capacity", minimum=0)
    require_memory(24 * as_horizon(horizon) * (most + 1), f"A table of capacity {most:,}")
    return most


def _checked_tables(tables: Any) -> tuple[tuple[float, ...], ...]:
    rows = as_list(tables, "tables", "a list of distributions of demand")
    if not rows:
        raise InvalidInputError(f"tables must list at least one distribution of demand; got {shown(tables)}.")
    if not isinstance(rows[0], Sequence | np.ndarray):
        rows = [rows]
    result = []
    for i, row in enumerate(rows):
        masses = as_vector(row, f"tables[{i}]")
        if masses.size == 0 or (masses < 0).any() or masses.sum() <= 0:
            rule = f"tables[{i}] must hold masses that are not negative and not all 0"
            raise InvalidInputError(f"{rule}; got {row!r}.")
        result.append(tuple((masses / masses.sum()).tolist()))
    return tuple(result)


LAWS: dict[str, type[Any]] = {
    "poisson": Poisson,
    "negative-binomial": NegativeBinomial,
    "geometric": Geometric,
    "gamma": Gamma,
    "empirical": Empirical,
}


def as_demand(demand: DemandLaw | Mapping[str, Any]) -> DemandLaw:
    """Return the law that a law or ``{"law": "poisson", "mean": {"path": "seasonal", ...}}`` stands for."""
    if isinstance(demand, Mapping):
        return build(demand, "law", LAWS, "demand")  # type: ignore[no-any-return]
    if isinstance(demand, type) or not (hasattr(demand, "table") and hasattr(demand, "means")):
        raise InvalidInputError(f"demand must be a law such as Poisson(6) or a table with a 'law'; got {demand!r}.")
    return demand

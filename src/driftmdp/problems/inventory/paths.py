"""How a number moves over time: constant, seasonal, trending, jumping, or switching between regimes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.mdp.weights import as_horizon
from driftmdp.validation import as_fraction, as_integer, as_list, as_number, as_vector, one_of


class Path(Protocol):
    """A number for each of T steps."""

    def values(self, horizon: int) -> NDArray[np.float64]:
        """Return the path, shape (T,)."""
        ...


@dataclass(frozen=True)
class Constant:
    """Always the same.

    Parameters
    ----------
    value
        The number of every step.
    """

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_number(self.value, "value"))

    def values(self, horizon: int) -> NDArray[np.float64]:
        """Return the path, shape (T,)."""
        return np.full(as_horizon(horizon, n_weights=1), self.value)


@dataclass(frozen=True)
class Given:
    """One number per step, such as a forecast. It must cover the horizon.

    Parameters
    ----------
    numbers
        Those of t = 1, 2, ... More than T are cut off.
    """

    numbers: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", tuple(as_vector(self.numbers, "numbers").tolist()))

    def values(self, horizon: int) -> NDArray[np.float64]:
        """Return the first T numbers, shape (T,)."""
        if len(self.numbers) < as_horizon(horizon, n_weights=1):
            count = len(self.numbers)
            raise InvalidInputError(f"numbers must cover the horizon of {horizon} steps; got {count} of them.")
        return np.array(self.numbers[:horizon])


@dataclass(frozen=True)
class Seasonal:
    """``mean + amplitude sin(2 pi t / period + phase)``."""

    mean: float
    amplitude: float
    period: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mean", "amplitude", "period", "phase"):
            object.__setattr__(self, name, as_number(getattr(self, name), name))
        if self.period <= 0:
            raise InvalidInputError(f"period must be positive; got {self.period:g}.")

    def values(self, horizon: int) -> NDArray[np.float64]:
        """Return the path, shape (T,)."""
        t = np.arange(1, as_horizon(horizon, n_weights=1) + 1)
        turn = np.mod(t, self.period) / self.period  # a whole period repeats exactly
        return np.asarray(self.mean + self.amplitude * np.sin(2 * math.pi * turn + self.phase))


@dataclass(frozen=True)
class Trend:
    """A straight line from ``start`` at t = 1 to ``end`` at t = T."""

    start: float
    end: float

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, as_number(getattr(self, name), name))

    def values(self, horizon: int) -> NDArray[np.float64]:
        """Return the path, shape (T,)."""
        return np.linspace(self.start, self.end, as_horizon(horizon, n_weights=1))


@dataclass(frozen=True)
class Abrupt:
    """``levels[0]``, then ``levels[i]`` from step ``change_points[i - 1]`` on."""

    levels: Sequence[float]
    change_points: Sequence[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(as_vector(self.levels, "levels").tolist()))
        given = as_list(self.change_points, "change_points", "a list of steps")
        points = tuple(as_integer(point, "change_points", minimum=2) for point in given)
        object.__setattr__(self, "change_points", points)
        if len(self.levels) != len(points) + 1 or any(np.diff(points) <= 0):
            rule = "change_points must increase and be one fewer than levels"
            raise InvalidInputError(f"{rule}; got {len(self.levels)} levels and {list(points)}.")

    def values(self, horizon: int) -> NDArray[np.float64]:
        """Return the path, shape (T,)."""
        t = np.arange(1, as_horizon(horizon, n_weights=1) + 1)
        return np.asarray(np.array(self.levels)[np.searchsorted(self.change_points, t, side="right")])


@dataclass(frozen=True)
class RegimeSwitching:
    """A Markov chain over ``levels``: stay with probability ``stay``, else jump to any other level.

    Parameters
    ----------
    levels, stay
        The regimes, and the probability to stay in one.
    seed
        Which path. The same seed gives the same one.
    """

    levels: Sequence[float]
    stay: float = 0.99
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(as_vector(self.levels, "levels").tolist()))
        if len(self.levels) < 2:
            raise InvalidInputError(f"levels must name at least two regimes; got {list(self.levels)}.")
        object.__setattr__(self, "stay", as_fraction(self.stay, "stay"))
        object.__setattr__(self, "seed", as_integer(self.seed, "seed", minimum=0))

    def values(self, horizon: int) -> NDArray[np.float64]:
        """Return the path, shape (T,). A longer one with the same seed begins the same."""
        leave, where = np.random.default_rng(self.seed).random((as_horizon(horizon, n_weights=1), 2)).T
        count = len(self.levels)
        jumps = np.where(leave < self.stay, 0, 1 + (where * (count - 1)).astype(np.int64))
        jumps[0] = 0
        return np.asarray(np.array(self.levels)[np.cumsum(jumps) % count])


PATHS: dict[str, type[Any]] = {
    "constant": Constant,
    "given": Given,
    "seasonal": Seasonal,
    "trend": Trend,
    "abrupt": Abrupt,
    "regime-switching": RegimeSwitching,
}


PathLike: TypeAlias = "float | Sequence[float] | NDArray[np.float64] | Path | Mapping[str, Any]"


def as_path(value: PathLike, name: str) -> Path:
    """Return the path that a number, a number per step, a path, or ``{"path": "seasonal", ...}`` describes."""
    if isinstance(value, Mapping):
        return build(value, "path", PATHS, name)  # type: ignore[no-any-return]
    if not isinstance(value, type) and callable(getattr(value, "values", None)):
        return cast(Path, value)
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str):
        return Given(as_vector(value, name).tolist())
    return Constant(as_number(value, name))


def build(description: Mapping[str, Any], key: str, kinds: Mapping[str, type[Any]], name: str) -> Any:
    """Return the object that a table with a kind and its parameters describes."""
    parameters = dict(description)
    kind = one_of(parameters.pop(key, None), f"{name}[{key!r}]", kinds)
    try:
        return kinds[kind](**parameters)
    except TypeError as error:
        raise InvalidInputError(f"{name} does not describe a {kind!r}: {error}.") from None

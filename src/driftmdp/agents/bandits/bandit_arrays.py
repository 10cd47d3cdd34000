"""The arrays of bandits that watch their arms, read from a kernel or from a snapshot."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents.snapshot_checks import require
from driftmdp.npz import Arrays


def alarms_of(alarms: NDArray[Any], clock: NDArray[Any]) -> tuple[tuple[int, int], ...]:
    """Return time and arm of every alarm."""
    return tuple((int(alarm["t"]), int(alarm["arm"])) for alarm in alarms[: int(clock["n_alarms"][0])])


def restored_array(
    arrays: Arrays, name: str, new: NDArray[Any], size: int | None = -1, unbounded: tuple[str, ...] = ()
) -> NDArray[Any]:
    """Return an array of a snapshot with the type and shape of a new one. A size of None is any length.

    Its numbers must be finite. Those of the fields ``unbounded`` may be infinite, but not NaN.
    """
    array = arrays[name]
    require(array.dtype.newbyteorder("=") == new.dtype, f"{name} has the wrong type")
    require(array.ndim == new.ndim and (size is None or array.shape == new.shape), f"{name} has the wrong shape")
    for field in array.dtype.names or ("",):
        column = array[field] if field else array
        is_number = ~np.isnan(column) if field in unbounded else np.isfinite(column)
        require(bool(is_number.all()), f"{name} must be finite")
    return np.ascontiguousarray(array.astype(new.dtype))


def with_space(records: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Return the records of a snapshot, with the space of a new agent after them."""
    return np.concatenate([records, np.zeros_like(new)])

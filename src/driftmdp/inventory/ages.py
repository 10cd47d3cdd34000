"""The ages of goods that spoil, by what is left of their life, on shelves from which the oldest are sold.

``ages[n, k]`` units of item n can be sold in k + 1 more periods, this one included. New ones of item n have a life
of ``lives[n]`` periods, and stand in the column ``lives[n] - 1``.
"""

import numpy as np

from driftmdp.kernels.arrays import Floats, Ints, Longs


def sell_oldest(ages: Longs, units: Longs) -> Longs:
    """Return what is left after units, or all that is there, were taken.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.ages import sell_oldest
    >>> sell_oldest(np.array([[2, 0, 5]]), np.array([3])).tolist()
    [[0, 0, 4]]
    """
    left = np.maximum(np.cumsum(ages, axis=1) - units[:, None], 0)
    return np.asarray(np.diff(left, axis=1, prepend=0))


def age(ages: Longs) -> tuple[Longs, Longs]:
    """Return the ages of the next morning, and how many units spoil in the evening."""
    spoiled = ages[:, 0].copy()
    return np.concatenate([ages[:, 1:], np.zeros_like(ages[:, :1])], axis=1), spoiled


def add_new(ages: Longs, lives: Longs, units: Longs) -> Longs:
    """Return the ages with new units.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.ages import add_new
    >>> add_new(np.array([[2, 0, 5]]), np.array([3]), np.array([4])).tolist()
    [[2, 0, 9]]
    """
    return ages + np.where(np.arange(1, ages.shape[1] + 1) == lives[:, None], units[:, None], 0)


def as_counted(ages: Longs, lives: Longs, counts: Longs, spoiled: Longs) -> Longs:
    """Return the ages that fit counts, which are the truth.

    Where less is there, the oldest are missing. Where more is there, what should have spoiled since the last count,
    ``spoiled``, still stands there and can be sold once more. The rest is taken as new.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.ages import as_counted
    >>> ages, lives = np.array([[2, 5]]), np.array([2])
    >>> [as_counted(ages, lives, np.array([n]), np.array([1])).tolist() for n in (4, 9)]
    [[[0, 4]], [[3, 6]]]
    """
    beyond = counts - ages.sum(axis=1)
    extra = np.maximum(beyond, 0)
    old = np.minimum(extra, spoiled)
    found = sell_oldest(ages, np.maximum(-beyond, 0))
    found[:, 0] += old
    return add_new(found, lives, extra - old)


def within_life(ages: Longs, lives: Longs) -> Longs:
    """Return the ages with all that would last longer than the life taken as new.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.ages import within_life
    >>> within_life(np.array([[1, 2, 3]]), np.array([2])).tolist()
    [[1, 5, 0]]
    """
    lasts = np.arange(1, ages.shape[1] + 1) <= lives[:, None]
    return add_new(np.where(lasts, ages, 0), lives, np.where(lasts, 0, ages).sum(axis=1))


def waste_on_paths(paths: Ints, arriving: Longs, expiring: Longs) -> Floats:
    """Return how many units spoil in each period on average, with demand by (path, period).

    Parameters
    ----------
    paths
        Demand.
    arriving, expiring
        Units by their first and by their last period on the shelf.

    Examples
    --------
    >>> import numpy as np
    >>> from driftmdp.inventory.ages import waste_on_paths
    >>> waste_on_paths(np.array([[0, 1], [2, 2]]), np.array([3, 0]), np.array([1, 2])).tolist()
    [0.5, 0.5]
    """
    gone, there, due, found = np.zeros(len(paths), np.int64), 0, 0, np.zeros(expiring.size)
    for period in range(expiring.size):
        there, due = there + int(arriving[period]), due + int(expiring[period])
        gone = np.minimum(gone + paths[:, period], there)
        found[period] = np.maximum(due - gone, 0).mean()
        gone = np.maximum(gone, due)
    return found

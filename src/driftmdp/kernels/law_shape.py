"""How the shape of predicted laws is corrected by what all items together showed.

Where demand fell below the u-quantile of its predicted law more or less often than u says, Pr(X <= x) = u becomes
shape(u). The shape is counted in bins whose edges are given, each period spread over Pr(X < x) .. Pr(X <= x). In a
sold-out period demand may have been anywhere above, as the others were [E67]: items whose shelves reached higher
show where.

An item that hardly sells shows little of a shape: nearly all of its law is "nothing is sold", and what lies above
depends on its level alone. There the shape that all items share would move the mean, which is right as it is. So a
law with a mean below SHAPED_MEAN takes only a part of the shape, in proportion.
"""

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Floats, Longs

SHAPED_MEAN = 1.0  # units in a period, from which on a law takes the whole shape
BIN_UNITS = 1 << 20  # a period counts so much in the bins: whole numbers, whose sum has no order


@kernel
def fill_shape(edges: Floats, shared: Floats, mean: float, shape: Floats) -> None:
    """Fill ``shape[b]`` with what ``edges[b]`` becomes in a law with this mean."""
    part = min(mean / SHAPED_MEAN, 1.0)
    for b in range(edges.size):
        shape[b] = edges[b] + part * (shared[b] - edges[b])


@kernel
def shaped(edges: Floats, shape: Floats, u: float, first: int) -> tuple[float, int]:
    """Return shape(u), and the bin of u. Of a larger u than before, the search begins with the bin before."""
    b = first
    while b < edges.size - 2 and u > edges[b + 1]:
        b += 1
    inside = (u - edges[b]) / (edges[b + 1] - edges[b])
    return shape[b] + inside * (shape[b + 1] - shape[b]), b


@kernel
def unshaped(edges: Floats, shape: Floats, chance: float) -> float:
    """Return the u whose shape(u) is the given chance."""
    b = 0
    while b < shape.size - 2 and chance > shape[b + 1]:
        b += 1
    width = shape[b + 1] - shape[b]
    inside = (chance - shape[b]) / width if width > 0.0 else 0.5
    return edges[b] + inside * (edges[b + 1] - edges[b])


@kernel
def count_range(found: tuple[float, float], sold_out: bool, edges: Floats, shape: Floats, bins: Longs) -> None:
    """Count into ``bins`` where a period's demand lay: ``found`` are Pr(X < x) and Pr(X <= x), as predicted."""
    low, high = found[0], 1.0 if sold_out else found[1]
    mass = 0.0
    for b in range(bins.size):
        mass += _overlap(edges, b, low, high) * (shape[b + 1] - shape[b])
    for b in range(bins.size):
        part = _overlap(edges, b, low, high)
        if part > 0.0:
            share = part * (edges[b + 1] - edges[b]) / (high - low)
            if sold_out:
                share = part * (shape[b + 1] - shape[b]) / max(mass, 1e-9)
            bins[b] += int(BIN_UNITS * share)


@kernel
def _overlap(edges: Floats, b: int, low: float, high: float) -> float:
    """Return the part of a bin that a range covers."""
    covered = min(high, edges[b + 1]) - max(low, edges[b])
    return max(0.0, covered) / (edges[b + 1] - edges[b])

"""What a batch says, as bytes: a header in JSON and columns of whole numbers, compressed.

``new`` are items that appear for the first time, as (name, units in a lot): an item's number is its place among all
of them. ``item`` is the first column; -1 stands for "not known".
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

DECIDED, SOLD = "decided", "sold"  # the kinds of batches: a morning's, and an evening's
COLUMNS: Mapping[str, tuple[str, ...]] = {
    DECIDED: ("item", "stock", "coming", "expected", "advice"),
    SOLD: ("item", "stock", "ordered", "sales"),
}
Column = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Content:
    """Columns by name, and new items."""

    kind: str
    columns: Mapping[str, Column]
    new: Sequence[tuple[str, int]] = field(default_factory=tuple)

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.columns["item"].size)


def pack(kind: str, columns: Mapping[str, Any], new: Sequence[tuple[str, int]] = ()) -> bytes:
    """Return the bytes of a batch.

    Examples
    --------
    >>> content = unpack(SOLD, pack(SOLD, {"item": [0], "stock": [9], "ordered": [0], "sales": [4]}, [("A", 1)]))
    >>> content["sales"].tolist(), content.new
    ([4], (('A', 1),))
    """
    arrays = [np.asarray(columns[name], "<i4") for name in COLUMNS[kind]]
    header = json.dumps({"rows": int(arrays[0].size), "new": [list(item) for item in new]}).encode()
    body = b"".join(array.tobytes() for array in arrays)
    return zlib.compress(len(header).to_bytes(4, "little") + header + body, 1)


def unpack(kind: str, content: bytes) -> Content:
    """Return what the bytes of a batch say."""
    plain = zlib.decompress(content)
    end = 4 + int.from_bytes(plain[:4], "little")
    header = json.loads(plain[4:end])
    names, rows = COLUMNS[kind], header["rows"]
    table = np.frombuffer(plain, "<i4", len(names) * rows, end).reshape(len(names), rows)
    return Content(kind, dict(zip(names, table, strict=True)), tuple((sku, lot) for sku, lot in header["new"]))

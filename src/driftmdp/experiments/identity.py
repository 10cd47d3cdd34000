"""What a run is, whatever its place in a spec: a readable slug, and a digest of all that decides its numbers."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from driftmdp.errors import InvalidInputError


def plain(value: Any) -> Any:
    """Return a value as JSON has it; 5.0 and 5 are one number, an object is what it says of itself."""
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, str | int | float | bool | None):
        return value
    said = repr(value)
    return type(value).__name__ if " at 0x" in said else said  # an address would be another one in every process


def canonical(value: Any) -> str:
    """Return the one text that stands for a value.

    Examples
    --------
    >>> canonical({"b": 5.0, "a": (1, 2)})
    '{"a":[1,2],"b":5}'
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def check_finite(value: Any, where: str) -> None:
    """Refuse NaN and infinity, which have no canonical text."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            check_finite(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            check_finite(item, f"{where}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError(f"{where} must be finite; got {value}.")


def digest(text: str) -> str:
    """Return sixteen hexadecimal digits of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def slug(name: str, parameters: Mapping[str, Any]) -> str:
    """Return a short name for people that a file may have too.

    Examples
    --------
    >>> slug("two-state-v1", {"v_r": "T^0.5", "horizon": 100})
    'two-state-v1,horizon=100,v_r=T^0.5'
    """
    words = [name, *(f"{key}={shown(parameters[key])}" for key in sorted(parameters))]
    return re.sub(r"[^A-Za-z0-9_.,=^+-]+", "_", ",".join(words))[:120]


def shown(value: Any) -> str:
    """Return a value for people: six digits of a number, nothing of quotes."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else canonical(value)

"""Small JSON files beside the results of a task."""

import contextlib
import json
from pathlib import Path
from typing import Any

from driftmdp.experiments.store import writing
from driftmdp.files import write_whole


def read_json(path: Path) -> dict[str, Any]:
    """Return what a file has, or nothing if it is missing or damaged."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def write_json(path: Path, content: Any) -> None:
    """Write a file, whole or not at all, and make its folder."""
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(content, indent=1, ensure_ascii=False).encode())

"""``python -m benchmarks.scale``: measure, simulate, and write the tables and the figure of docs/scale.md.

``--again`` uses the costs of the last measurement. ``--quick`` measures little and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.real_cluster import RealCluster, real_cluster
from benchmarks.scale.jobs import ITEMS, KINDS, Kind, memory_of_a_run, memory_of_an_item, reading_a_line
from benchmarks.scale.measuring import Measured, measured
from benchmarks.scale.outlooks import draw, tables

DOCS = Path(__file__).parents[2] / "docs"
CONSTANTS, TABLES, FIGURE = DOCS / "_static/scale.json", DOCS / "scale-tables.md", DOCS / "_static/scale.svg"
CORES = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, simulate, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--again", action="store_true", help="use the costs of the last measurement")
    parser.add_argument("--quick", action="store_true", help="measure little, and write nothing")
    options = parser.parse_args(arguments)
    if options.again:
        stored = json.loads(CONSTANTS.read_text())
        found = {name: Measured(**values) for name, values in stored["measured"].items()}
        facts = stored["facts"]
    else:
        found, facts = _measure_all(0.05 if options.quick else 1.0), _facts()
    text = tables(found, facts)
    print(text)
    if not options.quick:
        constants = {"measured": {name: asdict(values) for name, values in found.items()}, "facts": facts}
        CONSTANTS.write_text(json.dumps(constants, indent=1) + "\n")
        TABLES.write_text(text)
        draw(found, FIGURE)
    return 0


def _measure_all(share: float) -> dict[str, Measured]:
    with tempfile.TemporaryDirectory() as folder, real_cluster(Path(folder), CORES) as cluster:
        return {kind.name: _measure(cluster, kind, share) for kind in (*KINDS, ITEMS)}


def _measure(cluster: RealCluster, kind: Kind, share: float) -> Measured:
    few, many = max(2, round(share * kind.few)), max(8, round(share * kind.many))
    return measured(cluster, few, many, kind.work)


def _facts() -> dict[str, float]:
    line_seconds, line_bytes = reading_a_line()
    return {
        "run_bytes": memory_of_a_run(),
        "item_bytes": memory_of_an_item(),
        "line_seconds": line_seconds,
        "line_bytes": line_bytes,
    }


if __name__ == "__main__":
    sys.exit(main())

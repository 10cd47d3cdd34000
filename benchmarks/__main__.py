"""Run the benchmarks and print their tables."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import machine, suite
from benchmarks.rendering import as_markdown, as_text
from benchmarks.rows import Row, Speed, Verdict, as_time
from benchmarks.timing import seconds_of

QUICK = "Quick sizes, to show that the benchmarks run. The targets are for the full sizes."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen benchmarks. Return 1 if one crashed or gave a wrong answer."""
    options = _parse(arguments)
    rows: list[Row] = []
    failed = [name for name in options.names or _names() if not _run(name, options.quick, rows)]
    facts = machine.facts() + ([QUICK] if options.quick else [])
    tables = [kept for kind in (Speed, Verdict) if (kept := [row for row in rows if isinstance(row, kind)])]
    print("\n\n".join([*(f"{table[0].title}\n\n{as_text(table)}" for table in tables), "\n".join(facts)]))
    if options.markdown:
        parts = [f"## {table[0].title}\n\n{as_markdown(table)}" for table in tables]
        options.markdown.write_text("\n\n".join([*parts, "\n".join(f"- {fact}" for fact in facts)]) + "\n")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which ones, by default all: {', '.join(_names())}"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, well under a minute")
    parser.add_argument("--markdown", type=Path, metavar="PATH", help="also write the tables as markdown")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in _names()]
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}. Choose from {', '.join(_names())}")
    return options


def _names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(suite.__path__))


def _run(name: str, quick: bool, rows: list[Row]) -> bool:
    """Add the rows of a benchmark. Return whether it ran and was right."""
    print(f"{name} ...", end="", file=sys.stderr, flush=True)
    try:
        benchmark: Callable[[bool], list[Row]] = importlib.import_module(f"benchmarks.suite.{name}").run
        seconds = seconds_of(lambda: rows.extend(benchmark(quick)))
    except Exception:
        print(f" FAILED\n{traceback.format_exc()}", file=sys.stderr)
        return False
    print(f" {as_time(seconds)}", file=sys.stderr)
    return True


if __name__ == "__main__":
    sys.exit(main())

"""How readable the package is, in numbers: ``python -m benchmarks.wording [CHECKOUT]``.

The rows are those of the outside reading that began the second edition: code lines, lengths of functions, comments,
class names used more than once, semicolons in the docs. Code lines are non-blank lines that are neither comment
lines nor docstrings. Prose is what stands in the pages outside of code.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef


def sources(root: Path) -> list[Path]:
    return sorted((root / "src" / "driftmdp").rglob("*.py"))


def pages(root: Path) -> list[Path]:
    made = {"_build", "generated"}
    return [root / "README.md", *(p for p in sorted((root / "docs").rglob("*.md")) if not made & set(p.parts))]


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that docstrings stand on."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | DEFINITION) and ast.get_docstring(node) is not None:
            lines |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return lines


def code_lines(path: Path) -> int:
    """Return the number of lines that are neither blank, comment lines nor docstrings."""
    text = path.read_text(encoding="utf-8")
    docstrings = docstring_lines(ast.parse(text))
    numbered = enumerate(text.splitlines(), start=1)
    return sum(
        1 for i, line in numbered if line.strip() and not line.strip().startswith("#") and i not in docstrings
    )


def comments(path: Path) -> int:
    """Return the number of lines with a comment, whole or at the end of code."""
    with path.open("rb") as file:
        return sum(1 for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT)


def function_lengths(path: Path) -> Iterator[int]:
    """Yield the number of code lines of each function, its signature included."""
    text = path.read_text(encoding="utf-8")
    lines, tree = text.splitlines(), ast.parse(text)
    docstrings = docstring_lines(tree)
    for node in ast.walk(tree):
        if isinstance(node, DEFINITION):
            spanned = range(node.lineno, (node.end_lineno or 0) + 1)
            code = [i for i in spanned if i not in docstrings and lines[i - 1].strip()]
            yield sum(1 for i in code if not lines[i - 1].strip().startswith("#"))


def class_names(paths: list[Path]) -> Counter[str]:
    """Return how many top-level classes there are of each name."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in paths)
    return Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))


def prose(page: Path) -> str:
    """Return the words of a page, without its code."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))


def rate(count: int, of: int) -> float:
    return 1000 * count / max(of, 1)


def measure(root: Path) -> list[tuple[str, str]]:
    """Return the rows of the table."""
    files = sources(root)
    kernels = [path for path in files if "kernels" in path.parts]
    lengths = sorted(length for path in files for length in function_lengths(path))
    names = class_names(files)
    texts = [prose(page) for page in pages(root)]
    words, semicolons = sum(len(text.split()) for text in texts), sum(text.count(";") for text in texts)
    n_code, n_kernels = (sum(map(code_lines, some)) for some in (files, kernels))
    middle, tenth = statistics.median(lengths), lengths[int(0.9 * len(lengths))]
    return [
        ("code lines without docstrings and comments (files)", f"{n_code:,} ({len(files)})"),
        ("function length, median / p90 / max", f"{middle:g} / {tenth} / {lengths[-1]}"),
        ("comments per 1,000 code lines", f"{rate(sum(map(comments, files)), n_code):.0f}"),
        ("comments per 1,000 code lines in kernels", f"{rate(sum(map(comments, kernels)), n_kernels):.0f}"),
        ("class names used more than once", f"{sum(n > 1 for n in names.values())} of {len(names)}"),
        ("semicolons per 1,000 words of docs", f"{rate(semicolons, words):.1f}"),
    ]


def main(argv: list[str]) -> None:
    rows = measure(Path(argv[0]) if argv else Path(__file__).parents[1])
    width = max(len(label) for label, _ in rows)
    output = io.StringIO()
    for label, value in rows:
        print(f"{label:{width}}  {value}", file=output)
    sys.stdout.write(output.getvalue())


if __name__ == "__main__":
    main(sys.argv[1:])

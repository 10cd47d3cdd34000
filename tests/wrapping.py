"""One line wrap for all documents: ``python -m tests.wrapping``, part of ``make fmt``, wraps prose at 100 columns.

Code, tables, headings, directives and math blocks stay as they are. Code spans, links and formulas are not broken.
"""

import re
from pathlib import Path

WIDTH = 100
SPAN = re.compile(r"(?:`+[^`\n]+`+|!?\[[^\]\n]*\]\([^)\s]*\)|\$[^$\n]+\$|\S)+")
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])\s+")
ALONE = re.compile(r"^\s*(#|\||<|:::|\([\w-]+\)=|\[[^\]]+\]:|---$|\$\$|%)")  # lines that are no prose
MARKS = re.compile(r"^([-+*=>|#]|\d+[.)]$|:::|=+$|-+$)")  # words that would begin something else at a line's start


def wrapped(text: str) -> str:
    """Return a page with its prose wrapped."""
    done: list[str] = []
    paragraph: list[str] = []
    fence = ""

    def flush() -> None:
        if paragraph:
            done.extend(_fill(paragraph))
            paragraph.clear()

    for line in text.split("\n"):
        opened = re.match(r"^\s*(`{3,}|~{3,}|\$\$)", line)
        if fence or opened:
            flush()
            done.append(line)
            if fence:
                fence = "" if line.strip().startswith(fence) else fence
            elif opened and not (opened[1] == "$$" and line.strip().endswith("$$") and len(line.strip()) > 2):
                fence = opened[1]
        elif not line.strip() or ALONE.match(line):
            flush()
            done.append(line)
        else:
            if ITEM.match(line):
                flush()
            paragraph.append(line)
            if line.endswith(("  ", "\\")):  # a line break on purpose
                flush()
    flush()
    return "\n".join(done)


def _fill(lines: list[str]) -> list[str]:
    """Return a paragraph or a list item as lines of at most ``WIDTH`` columns."""
    item = ITEM.match(lines[0])
    first = item[0] if item else re.match(r"^\s*(?:> ?)*", lines[0])[0]
    rest = " " * len(first) if item else first
    texts = [lines[0][len(first) :], *(line.strip().lstrip("> ") for line in lines[1:])]
    head, *words = SPAN.findall(" ".join(texts))
    filled, now = [], first + head
    for word in words:
        if len(now) + 1 + len(word) <= WIDTH or MARKS.match(word):
            now += f" {word}"
        else:
            filled.append(now)
            now = rest + word
    return [*filled, now + ("  " if lines[-1].endswith("  ") else "")]


def main() -> None:
    """Wrap every document in place."""
    from tests.documents import PAGES, ROOT

    for page in [*PAGES, ROOT / "CHANGELOG.md"]:
        text = page.read_text(encoding="utf-8")
        if wrapped(text) != text:
            Path(page).write_text(wrapped(text), encoding="utf-8")


if __name__ == "__main__":
    main()

"""What the documents promise: their links lead somewhere, every page is found, the examples run."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from benchmarks.ratio_figure import FIGURE, TABLE, stored

from tests.documents import FENCE, PAGES, ROOT, blocks, name
from tests.wrapping import wrapped

DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
INCLUDED = {DOCS / f"{name}.md" for name in ("benchmarks-table", "scale-tables", "suite-table")}  # by another page
SHORTER = {r"^(SEEDS = (?:range\()?)\d+": r"\g<1>3", r"^(HORIZON\b.* = )[\d_]+": r"\g<1>2_000"}
SHORTER |= {r"range\(200\)": "range(3)"}


def prose(page: Path) -> str:
    """Return a page without its blocks and code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))


def anchors(page: Path) -> set[str]:
    """Return what a link may name in a page: its headings, in GitHub's form, and its explicit marks."""
    text = FENCE.sub("", page.read_text())
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_local_links_and_images_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", prose(page)):
        if "://" not in target:
            there = (page.parent / target).resolve() if target else page
            assert there.exists(), f"{name(page)} links to {target}"
            assert not anchor or anchor in anchors(there), f"{name(page)} links to {target}#{anchor}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=name)
def test_pages_are_wrapped_alike(page):
    assert wrapped(page.read_text()) == page.read_text(), "run make fmt"


def test_every_page_of_the_site_is_in_a_table_of_contents():
    listed = {DOCS / "index.md", *INCLUDED}
    for page in PAGES:
        for block in blocks(page):
            if block.language == "{toctree}":
                entries = [line for line in block.text.splitlines() if line and not line.startswith(":")]
                listed |= {found for entry in entries for found in page.parent.glob(f"{entry}.md")}
    assert {page for page in PAGES if DOCS in page.parents} <= listed


@pytest.mark.parametrize("script", EXAMPLES, ids=name)
def test_examples_run(script, monkeypatch, capsys):
    """With few seeds and short horizons, and in this process, which saves the start of another."""
    text = script.read_text()
    for pattern, shorter in SHORTER.items():
        text = re.sub(pattern, shorter, text, flags=re.MULTILINE)
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)  # where pickle looks for its classes
    try:
        exec(compile(text, script, "exec"), vars(main))
    except SystemExit as end:  # a package is missing, which it says
        if end.code:
            raise
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=name)
def test_examples_run_as_they_are(script):
    run = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()


def test_every_example_says_what_it_shows_and_is_listed():
    listed = set(re.findall(r"^\| `([\w]+\.py)` \|", (DOCS / "examples.md").read_text(), re.MULTILINE))
    assert listed == {script.name for script in EXAMPLES}
    assert all(ast.get_docstring(ast.parse(script.read_text())) for script in EXAMPLES)


def test_every_reference_that_is_cited_is_listed():
    listed = set(re.findall(r"^\*\*\[([A-Z]+\d\d)\]\*\*", (DOCS / "references.md").read_text(), re.MULTILINE))
    cited = set()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *PAGES]:
        cited |= set(re.findall(r"\[([A-Z]{1,5}\d\d)[\],]", path.read_text()))
    assert cited <= listed
    assert listed <= cited | {"CSZ20"}


def test_every_make_target_that_the_readme_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^\$ make ([a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE)) <= targets


def test_the_figure_of_ratios_shows_the_stored_table():
    ratios = stored(TABLE.read_text())
    drawn = FIGURE.read_text()
    assert len(ratios) > 15
    assert all(f">{row.ratio:g}x<" in drawn for row in ratios), "Run: python -m benchmarks.ratio_figure"


def test_every_test_file_that_a_page_names_exists():
    for page in PAGES:
        for path in re.findall(r"`(tests/[\w/]+\.py)`", page.read_text()):
            assert (ROOT / path).exists(), f"{name(page)} names {path}"

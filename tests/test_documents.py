"""What the documents promise: their code runs, their links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what they write is not left behind
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL))
    exec(compile(code, name(page), "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_local_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{name(page)} links to {target}"


@pytest.mark.parametrize("script", EXAMPLES, ids=name)
def test_examples_run(script):
    run = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


def test_every_reference_that_is_cited_is_listed():
    listed = set(re.findall(r"^\*\*\[([A-Z]+\d\d)\]\*\*", (ROOT / "docs/references.md").read_text(), re.MULTILINE))
    cited = set()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *PAGES]:
        cited |= set(re.findall(r"\[([A-Z]{1,5}\d\d)[\],]", path.read_text()))
    assert cited <= listed
    assert listed <= cited | {"CSZ20"}


def test_every_make_target_that_the_readme_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE)) <= targets

"""Every fenced block of every page is run, or stands in a short list with its reason."""

import sys

import pytest

from tests.documents import LANGUAGES, PAGES, Block, Reader, blocks, commands, name

SETS_UP = "makes a virtual environment, from the network"
STARTS = "runs until it is stopped, on other machines; tests/experiments/test_cluster.py does it on this one"
LEFT_OUT = {
    "make reproduce": SETS_UP,
    "make test": "would run these tests again",
    "make setup": SETS_UP,
    "make check": "would run these tests again",
    "pip install '.[experiments]'": "needs the network",
    "pip install '.[cluster]'": "needs the network",
    "dask scheduler --port 8786": STARTS,
    "dask worker tcp://HOST:8786 --nworkers 8 --nthreads 1": STARTS,
    "driftmdp run spec.toml --engine dask --scheduler tcp://HOST:8786 --out out/cluster": STARTS,
    "driftmdp suite --quick": "takes minutes",
    "driftmdp suite": "takes an hour",
    "driftmdp suite --only 'garnet-20-*'": "takes minutes",
}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_run_as_they_are_written(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what they write is not left behind
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])  # as for a script of that folder
    before = set(sys.modules)
    reader = Reader(tmp_path, frozenset(LEFT_OUT))
    for block in blocks(page):
        reader.read(block)
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[module]  # another page may have a file of this name


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page):
    for block in blocks(page):
        assert block.language.startswith("{") or block.language in LANGUAGES, f"{block.where}: {block.language!r}"


def test_every_command_that_is_left_out_stands_on_some_page():
    shown = {
        command.line
        for page in PAGES
        for block in blocks(page)
        if block.language == "console"
        for command in commands(block)
    }
    assert set(LEFT_OUT) <= shown


WRONG = {
    "another output": [Block("python", "print(1)\n", "here"), Block("output", "2\n", "here")],
    "an error in Python": [Block("python", "1 / 0\n", "here")],
    "another output of a command": [Block("console", "$ echo one\ntwo\n", "here")],
    "a command that fails": [Block("console", "$ false\n", "here")],
    "a driftmdp command that fails": [Block("console", "$ driftmdp run nothing.toml\n", "here")],
    "a command that should fail": [Block("console", "$ echo error: no\nerror: no\n", "here")],
    "no command": [Block("console", "one\n", "here")],
    "no TOML": [Block("toml", "a = \n", "here")],
}


@pytest.mark.parametrize("page", WRONG.values(), ids=WRONG)
def test_a_page_that_is_wrong_is_noticed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    for block in page[:-1]:
        reader.read(block)
    with pytest.raises((AssertionError, ZeroDivisionError, ValueError)):
        reader.read(page[-1])


def test_files_commands_and_python_share_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    reader.read(Block("python", "# seven.py\nprint(7)\n", "here"))
    reader.read(Block("console", "$ python seven.py > seven.txt\n$ cat <<'END'\na\nb\nEND\na\n...\n", "here"))
    reader.read(
        Block("python", "from pathlib import Path\nprint(Path('seven.txt').read_text(), 'and more')\n", "here")
    )
    reader.read(Block("output", "7\n...more\n", "here"))

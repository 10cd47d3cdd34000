"""Pages as programs: every fenced block of a page is run, in order, in one folder, as a reader would.

==========  ==================================================================================================
fence       what is done with it
==========  ==================================================================================================
python      executed. All blocks of a page share their names
output      compared with what the python block before it printed
console     each line after ``$`` is run, and what follows is compared with what it printed, on both streams.
            A here-document continues to its last word. A command whose output has ``error: ...`` must fail
toml        parsed
text        no code
``{...}``   a directive of the site
==========  ==================================================================================================

A python or toml block whose first line is a comment with a file's name is saved under that name instead. Outputs
may be abridged with ``...``, as in a doctest.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driftmdp.cli import run_cli

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
LANGUAGES = {"python", "output", "console", "toml", "text"}

FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# ([\w-]+\.(?:py|toml))\n")
HERE_DOCUMENT = re.compile(r"<<'?(\w+)'?$")
NEEDS_A_SHELL = re.compile(r"[|<>;&$`\n]")
# Printed on a new or a slow machine only.
PASSING = re.compile(r"^(driftmdp: compiling|\d+ of \d+ runs, ).*\n", re.MULTILINE)
LIKE_A_DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and where it begins."""

    language: str
    text: str
    where: str


@dataclass(frozen=True)
class Command:
    """A line of a console block, and what it should print."""

    line: str
    expected: str


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text()
    return [
        Block(found["language"], found["text"], f"{name(page)}:{text.count(chr(10), 0, found.start()) + 1}")
        for found in FENCE.finditer(text)
    ]


def commands(block: Block) -> list[Command]:
    """Return the commands of a console block, each with the output that follows it."""
    lines = iter(block.text.splitlines())
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            found.append((_whole(line[2:], lines), []))
        else:
            assert found, f"{block.where} must begin with `$ ` and a command; got {line!r}"
            found[-1][1].append(line)
    return [Command(line, "\n".join(output)) for line, output in found]


def _whole(line: str, following: Iterator[str]) -> str:
    """Return a command with the lines that belong to it."""
    while line.endswith("\\"):
        line += "\n" + next(following)
    if last := HERE_DOCUMENT.search(line):
        for part in following:
            line += "\n" + part
            if part == last[1]:
                break
    return line


@dataclass
class Reader:
    """Someone who follows a page to the letter.

    Attributes
    ----------
    folder
        Where commands are run; the current one.
    left_out
        Commands that cannot be run in a test.
    printed
        What the last python block printed.
    """

    folder: Path
    left_out: frozenset[str] = frozenset()
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__page__"})
    printed: str = ""

    def read(self, block: Block) -> None:
        """Do what the block says, and compare."""
        if saved := FILE_NAME.match(block.text):
            (self.folder / saved[1]).write_text(block.text)
        elif block.language == "python":
            self.printed = self._execute(block)
        elif block.language == "output":
            _compare(block.text, self.printed, block.where)
        elif block.language == "console":
            for command in commands(block):
                self._follow(command, block.where)
        elif block.language == "toml":
            tomllib.loads(block.text)

    def _execute(self, block: Block) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(block.text, block.where, "exec"), self.names)
        return printed.getvalue()

    def _follow(self, command: Command, where: str) -> None:
        if command.line in self.left_out:
            return
        line = command.line.replace("\\\n", " ")
        in_process = line.startswith("driftmdp ") and not NEEDS_A_SHELL.search(line)
        code, printed = (_call if in_process else self._shell)(line)
        fails = bool(re.search(r"^error: ", command.expected, re.MULTILINE))
        assert (code != 0) == fails, f"{where}: `{command.line}` ended with {code}:\n{printed}"
        if command.expected.strip():
            _compare(command.expected, PASSING.sub("", printed), f"{where}: {command.line}")

    def _shell(self, line: str) -> tuple[int, str]:
        path = f"{_commands_of_this_checkout(self.folder)}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", line], env=os.environ | {"PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return done.returncode, done.stdout.decode()


def _call(line: str) -> tuple[int, str]:
    """Run a ``driftmdp`` command in this process, which saves its start of 1.7 s."""
    printed, before = io.StringIO(), sys.argv
    sys.argv = shlex.split(line, comments=True)
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            run_cli()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.argv = before
    return code, printed.getvalue()


def _commands_of_this_checkout(folder: Path) -> Path:
    """Return a folder with ``python`` and ``driftmdp`` as these tests have them."""
    place = folder / ".bin"
    place.mkdir(exist_ok=True)
    for command, words in {"python": "", "driftmdp": "-m driftmdp"}.items():
        (place / command).write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}/src" exec "{sys.executable}" {words} "$@"\n')
        (place / command).chmod(0o755)
    return place


def _compare(expected: str, got: str, where: str) -> None:
    checker, example = doctest.OutputChecker(), doctest.Example("", expected)
    expected, got = expected.strip() + "\n", got.strip() + "\n"
    if not checker.check_output(expected, got, LIKE_A_DOCTEST):
        raise AssertionError(f"{where}\n{checker.output_difference(example, got, LIKE_A_DOCTEST)}")

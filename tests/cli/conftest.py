import sys

import pytest

from driftmdp.cli import run_cli


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Run the command in an empty folder; return exit code, output and remarks."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["driftmdp", *map(str, words)])
        code = 0
        try:
            run_cli()
        except SystemExit as end:
            code = end.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run

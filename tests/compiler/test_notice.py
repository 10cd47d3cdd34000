"""Whoever waits more than a second for the compiler is told why, once, on stderr, and can turn that off."""

import os
import subprocess
import sys
import time

import pytest

from driftmdp.compiler import notice

PROBE = """
import time
from driftmdp.compiler import kernel, machine
assemble = machine.assemble
machine.assemble = lambda text: time.sleep(SECONDS) or assemble(text)

@kernel
def first(x):
    return x + 1

@kernel
def second(x):
    return x + 2

print(first(1), flush=True)
print(second(1), first(2.0), flush=True)
"""
LINE = "driftmdp: compiling for this machine, a few seconds, once. DRIFTMDP_QUIET=1 turns this line off.\n"


def run(tmp_path, seconds, **settings):
    """Return what a process writes to stderr that compiles three times, so many seconds more than it needs."""
    file = tmp_path / "probe.py"
    file.write_text(PROBE.replace("SECONDS", str(seconds)))
    environment = {name: value for name, value in os.environ.items() if name != "DRIFTMDP_QUIET"}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), **settings}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "2\n3 3.0\n"
    return done.stderr


def test_who_waits_is_told_once(tmp_path):
    assert run(tmp_path, 0.6) == LINE  # two waits that are a long one together
    assert run(tmp_path, 0.6) == ""  # nothing is left to compile


def test_the_notice_can_be_turned_off(tmp_path):
    assert run(tmp_path, 0.6, DRIFTMDP_QUIET="1") == ""


@pytest.fixture
def wait(monkeypatch, capsys):
    """Return what is said during some waits, of a program whose patience is short."""
    monkeypatch.setattr(notice, "PATIENCE", 0.1)
    monkeypatch.setattr(notice, "_waited", 0.0)
    monkeypatch.setattr(notice, "_told", False)
    monkeypatch.setenv("DRIFTMDP_QUIET", "0")

    def wait_for(*seconds):
        for each in seconds:
            with notice.telling_who_waits():
                time.sleep(each)
        time.sleep(0.02)
        out, err = capsys.readouterr()
        assert out == ""
        return err

    return wait_for


def test_a_long_wait_is_told_while_it_lasts(wait):
    assert wait(0.2, 0.2) == LINE


def test_short_waits_add_up(wait):
    assert wait(0.01, 0.01) == ""
    assert wait(0.06, 0.06) == LINE


def test_a_failure_is_a_wait_too(wait):
    with pytest.raises(ZeroDivisionError), notice.telling_who_waits():
        _ = 1 / 0
    assert wait(0.0) == ""


def test_nobody_is_told_where_nobody_listens(wait, monkeypatch):
    """A program without stderr, as on Windows without a console."""
    monkeypatch.setattr("sys.stderr", None)
    assert wait(0.2) == ""

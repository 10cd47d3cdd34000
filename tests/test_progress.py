import io
import sys
import types

import numpy as np
import pytest

from driftmdp import inventory, progress
from driftmdp.errors import InvalidInputError
from driftmdp.problems import Costs
from driftmdp.progress import Lines, NotebookBar, Silent, TerminalBar, as_progress, make_progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


class Terminal:
    def isatty(self):
        return True


class ZMQInteractiveShell:
    """Stands for the shell of a notebook's kernel."""


class Handle:
    def __init__(self):
        self.shown = []

    def update(self, bundle, raw):
        assert raw
        self.shown.append(bundle)


@pytest.fixture
def kernel(monkeypatch):
    """A kernel with a display, without IPython."""
    handle = Handle()

    def display(bundle, raw, display_id):
        assert display_id
        handle.update(bundle, raw)
        return handle

    package = types.SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    return handle


def test_lines_now_and_then(clock, capsys):
    lines = Lines("steps")
    lines.begin(1000, 100, ["a note"])
    lines.advance(by=100)
    clock[0] += 4.9
    lines.advance(by=100)
    clock[0] += 0.1
    lines.advance(failed=True)
    lines.end()
    assert capsys.readouterr().err.splitlines() == [
        "a note",
        "100 of 1000 steps are there already.",
        "301 of 1000 steps, 20 per second, 35 s left, 1 failed",
    ]


def test_the_rate_leaves_out_what_came_before_the_clock(clock, capsys):
    lines = Lines("steps")
    lines.begin(10_000, 0, [])
    for _ in range(2):
        clock[0] += 10
        lines.advance(by=1000)
    assert capsys.readouterr().err == "2000 of 10000 steps, 100 per second, 80 s left\n"


@pytest.mark.parametrize("kind", [type(None), io.StringIO, object])
def test_an_unusable_standard_error_stops_nothing(clock, monkeypatch, capsys, kind):
    stream = kind()
    if isinstance(stream, io.StringIO):
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    lines = make_progress()
    lines.begin(10, 5, ["a note"])
    for _ in range(2):
        clock[0] += 10
        lines.advance()
    lines.end()
    assert isinstance(lines, Lines)
    assert capsys.readouterr().out == ""


def test_quick_items_are_reported_now_and_then(clock):
    def items():
        for n in range(25):
            clock[0] += 0.01
            yield n

    recorded = Recorded()
    assert list(progress.watched(items(), 25, recorded, every=0.095)) == list(range(25))
    assert recorded.words == [25, 10, 10, 5, "end"]


def test_what_is_made_where(monkeypatch, kernel):
    assert isinstance(make_progress(), NotebookBar)
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    assert isinstance(make_progress(), Lines)
    monkeypatch.setattr(progress.sys, "stderr", Terminal())
    assert isinstance(make_progress(), TerminalBar)
    monkeypatch.setitem(sys.modules, "rich.progress", None)  # as without rich
    assert isinstance(make_progress(), Lines)


def test_the_notebook_bar_is_redrawn_at_most_ten_times_a_second(clock, kernel):
    bar = NotebookBar("items")
    bar.begin(1000, 0, ["<b>a note</b>"])
    for _ in range(1000):
        clock[0] += 0.001
        bar.advance()
    bar.end()
    assert 10 <= len(kernel.shown) <= 12
    assert kernel.shown[-1]["text/plain"] == "<b>a note</b>\n1000 of 1000 items in 1.0 s"
    html = kernel.shown[-1]["text/html"]
    assert "&lt;b&gt;a note" in html
    assert '<progress value="1000" max="1000" aria-label="1000 of 1000 items in 1.0 s">' in html


def test_a_bar_that_was_stopped_says_so(clock, kernel):
    bar = NotebookBar()
    bar.begin(10, 2, [])
    bar.advance(failed=True)
    bar.end()
    assert kernel.shown[-1]["text/plain"].endswith("3 of 10 runs in 0.0 s, stopped, 1 failed")


def test_the_terminal_bar_counts(capsys):
    bar = TerminalBar("steps")
    bar.begin(10, 0, [])
    bar.advance(by=9)
    bar.advance(failed=True)
    bar.end()
    assert "10/10" in capsys.readouterr().err


def test_in_notebook_needs_a_kernel(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert not progress.in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not progress.in_notebook()
    assert "IPython" not in sys.modules
    with pytest.raises(InvalidInputError, match=r"must be made in a notebook; .* Use make_progress\(\)"):
        NotebookBar()


def test_what_may_be_given():
    own = Silent()
    assert as_progress(own) is own
    assert isinstance(as_progress(False), Silent)
    assert isinstance(as_progress(True, "steps"), Lines)
    with pytest.raises(InvalidInputError, match=r"got the class Silent\. Write Silent\(\)\."):
        as_progress(Silent)
    with pytest.raises(InvalidInputError, match="must be True, False, or have begin, advance and end; got 3"):
        as_progress(3)
    assert set(progress.__all__) >= {"Progress", "make_progress"}


class Recorded(Silent):
    def __init__(self):
        self.words = []

    def begin(self, total, kept, notes):
        self.words.append(total)

    def advance(self, failed=False, by=1):
        self.words.append(by)

    def end(self):
        self.words.append("end")


def test_what_is_watched_ends_also_when_it_fails():
    recorded = Recorded()
    with pytest.raises(ZeroDivisionError):
        list(progress.watched((1 // (2 - n) for n in range(5)), 5, recorded))
    assert recorded.words == [5, 1, 1, "end"]


def test_a_backtest_reports_its_items():
    dates, recorded = np.datetime64("2026-01-01") + np.arange(70), Recorded()
    sales = inventory.Sales(tuple(inventory.Series(sku, dates, np.full(70, 3)) for sku in "AB"))
    inventory.backtest(sales, Costs(), 20, rules=["first-60"], progress=recorded)
    assert recorded.words == [2, 1, 1, "end"]
    with pytest.raises(InvalidInputError, match="progress must be True, False"):
        inventory.backtest(sales, Costs(), 20, progress="bar")

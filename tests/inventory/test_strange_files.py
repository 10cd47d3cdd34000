"""Commands that are given pipes, links in circles, and texts that a terminal would obey."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driftmdp.cli import run_cli
from driftmdp.inventory import Count
from tests.inventory.shops import create, day

COSTS = "--capacity=9", "--fixed-cost=4", "--unit-cost=1", "--lost-sale=4", "--holding=1"
ROOT = Path(__file__).parents[2]
HOSTILE = "\x1b]0;owned\x07\x1b[2J"


def is_harmless(text):
    """Whether a terminal only shows it."""
    return all(line.isprintable() for line in text.split("\n"))


@pytest.fixture
def begun(call, tmp_path):
    create(tmp_path / "shop.db").close()
    return lambda *words: call("inventory", *words)


@pytest.mark.parametrize(
    "words",
    [
        ["decide", "shop.db", "loop"],
        ["decide", "shop.db", "stock.csv", "-o", "loop/orders.csv"],
        ["record", "shop.db", "loop"],
        ["explain", "loop", "A"],
        ["export", "shop.db", "-o", "loop/log.csv"],
        ["export", "loop"],
        ["backup", "shop.db", "loop"],
        ["backup", "shop.db", "loop/copy.db"],
        ["backup", "loop", "copy.db"],
        ["init", "loop", *COSTS],
        ["backtest", "loop", *COSTS],
    ],
)
def test_a_link_that_leads_to_itself_is_a_sentence(begun, tmp_path, words):
    # A defect once: "Something went wrong that should not have: RuntimeError: Symlink loop".
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "stock.csv").write_text("sku,stock\nA,1\n")
    code, out, err = begun(*words)
    assert code in (1, 2)
    assert out == ""
    assert err.startswith("error: ")
    assert "loop" in err
    assert "Something went wrong" not in err


def test_a_link_is_a_file_that_is_there(call, tmp_path):
    # A defect once: a link that leads nowhere is replaced, though no file that is there is ever overwritten.
    for name in ("loop.toml", "nowhere.toml"):
        (tmp_path / name).symlink_to("loop.toml")
        code, _, err = call("init", name)
        assert (code, "must not be there yet" in err) == (2, True)
        assert (tmp_path / name).is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_pipe_is_no_database_and_no_place_for_a_table(begun, tmp_path):
    # A defect once: opening it takes for ever; as a target it is replaced.
    os.mkfifo(tmp_path / "pipe")
    for words in (["explain", "pipe", "A"], ["backup", "pipe", "copy.db"], ["export", "shop.db", "-o", "pipe"]):
        code, _, err = begun(*words)
        assert (code, "is a folder, a pipe or a device" in err) == (2, True)
    assert (tmp_path / "pipe").is_fifo()


def test_a_table_is_written_through_a_link(begun, tmp_path):
    # A defect once: the link is replaced; as root, /dev/stdout was.
    (tmp_path / "link.csv").symlink_to("log.csv")
    code, _, err = begun("export", "shop.db", "-o", "link.csv")
    assert (code, err) == (0, "The shop's records: link.csv\n")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "log.csv").read_text().startswith("number,")


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="standard input has no name")
def test_sales_come_through_a_pipe(tmp_path):
    # A defect once: "it is empty".
    create(tmp_path / "shop.db").close()
    words = [sys.executable, "-m", "driftmdp", "inventory", "record", str(tmp_path / "shop.db"), "/dev/stdin"]
    sales = "date,sku,units,stock\n2026-11-16,A,1,4\n"
    done = subprocess.run(words, input=sales, text=True, capture_output=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "1 recorded.\n")


@pytest.mark.parametrize(
    "content",
    [
        f"{HOSTILE},stock\n1,2\n",
        f"sku,stock\n{HOSTILE},2\n",
        f"sku,stock\nA,{HOSTILE}\n",
        f"sku,stock,date\nA,1,{HOSTILE}\n",
        f"sku,stock\nA,1\n{HOSTILE},{HOSTILE},{HOSTILE}\n",
        f"sku,stock\n{'x' * 60_000},{'y' * 60_000}\n",
    ],
)
def test_no_message_carries_what_a_terminal_obeys(begun, tmp_path, content):
    # A defect once: headers are echoed as they are.
    (tmp_path / f"stock{HOSTILE.replace('/', '')}.csv").write_text(content)
    code, out, err = begun("decide", "shop.db", f"stock{HOSTILE}.csv", "--date", "2026-11-16")
    assert (code, out) == (2, "")
    assert is_harmless(err)
    assert len(err) < 2000


def test_no_table_carries_what_a_terminal_obeys(begun, tmp_path):
    sku = "a\nerror: b\u202e\u2028c"
    with create(tmp_path / "names.db") as shop:
        shop.decide([Count(sku, 1), Count("other", 1)], day(0))
    for words in (["history", "names.db", sku], ["explain", "names.db", sku]):
        code, out, err = begun(*words)
        assert code == 0
        assert is_harmless(out + err)
    (tmp_path / "stock.csv").write_text("sku,stock\nother,1\n")
    code, out, err = begun("decide", "names.db", "stock.csv", "--date", day(1), "-o", "-")
    assert code == 0
    assert is_harmless(err)
    assert "\nerror: b" not in err


def test_an_error_of_another_library_is_harmless_too(monkeypatch, capsys):
    def fail(words):
        raise RuntimeError(HOSTILE)

    monkeypatch.setattr("driftmdp.cli.app", fail)
    monkeypatch.setattr(sys, "argv", ["driftmdp"])
    with pytest.raises(SystemExit):
        run_cli()
    assert is_harmless(capsys.readouterr().err)

"""kill -9 at any moment: nothing that was answered is lost or there twice, and the answers stay the same.

A nursery, a process of its own, imports everything once and then forks a child for each kill: many moments are
tried, and not many imports. A child goes on with the days from where it is told to, and says what is done after
each command has returned. The commands are those of Python, or those of the command line in the child's own
process: these open and close the database each time.
"""

import contextlib
import csv
import io
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

from driftmdp.errors import StorageError
from driftmdp.files import write_whole
from driftmdp.inventory import Count, Delivery, ItemSettings, Shop, Sold, SpecialDay, orders_csv
from tests.inventory.shops import create, day, lines, state

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")

ITEMS = 50
ROOT = Path(__file__).parents[2]


def visits_by_pair(n):
    """The morning of day n: always the same; a new item appears now and then."""
    rng = random.Random(n)
    return [Count(f"=I{i}", rng.randrange(8)) for i in range(ITEMS + n // 10)]


def sold_of(n):
    """The evening of day n; some orders differ from the advice."""
    rng = random.Random(-n - 1)
    names = [count.sku for count in visits_by_pair(n)]
    return [Sold(sku, day(n), rng.randrange(7), rng.choice((None, None, 2))) for sku in names]


def settings_of(n):
    """Now and then an item gets settings of its own, and the shop special days."""
    if n % 7 != 3:
        return {}
    special = [
        SpecialDay(day(n + 2).toordinal(), "closed"),
        SpecialDay(day(n + 1).toordinal(), "sale", "=I1", "", 2.0),
    ]
    return {
        "items": [ItemSettings(f"=I{n % 5}", {"pack": 1 + n % 3, "group": f"G{n % 2}", "shelf_life": 1 + n % 4})],
        "calendar": special,
    }


def settings_files(folder, n):
    """The same as files, and the options that name them."""
    found = settings_of(n)
    if not found:
        return []
    (item,) = found["items"]
    names = list(item.values)
    cells = ",".join(str(item.values[name]) for name in names)
    (folder / "items.csv").write_text(f"sku,{','.join(names)}\n{item.sku},{cells}\n")
    days = "".join(f"{date.fromordinal(d.day)},{d.name},{d.sku},{d.factor or ''}\n" for d in found["calendar"])
    (folder / "calendar.csv").write_text(f"date,name,sku,factor\n{days}")
    return ["--items", folder / "items.csv", "--calendar", folder / "calendar.csv"]


def act(shop, kind, n):
    """One command through Python; return what it answers."""
    if kind == "decide":
        return orders_csv(shop.decide(visits_by_pair(n), day(n)).advice)
    receipt = shop.record(sold_of(n), **settings_of(n))
    return receipt.recorded + receipt.repeated


def command(folder, kind, n):
    """One command of the command line, in this process."""
    from driftmdp.cli import run_cli

    if kind == "decide":
        text = "sku,stock\n" + "".join(f"{c.sku},{c.stock}\n" for c in visits_by_pair(n))
    else:
        cells = (f"{s.sku},{s.units},{'' if s.ordered is None else s.ordered}\n" for s in sold_of(n))
        text = "sku,units,ordered\n" + "".join(cells)
    file = folder / f"{kind}.csv"
    file.write_text(text)
    where = ["-o", folder / "orders.csv"] if kind == "decide" else settings_files(folder, n)
    sys.argv = ["driftmdp", "inventory", kind, *map(str, [folder / "shop.db", file, "--date", day(n), *where])]
    try:
        run_cli()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{sys.argv} ended with {end.code}") from None


def say(line):
    """Write a line whole, whoever else writes into the same pipe."""
    os.write(1, f"{line}\n".encode())


def child(folder, first, way):
    """Go on with the commands from number ``first`` until the end, which somebody else decides on."""
    folder = Path(folder)
    sys.stderr = open(folder / "remarks.txt", "w")  # noqa: SIM115
    with contextlib.ExitStack() as stack:
        say("ready")
        shop = stack.enter_context(Shop(folder / "shop.db")) if way == "python" else None
        for number in range(first, 100_000):
            kind, n = ("decide", "record")[number % 2], number // 2
            if shop is not None:
                act(shop, kind, n)
            else:
                command(folder, kind, n)
            say(f"done {number}")


def nursery():
    """Load compiled code once, for all children, and fork them."""
    with create(sys.argv[1]) as shop:
        for kind in ("decide", "record"):
            act(shop, kind, 0)
    fork_children(child)


def fork_children(child):
    """Fork a child for each line of input; say its number and, when it is gone, how it went."""
    for line in sys.stdin:
        folder, first, way = line.rstrip("\n").split("\t")
        number = os.fork()
        if number == 0:
            status = 3
            try:
                child(folder, int(first), way)
            except BaseException as error:
                say(f"failed {error!r}")
            finally:
                os._exit(status)
        say(f"child {number}")
        _, status = os.waitpid(number, 0)
        say(f"gone {os.waitstatus_to_exitcode(status)}")


class Nursery:
    """The nursery, as the tests see it."""

    def __init__(self, folder, module="tests.inventory.test_kill"):
        code = f"from {module} import nursery; nursery()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(folder / "warm.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            bufsize=0,
        )
        self.buffer, self.child = b"", None

    def close(self):
        if self.child is not None:  # a test failed
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.child, signal.SIGKILL)
            self.process.kill()
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def words(self, seconds):
        """The next line as words, or None when there is none for so long."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                return None
            more = os.read(self.process.stdout.fileno(), 65536)
            assert more, "the nursery is gone"
            self.buffer += more
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode().split(" ", 1)

    def kill_one(self, folder, first, way, wait):
        """Let a child work from command ``first`` on, kill it when the wait is over; return what it did."""
        self.process.stdin.write(f"{folder}\t{first}\t{way}\n".encode())
        done, ready = [], False
        while self.child is None or not ready:
            word, *rest = self.words(60)
            assert word != "failed", rest
            self.child = int(rest[0]) if word == "child" else self.child
            ready = ready or word == "ready"
            done += [int(rest[0])] if word == "done" else []
        wait(folder)
        os.kill(self.child, signal.SIGKILL)
        while (said := self.words(30))[0] != "gone":
            assert said[0] == "done", said
            done.append(int(said[1]))
        self.child = None
        assert int(said[1]) == -signal.SIGKILL
        return done


def some_time(rng, longest):
    """Wait, so that a kill comes at any moment."""
    seconds = rng.random() * longest
    return lambda folder: time.sleep(seconds)


def some_writes(rng, most):
    """Wait until files have changed so often, so that a kill comes while something is being written."""
    wanted = rng.randint(1, most)

    def look(folder):
        found = []
        for file in os.scandir(folder):
            with contextlib.suppress(FileNotFoundError):
                about = file.stat()
                found.append((file.name, about.st_size, about.st_mtime_ns))
        return sorted(found)

    def wait(folder):
        seen, changes, end = look(folder), 0, time.monotonic() + 5
        while changes < wanted and time.monotonic() < end:
            now = look(folder)
            changes += now != seen
            seen = now

    return wait


@pytest.fixture
def nursed(tmp_path):
    with contextlib.closing(Nursery(tmp_path)) as made:
        yield made


def batches(shop):
    """What stands in the log, in its order; when it was written is left out."""
    return [(batch.kind, batch.day, batch.content) for batch in shop._log.batches()]


def written(shop):
    """The commands that the log has, in its order."""
    days = [(kind, date.fromisoformat(when)) for kind, when, _ in batches(shop) if when]  # settings have no day
    return [2 * (when - day(0)).days + (kind == "sold") for kind, when in days]


def is_whole(text, n):
    """Whether orders are a whole table of one day that is not after day n."""
    if text is None:
        return True
    rows = list(csv.DictReader(io.StringIO(text)))
    when = {row["date"] for row in rows}
    names = [row["sku"].removeprefix("'") for row in rows]
    days = [m for m in range(max(0, n - 1), n + 1) if when == {day(m).isoformat()}]
    return text.endswith("\n") and any(names == [c.sku for c in visits_by_pair(m)] for m in days)


def check_copy(folder, interrupted, calm):
    """A copy of the file alone has everything that was answered; if it was half written, it is refused."""
    shutil.copy(folder / "shop.db", folder.parent / "copy.db")
    with contextlib.suppress(StorageError), Shop(folder.parent / "copy.db") as copy:
        assert interrupted <= len(written(copy)) <= interrupted + 1
        assert batches(copy) == batches(calm)[: len(batches(copy))]


def kill_often(nursed, tmp_path, kills, longest, seed):
    """Kill children again and again; return how many kills came in the middle of a command that was kept."""
    rng = random.Random(seed)
    folder = tmp_path / "shop"
    folder.mkdir()
    create(folder / "shop.db").close()
    kept = 0
    with create(tmp_path / "calm.db") as calm:
        answers, first = {}, 0
        for kill in range(kills):
            way = ("python", "commands")[kill % 2]
            wait = some_time(rng, longest) if kill % 4 < 2 else some_writes(rng, 30)
            done = nursed.kill_one(folder, first, way, wait)
            assert done == list(range(first, first + len(done)))
            interrupted = first + len(done)
            kind, n = ("decide", "record")[interrupted % 2], interrupted // 2
            for number in range(len(answers), interrupted + 1):  # what nobody interrupted answers
                answers[number] = act(calm, ("decide", "record")[number % 2], number // 2)

            check_copy(folder, interrupted, calm)
            with Shop(folder / "shop.db") as shop:
                assert shop.verify()
                there = written(shop)
                assert there in (list(range(interrupted)), list(range(interrupted + 1)))
                kept += len(there) == interrupted + 1
                assert batches(shop) == batches(calm)[: len(batches(shop))]
                for number in {
                    max(0, interrupted - 1),
                    interrupted,
                }:  # the last answer, and the interrupted command
                    again = act(shop, ("decide", "record")[number % 2], number // 2)
                    assert again == answers[number]
                assert written(shop) == list(range(interrupted + 1))
                assert state(shop) == state(calm)
                shutil.copy(folder / "shop.db", tmp_path / "copy.db")  # alone, while it is open
                with Shop(tmp_path / "copy.db") as copy:
                    assert (state(copy), batches(copy)) == (state(calm), batches(calm))
            orders = folder / "orders.csv"
            assert is_whole(orders.read_text() if orders.exists() else None, n), kind
            first = interrupted + 1
            orders.unlink(missing_ok=True)
        with Shop(folder / "shop.db") as shop:
            assert shop.verify()
            assert (state(shop), batches(shop)) == (state(calm), batches(calm))
            assert lines(shop) == lines(calm)
        write_whole(orders, b"")
        assert not list(folder.glob(".*"))  # what a kill leaves behind goes with the next command
    assert first > kills  # the children did get somewhere
    return kept


def test_killed_at_random_moments_nothing_is_lost_and_nothing_is_there_twice(nursed, tmp_path):
    kill_often(nursed, tmp_path, kills=12, longest=0.25, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_killed_very_often(nursed, tmp_path, seed):
    assert kill_often(nursed, tmp_path, kills=150, longest=0.15, seed=seed) > 0


def test_killed_while_it_is_made_a_log_is_there_whole_or_not_at_all(tmp_path):
    code = (
        "import os, signal, sqlite3, sys, threading\n"
        "from driftmdp.inventory import Costs, Shop\n"
        "moment = int(sys.argv[2])\n"
        "calls = []\n"
        "def hook(event, words):\n"
        "    if event in ('sqlite3.connect', 'os.link', 'os.remove', 'open', 'os.mkdir'):\n"
        "        calls.append(event)\n"
        "        if len(calls) == moment:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(hook)\n"
        "Shop.create(sys.argv[1], Costs(), 10).close()\n"
    )
    with contextlib.ExitStack() as stack:
        children = []
        for moment in range(1, 5):
            path = tmp_path / f"{moment}.db"
            words = [sys.executable, "-c", code, str(path), str(moment)]
            children.append((path, stack.enter_context(subprocess.Popen(words))))
        for path, process in children:
            process.wait(timeout=60)
            if path.exists():
                with Shop(path) as shop:
                    assert shop.verify()
            else:
                create(path).close()
    assert any(process.returncode == -signal.SIGKILL for _, process in children)


def test_killed_while_deliveries_are_told_all_or_nothing_is_there(tmp_path):
    """At each statement: the lines are there whole or not at all, and telling again completes them."""
    code = (
        "import os, signal, sys\n"
        "from driftmdp.inventory import Delivery, Shop\n"
        "from tests.inventory.shops import day\n"
        "from driftmdp.inventory import event_log\n"
        "moment, calls = int(sys.argv[2]), []\n"
        "def stop(*words):\n"
        "    calls.append(words)\n"
        "    if len(calls) == moment:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "with Shop(sys.argv[1]) as shop:\n"
        "    shop._log._database.set_trace_callback(stop)\n"
        "    shop.receive([Delivery('A', day(n), 3, rest=('waits', 'cancelled')[n % 2]) for n in (4, 5, 6)])\n"
    )
    told = [Delivery("A", day(n), 3, rest=("waits", "cancelled")[n % 2]) for n in (4, 5, 6)]
    with create(tmp_path / "calm.db", lead_time=2) as calm:
        calm.record([Sold("A", day(n), 1, ordered=4, stock=9) for n in range(5)])
        shutil.copy(tmp_path / "calm.db", tmp_path / "start.db")
        before = state(calm)
        calm.receive(told)
    codes = []
    for moment in (1, 3, 5, 7, 9, 12):
        path = tmp_path / f"{moment}.db"
        shutil.copy(tmp_path / "start.db", path)
        words = [sys.executable, "-c", code, str(path), str(moment)]
        codes.append(subprocess.run(words, cwd=ROOT, check=False).returncode)
        with Shop(path) as shop, Shop(tmp_path / "calm.db") as calm:
            assert shop.verify()
            assert state(shop) in (before, state(calm))
            shop.receive(told)
            assert (state(shop), batches(shop)) == (state(calm), batches(calm))
    assert codes[0] == -signal.SIGKILL

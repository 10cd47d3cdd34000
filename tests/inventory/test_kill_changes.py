"""kill -9 in the middle of the commands that change a shop: each is there whole, or not at all.

As in ``test_kill.py``, a nursery forks a child for each kill. Children go through the table of commands again and
again, with another number each time. After a kill the shop equals one that nobody interrupted, up to the
interrupted command, and the same command again finishes.
"""

import contextlib
import random
import sys
from pathlib import Path

import pytest

from driftmdp.inventory import Count, Shop, Sold
from tests.inventory.shops import create, day, lines, state
from tests.inventory.test_kill import Nursery, batches, fork_children, pytestmark, say, some_time, some_writes

__all__ = ["pytestmark"]

ITEMS = [f"item {i}" for i in range(6)]


def counts_of(n):
    rng = random.Random(n)
    return [Count(sku, rng.randrange(9)) for sku in ITEMS]


def sold_of(n):
    """The evening of day n, with a misspelt name."""
    rng = random.Random(-n - 1)
    return [*(Sold(sku, day(n), rng.randrange(6)) for sku in ITEMS), Sold(f"itme {n}", day(n), 2, 0, 5)]


def name_of(n):
    """What the last item is called by day n, when it gets a new name each day."""
    return f"name {n}" if n >= 0 else ITEMS[5]


def stock_file(folder, n):
    text = "sku,stock\n" + "".join(f"{count.sku},{count.stock}\n" for count in counts_of(n))
    (folder / "stock.csv").write_text(text)
    return folder / "stock.csv"


def sales_file(folder, n):
    cells = (f"{s.sku},{s.units},{',' if s.stock is None else '5,0'}\n" for s in sold_of(n))
    (folder / "sales.csv").write_text("sku,units,stock,ordered\n" + "".join(cells))
    return folder / "sales.csv"


def capacity(n):
    return 6 + n % 5


# A command through Python, from a shop and a number, and its words on the command line, from a folder and a number.
# Helpers add a line each. A command that is repeated must change nothing.
COMMANDS = {
    "decide": (
        lambda shop, n: shop.decide(counts_of(n), day(n)),
        lambda folder, n: [stock_file(folder, n), "--date", day(n), "-o", folder / "orders.csv"],
    ),
    "record": (
        lambda shop, n: shop.record(sold_of(n)),
        lambda folder, n: [sales_file(folder, n), "--date", day(n), "--yes"],
    ),
    "set": (
        lambda shop, n: shop.set_terms({"capacity": capacity(n)}, [ITEMS[1]], day(n)),
        lambda folder, n: ["--sku", ITEMS[1], "--capacity", capacity(n), "--from", day(n)],
    ),
    "withdraw": (
        lambda shop, n: shop.withdraw(day(n), [ITEMS[2]]),
        lambda folder, n: ["--sku", ITEMS[2], "--date", day(n)],
    ),
    "rename": (
        lambda shop, n: shop.rename(name_of(n - 1), name_of(n)),
        lambda folder, n: [name_of(n - 1), name_of(n)],
    ),
    "discontinue": (
        lambda shop, n: shop.discontinue([ITEMS[3]], day(n), undo=n % 2 == 1),
        lambda folder, n: [ITEMS[3], "--from", day(n), *(["--undo"] if n % 2 else [])],
    ),
    "merge": (
        lambda shop, n: shop.merge(f"itme {n}", ITEMS[4]),
        lambda folder, n: [f"itme {n}", ITEMS[4]],
    ),
}
NAMES = list(COMMANDS)


def act(shop, number):
    """The command of a number through Python."""
    n, place = divmod(number, len(NAMES))
    return COMMANDS[NAMES[place]][0](shop, n)


def command(folder, number):
    """The command of a number on the command line, in this process."""
    from driftmdp.cli import run_cli

    n, place = divmod(number, len(NAMES))
    words = COMMANDS[NAMES[place]][1](folder, n)
    sys.argv = ["driftmdp", "inventory", *map(str, [NAMES[place], folder / "shop.db", *words])]
    try:
        run_cli()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{sys.argv} ended with {end.code}") from None


def child(folder, first, way):
    """Go on with the commands from number ``first`` until the end, which somebody else decides on."""
    folder = Path(folder)
    sys.stderr = open(folder / "remarks.txt", "w")  # noqa: SIM115
    with contextlib.ExitStack() as stack:
        say("ready")
        shop = stack.enter_context(Shop(folder / "shop.db")) if way == "python" else None
        for number in range(first, 100_000):
            command(folder, number) if shop is None else act(shop, number)
            say(f"done {number}")


def nursery():
    """Load compiled code once, for all children, and fork them."""
    with create(sys.argv[1], lead_time=1) as shop:
        for number in range(len(NAMES)):
            act(shop, number)
    fork_children(child)


@pytest.fixture
def nursed(tmp_path):
    with contextlib.closing(Nursery(tmp_path, __name__)) as made:
        yield made


def kill_often(nursed, tmp_path, kills, longest, seed):
    """Kill children again and again; return the names of the commands that were interrupted."""
    rng = random.Random(seed)
    folder = tmp_path / "shop"
    folder.mkdir()
    create(folder / "shop.db", lead_time=1).close()
    first, hit = 0, []
    with create(tmp_path / "calm.db", lead_time=1) as calm:
        ends = []  # the number of batches after each command that nobody interrupted
        for kill in range(kills):
            wait = some_time(rng, longest) if kill % 4 < 2 else some_writes(rng, 30)
            done = nursed.kill_one(folder, first, ("python", "commands")[kill % 2], wait)
            interrupted = first + len(done)
            assert done == list(range(first, interrupted))
            before = calm._log.number
            for number in range(len(ends), interrupted + 1):
                before = calm._log.number
                act(calm, number)
                ends.append(calm._log.number)
            hit.append(NAMES[interrupted % len(NAMES)])
            with Shop(folder / "shop.db") as shop:
                assert shop.verify(), hit[-1]
                assert shop._log.number in (before, ends[-1]), hit[-1]
                assert batches(shop) == batches(calm)[: shop._log.number]
                for _ in range(2):  # the second changes nothing
                    act(shop, interrupted)
                    assert (state(shop), batches(shop)) == (state(calm), batches(calm)), hit[-1]
            first = interrupted + 1
        with Shop(folder / "shop.db") as shop:
            assert shop.verify()
            assert lines(shop) == lines(calm)
    assert first > kills  # the children did get somewhere
    return hit


def test_killed_at_random_moments_each_command_is_there_whole_or_not_at_all(nursed, tmp_path):
    kill_often(nursed, tmp_path, kills=12, longest=0.3, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_killed_very_often(nursed, tmp_path, seed):
    hit = kill_often(nursed, tmp_path, kills=100, longest=0.2, seed=seed)
    assert set(hit) == set(NAMES)


@pytest.mark.parametrize("place", range(len(NAMES)))
def test_the_table_says_the_same_twice(tmp_path, monkeypatch, place):
    """A command through Python, and the same on the command line, write the same batch."""
    monkeypatch.setattr(sys, "argv", sys.argv)
    (tmp_path / "a").mkdir()
    found = []
    for way in ("python", "commands"):
        path = tmp_path / "a" / "shop.db"
        path.unlink(missing_ok=True)
        with create(path, lead_time=1) as shop:
            for number in range(place):
                act(shop, number)
            if way == "python":
                act(shop, place)
        if way == "commands":
            command(path.parent, place)
        with Shop(path) as shop:
            found.append((batches(shop)[-1], shop._log.number, state(shop)))
    assert found[0] == found[1]

"""A log of an earlier version, in use by others, or only to be read."""

import contextlib
import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from driftmdp.errors import DriftmdpError, StorageError
from driftmdp.inventory import Costs, Count, Shop, Sold, event_log
from tests.inventory.logs import DAYS, change, never_silent, opens_as
from tests.inventory.shops import copy_of, create, day, lines, orders, refused, state, work

# ---- the write-ahead log of earlier versions


@pytest.fixture
def crashed(tmp_path):
    """The files of an old log as a crash left them: most batches are in the write-ahead log only."""
    live = tmp_path / "live.db"
    create(live).close()
    with contextlib.closing(sqlite3.connect(live)) as old:
        old.execute("PRAGMA journal_mode = WAL")
        old.execute("SELECT * FROM head").fetchall()  # while someone has it open, it stays as it is
        with Shop(live) as shop:
            work(shop, 3)
            shutil.copy(live, tmp_path / "shop.db")
            shutil.copy(f"{live}-wal", tmp_path / "shop.db-wal")
            truth = state(shop)
    return tmp_path / "shop.db", truth


def test_after_a_crash_the_log_is_taken_in(crashed):
    path, truth = crashed
    with Shop(path) as shop:
        assert state(shop) == truth
        assert shop.verify()
        assert not path.with_name("shop.db-wal").exists()
        work(shop, 1, first=3)
        assert not path.with_name("shop.db-wal").exists()


def test_a_cut_or_missing_log_leaves_an_older_log_that_is_whole(crashed):
    path, _ = crashed
    content, log = path.read_bytes(), path.with_name("shop.db-wal").read_bytes()
    ends = set()
    for length in (None, *range(0, len(log), 3001)):
        for stale in path.parent.glob("shop.db*"):
            stale.unlink()
        path.write_bytes(content)
        if length is not None:
            path.with_name("shop.db-wal").write_bytes(log[:length])
        with Shop(path) as shop:
            assert shop.verify()
            ends.add(len({line[0] for line in lines(shop)}))
            day_after = max((line[2] for line in lines(shop)), default=day(0))
            shop.decide([Count("Z", 1)], day_after)
            assert shop.verify()
    assert min(ends) == 0
    assert max(ends) > 3


def test_a_log_of_another_log_does_not_speak_for_this_one(crashed, whole):
    # A defect once: logs of the same settings begin with the same link, so one's log fits the other's file.
    path, _ = crashed
    copy_of(whole[0], path.with_name("whole.db"))
    shutil.copy(path.with_name("shop.db-wal"), path.with_name("whole.db-wal"))
    never_silent(path.with_name("whole.db"), whole)


@pytest.mark.parametrize("fixed", [4.0, 9.0])
def test_a_new_log_does_not_wake_what_a_deleted_one_left_behind(crashed, fixed):
    # A defect once: the log of a database that was deleted speaks for the new one of the same name.
    path, _ = crashed
    path.unlink()
    with contextlib.suppress(DriftmdpError):
        create(path, costs=Costs(fixed=fixed)).close()
    if path.exists():
        with Shop(path) as shop:
            assert shop.costs.fixed == fixed
            assert shop.skus == ()


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_new_log_is_not_made_beside_leftovers(tmp_path, end):
    # A defect once: -journal, which SQLite would roll back into the new log, is overlooked.
    left = tmp_path / f"shop.db{end}"
    left.write_bytes(b"of another")
    with refused("shop.db", left.name):
        create(tmp_path / "shop.db")
    assert [file.name for file in tmp_path.iterdir()] == [left.name]


# ---- full, locked, and read only


def test_a_full_disk_is_told_and_nothing_is_lost(copy, whole, monkeypatch):
    # A defect once: the advice is to take the last backup, although the log is sound.
    connect = event_log._connect

    def on_a_full_disk(path):
        database = connect(path)
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages}")
        return database

    with monkeypatch.context() as patch:
        patch.setattr(event_log, "_connect", on_a_full_disk)
        with Shop(copy) as shop:
            counts = [Count(f"New {n}", 1) for n in range(3000)]
            with refused("full", kind=StorageError) as caught:
                shop.decide(counts, day(DAYS))
            assert state(shop) == whole[1]
            assert shop.verify()
            assert "backup" not in str(caught.value)
    assert opens_as(copy, whole)


def test_another_thread_needs_a_shop_of_its_own(copy):
    # A defect once: the advice is to take the last backup, although the log is sound.
    said = []

    def act():
        try:
            shop.decide([Count("A", 1)], day(DAYS))
        except StorageError as error:
            said.append(str(error))

    with Shop(copy) as shop:
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()
    assert not [told for told in said if "backup" in told]


def test_many_at_once_get_the_same_answer_and_write_it_once(tmp_path):
    path, answers = tmp_path / "shop.db", {}
    create(path).close()

    def act(who):
        with Shop(path) as shop:
            for n in range(5):
                told = orders(shop.decide([Count(sku, n) for sku in ("A", f"of {who}")], day(n)))
                answers.setdefault((n, "A"), []).append(told["A"])
                shop.record([Sold("A", day(n), 2), Sold(f"of {who}", day(n), 1)])

    threads = [threading.Thread(target=act, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key: len(told) for key, told in answers.items()} == {(n, "A"): 4 for n in range(5)}
    with Shop(path) as shop:
        assert shop.verify()
        found = [(kind, when, sku) for _, kind, when, sku, *_ in lines(shop)]
        assert len(found) == len(set(found)) == 2 * 5 * 5
        for n in range(5):
            assert len(set(answers[n, "A"])) == 1


HOLD = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute(sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held(path, begin="BEGIN IMMEDIATE"):
    """Another process has the log."""
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with other:
        assert other.stdout.readline() == "held\n"
        yield
        other.kill()


def test_a_log_in_use_is_said_to_be_in_use_and_nothing_is_lost(copy, whole, monkeypatch):
    monkeypatch.setattr(event_log, "LOCK_TIMEOUT_SECONDS", 0.1)
    with Shop(copy) as shop:
        with held(copy):
            for act in (
                lambda: shop.decide([Count("A", 1)], day(DAYS)),
                lambda: shop.record([Sold("A", day(DAYS), 1, stock=2)]),
                lambda: shop.record([Sold("New", day(DAYS), 1, stock=2)]),
            ):
                with refused("is in use by another process", "nothing was done", kind=StorageError):
                    act()
            assert state(shop) == whole[1]
            assert opens_as(copy, whole)  # reading is free
        work(shop, 1, first=DAYS)
        assert shop.verify()


def test_a_log_that_someone_has_for_themselves_is_in_use(copy, monkeypatch):
    monkeypatch.setattr(event_log, "LOCK_TIMEOUT_SECONDS", 0.1)
    with held(copy, "BEGIN EXCLUSIVE"), refused("in use", kind=StorageError):
        Shop(copy)
    Shop(copy).close()


ASK = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def test_opening_a_log_again_lets_go_of_no_lock(copy):
    # A defect in the making: to look at a file's first bytes and close it drops all locks that a process has on it.
    with Shop(copy) as shop, shop._log.writing():
        Shop(copy).close()
        with refused("must not exist yet"):
            create(copy)
        asked = subprocess.run([sys.executable, "-c", ASK, str(copy)], capture_output=True, text=True, check=True)
        assert asked.stdout == "database is locked\n"


@contextlib.contextmanager
def nobody():
    """Have no more rights than anyone, if we are root."""
    root = os.geteuid() == 0
    if root:
        os.setegid(65534)
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
            os.setegid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX")
@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_a_log_that_may_only_be_read_says_so(whole, folder_mode):
    # A defect once: the advice is to take the last backup, although the log is sound.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = copy_of(whole[0], folder / "shop.db")
        path.chmod(0o444)
        folder.chmod(folder_mode)
        try:
            with nobody(), refused("shop.db", kind=StorageError) as caught, Shop(path) as shop:
                work(shop, 1, first=DAYS)
            assert "backup" not in str(caught.value)
        finally:
            folder.chmod(0o755)
            path.chmod(0o644)
        assert opens_as(path, whole)


@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX")
def test_a_log_that_may_not_be_read_says_so(whole):
    with tempfile.TemporaryDirectory() as name:
        path = copy_of(whole[0], Path(name) / "shop.db")
        path.chmod(0)
        Path(name).chmod(0o755)
        with nobody(), refused("shop.db"):
            Shop(path)


def test_a_closed_shop_says_that_it_is_closed(copy):
    # A defect once: the advice is to take the last backup.
    shop = Shop(copy)
    shop.close()
    shop.close()
    with refused("closed") as caught:
        shop.decide([Count("A", 1)], day(DAYS))
    assert "backup" not in str(caught.value)


def test_a_refused_log_is_let_go_of(copy):
    change(copy, "DELETE FROM batches WHERE number = 4")
    files = Path("/proc/self/fd")
    if not files.is_dir():
        pytest.skip("open files are listed in /proc")
    for _ in range(3):
        with contextlib.suppress(DriftmdpError):
            Shop(copy)
    gc.collect()
    there = [os.readlink(file) for file in files.iterdir() if os.path.lexists(file)]
    assert not [name for name in there if name.startswith(str(copy))]

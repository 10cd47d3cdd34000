"""Copies: of a shop in use, after a kill, and with the command; nothing that was answered is missing from them."""

import contextlib
import random
import sqlite3
import threading
from pathlib import Path

import pytest

from driftmdp.errors import DriftmdpError, InvalidInputError, StorageError
from driftmdp.inventory import Count, Shop, Sold, event_log
from tests.inventory.logs import DAYS, opens_as
from tests.inventory.shops import copy_of, create, day, lines, refused, state, work


def same(path, shop):
    """Whether a file alone is a shop that says the same as an open one."""
    with Shop(path) as there:
        return there.verify() and state(there) == state(shop) and lines(there) == lines(shop)


def test_the_file_alone_is_whole_after_every_command(tmp_path):
    # A defect once: committed batches stand in a write-ahead log, which a copy of the file does not have.
    with create(tmp_path / "shop.db") as shop:
        for n in range(3):
            work(shop, 1, first=n)
            assert same(copy_of(tmp_path / "shop.db", tmp_path / "copy.db"), shop)
            assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.db", "shop.db"]


# ---- killed in mid-write


@pytest.fixture
def killed(copy, whole, monkeypatch):
    """Files of a log, with their journals, as kills at many moments of a command leave them; before, and after."""
    connect, moments = event_log._connect, {}

    def with_a_small_cache(path):
        database = connect(path)
        database.execute("PRAGMA cache_size = 1")  # pages are written when they are changed
        database.set_progress_handler(look, 1)
        return database

    def look():
        journal = Path(f"{copy}-journal")
        if journal.exists() and journal.stat().st_size:
            moments[copy.read_bytes(), journal.read_bytes()] = None

    with monkeypatch.context() as patch, Shop(copy) as shop:
        patch.setattr(event_log, "_connect", with_a_small_cache)
        with Shop(copy) as busy:
            busy.record([Sold(f"New {n}", day(DAYS), n % 5, stock=9) for n in range(1000)])
        after = None, state(busy), lines(shop)
    return list(moments), whole, after


def put(path, content, journal):
    """Put a log and its journal, if there is one, where nothing is."""
    for stale in path.parent.glob("shop.db*"):
        stale.unlink()
    path.write_bytes(content)
    if journal is not None:
        path.with_name("shop.db-journal").write_bytes(journal)


def is_one_of(path, *allowed):
    """Return the sentence a log is refused with; if it is not, it must say what one of those does."""
    try:
        with Shop(path) as shop:
            assert shop.verify()
            assert lines(shop) in [lines_of for _, _, lines_of in allowed]
    except DriftmdpError as error:
        return str(error)
    return ""


def test_the_next_opening_rolls_back(killed, copy):
    moments, before, _ = killed
    assert len(moments) > 2
    for content, journal in moments:
        put(copy, content, journal)
        assert opens_as(copy, before)


def test_without_its_journal_a_half_written_log_is_refused(killed, copy):
    moments, before, after = killed
    said = []
    for content, _ in moments:
        put(copy, content, None)
        said.append(is_one_of(copy, before, after))
    assert [told for told in said if told]


def test_a_damaged_or_cut_journal_is_never_silent(killed, copy):
    # A defect once: what stands behind a damaged place of a write-ahead log is dropped, and nobody is told.
    moments, before, after = killed
    rng, noticed = random.Random(7), 0
    for case in range(200):
        content, journal = rng.choice(moments)
        damaged = bytearray(journal)
        if case % 3:
            damaged[rng.choice((rng.randrange(30), rng.randrange(len(journal))))] ^= 1 << rng.randrange(8)
        else:
            del damaged[rng.randrange(len(journal)) :]
        put(copy, content, damaged)
        noticed += bool(is_one_of(copy, before, after))
    assert noticed > 5


def test_pages_that_are_free_and_in_use_at_once_are_noticed(copy):
    # A defect once: the chain is sound, and the next command would overwrite pages of earlier ones.
    content = bytearray(copy.read_bytes())
    size, pages = int.from_bytes(content[16:18], "big"), int.from_bytes(content[28:32], "big")
    free = pages.to_bytes(4, "big")  # the last page, which the snapshot has
    content[32:36], content[36:40] = free, (1).to_bytes(4, "big")
    assert size * pages == len(content)
    copy.write_bytes(content)
    with refused("its pages do not fit together", kind=StorageError):
        Shop(copy)


# ---- the command, and Shop.backup


def test_a_backup_is_the_same_shop_and_goes_on(copy, whole, tmp_path):
    with Shop(copy) as shop:
        shop.backup(tmp_path / "backup.db")
        assert same(tmp_path / "backup.db", shop)
    with Shop(tmp_path / "backup.db") as there:
        work(there, 1, first=DAYS)
        assert there.verify()
    assert opens_as(copy, whole)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["backup.db", "shop.db"]


def test_a_backup_is_never_written_over_something(copy, whole, tmp_path):
    (tmp_path / "there").write_text("mine")
    with Shop(copy) as shop:
        for there in (tmp_path / "there", copy, tmp_path):
            with refused("must not exist yet; it is left as it is", kind=InvalidInputError):
                shop.backup(there)
        with refused("must lie in a folder that exists"):
            shop.backup(tmp_path / "no" / "such.db")
    assert (tmp_path / "there").read_text() == "mine"
    assert opens_as(copy, whole)


def test_a_backup_that_is_not_what_it_should_be_gets_no_name(copy, tmp_path, monkeypatch):
    class Forgetful:
        """A connection whose copies lack the last batch."""

        def __init__(self, database):
            self.database = database

        def __getattr__(self, name):
            return getattr(self.database, name)

        def backup(self, target):
            self.database.backup(target)
            target.execute("DROP TRIGGER batches_are_not_removed")
            target.execute("DELETE FROM batches WHERE number = (SELECT number FROM head)")

    with Shop(copy) as shop:
        monkeypatch.setattr(shop._log, "_database", Forgetful(shop._log._database))
        with refused("backup.db could not be made", kind=StorageError):
            shop.backup(tmp_path / "backup.db")
    assert [file.name for file in tmp_path.iterdir()] == ["shop.db"]


def test_a_backup_while_others_write_is_a_whole_shop(tmp_path):
    create(tmp_path / "shop.db").close()

    def write():
        with Shop(tmp_path / "shop.db") as shop:
            work(shop, 15)

    writer = threading.Thread(target=write)
    writer.start()
    with Shop(tmp_path / "shop.db") as shop:
        for n in range(5):
            shop.backup(tmp_path / f"{n}.db")
    writer.join()
    with Shop(tmp_path / "shop.db") as shop:
        everything = lines(shop)
        assert len(everything) == 60
    for n in range(5):
        with Shop(tmp_path / f"{n}.db") as there:
            assert there.verify()
            assert lines(there) == everything[: len(lines(there))]


def test_the_command(call, tmp_path):
    with create(tmp_path / "shop.db") as shop:
        work(shop, 2)
    assert call("inventory", "backup", "shop.db", "copy.db") == (
        0,
        "",
        "Copied shop.db to copy.db, and checked the copy.\n",
    )
    code, _, err = call("inventory", "backup", "shop.db", "copy.db")
    assert (code, err) == (
        2,
        "error: copy.db must not exist yet; it is left as it is. Choose another name.\n",
    )
    with Shop(tmp_path / "copy.db") as there:
        assert there.verify()


def test_a_copy_of_an_old_log_in_use_lacks_nothing_either(tmp_path):
    path = tmp_path / "shop.db"
    create(path).close()
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.execute("PRAGMA journal_mode = WAL")
        old.execute("SELECT * FROM head").fetchall()
        with Shop(path) as shop:
            work(shop, 2)
            shop.backup(tmp_path / "copy.db")
            assert same(tmp_path / "copy.db", shop)
    with Shop(path) as shop, contextlib.suppress(DriftmdpError):
        shop.decide([Count("A", 1)], day(9))
    assert path.read_bytes()[18:20] == b"\1\1"  # no write-ahead log any more

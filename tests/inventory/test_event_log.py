"""A log that was edited, cut, swapped or locked: always one clear sentence, never silence."""

import contextlib
import random
import sqlite3

import pytest

from driftmdp.errors import DriftmdpError, StorageError
from driftmdp.inventory import Count, Shop, Sold
from tests.inventory.logs import BATCHES, DAYS, change, never_silent, opens_as
from tests.inventory.shops import copy_of, create, day, refused, work

# ---- edited

VALUES = ["'x'", "x'41'", "5", "''", "zeroblob(3)", "CAST(x'ff' AS TEXT)"]


@pytest.mark.parametrize("number", [1, 4, BATCHES])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("column", ["kind", "day", "written_at", "content", "hash"])
def test_an_edited_batch_is_named(copy, column, value, number):
    # A defect once: a BLOB as kind, day or written_at is a TypeError of json.
    change(copy, f"UPDATE batches SET {column} = {value} WHERE number = {number}")
    with refused("shop.db", "Nothing was done", kind=StorageError):
        Shop(copy)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE batches SET day = '2026-11-17' WHERE number = 1",
        "UPDATE batches SET kind = 'sold' WHERE number = 1",
        "UPDATE batches SET kind = CAST(kind AS BLOB) WHERE number = 1",
        "UPDATE batches SET content = (SELECT content FROM batches WHERE number = 3) WHERE number = 1",
        "UPDATE batches SET content = CAST(content || x'00' AS BLOB) WHERE number = 2",
        "UPDATE batches SET hash = (SELECT hash FROM batches WHERE number = 3) WHERE number = 1",
        "DELETE FROM batches WHERE number = 1",
        "DELETE FROM batches WHERE number = 4",
        f"DELETE FROM batches WHERE number = {BATCHES}",
        "DELETE FROM batches",
        "INSERT INTO batches SELECT 11, kind, day, written_at, content, hash FROM batches WHERE number = 10",
        "INSERT INTO batches SELECT 99, kind, day, written_at, content, hash FROM batches WHERE number = 10",
        "UPDATE batches SET number = number + 1 WHERE number = 10",
    ],
)
def test_batches_that_are_edited_missing_or_new_are_noticed(copy, statement):
    change(copy, statement)
    with refused("was changed by something other than driftmdp", "take the last backup", kind=StorageError):
        Shop(copy)


@pytest.mark.parametrize("number", [0, -1])
def test_a_batch_before_the_first_is_noticed(copy, number):
    # A defect once: rows below 1 are never looked at, so they are neither used nor noticed.
    change(
        copy,
        f"INSERT INTO batches SELECT {number}, kind, day, written_at, content, hash FROM batches LIMIT 1",
    )
    with refused(kind=StorageError):
        Shop(copy)


def test_two_batches_that_changed_places_are_noticed(copy):
    change(
        copy,
        "UPDATE batches SET number = 100 WHERE number = 3",
        "UPDATE batches SET number = 3 WHERE number = 5",
        "UPDATE batches SET number = 5 WHERE number = 100",
    )
    with refused("batch 3", kind=StorageError):
        Shop(copy)


@pytest.mark.parametrize("value", ["'21'", "'[1]'", "'{'", "''", "x'ff'", "'NaN'", "'null'", f"'{'[' * 9999}'"])
@pytest.mark.parametrize("name", ["capacity", "costs", "lead_time", "pack", "order_days"])
def test_edited_settings_are_noticed(copy, name, value):
    # A defect once: brackets, nested deep enough, are a RecursionError of json.
    change(copy, f"UPDATE settings SET value = {value} WHERE name = '{name}'")
    with refused(kind=StorageError):
        Shop(copy)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM settings",
        "DELETE FROM settings WHERE name = 'pack'",
        "INSERT INTO settings VALUES ('more', '1')",
        "UPDATE settings SET name = 'packs' WHERE name = 'pack'",
        "UPDATE settings SET name = x'41' WHERE name = 'pack'",
        "DELETE FROM head",
        "UPDATE head SET number = 9",
        "UPDATE head SET number = 11",
        "UPDATE head SET number = 'ten'",
        "UPDATE head SET hash = x'00'",
        "UPDATE head SET hash = 'text'",
        "DROP TABLE settings",
        "DROP TABLE batches",
        "DROP TABLE head",
        "ALTER TABLE batches RENAME COLUMN day TO date",
        "PRAGMA user_version = 4",
        "PRAGMA user_version = -1",
        "PRAGMA application_id = 0",
    ],
)
def test_edited_frames_of_a_log_are_noticed(copy, statement):
    # A defect once: a name of a setting that is a BLOB is a TypeError of json.
    change(copy, statement)
    with refused(kind=StorageError):
        Shop(copy)


def test_a_damaged_schema_is_noticed_before_anything_is_written_by_it(copy):
    # A defect once: with PRIMABY for PRIMARY the head is read, but not written, and the next answer is lost.
    content = copy.read_bytes()
    start = content.index(b"CREATE TABLE head")
    place = content.index(b"PRIMARY", start)
    copy.write_bytes(content[:place] + b"PRIMABY" + content[place + 7 :])
    with refused("its tables are not as they were made", kind=StorageError):
        Shop(copy)


def test_settings_of_an_empty_log_are_chained_too(tmp_path):
    create(tmp_path / "shop.db").close()
    change(tmp_path / "shop.db", "UPDATE settings SET value = '21' WHERE name = 'capacity'")
    with refused("its settings or its head differ", kind=StorageError):
        Shop(tmp_path / "shop.db")


def test_edited_settings_are_said_to_be_edited(copy):
    # A defect once: the sentence accuses batch 1, although only a setting was changed.
    change(copy, "UPDATE settings SET value = '21' WHERE name = 'capacity'")
    with refused("settings"):
        Shop(copy)


def test_an_open_log_notices_what_was_taken_from_its_end(copy):
    with Shop(copy) as shop:
        change(
            copy,
            "DELETE FROM batches WHERE number = 10",
            "UPDATE head SET number = 9, hash = (SELECT hash FROM batches WHERE number = 9)",
        )
        with refused("was changed", kind=StorageError):
            shop.decide([Count("A", 1)], day(DAYS))


def test_batches_can_only_be_added(copy):
    with contextlib.closing(sqlite3.connect(copy)) as database:
        for statement in (
            "UPDATE batches SET day = 'x'",
            "DELETE FROM batches",
            "DELETE FROM batches WHERE number = 10",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="append only"):
                database.execute(statement)
        database.execute("PRAGMA recursive_triggers = ON")
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            database.execute("INSERT OR REPLACE INTO batches VALUES (10, 'sold', '', '', x'', x'')")


# ---- a snapshot is only a cache


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM snapshot",
        "UPDATE snapshot SET content = x''",
        "UPDATE snapshot SET content = x'00'",
        "UPDATE snapshot SET content = substr(content, 1, 100)",
        "UPDATE snapshot SET content = zeroblob(length(content))",
        "UPDATE snapshot SET content = CAST(content || x'00' AS BLOB)",
        "UPDATE snapshot SET content = CAST(content AS TEXT)",
        "UPDATE snapshot SET content = 'text'",
        "UPDATE snapshot SET content = 5",
        "UPDATE snapshot SET hash = NULL",
        "UPDATE snapshot SET hash = x'00'",
        "UPDATE snapshot SET hash = 'text'",
        "UPDATE snapshot SET number = 2",
        "UPDATE snapshot SET number = 0",
        "UPDATE snapshot SET number = -1",
        "UPDATE snapshot SET number = 99",
        "UPDATE snapshot SET number = 'x'",
        "INSERT INTO snapshot SELECT place + 1, number, content, hash FROM snapshot",
        "INSERT INTO snapshot VALUES (-1, 10, x'00', NULL)",
    ],
)
def test_a_tampered_snapshot_is_ignored(copy, whole, statement):
    # A defect once: content that is no BLOB is a TypeError, and the log cannot be opened any more.
    change(copy, statement)
    assert opens_as(copy, whole)
    with Shop(copy) as shop:
        work(shop, 1, first=DAYS)
        assert shop.verify()


def test_a_snapshot_of_another_log_is_ignored(copy, whole, tmp_path):
    with create(tmp_path / "other.db") as other:
        work(other, DAYS, items=("B", "A"))
    with contextlib.closing(sqlite3.connect(copy)) as database:
        database.execute("ATTACH ? AS other", (str(tmp_path / "other.db"),))
        database.execute("DELETE FROM main.snapshot")
        database.execute("INSERT INTO main.snapshot SELECT * FROM other.snapshot")
        database.commit()
    assert opens_as(copy, whole)


def test_a_snapshot_with_a_sound_hash_that_does_not_fit_is_ignored(copy, whole):
    import hashlib

    with contextlib.closing(sqlite3.connect(copy)) as database:
        (link,) = database.execute("SELECT hash FROM batches WHERE number = 10").fetchone()
        for content in (
            b"",
            b"\0" * 8,
            b"\xff" * 40,
            (2).to_bytes(8, "little") + b"[]",
            (99).to_bytes(8, "little"),
        ):
            digest = hashlib.sha256(link + content).digest()
            database.execute("UPDATE snapshot SET content = ?, hash = ?", (content, digest))
            database.commit()
            assert opens_as(copy, whole)


# ---- damaged


def test_a_log_cut_anywhere_is_refused(copy):
    # Defects once: cut within its last page it is a TypeError, if the snapshot ends there, or accepted.
    content = copy.read_bytes()
    size = len(content)
    cuts = {*range(0, 700, 45), *range(0, size, 1009), *range(4096, size, 4096), size - 1}
    for length in sorted(cuts):
        copy.unlink()
        for stale in copy.parent.glob("shop.db-*"):
            stale.unlink()
        copy.write_bytes(content[:length])
        with refused("shop.db", kind=StorageError):
            Shop(copy)


def test_a_damaged_byte_is_noticed_or_does_not_matter(copy, whole):
    # A defect once: a damaged schema is a UnicodeDecodeError, damaged settings are a TypeError.
    content = copy.read_bytes()
    rng = random.Random(7)
    places = [*rng.sample(range(len(content)), 250), *rng.sample(range(3000, 4200), 150)]
    noticed = 0
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.randrange(8)
        for stale in copy.parent.glob("shop.db*"):
            stale.unlink()
        copy.write_bytes(damaged)
        said = never_silent(copy, whole)
        assert said == "" or said.endswith(".")
        noticed += bool(said)
    assert noticed > 20


def test_a_damaged_index_does_not_let_a_day_be_told_twice(copy):
    # A defect once: the chain is checked in the table, but days are looked up in an index, which is not.
    content = copy.read_bytes()
    wrong, right = day(70).isoformat().encode(), day(DAYS - 1).isoformat().encode()
    places = [i for i in range(len(content)) if content.startswith(right, i)]
    accepted = []
    for place in places:
        for stale in copy.parent.glob("shop.db*"):
            stale.unlink()
        copy.write_bytes(content[:place] + wrong + content[place + len(right) :])
        with contextlib.suppress(DriftmdpError), Shop(copy) as shop:
            accepted.append(shop.record([Sold("A", day(DAYS - 1), 9, stock=9)]))
        with contextlib.suppress(DriftmdpError), Shop(copy) as shop:
            accepted.append(shop.decide([Count("A", 9)], day(DAYS - 1)))
    assert accepted == []


@pytest.mark.parametrize(
    "content",
    [b"hello", b"date,sku,units\n" * 999, b"\0" * 8192, b"SQLite format 3\0" + b"x" * 8192, b"PK\3\4" * 2000],
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "shop.db"
    path.write_bytes(content)
    with refused("shop.db", kind=StorageError):
        Shop(path)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["shop.db"]


def test_an_empty_file_is_refused_and_left_alone(tmp_path):
    # A defect once: it is turned into a database before it is looked at.
    path = tmp_path / "shop.db"
    path.write_bytes(b"")
    with refused("must be a shop's database", kind=StorageError):
        Shop(path)
    assert path.read_bytes() == b""
    assert [file.name for file in tmp_path.iterdir()] == ["shop.db"]


def test_the_database_of_another_application_is_refused_and_left_alone(tmp_path):
    # A defect once: it is switched to a write-ahead log before it is looked at.
    path = tmp_path / "cookies.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE settings (name, value)")
        database.commit()
    before = path.read_bytes()
    with refused("must be a shop's database made by `driftmdp inventory init`", kind=StorageError):
        Shop(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["cookies.sqlite"]


def test_what_is_not_there_or_a_folder_is_refused(tmp_path):
    with refused("nowhere.db must be a shop's database made by `driftmdp inventory init`; there is no such file"):
        Shop(tmp_path / "nowhere.db")
    assert not list(tmp_path.iterdir())
    # A defect once: of a folder it is said that there is no such file.
    with refused("folder"):
        Shop(tmp_path)


def test_a_log_is_made_once_and_never_over_something(tmp_path, whole):
    path = copy_of(whole[0], tmp_path / "shop.db")
    for there in (path, tmp_path):
        with refused("must not exist yet; it is left as it is"):
            create(there)
    assert opens_as(path, whole)
    with refused("must lie in a folder that exists"):
        create(tmp_path / "no" / "such" / "shop.db")
    assert not list(tmp_path.glob(".*"))


def test_paths_that_mean_something_in_an_address_are_only_paths(tmp_path):
    folder = tmp_path / "50% off? #1 & more"
    folder.mkdir()
    for name in ("a?mode=memory", "b#c", "d%41", "é ü", "-x", "file:x"):
        with create(folder / name) as shop:
            work(shop, 1)
        with Shop(folder / name) as shop:
            assert shop.verify()
            assert shop.skus == ("A", "B")
        assert (folder / name).is_file()

import json
import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from driftmdp.errors import StorageError
from driftmdp.experiments import load, run
from driftmdp.experiments.store import Store, folder_lock
from tests.experiments.specs import small


@pytest.fixture
def folder(tmp_path):
    run(small(), tmp_path / "results", workers=1)
    return tmp_path / "results"


def test_results_are_parquet_that_anyone_can_read(folder):
    (file,) = (folder / "runs").glob("*.parquet")
    table = pq.read_table(file)
    assert table.num_rows == 2 * 4 * 4
    assert {"run", "seed", "reward", "regret", "rewards", "regrets"} <= set(table.column_names)
    assert not {name for name in table.column_names if "second" in name or "time" in name}


@pytest.mark.parametrize("part", ["runs", "problems"])
@pytest.mark.parametrize("how", ["edited", "cut short", "emptied"])
def test_a_damaged_file_is_named_and_mended_by_deleting_it(folder, part, how):
    file = sorted((folder / part).glob("*.parquet"))[0]
    content = file.read_bytes()
    whole = load(folder).digest
    middle = len(content) // 2
    damage = {
        "edited": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "cut short": content[:-7],
        "emptied": b"",
    }
    file.write_bytes(damage[how])
    for read in (load, lambda where: run(small(), where)):
        with pytest.raises(StorageError, match=file.name):
            read(folder)
    file.unlink()
    run(small(), folder)
    assert load(folder).digest == whole
    assert file.read_bytes() == content


@pytest.mark.parametrize("part", ["runs", "problems"])
def test_a_renamed_or_copied_file_is_named(folder, part):
    file = sorted((folder / part).glob("*.parquet"))[0]
    copy = file.with_name(f"aaaa-{file.stem.rpartition('-')[2]}.parquet")
    copy.write_bytes(file.read_bytes())
    with pytest.raises(StorageError, match=f"{copy.name} was renamed"):
        load(folder)


def test_the_same_runs_in_two_files_are_refused(tmp_path):
    run(small(), tmp_path / "four")
    run(small(seeds=5), tmp_path / "five")
    (file,) = (tmp_path / "five" / "runs").glob("*.parquet")
    (tmp_path / "four" / "runs" / file.name).write_bytes(file.read_bytes())
    with pytest.raises(StorageError, match=r"has runs that .* has too"):
        load(tmp_path / "four")


def test_an_edited_journal_is_named(folder):
    from driftmdp.experiments.journal import MAGIC, _record

    (folder / "journal").write_bytes(MAGIC + _record(b"not a run"))
    with pytest.raises(StorageError, match="journal was edited"):
        load(folder)


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "r" / "lock").mkdir(parents=True)
    with pytest.raises(StorageError, match="must be a folder that can be written to"):
        run(small(), tmp_path / "r")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes, and links need rights")
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/etc/hostname")], ids=["pipe", "link"])
def test_a_lock_that_is_no_file_is_refused_and_never_written_to(tmp_path, make):
    make(tmp_path / "lock")
    with pytest.raises(StorageError, match="must be a folder that can be written to"), folder_lock(tmp_path):
        pass


def test_an_edited_manifest_is_named_and_restored(folder):
    path = folder / "manifest.json"
    content = path.read_text()
    for wrong in (content.replace("small", "large", 1), content[:100], "[]", "{}"):
        path.write_text(wrong)
        with pytest.raises(StorageError, match=r"manifest\.json was damaged or edited"):
            load(folder)
    assert run(small(), folder).done == 0
    assert path.read_text() == content


def test_a_manifest_says_what_the_results_need(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["seeds"] == [0, 1, 2, 3]
    assert {"driftmdp", "numerics", "numpy", "numba", "python"} <= manifest["versions"].keys()
    assert "revision" in manifest
    assert not [key for key in manifest if "second" in key or "machine" in key]
    (session,) = Store(folder).sessions()
    assert {"seconds", "machine", "workers", "cells", "began"} <= session.keys()


def test_a_torn_last_session_is_left_out_and_the_next_begins_a_line(folder):
    with open(folder / "sessions.jsonl", "a") as file:
        file.write('{"began": "2026')
    run(small(seeds=5), folder)
    assert [session["done"] for session in Store(folder).sessions()] == [32, 8]


def test_two_processes_do_not_share_a_folder(folder):
    code = (
        "import sys\nfrom pathlib import Path\nfrom driftmdp.experiments.store import folder_lock\n"
        f"with folder_lock(Path({str(folder)!r})):\n    print('held', flush=True)\n    sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StorageError, match=f"is in use by process {other.pid} on"):
            run(small(seeds=5), folder)
        assert len(load(folder).runs) == 32  # reading is free
        other.kill()
    with folder_lock(folder):
        pass
    assert run(small(seeds=5), folder).done == 8


def test_a_folder_with_other_things_in_it_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StorageError, match=r"it has 'thesis\.txt'"):
        run(small(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(StorageError, match="it is a file"):
        run(small(), tmp_path / "thesis.txt")


def test_a_folder_without_results_is_not_read(tmp_path):
    with pytest.raises(StorageError, match=r"with a manifest\.json"):
        load(tmp_path)


FULL = """
import resource, sys
from driftmdp.errors import StorageError
from driftmdp.experiments import run
from tests.experiments.specs import small
limit = int(sys.argv[2])
run(small(seeds=1), sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    run(small(seeds=60), sys.argv[1], workers=1)
except StorageError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files are limited by setrlimit")
@pytest.mark.parametrize("limit", [2_000, pytest.param(9_000, marks=pytest.mark.slow), 40_000])
def test_a_full_disk_is_reported_and_nothing_is_corrupted(tmp_path, limit):
    folder = tmp_path / "results"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(folder), str(limit)], capture_output=True, text=True, check=True
    )
    assert "could not be written to" in done.stdout
    assert "Finished runs are kept" in done.stdout
    assert load(folder).digest
    run(small(seeds=60), folder)
    run(small(seeds=60), tmp_path / "other")
    assert load(folder).digest == load(tmp_path / "other").digest
    assert not list(folder.rglob(".*"))

"""A file is there whole or not at all, and an error says which."""

import os
import subprocess
import sys
import threading

import pytest

from driftmdp import files


def refuse(*arguments):
    raise OSError("Input/output error")


def test_what_is_in_place_is_no_error_if_its_folder_cannot_be_synced(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "sync_folder", refuse)
    files.write_whole(tmp_path / "a.txt", b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_what_cannot_be_put_in_place_leaves_what_stood_there(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(b"old")
    monkeypatch.setattr(files.os, "replace", refuse)
    with pytest.raises(OSError, match="Input/output"):
        files.write_whole(tmp_path / "a.txt", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"old")]


KILLED = """
import os, signal, sys
from pathlib import Path
from driftmdp import files
files.os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
files.write_whole(Path(sys.argv[1]), b"new")
"""


@pytest.mark.skipif(os.name != "posix", reason="processes are asked for with a signal")
def test_what_a_killed_process_left_behind_goes_with_the_next_write(tmp_path):
    # A defect once: temporary files of killed processes stay for ever.
    target = tmp_path / "orders [1].csv"
    subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    (left,) = tmp_path.iterdir()
    ours = f".{target.name}.{files.HOST}-{os.getpid()}-{'0' * 16}"
    theirs = left.name.replace(files.HOST, "00000000")
    if os.path.exists("/proc/self/stat"):  # our number, of a process that began at another time
        (tmp_path / f".{target.name}.{files.HOST}-{os.getpid()}-1-{'0' * 16}").write_bytes(b"")
    others = [tmp_path / name for name in (ours, theirs, ".orders [1].csv.bak")]
    for other in others:  # of a process that runs, of another host, and of another program
        other.write_bytes(b"")
    files.write_whole(tmp_path / "tomorrow.csv", b"")
    assert sorted(tmp_path.iterdir()) == sorted([*others, tmp_path / "tomorrow.csv"])


def test_two_who_write_at_once_both_write_a_whole_file(tmp_path):
    target, contents = tmp_path / "a.txt", [bytes([65 + n]) * 100_000 for n in range(4)]

    def write(content):
        for _ in range(10):
            files.write_whole(target, content)
            assert target.read_bytes() in contents

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert target.read_bytes() in contents
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]

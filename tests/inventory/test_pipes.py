"""Sales and counts that come through pipes, and from what is no file at all."""

import os
import subprocess
import threading
import time

import pytest

from driftmdp.inventory import file_content, read_counts
from tests.inventory.shops import refused


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_pipe_that_nobody_writes_to_is_given_up_on(tmp_path, monkeypatch):
    # A defect once: it is waited for until someone writes, for ever.
    monkeypatch.setattr(file_content, "PIPE_TIMEOUT_SECONDS", 0.2)
    os.mkfifo(tmp_path / "pipe")
    with refused("pipe must have a header and lines below it; it is empty"):
        read_counts(tmp_path / "pipe")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_pipe_is_read_to_its_end_however_slowly_it_comes(tmp_path, monkeypatch):
    # A defect once: a file is read twice, and the second time a pipe is empty.
    monkeypatch.setattr(file_content, "PIPE_TIMEOUT_SECONDS", 0.1)
    os.mkfifo(tmp_path / "pipe")

    def write():
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            for part in (b"sku,st", b"ock\nA,", b"3\n"):
                time.sleep(0.25)
                pipe.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        _, (count,) = read_counts(tmp_path / "pipe")
    finally:
        writer.join()
    assert (count.sku, count.stock) == ("A", 3)


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="open files have names there")
def test_what_another_command_prints_can_be_read(tmp_path):
    ours, theirs = os.pipe()
    os.write(theirs, b"sku,stock\nA,3\n")
    os.close(theirs)
    try:
        _, (count,) = read_counts(f"/dev/fd/{ours}")
    finally:
        os.close(ours)
    assert (count.sku, count.stock) == ("A", 3)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_what_is_too_large_or_never_ends_is_refused(tmp_path, file, monkeypatch):
    monkeypatch.setattr(file_content, "LARGEST_FILE", 1 << 20)
    with refused("must have at most 1 MB; it has more"):
        read_counts(file("sku,stock\n" + "A,1\n" * 300_000))
    with subprocess.Popen(["yes", "A,1"], stdout=subprocess.PIPE) as endless:
        with refused("must have at most 1 MB; it has more"):
            read_counts(f"/dev/fd/{endless.stdout.fileno()}")
        endless.kill()
    for device in ("/dev/zero", "/dev/null", "/dev/tty"):
        with refused(device):
            read_counts(device)

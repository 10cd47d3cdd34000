"""A file is there whole or not at all, and an error says which."""

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

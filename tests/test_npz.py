"""Files of arrays, of worlds and of agents alike, are read without trusting them."""

import io
import os
import re
import zipfile

import numpy as np
import pytest

import driftmdp as dm
from driftmdp import interchange, npz
from driftmdp.errors import InvalidInputError

LOADERS = {"world": interchange.load, "agent": dm.agents.load}


@pytest.fixture
def small_limit(monkeypatch):
    monkeypatch.setattr(npz, "SMALL_FILE_BYTES", 1 << 16)


def saved(kind, path):
    if kind == "world":
        interchange.save(dm.problems.two_state(horizon=100).drifting, path)
    else:
        dm.agents.UCRL2(dm.Space.uniform(2, 2), horizon=100).save(path)


def with_member(content, name, array, compression=zipfile.ZIP_DEFLATED):
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a", compression) as archive, archive.open(name, "w") as member:
        np.lib.format.write_array(member, array)
    return file.getvalue()


@pytest.mark.parametrize("kind", LOADERS)
def test_a_small_file_that_unpacks_to_much_is_refused_with_the_sizes(kind, small_limit, tmp_path):
    path = tmp_path / "bomb.npz"
    saved(kind, path)
    path.write_bytes(with_member(path.read_bytes(), "zeros.npy", np.zeros(10**6)))
    size = path.stat().st_size
    assert size < 20_000
    sentence = f"must unpack to at most {max(1 << 16, 20 * size):,} bytes, as it has {size:,}; it declares 8,0"
    with pytest.raises(InvalidInputError, match=re.escape(sentence)):
        LOADERS[kind](path)


def test_the_bound_is_a_few_hundred_megabytes_for_small_files():
    assert npz.SMALL_FILE_BYTES <= 1 << 28
    assert npz.MAX_EXPANSION * (2 << 20) < npz.SMALL_FILE_BYTES


@pytest.mark.parametrize("kind", LOADERS)
def test_other_compressions_are_refused(kind, tmp_path):
    path = tmp_path / "bomb.npz"
    saved(kind, path)
    path.write_bytes(with_member(path.read_bytes(), "zeros.npy", np.zeros(10**5), zipfile.ZIP_BZIP2))
    with pytest.raises(InvalidInputError, match="it is not one, or it is damaged"):
        LOADERS[kind](path)


def test_a_valid_world_that_compresses_well_can_be_read_again(small_limit, tmp_path):
    world = dm.DriftingMdp.stationary(dm.problems.river_swim().drifting.at(1), 10**5)
    interchange.save(world, tmp_path / "long.npz")
    assert (tmp_path / "long.npz").stat().st_size > 4 * 10**5  # stored as it is
    assert interchange.load(tmp_path / "long.npz").horizon == 10**5


@pytest.mark.parametrize("kind", LOADERS)
def test_objects_are_refused(kind, tmp_path):
    path = tmp_path / "pickle.npz"
    saved(kind, path)
    path.write_bytes(with_member(path.read_bytes(), "objects.npy", np.array([{}], object)))
    with pytest.raises(InvalidInputError, match="it is not one, or it is damaged"):
        LOADERS[kind](path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("kind", LOADERS)
def test_a_pipe_is_refused_at_once(kind, tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(InvalidInputError, match="can be read; it is not a regular file"):
        LOADERS[kind](tmp_path / "pipe.npz")

import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import driftmdp
from driftmdp import kernels

SOURCES = Path(driftmdp.__file__).parent
PROBE = """
import pkgutil

import numpy as np
from driftmdp.kernels import hitting_times
from driftmdp.kernels.arrays import Model
rows = np.arange(3, dtype=np.int32)
model = Model(rows, np.zeros(2), rows, np.array([1, 0], np.int32), np.ones(2))
residual, _ = hitting_times.improve(model, 0, np.array([0.0, 5.0]), np.zeros(2, np.int32))
stats = hitting_times.improve.stats
print(residual, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def copy(tmp_path):
    """A copy of the package that may be edited, with a cache of its own."""
    shutil.copytree(SOURCES, tmp_path / "driftmdp", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def probe() -> tuple[float, int, int]:
        out = subprocess.run(
            [sys.executable, "-c", PROBE], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        residual, hits, misses = out.stdout.split()
        return float(residual), int(hits), int(misses)

    return tmp_path, probe


def test_a_second_process_does_not_compile_and_an_edit_elsewhere_is_seen(copy):
    folder, probe = copy
    assert probe() == (4.0, 0, 1)
    assert probe() == (4.0, 1, 0)
    source = folder / "driftmdp" / "kernels" / "bellman.py"
    text = source.read_text()
    edited = text.replace("total += model.data[z] * (values[", "total += 3.0 * model.data[z] * (values[")
    assert edited != text
    source.write_text(edited)
    residual, hits, misses = probe()
    assert (hits, misses) == (0, 1)
    assert residual == 14.0


def test_every_kernel_releases_the_gil_and_rounds_as_written():
    for module in pkgutil.iter_modules(kernels.__path__):
        for function in vars(getattr(kernels, module.name)).values():
            if hasattr(function, "py_func"):
                assert function.targetoptions["nogil"]
                assert not function.targetoptions.get("fastmath", False)


def test_an_unwritable_cache_falls_back_to_a_temporary_one(monkeypatch, tmp_path):
    from driftmdp.kernels import _compile

    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    found = _compile.cache_directory.__wrapped__()
    assert found.is_dir()
    assert blocked not in found.parents


def test_unknown_kernels_are_attribute_errors():
    with pytest.raises(AttributeError, match="nothing"):
        _ = kernels.nothing


def test_dense_solve_equals_numpy():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 40):
        matrix, vector = rng.normal(size=(n, n)), rng.normal(size=n)
        expected = np.linalg.solve(matrix, vector)
        kernels.policy_iteration.solve_dense(matrix, vector)
        np.testing.assert_allclose(vector, expected, rtol=1e-8)


needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders to another user"
)


def chosen_directory(monkeypatch, tmp_path):
    """Where machine code is read from if the home cache cannot be written and TMPDIR is ``tmp_path``."""
    from driftmdp.kernels import _compile

    blocked = tmp_path / "no-folder"
    blocked.write_text("")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return _compile.cache_directory.__wrapped__()


def planted_directory(tmp_path):
    from driftmdp.kernels import _compile

    planted = tmp_path / f"driftmdp-{_compile._user()}"
    (planted / f"kernels-{_compile.sources_hash()}").mkdir(parents=True)
    return planted


def test_a_temporary_cache_of_ones_own_is_used_again(monkeypatch, tmp_path):
    first = chosen_directory(monkeypatch, tmp_path)
    assert first == chosen_directory(monkeypatch, tmp_path)
    assert first.stat().st_mode & 0o777 == 0o700
    assert first.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("depth", ["folder", "inner"])
def test_a_cache_that_others_can_write_to_is_not_read(monkeypatch, tmp_path, depth):
    planted = planted_directory(tmp_path)
    (planted if depth == "folder" else next(planted.iterdir())).chmod(0o777)
    with pytest.warns(UserWarning, match="must be writable by you only"):
        assert planted not in chosen_directory(monkeypatch, tmp_path).parents


@needs_root
@pytest.mark.parametrize("depth", ["folder", "inner", "link"])
def test_a_cache_of_another_user_is_not_read(monkeypatch, tmp_path, depth):
    planted = planted_directory(tmp_path)
    if depth == "link":
        planted = planted.rename(tmp_path / "elsewhere")
        link = tmp_path / f"driftmdp-{os.geteuid()}"
        link.symlink_to(planted)
        os.chown(link, 12345, 12345, follow_symlinks=False)
    else:
        os.chown(planted if depth == "folder" else next(planted.iterdir()), 12345, 12345)
    with pytest.warns(UserWarning, match="must be writable by you only"):
        found = chosen_directory(monkeypatch, tmp_path)
    assert planted not in found.resolve().parents
    assert found.is_dir()


@needs_root
def test_a_named_cache_of_another_user_is_not_read(monkeypatch, tmp_path):
    from driftmdp.kernels import _compile

    os.chown(tmp_path, 12345, 12345)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with pytest.warns(UserWarning, match="NUMBA_CACHE_DIR"):
        assert tmp_path not in _compile.cache_directory.__wrapped__().parents


def test_a_named_cache_may_be_the_temporary_folder_of_all(monkeypatch, tmp_path):
    from driftmdp.kernels import _compile

    tmp_path.chmod(0o1777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert _compile.cache_directory.__wrapped__().parent == tmp_path

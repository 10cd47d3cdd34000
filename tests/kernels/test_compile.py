import os
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
import numpy as np
from driftmdp.kernels import hitting
from driftmdp.kernels.arrays import Model
rows = np.arange(3, dtype=np.int32)
model = Model(rows, np.zeros(2), rows, np.array([1, 0], np.int32), np.ones(2))
residual, _ = hitting.improve(model, 0, np.array([0.0, 5.0]), np.zeros(2, np.int32))
stats = hitting.improve.stats
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
    for name in kernels.__all__:
        for function in vars(getattr(kernels, name)).values():
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
        kernels.elimination.solve_dense(matrix, vector)
        np.testing.assert_allclose(vector, expected, rtol=1e-8)

"""Machine code on disk: read where it belongs, made again everywhere else, and never anybody else's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import driftmdp
from driftmdp.compiler import cache, kernel

SOURCES = Path(driftmdp.__file__).parent
PROBE = """
import numpy as np
from driftmdp.compiler import machine
compiled = []
assemble = machine.assemble
machine.assemble = lambda text: compiled.append(text) or assemble(text)
CHANGE
from driftmdp.kernels import hitting_times
from driftmdp.kernels.arrays import Model
rows = np.arange(3, dtype=np.int32)
model = Model(rows, np.zeros(2), rows, np.array([1, 0], np.int32), np.ones(2))
residual, _ = hitting_times.improve(model, 0, np.array([0.0, 5.0]), np.zeros(2, np.int32))
print(residual, len(compiled))
"""
OTHER_PROCESSOR = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be edited, with a cache of its own."""
    shutil.copytree(SOURCES, tmp_path / "driftmdp", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def probe(package, change="", **settings):
    """Return what a fresh process computes, and how many modules it compiles for that."""
    folders = {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(package / "cache")}
    code = PROBE.replace("CHANGE", change)
    environment = {**os.environ, **folders, **settings}
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=package, capture_output=True, text=True, check=True
    )
    residual, compiled = out.stdout.split()
    return float(residual), int(compiled)


def test_a_second_process_does_not_compile_and_edits_are_seen(package):
    assert probe(package) == (4.0, 1)
    assert probe(package) == (4.0, 0)
    for file, old, new, residual in (
        ("kernels/bellman.py", "+= model.data[z] * (values[", "+= 3.0 * model.data[z] * (values[", 14.0),
        ("compiler/translate.py", "import ast\n", "import ast  # edited\n", 14.0),
    ):
        source = package / "driftmdp" / file
        text = source.read_text()
        assert old in text
        source.write_text(text.replace(old, new))
        assert probe(package) == (residual, 1)


def test_an_edit_while_a_process_runs_is_neither_compiled_nor_kept(package):
    """What was loaded and what is on disk are two functions then."""
    file = str(package / "driftmdp" / "kernels" / "bellman.py")
    edit = (
        "s = pathlib.Path(F); s.write_text(s.read_text().replace('model.data[z] * (v', '3.0 * model.data[z] * (v'))"
    )
    with pytest.raises(subprocess.CalledProcessError) as caught:
        probe(
            package, f"import pathlib; from driftmdp.kernels import hitting_times; {edit.replace('F', repr(file))}"
        )
    assert "as it was when it was loaded" in caught.value.stderr
    assert probe(package) == (14.0, 1)


def test_the_type_of_a_result_is_part_of_its_name(package):
    module = package / "counted.py"
    lines = (
        "import numpy as np",
        "from driftmdp.compiler import kernel",
        "@kernel",
        "def zeros(n: int) -> np.ndarray:",
    )
    for kind in ("int8", "uint8"):
        module.write_text("\n".join([*lines, f"    return np.zeros(n, np.{kind})"]))
        code = "import counted; print(counted.zeros(2).dtype)"
        environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(package / "cache")}
        command = [sys.executable, "-B", "-c", code]
        out = subprocess.run(command, env=environment, cwd=package, capture_output=True, text=True, check=True)
        assert out.stdout == f"{kind}\n"


def test_a_warmed_folder_may_be_read_only(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = cache.cache_directory.__wrapped__()
    (folder / "warmed").touch()

    def refuse(*args, **keywords):
        raise OSError("read-only")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    assert cache.cache_directory.__wrapped__() == folder
    (folder / "warmed").unlink()
    assert cache.cache_directory.__wrapped__() != folder


def test_machine_code_of_another_machine_is_never_read(package):
    """Neither another processor's nor another llvmlite's: each has a folder of its own, and the same numbers."""
    assert probe(package, **OTHER_PROCESSOR) == (4.0, 1)
    assert probe(package) == (4.0, 1)
    assert probe(package, "import llvmlite; llvmlite.__version__ = '0.0'") == (4.0, 1)
    assert len(list((package / "cache").iterdir())) == 3
    assert probe(package) == (4.0, 0)


@pytest.mark.parametrize(
    "damage",
    [
        lambda code: code[: len(code) // 2],
        lambda code: b"",
        lambda code: code[:-1] + bytes([code[-1] ^ 1]),
        lambda code: bytes(32) + code[32:],
        lambda code: code + b"more",
    ],
    ids=["cut", "empty", "flipped", "digest", "longer"],
)
def test_a_damaged_file_is_made_again(monkeypatch, tmp_path, damage):
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path)

    def made():
        @kernel
        def answer(x):
            return x * 42

        return answer

    assert made()(2) == 84
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert cache.read(file.name) is None
    assert made()(2) == 84
    assert cache.read(file.name) is not None
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_tuples_that_only_look_alike_do_not_share_machine_code(monkeypatch, tmp_path):
    """Fields may be named in another order in a class that the folder's name does not stand for."""
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path)

    def tuple_with(*names):
        class Pair(NamedTuple(f"Pair{names[0]}", [(name, float) for name in names])):  # type: ignore[misc]
            """Two numbers."""

        return Pair

    def first(pair):
        return pair.x

    first.__module__ = "driftmdp.kernels.somewhere"
    for names, expected in ((("x", "y"), 1.0), (("y", "x"), 2.0)):
        pair = tuple_with(*names)(1.0, 2.0)
        assert kernel(first)(pair) == expected
    assert len(list(tmp_path.iterdir())) == 2


def test_a_result_without_a_name_is_not_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path)

    class Local(NamedTuple):
        x: float

    @kernel
    def same(pair):
        return pair

    for _ in range(2):
        assert same(Local(1.5)) == Local(1.5)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_kept_of_sources_that_were_edited_meanwhile(monkeypatch, tmp_path):
    """The folder is named after the sources as they were, and they may come back."""
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path)
    cache.sources_hash()
    monkeypatch.setattr(cache, "_hash_sources", lambda: "another")

    @kernel
    def answer(x):
        return x * 44

    assert answer(2) == 88
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_no_obstacle(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path / "gone")

    @kernel
    def answer(x):
        return x * 43

    assert answer(2) == 86


# the folder -------------------------------------------------------------------------------------------------


def directory():
    """Return the folder, chosen afresh."""
    return cache.cache_directory.__wrapped__()


def test_an_unwritable_cache_falls_back_to_a_temporary_one(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    found = directory()
    assert found.is_dir()
    assert blocked not in found.parents


needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders to another user"
)


def chosen_directory(monkeypatch, tmp_path):
    """Where machine code is read from if the home cache cannot be written and TMPDIR is ``tmp_path``."""
    blocked = tmp_path / "no-folder"
    blocked.write_text("")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return directory()


def planted_directory(tmp_path):
    planted = tmp_path / f"driftmdp-{cache._user()}"
    (planted / cache.folder_name()).mkdir(parents=True)
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
    os.chown(tmp_path, 12345, 12345)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with pytest.warns(UserWarning, match="NUMBA_CACHE_DIR"):
        assert tmp_path not in directory().parents


def test_a_named_cache_may_be_the_temporary_folder_of_all(monkeypatch, tmp_path):
    tmp_path.chmod(0o1777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert directory().parent == tmp_path


def test_every_module_of_kernels_stands_in_the_folders_name():
    """Kernels take constants only from modules whose text is hashed, or an edit there would not be seen."""
    import pkgutil

    from driftmdp import kernels
    from driftmdp.compiler import Kernel

    for module in pkgutil.iter_modules(kernels.__path__):
        loaded = getattr(kernels, module.name)
        for found in [item for item in vars(loaded).values() if isinstance(item, Kernel)]:
            names = set(found.py_func.__code__.co_names) & vars(loaded).keys()
            for name in names:
                where = getattr(vars(loaded)[name], "__module__", None)
                allowed = ("driftmdp.kernels", "numpy", "math", "builtins", "_operator")
                assert where is None or where.startswith(allowed) or isinstance(vars(loaded)[name], np.generic)

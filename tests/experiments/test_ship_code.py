"""A user's own code on a worker: what is imported there is what was sent, or runs say what stands in its way."""

import pickle
import subprocess
import sys

import pytest

from driftmdp.experiments.ship_code import with_user_code

WORKER = """
import pickle, sys, tempfile
from pathlib import Path
sys.path[0:0] = sys.argv[2:]
call = pickle.loads(Path(sys.argv[1]).read_bytes())
for _ in range(3):
    try:
        print(call(-3))
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
from driftmdp.experiments.ship_code import _root
print(len(list(Path(_root().name).iterdir())))
"""


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """Return a function that was packed here: an agent in a package, and a helper beside that package."""
    here = tmp_path / "here"
    (here / "shipped_pack").mkdir(parents=True)
    (here / "shipped_helper.py").write_text("VALUE = 0\n")
    (here / "shipped_pack" / "agent.py").write_text("from shipped_helper import VALUE\nclass Mine: pass\n")
    monkeypatch.syspath_prepend(here)
    try:
        call = with_user_code(abs, ["shipped_pack.agent:Mine"])
    finally:
        for name in ("shipped_pack.agent", "shipped_pack", "shipped_helper"):
            sys.modules.pop(name, None)
    (tmp_path / "call").write_bytes(pickle.dumps(call))
    return call


def there(tmp_path, *path):
    command = [sys.executable, "-c", WORKER, tmp_path / "call", *path]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout.splitlines()


def test_a_package_travels_with_what_stands_beside_it(tmp_path, sent):
    assert [path for path, _ in sent.files] == ["shipped_helper.py", "shipped_pack/agent.py"]
    assert there(tmp_path) == ["3", "3", "3", "1"]
    assert there(tmp_path, tmp_path / "here") == ["3", "3", "3", "1"]  # the same files elsewhere are fine


def test_another_helper_in_the_way_is_named(tmp_path, sent):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "shipped_helper.py").write_text("VALUE = 1\n")
    *said, folders = there(tmp_path, tmp_path / "other")
    place = tmp_path / "other" / "shipped_helper.py"
    words = f"InvalidInputError: shipped_helper must be the same on every worker; one has another in {place}. "
    assert len(said) == 3
    assert all(line.startswith(words) for line in said)
    assert folders == "1"  # it is not unpacked again for every run


def test_code_that_cannot_be_imported_there_is_said_so(tmp_path, sent):
    files = tuple((path, content) for path, content in sent.files if path != "shipped_helper.py")
    (tmp_path / "call").write_bytes(pickle.dumps(type(sent)(sent.function, files, sent.digests)))
    assert there(tmp_path)[0].startswith(
        "InvalidInputError: shipped_pack.agent:Mine must be importable on every worker"
    )


def test_the_library_itself_does_not_travel():
    assert with_user_code(abs, ["driftmdp.agents:Random"]).files == ()

"""With NUMBA_BOUNDSCHECK=1 a kernel that leaves its arrays stops the process, and says where."""

import os
import subprocess
import sys

import pytest

PROBE = """
import numpy as np
from driftmdp.compiler import kernel

@kernel
def look(a, b, i, j):
    if j == 0:
        return a[i]
    elif j == 1:
        return b[0, i]
    elif j == 2:
        part = a[i:]
    elif j == 3:
        part = a[2:i]
    else:
        a[
            i] = 1.0
        part = a[:-1]
    return part[0]

for i, j in WHERE:
    print(look(np.arange(4.0), np.ones((2, 3)), i, j), flush=True)
"""


def run(tmp_path, *where, **settings):
    """Look at these places in a process of its own."""
    file = tmp_path / "outside.py"
    file.write_text(PROBE.replace("WHERE", repr(where)))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **settings}
    return subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("i", "j", "line"),
    [(4, 0, 8), (-1, 1, 10), (5, 2, 12), (1, 3, 14), (9, 4, 16), (4, 2, 19)],
    ids=["beyond", "before", "a slice begins beyond", "a slice ends before it begins", "written", "an empty part"],
)
def test_an_index_outside_stops_the_process(tmp_path, i, j, line):
    done = run(tmp_path, (0, 0), (i, j), NUMBA_BOUNDSCHECK="1")
    assert done.returncode != 0
    assert f"__main__.look, line {line}: an index is outside its array\n" in done.stderr
    assert done.stdout == "0.0\n"


def test_an_index_inside_does_not(tmp_path):
    done = run(tmp_path, (3, 0), (2, 1), (3, 2), (3, 3), (0, 4), NUMBA_BOUNDSCHECK="1")
    assert (done.stdout.split(), done.stderr) == (["3.0", "1.0", "3.0", "2.0", "1.0"], "")

"""One step of SWUCRL2-CW can be followed as Python through few files, and is the step that runs compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.traced_steps import simulated

MOST_FILES = 7


@pytest.fixture(scope="module")
def uncompiled():
    """Return a run, and the files of its steps that plan, live and in the loop, all in plain Python."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "tests.agents.traced_steps"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_run_is_the_compiled_one_to_the_last_bit(uncompiled):
    assert uncompiled[0] == simulated()
    assert max(uncompiled[0]["sweeps"]) > 1


@pytest.mark.parametrize("kind", ["live", "loop"])
def test_a_step_that_plans_goes_through_at_most_seven_files(uncompiled, kind):
    _, live, loop = uncompiled
    plans = live if kind == "live" else loop
    assert len(plans) > 5
    longest = max(plans, key=len)
    assert len(longest) <= MOST_FILES, longest

"""A real notebook: what it shows of our objects, and how it shows progress."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

CELLS = [
    "import driftmdp as dm\nproblem = dm.problems.two_state(horizon=100)\nproblem",
    "problem.drifting.at(1)",
    "run = dm.simulate(dm.agents.Random(problem.space), problem, seed=1)\nrun",
    """
spec = dm.experiments.parse_spec('''
seeds = 3
problems = [{name = "two-state", parameters = {horizon = 50}}]
agents = [{name = "Random"}]
''')
dm.experiments.run(spec, "results", progress=True)
""",
    "dm.experiments.load('results')",
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell, run by this interpreter with this source tree."""
    folder = tmp_path_factory.mktemp("notebook")
    command = [sys.executable, HERE / "run_notebook.py", folder, json.dumps([cell.strip() for cell in CELLS])]
    own = os.environ | {"PYTHONPATH": str(HERE.parent / "src"), "IPYTHONDIR": str(folder / "ipython")}
    ran = subprocess.run(command, env=own, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    cells = json.loads((folder / "done.ipynb").read_text())["cells"]
    return [cell["outputs"] for cell in cells]


def text_of(bundle, kind):
    return "".join(bundle[kind])


def test_objects_show_a_table_and_a_line(outputs):
    shows = {0: "Problem two-state-v1", 1: "Mdp: 2 states", 2: "Run of Random", 4: "mean regret"}
    lines = {0: "Problem(", 1: "<Mdp: 2 states", 2: "Run(agent='Random'", 4: "<Results of"}
    for cell, words in shows.items():
        (shown,) = [output["data"] for output in outputs[cell] if output["output_type"] == "execute_result"]
        assert words in text_of(shown, "text/html")
        assert text_of(shown, "text/plain").startswith(lines[cell])


def test_progress_is_one_bar_that_ends_full(outputs):
    (bar,) = [output["data"] for output in outputs[3] if output["output_type"] == "display_data"]
    assert '<progress value="3" max="3"' in text_of(bar, "text/html")
    assert "3 of 3 runs in" in text_of(bar, "text/plain")
    assert not [output for output in outputs[3] if output["output_type"] == "stream"]

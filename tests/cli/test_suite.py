"""``driftmdp suite``."""

import sys
from pathlib import Path

import pytest

from driftmdp.experiments import load
from driftmdp.suite import WrittenLeaderboard, read_leaderboard
from tests.suite.suites import tiny_suite

MINE = """
class Mine:
    def __init__(self, problem, action=0):
        self.action = action
    def reset(self, rng):
        pass
    def act(self, state):
        return self.action
    def observe(self, reward, next_state, action=None):
        pass
"""


@pytest.fixture(autouse=True)
def _tiny(monkeypatch):
    monkeypatch.setattr("driftmdp.cli.suite.packaged_suite", tiny_suite)
    monkeypatch.setattr("driftmdp.suite.timing.FAST_AGENT_SECONDS", 0.0)


@pytest.fixture
def mine(tmp_path):
    """A file with an agent, in the current folder, of which this process forgets what it imported."""
    yield tmp_path / "agents_of_mine.py"
    sys.path.remove(str(tmp_path))
    sys.modules.pop("agents_of_mine", None)


def test_some_of_the_suite_and_then_no_more(call):
    words = ("suite", "--quick", "--only", "nothing-*,bandit-*", "--only", "bandit-200")
    code, _, said = call(*words)
    assert code == 2
    assert "--only must fit the folder of a problem; got 'nothing-*'." in said
    code, printed, said = call("suite", "--quick", "--only", "bandit-*,bandit-200")
    assert code == 0
    assert "1 problem and 3 agents, about 9 runs, go into out/suite-quick" in said
    assert "Hindsight" in printed
    assert "out/suite-quick/index.html" in printed
    assert call("suite", "--quick")[:2] == (0, printed)


def without_page(folder):
    """Read the results, and draw nothing."""
    return WrittenLeaderboard(Path(folder) / "index.html", Path(), [], read_leaderboard(folder))


def test_an_agent_of_ones_own_joins_and_runs_again_when_its_code_changed(call, mine, monkeypatch):
    words = ("suite", "--only", "bandit-200")
    own = (*words, "--agent", "agents_of_mine:Mine(action=1)", "--agent", "UCRL2(scale=0.3)")

    def runs_done():
        return [session["done"] for session in load("out/suite/bandit-200/fresh").sessions]

    mine.write_text(MINE)
    code, printed, _ = call(*own)
    assert code == 0
    assert "Mine(action=1)" in printed
    assert "UCRL2(scale=0.3)" in printed
    assert "Mine(action=1)" in Path("out/suite/index.html").read_text("utf-8")
    monkeypatch.setattr("driftmdp.cli.suite.write_leaderboard", without_page)
    assert "Mine" not in call(*words)[1]
    assert call(*own)[:2] == (0, printed)
    mine.write_text(f"{MINE}# edited\n")
    sys.modules.pop("agents_of_mine")
    assert call(*own)[:2] == (0, printed)
    assert runs_done()[1:] == [0, 0, 2]


def test_an_agent_that_fails_loses_nothing_of_the_others(call, mine, monkeypatch):
    monkeypatch.setattr("driftmdp.cli.suite.write_leaderboard", without_page)
    mine.write_text(
        MINE.replace("pass\n    def act", "self.t = 0\n    def act").replace(
            "return self.action",
            "self.t += 1\n        if self.t > 100: raise SystemExit('not today')\n        return 0",
        )
    )
    own = ("--agent", "agents_of_mine:Mine")
    code, printed, said = call("suite", "--only", "bandit-200", *own)
    assert code == 1
    assert "2 runs FAILED; the first: Mine in Bandit: RuntimeError: SystemExit('not today')" in said
    assert "Adaptive" in printed
    assert "Mine" not in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--agent", "agents_of_mine:Mine(action=7)"),
            "'Mine(action=7)', failed in the first steps of the problem",
        ),
        (("--agent", "agents_of_mine:Nine"), "has no attribute 'Nine'. Did you mean 'Mine'?"),
        (
            ("--agent", "./agents_of_mine.py:Mine"),
            "Write the module as an import does, such as 'agents_of_mine:Mine'",
        ),
        (("--engine", "steam"), "engine must be one of"),
        (("--out", "agents_of_mine.py/new"), "--out must be a folder"),
        (("--quick", "--only", "perils-*"), "Leave out --quick"),
    ],
)
def test_a_mistake_is_said_before_anything_is_run(call, mine, words, message):
    mine.write_text(MINE)
    allowed = ("--agent", "agents_of_mine:Mine") if "--agent" not in words else ()
    code, printed, said = call("suite", *allowed, *words)
    assert (code, printed) == (2, "")
    assert message in said
    assert not Path("out").exists()


def test_an_agent_that_does_not_fit_a_problem_is_left_out_there(call, mine, monkeypatch):
    monkeypatch.setattr("driftmdp.cli.suite.write_leaderboard", without_page)
    refusal = "if problem.space.n_states > 1: raise ValueError('one state only')"
    mine.write_text(MINE.replace("self.action = action", f"self.action = action\n        {refusal}"))
    own = ("--agent", "agents_of_mine:Mine")
    code, _, said = call("suite", "--only", "two-state-*", *own)
    assert code == 2
    assert "'Mine', cannot be made for the problem 'two-state (v_r=T^0.2)': ValueError: one state only" in said
    code, printed, said = call("suite", "--only", "bandit-200,perils-200", *own)
    assert code == 1
    assert "1 run FAILED; the first: Mine in Perils:" in said
    assert "Mine" in printed

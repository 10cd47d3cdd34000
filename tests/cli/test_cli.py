import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from driftmdp.simulation.run import VACUOUS_ADVICE
from tests.experiments.specs import SMALL


def test_from_init_to_a_page(call, tmp_path):
    assert call("init") == (0, "spec.toml\n", "Run it: driftmdp run spec.toml\n")
    spec = (tmp_path / "spec.toml").read_text()
    (tmp_path / "spec.toml").write_text(
        spec.replace("horizon = 2000", "horizon = 100").replace("seeds = 20", "seeds = 3")
    )
    code, out, err = call("run", "spec.toml")
    assert code == 0
    assert out.splitlines()[0].split() == [
        "problem",
        "agent",
        "seeds",
        "reward",
        "[95%]",
        "dynamic",
        "regret",
        "[95%]",
    ]
    assert len(out.splitlines()) == 13
    assert "36 runs done, none failed; results in out/spec" in err
    assert err.splitlines()[-1] == "Look at them: driftmdp report out/spec"
    code, out, err = call("report", "out/spec")
    assert (code, out) == (0, "out/spec/report/index.html\n")
    assert (tmp_path / "out/spec/report/index.html").read_text().startswith("<!DOCTYPE html>")
    code, out, err = call("run", "spec.toml")
    assert "36 of 36 runs are there already." in err
    assert "0 runs done, 36 were there, none failed" in err


def test_one_run_and_vacuous_plans_are_said_below_the_table(call, tmp_path):
    (tmp_path / "one.toml").write_text(
        'seeds = 1\nproblems = [{name = "two-state", parameters = {horizon = 100}}]\nagents = [{name = "UCRL2"}]\n'
    )
    _, out, err = call("run", "one.toml")
    assert "vacuous" not in out
    assert err.splitlines()[-3:] == [
        f"All plans, or nearly all, of UCRL2 were {VACUOUS_ADVICE}",
        "1 run done, none failed; results in out/one",
        "Look at them: driftmdp report out/one",
    ]
    _, _, err = call("run", "one.toml")
    assert "1 of 1 run is there already." in err
    assert "0 runs done, 1 was there, none failed" in err


def test_init_never_overwrites(call, tmp_path):
    (tmp_path / "spec.toml").write_text("mine")
    code, _, err = call("init")
    assert code == 2
    assert err == "error: spec.toml must not be there yet; nothing was changed. Name another file.\n"
    assert (tmp_path / "spec.toml").read_text() == "mine"


def test_lists(call):
    code, out, _ = call("list", "problems")
    assert code == 0
    assert any(line.startswith("two-state-v1  ") for line in out.splitlines())
    _, out, _ = call("list", "agents")
    assert {line.split()[0] for line in out.splitlines()} >= {"SWUCRL2CW", "BORL", "UCRL2"}
    code, _, err = call("list", "problem")
    assert code == 2
    assert "Did you mean 'problems'?" in err


@pytest.mark.parametrize(
    "name", ["two-state", "two-state-v1", "SWUCRL2CW", "UCRL2S", "Random", "inventory", "Oracle"]
)
def test_show_has_parameters_defaults_and_the_reference(call, name):
    code, out, _ = call("show", name)
    assert code == 0
    assert "Parameters in a spec" in out
    if name in {"two-state", "SWUCRL2CW", "UCRL2S"}:
        assert re.search(r"\[(CSZ20|JOA10)\] .*20\d0\.", out)
    if name == "SWUCRL2CW":
        assert "  scale = 1.0\n" in out
        assert "  window = chosen for the problem\n" in out
        assert "  reward_range = the problem's\n" in out
        assert 'such as "printed" and "order"' in " ".join(out.replace("`", "").split())
        assert "  budgets = 'exact'\n" in out
        assert "seed" not in out.partition("Parameters in a spec")[2].partition("Reference")[0].split()
    assert ">>>" not in out


def test_show_offers_raw_rewards_where_they_are_taken_and_whole_references(call):
    _, takes, _ = call("show", "KLUCRL")
    _, refuses, _ = call("show", "Detecting")
    assert '"raw"' in takes
    assert '"raw"' not in refuses
    assert "2025, arXiv:2501.19401.\n" in refuses  # its dot in the middle ends nothing
    assert re.search(r"\[BKMS22\] .*JMLR 23, 2022\.\n", refuses)  # the entry before it ends without a year


def test_show_of_an_agent_of_ones_own_leaves_out_the_problem(call, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_bold.py").write_text(
        "class Bold:\n"
        "    def __init__(self, world, step=0.1): pass\n"
        "    def reset(self, rng): pass\n"
        "    def act(self, state): return 0\n"
        "    def observe(self, reward, next_state, action=None): pass\n"
    )
    code, out, _ = call("show", "own_bold:Bold")
    assert (code, out) == (0, "own_bold:Bold\n\nParameters in a spec\n  step = 0.1\n")


def test_show_suggests_the_nearest_name(call):
    code, _, err = call("show", "SWUCRL2-CW")
    assert code == 2
    assert "There is no problem or agent 'SWUCRL2-CW'. Did you mean 'SWUCRL2CW'?" in err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "nothing.toml"], 2, "nothing.toml must be a file that can be read"),
        (["run", "wrong.toml"], 2, "wrong.toml: seed is no key here; got 3. Did you mean 'seeds'?"),
        (["report", "nowhere"], 1, "nowhere must be a folder of results"),
        (["run", "good"], 2, "Did you mean good.toml?"),
        (["report", "."], 1, "`driftmdp run` makes such folders."),
        (["run", "good.toml", "--engine", "thread"], 2, "'auto', 'threads', 'processes'"),
        (["run", "good.toml", "--workers", "0"], 2, "--workers"),
        (["run", "good.toml", "--out", "good.toml"], 1, "it is a file"),
        (["rum"], 2, "No such command 'rum'"),
        (["report", "done", "--baseline", "Randm"], 2, "Did you mean 'Random'?"),
    ],
)
def test_mistakes_are_one_sentence(call, tmp_path, words, code, said):
    (tmp_path / "wrong.toml").write_text(SMALL.replace("seeds = 4", "seed = 3"))
    (tmp_path / "good.toml").write_text(SMALL)
    if words[1:2] == ["done"]:
        call("run", "good.toml", "--out", "done")
    found, out, err = call(*words)
    assert found == code
    assert said in " ".join(err.split())
    assert "Traceback" not in err
    assert out == ""


def test_debug_shows_where(call, tmp_path):
    code, _, err = call("--debug", "run", "nothing.toml")
    assert code == 2
    assert "Traceback" in err
    assert "Traceback" in call("run", "nothing.toml", "--debug")[2]
    assert call("run", "nothing.toml")[2].startswith("error: ")


def test_a_failing_run_is_in_the_exit_code_and_the_last_line(call, tmp_path):
    (tmp_path / "sulking.py").write_text(
        "class Agent:\n    def __init__(self, problem):\n        pass\n    def reset(self, rng):\n        pass\n"
        "    def act(self, state):\n        raise RuntimeError('no')\n    def observe(self, *args):\n        pass\n"
    )
    (tmp_path / "spec.toml").write_text(SMALL.replace('name = "BORL"', 'name = "sulking:Agent"'))
    code, out, err = call("run", "spec.toml", "--engine", "threads")
    assert code == 1
    assert err.splitlines()[-1].startswith("8 of 32 runs FAILED, 24 done; the first: sulking:Agent in V_r = T^0.2")
    assert "RuntimeError: no" in err.splitlines()[-1]
    failures = json.loads((tmp_path / "out/spec/failures.json").read_text())
    assert len(failures) == 8
    assert "raise RuntimeError" in failures[0]["traceback"]
    assert len(out.splitlines()) == 1 + 6
    sys.modules.pop("sulking")


def test_version_and_help(call):
    assert re.fullmatch(r"driftmdp \d+\.\d+\.\d+\n", call("--version")[1])
    code, out, _ = call("--help")
    assert code == 0
    assert all(command in out for command in ("run", "report", "reproduce", "init", "list", "show"))
    for command in ("run", "report", "reproduce", "init", "list", "show"):
        code, out, _ = call(command, "--help")
        assert code == 0
        assert "Usage" in out


LONG = SMALL.replace("seeds = 4", "seeds = 2000").replace("horizon = 120", "horizon = 20000")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopping_is_clean(tmp_path, how):
    (tmp_path / "spec.toml").write_text(LONG)
    command = [sys.executable, "-m", "driftmdp", "run", "spec.toml", "--out", "r", "--engine", "threads"]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None and not (tmp_path / "r" / "journal").exists():
            time.sleep(0.02)
        process.send_signal(how)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Stopping; runs in flight are not kept. Interrupt again to stop at once." in err
    assert "Stopped. Finished runs are kept in r; the same command continues from there." in err
    assert "Traceback" not in err
    assert out == ""


def test_a_terminal_gets_a_bar(tmp_path):
    (tmp_path / "spec.toml").write_text(SMALL)
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "driftmdp", "run", "spec.toml"]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=child, stdout=subprocess.DEVNULL, close_fds=True
    ) as process:
        os.close(child)
        seen = b""
        while True:
            try:
                part = os.read(parent, 4096)
            except OSError:
                break
            if not part:
                break
            seen += part
    os.close(parent)
    assert process.returncode == 0
    assert b"32/32" in seen
    assert b"running" in seen


def test_output_may_be_cut_short(tmp_path):
    done = subprocess.run(
        f"{sys.executable} -m driftmdp list agents | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Adaptive")
    assert done.stderr == ""


def test_without_its_packages_the_command_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['typer'] = None; from driftmdp.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "Run in your clone of driftmdp: pip install '.[experiments]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_output_that_cannot_be_written_is_a_sentence():
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "driftmdp", "list", "agents"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: The output could not be used: No space left on device.")

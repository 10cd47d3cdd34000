"""A spec is data unless a name in it has a colon: then it is code. What is too large or no file is a sentence."""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import driftmdp
from driftmdp.errors import InvalidInputError, StorageError
from driftmdp.experiments import load, parse_spec, read_spec, run
from driftmdp.experiments.execute import check_values
from driftmdp.experiments.run_plan import MAX_CELLS, plan
from driftmdp.experiments.user_code import digest_of_code

BUILTIN = (
    'seeds = 1\nproblems = [{name = "two-state", parameters = {horizon = 10}}]\nagents = [{name = "Random"}]\n'
)
OWN = BUILTIN.replace("Random", "my_trusted_agent:make")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(driftmdp.__file__).parents[1])}
AGENT = "from driftmdp.agents import Random\ndef make(problem):\n    return Random.for_problem(problem)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "specs").mkdir()
    return tmp_path / "specs"


def test_modules_beside_a_spec_of_built_in_names_are_not_seen(folder):
    before = list(sys.path)
    plan(parse_spec(BUILTIN), str(folder / "spec.toml"))
    assert sys.path == before


def test_a_planted_module_beside_a_spec_of_built_in_names_is_not_run(folder):
    (folder / "spec.toml").write_text(BUILTIN)
    for name in ("colorama", "ipywidgets", "socks", "simplejson"):  # what others import if it is there
        (folder / f"{name}.py").write_text(f"open({str(folder / 'was-run')!r}, 'w')")
    command = [
        sys.executable,
        "-P",
        "-m",
        "driftmdp",
        "run",
        str(folder / "spec.toml"),
        "--out",
        str(folder / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert "colon" not in done.stderr
    assert not (folder / "was-run").exists()


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_workers_import_nothing_that_lies_in_the_current_folder(folder, engine, tmp_path_factory):
    (folder / "spec.toml").write_text(BUILTIN)
    script = tmp_path_factory.mktemp("bin") / "driftmdp-command"  # as pip makes it
    script.write_text("from driftmdp.__main__ import main\nif __name__ == '__main__':\n    main()\n")
    (folder / "signal.py").write_text(f"open({str(folder / 'was-run')!r}, 'w')")  # which a spawned process imports
    command = [sys.executable, str(script), "run", "spec.toml", "--engine", engine, "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "was-run").exists()


def test_ones_own_code_is_found_beside_the_spec_and_without_a_word(folder):
    (folder / "spec.toml").write_text(OWN)
    (folder / "my_trusted_agent.py").write_text(AGENT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(read_spec(folder / "spec.toml"), folder / "out", where=str(folder / "spec.toml")).done == 1


@pytest.mark.parametrize("which", ["spec.toml", "."])
def test_code_that_others_can_change_is_said(folder, which):
    (folder / "spec.toml").write_text(OWN)
    (folder / "my_trusted_agent.py").write_text(AGENT)
    (folder / which).chmod(0o777)
    with pytest.warns(UserWarning, match="names with a colon, which are code"):
        plan(read_spec(folder / "spec.toml"), str(folder / "spec.toml"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_the_command_says_that_a_spec_of_another_user_is_code(folder):
    (folder / "spec.toml").write_text(OWN)
    (folder / "my_trusted_agent.py").write_text(AGENT)
    os.chown(folder / "spec.toml", 12345, 12345)
    command = [sys.executable, "-m", "driftmdp", "run", str(folder / "spec.toml"), "--engine", "threads"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert f"{folder / 'spec.toml'} is not yours or can be changed by others" in done.stderr


def grid_of(n_values: int, seeds: int = 1) -> str:
    values = [round(0.001 * (number + 1), 6) for number in range(n_values)]
    return (
        f'seeds = {seeds}\nproblems = [{{name = "two-state"}}]\n[[agents]]\nname = "UCRL2"\n'
        f"grid = {{scale = {values}}}\n"
    )


def test_a_grid_is_spread_out_in_time_that_grows_with_it(monkeypatch):
    began = time.process_time()
    assert len(plan(parse_spec(grid_of(8000))).cells) == 8000
    assert time.process_time() - began < 8  # about 0.6 s; 17 s if every label is compared with every other


def test_a_grid_that_is_too_large_is_refused_with_the_estimate():
    wide = grid_of(1000).replace("grid = {", "grid = {alpha = [1, 2], delta = [" + "0.1, " * 60 + "0.2], ")
    with pytest.raises(InvalidInputError, match=rf"at most {MAX_CELLS:,} .* 122,000, and .* takes about 2 minutes"):
        plan(parse_spec(wide))
    with pytest.raises(InvalidInputError, match=r"10,000,000 runs; it asks for 20,000,000, and .* takes 16 GiB"):
        plan(parse_spec(grid_of(20, seeds=1_000_000)))


def test_runs_whose_list_does_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr("driftmdp.system.available_memory", lambda: 2**30)
    with pytest.raises(InvalidInputError, match="which asks for 2,000,000 runs, must fit into memory"):
        plan(parse_spec(grid_of(2, seeds=1_000_000)))


SPLIT = """
seeds = 1
problems = [{name = "two-state"}]
report = {split = ["scale", "delta"]}
[[agents]]
name = "UCRL2"
label = "one {scale}"
grid = {scale = [0.1, 0.2]}
[[agents]]
name = "UCRL2"
label = "one {delta} {scale}"
grid = {delta = [0.1, 0.3], scale = [0.2, 0.5]}
"""


def test_two_agents_with_one_label_at_the_same_values_are_refused():
    with pytest.raises(InvalidInputError, match="two agents the label 'one'"):
        plan(parse_spec(SPLIT))
    plan(parse_spec(SPLIT.replace("[0.2, 0.5]", "[0.3, 0.5]")))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("a = " + "[" * 2000, "nested too deep|must be TOML"),
        ("seeds = 1\nproblems = " + "[" * 60 + "]" * 60, "nested deeper than 50"),
        ("seeds = " + "9" * 5000, "must be TOML"),
        ("seeds = 0x" + "F" * 5000, "below 2\\^63 only; one has 20000 bits"),
    ],
)
def test_what_toml_readers_stumble_over_is_one_sentence(text, rule):
    with pytest.raises(InvalidInputError, match=rule):
        parse_spec(text)


def test_files_that_are_no_specs_are_one_sentence(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    for path in ("loop", "pipe", "", "n" * 300, "a\0b"):
        with pytest.raises(InvalidInputError, match="must be a file that can be read"):
            read_spec(tmp_path / path)
    with pytest.raises(InvalidInputError, match="at most 16 MiB"):
        read_spec("/dev/zero")


@pytest.mark.parametrize(
    "part", ["journal", "runs", "problems", "failures.json", "sessions.jsonl", "manifest.json"]
)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path, part):
    run(parse_spec(BUILTIN), tmp_path / "out")
    path = tmp_path / "out" / part
    if path.is_dir():
        path = next(path.glob("*.parquet"))
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(StorageError, match="must be"):
        use(tmp_path / "out")


def use(folder):
    results = load(folder)
    _ = results.failures, results.sessions
    run(parse_spec(BUILTIN), folder)


def test_a_name_of_pythons_own_library_does_not_have_all_of_it_read():
    began = time.process_time()
    assert len(digest_of_code("json:loads")) == 16
    assert time.process_time() - began < 1  # 2.6 s if every file that json imports, directly or not, is read


def test_an_agent_may_be_given_one_of_two_things_that_it_finds_out_itself():
    spec = BUILTIN.replace('"Random"', '"VariationAwareUCRL", parameters = {reward_steps = [' + "0.1, " * 9 + "]}")
    asked = plan(parse_spec(spec))
    check_values(asked.cells, asked.places)

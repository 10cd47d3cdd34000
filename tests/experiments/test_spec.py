import pytest

from driftmdp.errors import InvalidInputError
from driftmdp.experiments import parse_spec, plan, read_spec
from tests.experiments.specs import SMALL, small

MISTAKES = [
    ("seeds = 4", "seed = 4", ["seed is no key here", "got 4", "'seeds'"]),
    ("seeds = 4", 'seeds = "4"', ["seeds", "'4'"]),
    ("seeds = 4", "seeds = 0", ["seeds", "greater than or equal to 1", "got 0"]),
    ("seeds = 4", "seeds = [1, 1]", ["each once", "[1, 1]"]),
    ("seeds = 4", "seeds = [-1]", ["seeds", "-1"]),
    ("seeds = 4", "seeds = { first = 3, coun = 2 }", ["seeds.coun is no key here", "'count'"]),
    ("seeds = 4", "", ["seeds must be given"]),
    ("points = 10", "point = 10", ["curve.point is no key here", "'points'"]),
    ("points = 10", "points = 1", ["curve.points", "got 1"]),
    ("points = 10", 'spacing = "logg"', ["curve.spacing", "'linear', 'log'", "'logg'", "Did you mean 'log'?"]),
    ('name = "two-state"', 'name = "two-stat"', ["problems[0].name", "'two-stat'", "Did you mean 'two-state-v1'?"]),
    ('name = "BORL"', 'name = "BROL"', ["agents[1].name", "'BROL'", "Did you mean 'BORL'?"]),
    ("horizon = 120", "horizn = 120", ["problems[0].parameters.horizn", "got 120", "Did you mean 'horizon'?"]),
    ("scale = [1.0, 0.1]", "scal = [1.0]", ["agents[0].grid.scal", "Did you mean 'scale'?"]),
    ("scale = [1.0, 0.1]", "scale = []", ["agents[0].grid.scale", "[]"]),
    ("scale = [1.0, 0.1]", "scale = 1.0", ["agents[0].grid.scale", "1.0"]),
    ('baseline = "Random"', 'baseline = "Randm"', ["report.baseline", "'Randm'", "Did you mean 'Random'?"]),
    ('baseline = "Random"', 'split = ["scal"]', ["report.split", "'scal'", "Did you mean 'scale'?"]),
    ('baseline = "Random"', 'claims = "cz20"', ["report.claims", "'csz20'"]),
    ('name = "BORL"', 'name = "Random"', ["agents", "the same as", "'Random'"]),
    ('label = "V_r = {v_r}"', 'lable = "x"', ["problems[0].lable is no key here", "'label'"]),
    ('name = "BORL"', 'name = "BORL"\nparameters = {seed = 3}', ["agents[1].parameters.seed"]),
    ('name = "BORL"', 'name = "nowhere:Agent"', ["agents[1].name", "nowhere"]),
    ("[report]", "[report", ["must be TOML", "line"]),
]


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES, ids=lambda value: str(value)[:30])
def test_a_mistake_is_named_with_its_key_value_and_the_nearest_name(old, new, said):
    assert old in SMALL
    with pytest.raises(InvalidInputError) as caught:
        plan(parse_spec(SMALL.replace(old, new, 1), "mine.toml"), "mine.toml")
    for words in ["mine.toml", *said]:
        assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_key_in_parameters_and_grid_is_refused():
    wrong = SMALL.replace("grid = { scale", "parameters = { scale = 1 }\ngrid = { scale")
    with pytest.raises(InvalidInputError, match="'scale' in parameters or in grid, not in both"):
        parse_spec(wrong)


@pytest.mark.parametrize(
    ("seeds", "expected"), [("3", [0, 1, 2]), ("[7, 5]", [5, 7]), ("{ first = 10, count = 2 }", [10, 11])]
)
def test_seeds_are_a_number_a_list_or_a_range(seeds, expected):
    assert parse_spec(SMALL.replace("seeds = 4", f"seeds = {seeds}")).seed_list == expected


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match=r"nothing\.toml must be a file that can be read"):
        read_spec(tmp_path / "nothing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="not UTF-8"):
        read_spec(tmp_path / "binary.toml")


def test_the_shipped_specs_are_valid():
    from importlib import resources

    for name, cells in (("example.toml", 2 * 5), ("paper.toml", 4 * 20)):
        text = resources.files("driftmdp.experiments").joinpath(name).read_text()
        assert len(plan(parse_spec(text)).cells) == cells


def test_what_a_run_is_does_not_depend_on_its_place():
    asked = plan(small())
    turned = small()
    turned = turned.model_copy(update={"agents": turned.agents[::-1], "problems": turned.problems[::-1]})
    assert {run.id for run in asked.runs()} == {run.id for run in plan(turned).runs()}


def test_labels_and_names_of_experiments_do_not_change_a_run():
    renamed = parse_spec(SMALL.replace('"SWUCRL2-CW"', '"Ours"').replace('name = "small"', 'name = "other"'))
    assert [run.id for run in plan(small()).runs()] == [run.id for run in plan(renamed).runs()]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("horizon = 120", "horizon = 120, v_p = 2"),
        ("points = 10", "points = 11"),
        ("scale = [1.0, 0.1]", "scale = [0.9, 0.2]"),
    ],
)
def test_what_decides_numbers_changes_a_run(old, new):
    before = {run.id for run in plan(small()).runs() if "SWUCRL2CW" in run.id}
    after = {run.id for run in plan(parse_spec(SMALL.replace(old, new))).runs() if "SWUCRL2CW" in run.id}
    assert not before & after


def test_a_default_that_is_written_out_is_the_same_run():
    written = SMALL.replace('name = "BORL"', 'name = "BORL"\nparameters = { mode = "paper", scale = 1 }')
    before = {run.id.partition("#")[2] for run in plan(small()).runs()}
    assert before == {run.id.partition("#")[2] for run in plan(parse_spec(written)).runs()}


def test_the_numerics_version_is_part_of_a_run(monkeypatch):
    before = {run.id for run in plan(small()).runs()}
    monkeypatch.setattr("driftmdp.experiments.runs.NUMERICS", 999)
    assert not before & {run.id for run in plan(small()).runs()}


def test_editing_ones_own_agent_makes_new_runs(tmp_path, monkeypatch):
    import importlib
    import sys

    code = (
        "from driftmdp.agents import Random\ndef mine(problem, lean=0.5):\n    return Random.for_problem(problem)\n"
    )
    (tmp_path / "own_agents.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    spec = parse_spec(SMALL.replace('name = "BORL"', 'name = "own_agents:mine"'))
    before = {run.id for run in plan(spec).runs()}
    (tmp_path / "own_agents.py").write_text(code + "# edited\n")
    sys.modules.pop("own_agents")
    importlib.invalidate_caches()
    after = {run.id for run in plan(spec).runs()}
    assert len(before - after) == len(after - before) == 8
    with pytest.raises(InvalidInputError, match="Did you mean 'lean'"):
        plan(parse_spec(SMALL.replace('name = "BORL"', 'name = "own_agents:mine"\nparameters = {leen = 1}')))
    sys.modules.pop("own_agents")

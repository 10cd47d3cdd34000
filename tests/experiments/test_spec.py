import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from driftmdp.experiments import parse_spec, plan, read_spec
from driftmdp.experiments.identity import canonical, check_identifiable
from tests.experiments.specs import SMALL, small

MISTAKES = [
    ("seeds = 4", "seed = 4", ["seed is no key here", "got 4", "'seeds'"]),
    ("seeds = 4", 'seeds = "4"', ["seeds must be how many there are, a list", "got '4'."]),
    ("seeds = 4", "seeds = 20000000", ["and at most 10^7; got 20000000."]),
    ("seeds = 4", "seeds = 0", ["seeds must be how many there are", "got 0."]),
    ("seeds = 4", "seeds = { first = 9223372036854775800, count = 100 }", ["seeds must be", "9223372036854775800"]),
    ("seeds = 4", "seeds = [1, 1]", ["each once", "got [1, 1]."]),
    ("seeds = 4", "seeds = [-1]", ["seeds", "-1"]),
    ("seeds = 4", "seeds = { first = 3, coun = 2 }", ["seeds.coun is no key here", "'count'"]),
    ("seeds = 4", "", ["seeds must be given"]),
    ("points = 10", "point = 10", ["curve.point is no key here", "'points'"]),
    ("points = 10", "points = 1", ["curve.points must be at least 2; got 1."]),
    ("points = 10", 'points = "ten"', ["curve.points must be a whole number; got 'ten'."]),
    ("points = 10", 'spacing = "logg"', ["curve.spacing", "'linear', 'log'", "'logg'", "Did you mean 'log'?"]),
    ('name = "two-state"', 'name = "two-stat"', ["problems[0].name", "'two-stat'", "Did you mean 'two-state-v1'?"]),
    ('name = "BORL"', 'name = "BROL"', ["agents[1].name", "'BROL'", "Did you mean 'BORL'?"]),
    ("horizon = 120", "horizn = 120", ["problems[0].parameters.horizn", "got 120", "Did you mean 'horizon'?"]),
    ("scale = [1.0, 0.1]", "scal = [1.0]", ["agents[0].grid.scal", "Did you mean 'scale'?"]),
    ("scale = [1.0, 0.1]", "scale = []", ["agents[0].grid.scale must not be empty; got []."]),
    ("scale = [1.0, 0.1]", "scale = 1.0", ["agents[0].grid.scale must be a list: [...]; got 1.0."]),
    ("scale = [1.0, 0.1]", "scale = [nan]", ["agents[0].grid.scale[0] must be finite; got nan."]),
    ("horizon = 120", "horizon = 120, v_p = inf", ["problems[0].parameters.v_p must be finite; got inf."]),
    ('name = "BORL"', 'name = "BORL"\nscale = 0.1', ["agents[1].scale is no key here", "parameters = { ... }"]),
    ('name = "BORL"', 'name = "Optimist"', ["agents[1].name", "There is no agent 'Optimist'"]),
    ('name = "BORL"', 'name = "math:pi"', ["agents[1].name", "must be a class or a function"]),
    ('label = "V_r = {v_r}"', 'label = "V_r = {v_s}"', ["problems[0].label", "'{v_s}'", "Did you mean 'v_r'?"]),
    ("[[problems]]", "[problems]", ["problems must be a list", "Write [[problems]] above each."]),
    ("scale = [1.0, 0.1]", f"scale = {list(range(3000))}, delta = {[0.1] * 3000}", ["at most 10,000,000 runs"]),
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
    assert "more wrong" not in str(caught.value) or "is no key here" in str(caught.value)
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
    with pytest.raises(InvalidInputError, match=r"Did you mean .*binary\.toml\?"):
        read_spec(tmp_path / "binary")


def test_the_shipped_specs_are_valid():
    from importlib import resources

    for name, cells in (("example.toml", 2 * 6), ("paper.toml", 4 * 22)):
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
    monkeypatch.setattr("driftmdp.experiments.run_plan.NUMERICS", 999)
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
    with pytest.raises(InvalidInputError, match=r"own_agents\.py was edited after it was imported"):
        plan(spec)
    sys.modules.pop("own_agents")
    importlib.invalidate_caches()
    after = {run.id for run in plan(spec).runs()}
    assert len(before - after) == len(after - before) == 8
    with pytest.raises(InvalidInputError, match="Did you mean 'lean'"):
        plan(parse_spec(SMALL.replace('name = "BORL"', 'name = "own_agents:mine"\nparameters = {leen = 1}')))
    sys.modules.pop("own_agents")


def test_editing_what_ones_own_agent_uses_makes_new_runs(tmp_path, monkeypatch):
    import importlib
    import sys

    def fresh():
        for name in [name for name in sys.modules if name.partition(".")[0] in {"own_pack", "helping_pack"}]:
            sys.modules.pop(name)
        importlib.invalidate_caches()
        return {run.id for run in plan(spec).runs()}

    package = tmp_path / "own_pack"
    package.mkdir()
    (package / "__init__.py").write_text("from own_pack.agent import Mine\n")
    (package / "agent.py").write_text(
        "from own_pack.helper import draw\nclass Mine:\n    def __init__(self, problem): pass\n"
    )
    (package / "helper.py").write_text("def draw(): return 1\n")
    (package / "unused.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = parse_spec(SMALL.replace('name = "BORL"', 'name = "own_pack:Mine"'))
    before = fresh()
    assert fresh() == before
    (package / "unused.py").write_text("x = 2\n")
    assert fresh() == before
    (package / "helper.py").write_text("def draw(): return 2\n")
    assert len(fresh() - before) == 8


@pytest.mark.parametrize("how", ["from own_values import LEAN", "def late():\n    import own_values"])
def test_editing_a_value_or_a_late_import_makes_new_runs(tmp_path, monkeypatch, how):
    import importlib
    import sys

    def fresh():
        for name in ("own_user", "own_values"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return {run.id for run in plan(spec).runs()}

    (tmp_path / "own_user.py").write_text(f"{how}\ndef make(problem): return None\n")
    (tmp_path / "own_values.py").write_text("LEAN = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = parse_spec(SMALL.replace('name = "BORL"', 'name = "own_user:make"'))
    before = fresh()
    assert fresh() == before
    (tmp_path / "own_values.py").write_text("LEAN = 20\n")
    assert len(fresh() - before) == 8


def test_a_default_that_only_python_can_say_is_the_same_in_every_process(tmp_path, monkeypatch):
    import sys

    (tmp_path / "own_default.py").write_text("def make(problem, rule=lambda x: x):\n    return None\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = parse_spec(SMALL.replace('name = "BORL"', 'name = "own_default:make"'))
    before = {run.id for run in plan(spec).runs()}
    sys.modules.pop("own_default")
    assert {run.id for run in plan(spec).runs()} == before


def test_a_split_must_leave_every_agent_a_line_of_its_own():
    text = SMALL.replace('name = "BORL"', 'name = "UCRL2"\nlabel = "SWUCRL2-CW"')
    plan(parse_spec(text))
    with pytest.raises(InvalidInputError, match="leaves two agents the label 'SWUCRL2-CW'"):
        plan(parse_spec(text.replace('baseline = "Random"', 'split = ["scale"]')))


def test_an_agent_as_a_parameter_is_told_from_another_by_all_of_its_parameters():
    space = dm.Space.uniform(2, 2)
    fixed = [canonical({"learner": dm.agents.FixedPolicy(space, [0, action])}) for action in (0, 1)]
    scaled = [canonical({"learner": dm.agents.UCRL2(space, 10, scale=0.1 + tiny)}) for tiny in (0.0, 1e-9)]
    assert len({*fixed, *scaled}) == 4


def test_an_agent_of_ones_own_as_a_parameter_is_refused():
    """Two of them would be one agent to the store: nobody but their class knows their parameters."""

    class Plain:
        def reset(self, rng): ...
        def act(self, state): ...
        def observe(self, reward, next_state, action=None): ...

    found = {"name": "Detecting", "parameters": {"learner": Plain()}}
    spec = {"name": "own", "seeds": 1, "problems": [{"name": "two-state"}], "agents": [found]}
    with pytest.raises(InvalidInputError, match=r"agents\[0\].parameters.learner must be .*; got a Plain\."):
        plan(dm.experiments.Spec(**spec))
    check_identifiable({"learner": dm.agents.PSRL(dm.Space.uniform(2, 2)), "kind": Plain}, "parameters")

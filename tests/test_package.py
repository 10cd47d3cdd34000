import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

import driftmdp as dm
from driftmdp import errors

ROOMS = [
    "driftmdp.agents",
    "driftmdp.engines",
    "driftmdp.experiments",
    "driftmdp.formulas",
    "driftmdp.gymnasium",
    "driftmdp.interchange",
    "driftmdp.inventory",
    "driftmdp.planning",
    "driftmdp.problems",
    "driftmdp.progress",
    "driftmdp.report",
    "driftmdp.report.backtest",
    "driftmdp.report.leaderboard",
    "driftmdp.statements",
    "driftmdp.statistics",
    "driftmdp.testing",
]


def test_importing_does_not_load_the_compiler_or_slow_parts_of_scipy():
    heavy = (
        "numba",
        "pandas",
        "pydantic",
        "pyarrow",
        "scipy.optimize",
        "scipy.special",
        "scipy.stats",
        "scipy.sparse.linalg",
        "scipy.sparse.csgraph",
    )
    code = f"import driftmdp, sys; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(("room", "package"), [("gymnasium", "gymnasium"), ("experiments", "pydantic")])
def test_a_missing_package_is_named_with_its_extra(room, package):
    code = f"import sys; sys.modules[{package!r}] = None; import driftmdp; driftmdp.{room}"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    sentence = f"driftmdp.{room} needs the package {package!r}. Run: pip install 'driftmdp[{room}]'"
    assert out.stderr.strip().endswith(sentence)


@pytest.mark.parametrize("room", ["driftmdp", *ROOMS])
def test_every_public_name_exists_and_is_documented(room):
    module = importlib.import_module(room)
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.isfunction(public) or inspect.isclass(public):
            assert (inspect.getdoc(public) or "").strip(), f"{room}.{name} has no documentation"


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_function_has_an_example_that_runs(room):
    module = importlib.import_module(room)
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.isfunction(public):
            assert ">>>" in (inspect.getdoc(public) or ""), f"{room}.{name} has no example"


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_has_the_root_and_a_builtin(name):
    kind = getattr(errors, name)
    if name.endswith("Warning"):
        assert issubclass(kind, UserWarning)
        return
    assert issubclass(kind, errors.DriftmdpError)
    if kind is not errors.DriftmdpError:
        assert issubclass(kind, (ValueError, LookupError, ArithmeticError, AssertionError, OSError, ImportError))


def test_errors_pickle_with_what_they_carry():
    found = pickle.loads(pickle.dumps(errors.NotConvergedError("no", best=3)))
    assert (str(found), found.best) == ("no", 3)
    found = pickle.loads(pickle.dumps(errors.NotCommunicatingError("no", 1, 2)))
    assert (found.source, found.target) == (1, 2)


def test_the_version_is_a_version():
    assert dm.__version__.count(".") == 2

import dataclasses
import importlib
import inspect
import pickle
import pydoc
import re
import subprocess
import sys

import numpy as np
import pytest

import driftmdp as dm
from driftmdp import errors
from driftmdp.kernels.arrays import new_record

PACKAGES = [
    "driftmdp.agents",
    "driftmdp.compiled_agents",
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
    "driftmdp.statements",
    "driftmdp.statistics",
    "driftmdp.suite",
    "driftmdp.testing",
]


def test_importing_does_not_load_the_compiler_or_slow_parts_of_scipy():
    heavy = (
        "llvmlite",
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


def test_workers_and_commands_start_without_pandas():
    code = "import driftmdp.cli, sys; print([name for name in ('numba', 'pandas') if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(("module", "package"), [("gymnasium", "gymnasium"), ("experiments", "pydantic")])
def test_a_missing_package_is_named_with_its_extra(module, package):
    code = f"import sys; sys.modules[{package!r}] = None; import driftmdp; driftmdp.{module}"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    sentence = (
        f"driftmdp.{module} needs the package {package!r}. Run in your clone of driftmdp: pip install '.[{module}]'"
    )
    assert out.stderr.strip().endswith(sentence)


@pytest.mark.parametrize("package", ["driftmdp", *PACKAGES])
def test_every_public_name_exists_and_is_documented(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.isfunction(public) or inspect.isclass(public):
            assert (inspect.getdoc(public) or "").strip(), f"{package}.{name} has no documentation"


@pytest.mark.parametrize("package", ["driftmdp", *PACKAGES])
def test_every_public_class_documents_what_it_holds(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.isclass(public) and public.__module__.startswith("driftmdp"):
            said = " ".join(inspect.getdoc(kind) or "" for kind in public.__mro__ if kind is not object)
            silent = sorted(held for held in attributes(public) if not re.search(rf"\b{held}\b", said))
            assert not silent, f"help({package}.{name}) says nothing of {', '.join(silent)}"


def attributes(kind):
    """Return the public fields of a record, or what the constructor of a class keeps."""
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    if hasattr(kind, "_fields"):
        return kind._fields
    made = inspect.getsource(kind.__init__) if "__init__" in vars(kind) else ""
    return set(re.findall(r"^ +self\.([a-z]\w*)(?:, self\.\w+)*(?:: .*)? = ", made, re.MULTILINE))


def test_help_of_a_run_context_has_every_attribute():
    problem = dm.problems.two_state(10)
    record = new_record(problem.horizon, problem.start)
    context = dm.agents.RunContext(problem, problem.draw_noise(np.random.default_rng(0)), record)
    shown = pydoc.plain(pydoc.render_doc(dm.agents.RunContext))
    assert all(re.search(rf"^ \|  {name}$", shown, re.MULTILINE) for name in vars(context))
    assert all(f"``{name}``" in shown for name in record._fields)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_function_has_an_example_that_runs(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.isfunction(public):
            assert ">>>" in (inspect.getdoc(public) or ""), f"{package}.{name} has no example"


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

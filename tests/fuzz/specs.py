"""Random specs: good ones with something changed, as a tree or as text, through the library and the command."""

from __future__ import annotations

import contextlib
import copy
import datetime
import io
import json
import re
import sys
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from driftmdp import problems, system
from driftmdp.cli import run_cli
from driftmdp.errors import DriftmdpError
from driftmdp.experiments import load, read_spec, run
from driftmdp.experiments.catalogue import agent_maker, spec_agents
from driftmdp.experiments.execute import check_values
from driftmdp.experiments.problem_cache import cached_problem
from driftmdp.experiments.run_plan import RunPlan, plan
from tests.fuzz.harness import answered, check_sentence

MEMORY = 2**28  # a machine on which mistakes are found before they fill the real one
QUICK = {"Random", "Oracle", "UCRL2"}  # agents that are really run
FOREIGN = re.compile(r"(?<!class )\b(Type|Value|Key|Index|Attribute|Overflow|ZeroDivision|Runtime|Assertion)Error:")
OWN = re.compile(r'name"? ?= ?"[^"]*:')  # errors of user code are reported with their type
PACKAGED = [
    tomllib.loads(resources.files("driftmdp.experiments").joinpath(name).read_text(encoding="utf-8"))
    for name in ("example.toml", "paper.toml")
]
NAMES = [
    "nowhere:Thing",
    ":",
    "x:",
    ":y",
    "a:b:c",
    "math:sqrt",
    "math:pi",
    "fractions:Fraction",
    "json:loads",
    "Optimist",
]
NAMES += [
    "driftmdp.agents:Random",
    "driftmdp.problems:two_state",
    "driftmdp.problems:bandit",
    "two-state-v9",
    "ucrl2",
]
NUMBERS = [0, -1, 1, 2, 7, 300, 10**6, 2 * 10**9, 2**31, 2**62, 2**63, -(2**63), 10**40, 0.5, -0.5, 1e-300, 1e300]
NUMBERS += [float("nan"), float("inf"), -float("inf")]
TEXTS = [
    "",
    " ",
    "x" * 5000,
    "\x1b[31mred\x07",
    "a\nb",
    "a\tb",
    "‮",
    "\u2028",
    "é😀",
    "T^0.5",
    "T^",
    "T^9999",
    "{scale}",
]
TEXTS += ["{", "raw", "problem", "abrupt", "seasonal", "linear", "../x", "'", '"', "gaussian(1)", "csz20"]
OTHERS = [True, False, [], {}, [[]], [{}], {"": {}}, [1, "a"], [0, 1], [1, 1, 1], datetime.date(2026, 1, 1)]
OTHERS += [datetime.time(1, 2), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), {"law": "poisson", "mean": 3}]
CHARACTERS = [*"=[]{}\"'#.,\\\n\t 0x-_:\x00\x1b\x7f\ufeff\xa0é", "[[", '"""', "1e999", "\n[x]\n", "inf"]


def case(rng: np.random.Generator, folder: Path) -> None:
    """Make a spec, plan it, and if it is small, run it: in Python, or by the command."""
    text = _toml_document(_mutated(rng, _good(rng)))
    if rng.random() < 0.2:
        text = _mutated_text(rng, text)
    content = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        content = (
            bytes(rng.permutation(np.frombuffer(content, np.uint8))) if rng.random() < 0.5 else b"\xff" + content
        )
    file = folder / "spec.toml"
    file.write_bytes(content)
    with (
        mock.patch.object(system, "available_memory", return_value=MEMORY),
        mock.patch.object(sys, "path", list(sys.path)),
    ):
        found = answered(lambda: _planned(file))
        if isinstance(found, DriftmdpError):
            assert not FOREIGN.search(str(found)) or OWN.search(text), found
        if isinstance(found, DriftmdpError) or _is_small(found):
            if rng.random() < 0.2:
                _command(file, folder)
            elif isinstance(found, RunPlan):
                answered(lambda: _run(found, folder))


def _planned(file: Path) -> RunPlan:
    asked = plan(read_spec(file), str(file))
    if len(asked.cells) <= 50:
        check_values(asked.cells, asked.places)
    return asked


def _is_small(asked: RunPlan) -> bool:
    return (
        asked.n_runs <= 20
        and {cell.name for cell in asked.agents} <= QUICK
        and all(cached_problem(cell).problem.horizon <= 300 for cell in asked.problems)
        and all(cached_problem(cell).problem.space.n_pairs <= 500 for cell in asked.problems)
    )


def _run(asked: RunPlan, folder: Path) -> None:
    session = run(asked.spec, folder / "out", workers=1)
    assert session.done + len(session.failures) == asked.n_runs, session
    for failure in session.failures:
        assert FOREIGN.search(failure.error) is None, failure.error
    load(folder / "out").runs  # noqa: B018


def _command(file: Path, folder: Path) -> None:
    """Run the command in this process. It must exit with 0, 1 or 2, and write sentences."""
    words = ["driftmdp", "run", str(file), "--out", str(folder / "out"), "--workers", "1", "--engine", "threads"]
    code, out, err = called(words)
    assert code in (0, 1, 2), (code, err)
    for line in (out + err).split("\n"):
        if line:
            check_sentence(line)
    assert "Traceback" not in err, err
    assert "Something went wrong" not in err, err


def called(words: list[str]) -> tuple[int, str, str]:
    """Return exit code, output and remarks of a command that runs in this process."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run_cli()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def _good(rng: np.random.Generator) -> dict[str, Any]:
    """Return a spec that is mostly right: a packaged one, or one of random problems and agents."""
    if rng.random() < 0.2:
        return json.loads(json.dumps(PACKAGED[rng.integers(2)]))
    spec: dict[str, Any] = {"seeds": int(rng.integers(1, 3))}
    if rng.random() < 0.3:
        spec |= {"name": "fuzz", "curve": {"points": int(rng.integers(2, 20)), "spacing": "log"}, "report": {}}
    spec["problems"] = [
        _choice(rng, problems.list()[rng.integers(8)].name, False) for _ in range(rng.integers(1, 3))
    ]
    known = [*spec_agents()] if rng.random() < 0.5 else sorted(QUICK)
    spec["agents"] = [_choice(rng, str(rng.choice(known)), True) for _ in range(rng.integers(1, 3))]
    return spec


def _choice(rng: np.random.Generator, name: str, is_agent: bool) -> dict[str, Any]:
    takes = [*(agent_maker(name).defaults if is_agent else problems.describe(name).parameters)]
    parameters: dict[str, Any] = {"horizon": int(rng.integers(1, 200))} if "horizon" in takes else {}
    if takes and rng.random() < 0.3:
        parameters[str(rng.choice(takes))] = _junk(rng)
    choice: dict[str, Any] = {"name": name, "parameters": parameters}
    free = [key for key in takes if key not in parameters]
    if free and rng.random() < 0.15:
        choice["grid"] = {str(rng.choice(free)): [_junk(rng) for _ in range(rng.integers(1, 4))]}
    if rng.random() < 0.2:
        choice["label"] = _text(rng)
    return choice


def _text(rng: np.random.Generator) -> str:
    return TEXTS[rng.integers(len(TEXTS))]


def _junk(rng: np.random.Generator) -> Any:
    kind = rng.random()
    if kind < 0.4:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind < 0.6:
        return _text(rng)
    if kind < 0.9:
        return copy.deepcopy(OTHERS[rng.integers(len(OTHERS))])
    if kind < 0.95:
        return list(range(int(rng.integers(1, 3000))))
    deep: Any = 1
    for _ in range(int(rng.integers(2, 80))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return deep


def _slots(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a tree, as its container and its key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [slot for key in keys for slot in [(value, key), *_slots(value[key])]]


def _mutated(rng: np.random.Generator, tree: dict[str, Any]) -> dict[str, Any]:
    for _ in range(int(rng.choice([0, 0, 0, 1, 1, 2, 3]))):
        slots = _slots(tree)
        if not slots:
            break
        container, key = slots[rng.integers(len(slots))]
        kind = int(rng.integers(8))
        if kind <= 1:
            container[key] = _junk(rng)
        elif kind == 2:
            del container[key]
        elif kind == 3 and isinstance(container, dict):
            container[_text(rng) if rng.random() < 0.5 else f"{key}x"] = container.pop(key)
        elif kind == 4:
            container[key] = [container[key]] if rng.random() < 0.5 else {"a": container[key]}
        elif kind == 5 and isinstance(container, list):
            container.append(json.loads(json.dumps(container[key], default=str)))
        elif kind == 6 and isinstance(container, dict) and "name" in container:
            container["name"] = NAMES[rng.integers(len(NAMES))]
        elif isinstance(container, dict):
            container[_text(rng)] = _junk(rng)
    return tree


def _mutated_text(rng: np.random.Generator, text: str) -> str:
    for _ in range(int(rng.integers(1, 4))):
        place, kind = int(rng.integers(len(text) + 1)), int(rng.integers(5))
        if kind == 0:
            text = text[:place] + text[place + int(rng.integers(1, 20)) :]
        elif kind == 1:
            text = text[:place] + CHARACTERS[rng.integers(len(CHARACTERS))] + text[place:]
        elif kind == 2:
            lines = text.split("\n")
            lines.insert(int(rng.integers(len(lines) + 1)), lines[rng.integers(len(lines))])
            text = "\n".join(lines)
        elif kind == 3:
            text = text[:place]
        else:
            text += (
                f"\nx = {'[' * int(rng.integers(1, 3000))}" if rng.random() < 0.5 else f"\nseeds = 0x{'f' * 5000}"
            )
    return text


def _toml_document(tree: dict[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in tree.items())


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else repr(value)

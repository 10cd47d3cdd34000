"""Folders of results with something damaged, replaced or forged: read, reported, and gone on with."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driftmdp.errors import StorageError
from driftmdp.experiments import load, parse_spec, run
from driftmdp.experiments.execute import execute_run
from driftmdp.experiments.run_plan import plan
from driftmdp.experiments.store import Store, _manifest_digest
from driftmdp.report import write_report
from tests.fuzz.harness import answered, check_sentence
from tests.fuzz.specs import called

SPEC = """
seeds = 3
[curve]
points = 4
[[problems]]
name = "two-state"
parameters = { horizon = 20 }
[[agents]]
name = "Random"
[[agents]]
name = "Oracle"
"""
JUNK: list[Any] = [None, True, 0, -1, 1.5, 2**70, float("nan"), "", "x", "\x1b[31m", [], {}, [[]], [1], {"a": 1}]


def case(rng: np.random.Generator, folder: Path) -> None:
    """Damage a copy of good results in one or two ways, then read it, report it or go on with it."""
    results = folder / "out"
    shutil.copytree(_good_results(), results)
    for _ in range(int(rng.integers(1, 3))):
        _damage(rng, results)
    use = rng.random()
    if use < 0.6:
        answered(lambda: _read(results))
    elif use < 0.9:
        answered(lambda: run(parse_spec(SPEC), results, workers=1))
    elif use < 0.95:
        answered(lambda: write_report(results))
    else:
        code, out, err = called(["driftmdp", "report", str(results)])
        assert code in (0, 1, 2), (code, err)
        assert "Traceback" not in err, err
        assert "Something went wrong" not in err, err
        for line in filter(None, (out + err).split("\n")):
            check_sentence(line)


def _read(folder: Path) -> None:
    found = load(folder)
    _ = found.runs, found.problems, found.failures, found.sessions, found.n_missing, found.digest, repr(found)
    found.curves_by_cell()
    found._repr_html_()
    for cell, _, _ in found.manifest["cells"]:
        found.summaries(cell)


@functools.cache
def _good_results() -> Path:
    """Return a folder with a batch, a journal with one run that is in no batch yet, and a session."""
    folder = Path(tempfile.mkdtemp()) / "good"
    run(parse_spec(SPEC), folder)
    store = Store(folder)
    more = plan(parse_spec(SPEC.replace("seeds = 3", "seeds = 4")))
    store.append(next(execute_run(key) for key in more.runs() if key.seed == 3))
    store.journal.close()
    return folder


def _damage(rng: np.random.Generator, folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    if not files:
        return
    path = files[rng.integers(len(files))]
    if rng.random() < 0.5:
        with contextlib.suppress(ValueError, StorageError):  # it is damaged already
            _forge(rng, path)
        return
    kind = int(rng.integers(8))
    content = bytearray(path.read_bytes())
    if kind == 0 and content:
        for place in rng.integers(len(content), size=int(rng.integers(1, 5))):
            content[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(content))
    elif kind == 1:
        path.write_bytes(bytes(content[: int(rng.integers(len(content) + 1))]))
    elif kind == 2:
        path.write_bytes(bytes(content) + rng.bytes(int(rng.integers(1, 200))))
    elif kind == 3:
        path.rename(path.with_name(f"x{path.name}"))
    elif kind == 4:
        shutil.copy(files[rng.integers(len(files))], path.with_name(f"a-{path.name}"))
    else:
        path.unlink()
        if kind == 5:
            path.mkdir()
        elif kind == 6:
            os.mkfifo(path)
        else:
            path.symlink_to(path if rng.random() < 0.5 else folder / "nowhere")


def _forge(rng: np.random.Generator, path: Path) -> None:
    """Change what a file says, and make its checks fit."""
    if path.suffix == ".parquet":
        _forge_table(rng, path)
    elif path.suffix in {".json", ".jsonl"}:
        content = json.loads(path.read_bytes().splitlines()[0] if path.suffix == ".jsonl" else path.read_bytes())
        content = _changed(rng, content)
        if path.name == "manifest.json" and isinstance(content, dict):
            content.pop("digest", None)
            content["digest"] = _manifest_digest(content)
        path.write_text(json.dumps(content))
    elif path.name == "journal":
        store = Store(path.parent)
        rows = [bytes(row) for row in store.journal_rows().values()]
        head, _, curves = rows[0].partition(b"\n") if rows else (b"[]", b"", b"")
        changed = json.dumps(_changed(rng, json.loads(head))).encode()
        store.journal.replace([changed + b"\n" + curves[: int(rng.choice([len(curves), 8, 5]))]])


def _changed(rng: np.random.Generator, tree: Any) -> Any:
    """Return a JSON tree with something in it replaced or left out."""
    slots: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        slots += [(value, key) for key in keys]
        waiting += [value[key] for key in keys]
    if not slots or rng.random() < 0.1:
        return JUNK[rng.integers(len(JUNK))]
    container, key = slots[rng.integers(len(slots))]
    if rng.random() < 0.3:
        del container[key]
    else:
        container[key] = JUNK[rng.integers(len(JUNK))]
    return tree


def _forge_table(rng: np.random.Generator, path: Path) -> None:
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException):
        return
    name = str(rng.choice(table.column_names))
    place = table.column_names.index(name)
    kind = int(rng.integers(5))
    if kind == 0:
        table = table.drop_columns(name)
    elif kind == 1:
        table = table.set_column(place, name, pa.nulls(len(table), table.schema.field(name).type))
    elif kind == 2:
        table = table.set_column(place, name, pa.array(["x"] * len(table)))
    elif kind == 3:
        table = table.slice(0, int(rng.integers(len(table) + 1)))
    else:
        table = pa.concat_tables([table, table])
    content = io.BytesIO()
    pq.write_table(table, content)
    digest = hashlib.sha256(content.getvalue()).hexdigest()[:16]
    path.unlink()
    path.with_name(f"{path.stem.rpartition('-')[0]}-{digest}.parquet").write_bytes(content.getvalue())

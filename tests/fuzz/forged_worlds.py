"""World files, damaged at random or forged with valid checksums. Worlds that load are then used.

Without a forged checksum, damage must not change a world silently: a world that loads equals the one saved.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

import driftmdp as dm
from driftmdp import interchange, planning
from driftmdp.errors import DriftmdpError
from driftmdp.interchange import world_files
from driftmdp.npz import pack, unpack
from tests.fuzz.harness import answered

NUMBERS = (10**6, -1, 0, 1, 2, 2**31 - 1, 2**31, 2**62, -(2**62), 0.5, 1e308, -1e308, 1e-320)


@functools.cache
def worlds() -> list[dm.Mdp | dm.DriftingMdp]:
    """Return valid worlds of every kind of file."""
    rng = np.random.default_rng(0)
    space = dm.Space([2, 1, 3], ["low", "middle", "high"], [["a", "b"], ["a"], ["a", "b", "c"]])
    anchors = [dm.Mdp(space, rng.normal(size=6), rng.dirichlet(np.ones(3), size=6)) for _ in range(3)]
    mixed = rng.dirichlet(np.ones(3), size=5)
    return [
        anchors[0],
        dm.problems.river_swim().drifting.at(1),
        dm.DriftingMdp(anchors, [0, 1, 2, 1, 0]),
        dm.DriftingMdp(anchors, mixed),
        dm.DriftingMdp(anchors, mixed, rng.normal(size=(5, 3))),
        dm.DriftingMdp(anchors, [0, 1, 2, 1, 0], np.zeros((5, 3))),
    ]


def case(rng: np.random.Generator, folder: Path) -> None:
    """Save a world, spoil the file, load it, and use what loads."""
    world = worlds()[rng.integers(len(worlds()))]
    path = folder / f"world{rng.choice(['.npz', '.json'])}"
    interchange.save(world, path)
    if rng.random() < 0.5:
        _damage(path, rng)
        found = answered(lambda: interchange.load(path))
        if not isinstance(found, DriftmdpError):
            _assert_same(found, world)
        return
    _forge(path, rng)
    found = answered(lambda: interchange.load(path))
    if not isinstance(found, DriftmdpError):
        _use(found)


def _damage(path: Path, rng: np.random.Generator) -> None:
    """Flip bits, cut, repeat or insert bytes."""
    content = bytearray(path.read_bytes())
    way, at = rng.integers(4), int(rng.integers(len(content)))
    if way == 0:
        for place in rng.integers(len(content), size=rng.integers(1, 4)):
            content[place] ^= 1 << int(rng.integers(8))
    elif way == 1:
        del content[at:]
    elif way == 2:
        content[at:at] = content[: int(rng.integers(1, 50))]
    else:
        content[at] = int(rng.integers(256))
    path.write_bytes(bytes(content))


def _forge(path: Path, rng: np.random.Generator) -> None:
    """Alter one value, size, type or name, and make the checksum fit."""
    is_json = path.suffix == ".json"
    header, arrays = world_files._of_json(path.read_bytes()) if is_json else unpack(path.read_bytes(), path)
    name = str(rng.choice(sorted(arrays)))
    if rng.random() < 0.1:
        key = str(rng.choice(sorted(header)))
        header[key] = [None, 1, "text", [], {}, ["a", 1], 1e308, [[]], "mdp", "drifting"][rng.integers(10)]
    else:
        arrays[name] = _forged(arrays[name], rng)
    if arrays[name] is None:
        del arrays[name]
    with contextlib.suppress(TypeError, ValueError, KeyError):  # what has no checksum is forged all the same
        header["digest"] = world_files._digest(header, arrays)
    if not is_json:
        path.write_bytes(pack(header, arrays))
        return
    document = {"header": header, "arrays": {name: array.tolist() for name, array in arrays.items()}}
    text = json.dumps(document, default=str)
    path.write_text(_twisted(text, rng) if rng.random() < 0.1 else text)


def _forged(array: Any, rng: np.random.Generator) -> Any:
    way = rng.integers(12)
    number = NUMBERS[rng.integers(len(NUMBERS))]
    if way == 0:
        return None
    if way == 1:
        return array[: rng.integers(len(array) + 1)]
    if way == 2:
        return np.concatenate([array, array])
    if way == 3:
        return array.reshape(-1, 1) if array.ndim == 1 else array.ravel()
    if way == 4:
        kinds = (bool, str, np.float64, np.complex128, "datetime64[s]", np.uint8, np.float16)
        return array.astype(kinds[rng.integers(len(kinds))]) if array.dtype.kind in "if" else array
    changed = array.astype(
        np.float64 if isinstance(number, float) else np.int64 if array.dtype.kind == "i" else float
    )
    if changed.size:
        changed.flat[rng.integers(changed.size)] = number
    return changed


def _twisted(text: str, rng: np.random.Generator) -> str:
    """Return JSON that most parsers take: deep, doubled, not finite."""
    return [
        "[" * 100_000 + "]" * 100_000,
        text.replace('"kind"', '"kind": "mdp", "kind"', 1),
        text.replace('"rewards": [', '"rewards": [NaN, ', 1),
        text.replace('"data": [', '"data": [Infinity, ', 1),
        text.replace('"indptr": [', '"indptr": [' + "9" * 5000 + ", ", 1),
        text.replace('"rewards": [', '"rewards": [true, ', 1),
        text.replace('"n_actions": [', '"n_actions": ["1", ', 1),
        text.encode("utf-16").decode("latin-1"),
    ][rng.integers(8)]


def _use(world: dm.Mdp | dm.DriftingMdp) -> None:
    """Ask what a newcomer asks first."""
    if isinstance(world, dm.Mdp):
        world = dm.DriftingMdp.stationary(world, 3)
    repr(world)
    for t in (1, world.horizon):
        world.at(t).to_dense()
    answered(lambda: planning.optimal_gains(world, allow_transient=True))
    answered(lambda: planning.best_total_reward(world))
    answered(lambda: world.variation())
    problem = answered(lambda: dm.Problem(world.between(1, min(5, world.horizon))))
    if not isinstance(problem, DriftmdpError):
        answered(lambda: dm.simulate(dm.agents.Random(world.space), problem, seed=0))


def _assert_same(found: Any, world: Any) -> None:
    """A damaged file that loads anyway must be the world that was saved."""
    assert type(found) is type(world)
    one, other = (world_files._arrays(copy.copy(each)) for each in (found, world))
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)
    assert found.space == world.space

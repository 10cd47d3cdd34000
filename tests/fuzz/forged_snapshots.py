"""Snapshots with valid checksums and altered contents: refused with a sentence, or an agent that does not crash.

A case takes an valid snapshot of any built-in agent and alters numbers, types and shapes in it. What still loads
plays 300 steps and is asked for everything that it knows.
"""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.errors import DriftmdpError
from tests.agents.worlds import world_draws
from tests.fuzz.harness import answered
from tests.fuzz.valid_snapshots import large_problem, make, small_problem

Arrays = dict[str, NDArray[Any]]

NUMBERS = (-1, 0, 1, 2, 33, 10**6, 2**31 - 1, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63))
FLOATS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1.0 + 1e-7, 1e-320, 1e9, 1e300, -1e300, 2.0**53, 2.0**63)
OTHERS = (None, True, "", "x", [], [0], {}, {"tuple": [0]}, {"array": "state/t"}, 1.5, *NUMBERS, *FLOATS)
TYPES = ("i1", "i4", "i8", "u8", "f4", "f8", ">i8", ">f8", "c16", "?", "U3", "S2", "M8[s]", "m8[ns]")
LARGEST = 10**6  # actions of a state in a forged space: more only show that memory ends


def case(rng: np.random.Generator, folder: Path) -> None:
    """Forge one snapshot in one to three places and use what loads."""
    names = list(dm.agents.builtin())
    name, size = names[rng.integers(len(names))], SIZES[rng.integers(len(SIZES))]
    problem, arrays = valid(name, *size)
    arrays = {key: array.copy() for key, array in arrays.items()}
    done = [forge(rng, arrays) for _ in range(rng.integers(1, 4))]
    path = folder / "forged.npz"
    np.savez(path, **arrays)
    try:
        agent = answered(lambda: dm.agents.load(path))
        if isinstance(agent, dm.agents.BuiltinAgent):
            use(agent, problem, rng, folder)
    except Exception as error:
        error.add_note(f"{name} of size {size}: {'; '.join(done)}")
        raise


SIZES = ((False, 0), (False, 3), (False, 50), (True, 1), (True, 120), (True, 250))


@functools.cache
def valid(name: str, is_large: bool, steps: int) -> tuple[dm.Problem, Arrays]:
    """Return a problem and the arrays of an agent that played some steps of it, between act and observe."""
    kind, rng = dm.agents.builtin()[name], np.random.default_rng(steps)
    problem = large_problem(kind, rng) if is_large else small_problem(kind, rng)
    agent, draws, state = make(kind, problem, rng), world_draws(problem, 1), problem.start
    for t in range(1, steps + 1):
        action = agent.act(state)
        sample = problem.sample(t, state, action, draws)
        agent.observe(sample.reward, sample.next_state)
        state = sample.next_state
    if steps % 2:
        agent.act(state)
    with tempfile.TemporaryDirectory() as folder:
        agent.save(f"{folder}/valid.npz")
        with np.load(f"{folder}/valid.npz") as file:
            return problem, dict(file)


def forge(rng: np.random.Generator, arrays: Arrays) -> str:
    """Alter one thing, and return its name."""
    keys = sorted(arrays)
    key = keys[rng.integers(len(keys))]
    if key == "header":
        header = json.loads(str(arrays["header"]))
        done = alter_text(rng, header)
        arrays["header"] = np.array(json.dumps(header))
        return f"header: {done}"
    if key == "state/rng":
        state = json.loads(str(arrays[key]))
        done = alter_text(rng, state)
        arrays[key] = np.array(json.dumps(state))
        return f"rng: {done}"
    change = (alter_number, alter_number, alter_number, alter_shape, alter_type)[rng.integers(5)]
    try:
        arrays[key], done = change(rng, arrays[key])
    except (ValueError, TypeError, IndexError, OverflowError) as error:  # numpy does not write that
        done = f"nothing ({error})"
    if key == "parameter/space" and arrays[key].dtype.kind in "iuf":
        arrays[key] = np.where(arrays[key] > LARGEST, 1, arrays[key])
    return f"{key}: {done}"


def alter_text(rng: np.random.Generator, tree: Any) -> str:
    """Alter one value of a tree of JSON, or take it away."""
    holder, place, where = tree, None, []
    while True:
        inner = holder if place is None else holder[place]
        if not isinstance(inner, (dict, list)) or not inner or (where and rng.random() < 0.1):
            break
        holder = inner
        places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        place = places[rng.integers(len(places))]
        where.append(str(place))
    value = OTHERS[rng.integers(len(OTHERS))]
    if "capacity" in where and isinstance(value, int):
        value = min(value, 200)  # the states of a large shelf fill the memory
    if rng.random() < 0.1:
        del holder[place]
        return f"{'.'.join(where)} taken away"
    holder[place] = value
    return f"{'.'.join(where)} = {value!r}"


def alter_number(rng: np.random.Generator, array: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Write another number into one place, or all, of an array or of one of its fields."""
    names = array.dtype.names or ()
    field = names[rng.integers(len(names))] if names else None
    numbers = array if field is None else array[field]
    values = FLOATS if numbers.dtype.kind == "f" else NUMBERS
    value = values[rng.integers(len(values))]
    with np.errstate(all="ignore"):
        value = np.array(value).astype(numbers.dtype)
    if numbers.size == 0 or rng.random() < 0.1:
        numbers[...] = value
        return array, f"all of {field} = {value}"
    place = int(rng.integers(numbers.size))
    numbers.reshape(-1)[place : place + 1] = value
    if not np.array_equal(numbers.reshape(-1)[place], value, equal_nan=numbers.dtype.kind == "f"):
        numbers[np.unravel_index(place, numbers.shape)] = value
    return array, f"{field}[{place}] = {value}"


def alter_shape(rng: np.random.Generator, array: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return an array of another shape with the same numbers."""
    shapes: list[Callable[[NDArray[Any]], NDArray[Any]]] = [
        lambda a: a[:-1],
        lambda a: a[:0],
        lambda a: a[None],
        lambda a: a[..., None],
        lambda a: np.concatenate([a, a]),
        lambda a: np.concatenate([a, a[:1]]),
        lambda a: a.reshape(-1)[0],
        lambda a: a[::-1],
        lambda a: np.asfortranarray(np.stack([a, a])),
        lambda a: np.resize(a, 1000),
    ]
    which = int(rng.integers(len(shapes)))
    return np.array(shapes[which](array)), f"shape {which}"


def alter_type(rng: np.random.Generator, array: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return an array of another type."""
    kind = TYPES[rng.integers(len(TYPES))]
    if array.dtype.names:
        kinds = [(name, kind if rng.random() < 0.3 else array.dtype[name]) for name in array.dtype.names]
        return array.astype(np.dtype(kinds)), f"fields as {kind}"
    with np.errstate(all="ignore"):
        return array.astype(kind), f"as {kind}"


def use(agent: dm.agents.BuiltinAgent, problem: dm.Problem, rng: np.random.Generator, folder: Path) -> None:
    """Play 300 steps and ask for all that the agent knows."""
    draws, state = world_draws(problem, 2), problem.start
    n_states = agent.space.n_states
    same = np.array_equal(agent.space.n_actions, problem.space.n_actions)
    for t in range(1, 301):
        action = answered(lambda: agent.act(min(state, n_states - 1)))  # noqa: B023
        if isinstance(action, DriftmdpError):
            break
        if same:
            sample = problem.sample(1 + t % problem.horizon, state, action, draws)
            reward, state = sample.reward, sample.next_state
        else:
            reward, state = 0.5, int(rng.integers(n_states))
        answered(lambda: agent.observe(reward, state))  # noqa: B023
    for name in ("summary", "counts", "mean_rewards", "successor_counts", "indices", "beliefs", "plan"):
        if hasattr(agent, name):
            answered(getattr(agent, name))
    if hasattr(agent, "explain"):
        answered(lambda: agent.explain(0))
    answered(lambda: agent.save(folder / "again.npz"))
    repr(agent)
    agent.copy()

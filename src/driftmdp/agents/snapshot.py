"""Snapshots of agents: one file of plain arrays and a JSON header, written atomically, without pickle.

The file is a zip of ``.npy`` arrays (numpy's npz), so other languages can read it. ``header`` names the format, its
version, the class and its parameters; ``state/NAME`` is what was learned; ``parameter/NAME`` are parameters that
are arrays. The zip's checksums notice a damaged file, its directory at the end a truncated one.
"""

from __future__ import annotations

import dataclasses
import numbers
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftmdp._version import __version__
from driftmdp.agents.detectors import DETECTORS
from driftmdp.agents.optimist_parts import PARTS
from driftmdp.agents.parameters import ParameterizedAgent
from driftmdp.errors import InvalidInputError
from driftmdp.files import write_whole
from driftmdp.mdp import Space
from driftmdp.npz import Arrays, pack, read_regular, unpack
from driftmdp.problems.inventory import Costs
from driftmdp.validation import as_file, quietly

if TYPE_CHECKING:
    from driftmdp.agents.base import BuiltinAgent

FORMAT = "driftmdp agent"
MODEST_PAIRS = 10**7  # that any file may have; more only as many as it has bytes
# 4 had an Adaptive that was never released, 3 first editions, 2 the facts of a plan in the clock, 1 came before
# windows that differ by phase
VERSION = 5
OLDEST = 2  # that is still read
# What the names of a snapshot before version 4, and of version 4, are called now.
FIRST_EDITIONS, UNRELEASED = {"Adaptive": "AdaptiveV1"}, {"Adaptive": "Adaptive of version 4"}
NAMING = "class", "agent", "learner"  # what in a header names an agent


def save(agent: BuiltinAgent, path: str | os.PathLike[str]) -> None:
    """Write a snapshot of an agent."""
    from driftmdp.agents import builtin

    path, name = as_file(path), type(agent).__name__
    if builtin().get(name) is not type(agent):
        raise InvalidInputError(
            f"{name} must be one of the agents of driftmdp to be saved: load could not find its class. "
            "Save the agent that it is derived from, or write save and load of your own."
        )
    arrays: Arrays = {}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "package": __version__,
        "class": name,
        "waiting": agent._pending_step,
        "parameters": {name: _encode(value, name, arrays) for name, value in agent.parameters.items()},
    }
    arrays |= {f"state/{name}": array for name, array in agent._state_arrays().items()}
    try:
        write_whole(path, pack(header, arrays))
    except OSError as error:
        raise InvalidInputError(
            f"{path} must be in a folder that can be written to; nothing was changed ({error.strerror or error})."
        ) from None


def load(path: str | os.PathLike[str]) -> BuiltinAgent:
    """Return the agent of a snapshot; it goes on exactly as if it had never been interrupted.

    Examples
    --------
    >>> import tempfile, driftmdp as dm
    >>> agent = dm.agents.UCRL2(dm.Space.uniform(2, 2), horizon=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     agent.save(f"{folder}/agent.npz")
    ...     dm.agents.load(f"{folder}/agent.npz")
    UCRL2(space=Space.uniform(2, 2), horizon=100, radii='jaksch', ...)
    """
    from driftmdp.agents import builtin

    path = as_file(path)
    try:
        content = read_regular(path)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror or error
        raise InvalidInputError(f"{path} must be a snapshot of an agent that can be read; {reason}.") from None
    try:  # whatever is in the file, the answer is a sentence
        header, arrays = unpack(content, path)
        if header["format"] != FORMAT:
            raise ValueError(header["format"])
        version, package = int(header["version"]), str(header["package"])
        if version <= 4:
            header = _renamed(header, UNRELEASED if version == 4 else FIRST_EDITIONS)
        name = str(header["class"])
    except InvalidInputError:
        raise
    except Exception:
        rule = f"{path} must be a snapshot written by agent.save"
        raise InvalidInputError(f"{rule}; it is not one, or it is damaged.") from None
    if not OLDEST <= version <= VERSION:
        advice = "Update driftmdp to read it" if version > VERSION else "Read it with that driftmdp"
        rule = f"{path} must have format version {OLDEST} to {VERSION}"
        raise InvalidInputError(f"{rule}; it has {version}, written by driftmdp {package}. {advice}.")
    classes = builtin()
    if name not in classes:
        raise InvalidInputError(
            f"{path} must hold an agent of this version of driftmdp; it holds {name!r}. Start a new one."
        )
    try:
        return _assembled(classes[name], header, arrays)
    except Exception as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidInputError(f"{path} must be a whole snapshot; it does not fit together ({why}).") from None


def _renamed(content: Any, names: Mapping[str, str]) -> Any:
    """Return the header of an old snapshot with the names that its agents have now."""
    if isinstance(content, list):
        return [_renamed(item, names) for item in content]
    if not isinstance(content, dict):
        return content
    return {
        key: names.get(item, item) if key in NAMING and isinstance(item, str) else _renamed(item, names)
        for key, item in content.items()
    }


def _assembled(kind: type[BuiltinAgent], header: dict[str, Any], arrays: Arrays) -> BuiltinAgent:
    """Return the agent that a header and arrays describe; what does not fit raises something."""
    with quietly():  # what there is to say was said when the agent was first made
        agent = kind(**{name: _decode(value, arrays) for name, value in header["parameters"].items()})
    state = {name.removeprefix("state/"): array for name, array in arrays.items() if name.startswith("state/")}
    agent._restore(state)
    if header["waiting"] is not None:
        state_now, action = header["waiting"]
        agent.space.pair(state_now, action)
        if agent.horizon is not None and agent.t > agent.horizon:
            raise ValueError("it waits for a step after its horizon")
        agent._pending_step = state_now, action
    return agent


def _encode(value: Any, name: str, arrays: Arrays) -> Any:
    """Return a parameter as JSON; arrays go beside it."""
    if isinstance(value, Space):
        arrays[f"parameter/{name}"] = np.array(value.n_actions)
        return {"space": f"parameter/{name}", "state_names": value.state_names, "action_names": value.action_names}
    if isinstance(value, np.ndarray):
        arrays[f"parameter/{name}"] = value
        return {"array": f"parameter/{name}"}
    if isinstance(value, ParameterizedAgent):
        given = {key: _encode(item, f"{name}.{key}", arrays) for key, item in value.parameters.items()}
        return {"agent": value.name, "parameters": given}
    if isinstance(value, Mapping):
        return {"mapping": {str(key): _encode(item, f"{name}.{key}", arrays) for key, item in value.items()}}
    if dataclasses.is_dataclass(value):
        fields = {
            field.name: _encode(getattr(value, field.name), f"{name}.{field.name}", arrays)
            for field in dataclasses.fields(value)
        }
        return {"part": type(value).__name__, "fields": fields}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, numbers.Real) and not isinstance(value, bool | int | float):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if isinstance(value, (tuple, list)):
        return {"tuple": [_encode(v, f"{name}.{i}", arrays) for i, v in enumerate(value)]}
    return value


def _decode(value: Any, arrays: Arrays) -> Any:
    if not isinstance(value, dict):
        return value
    if "space" in value:
        _check_pairs(arrays[value["space"]], arrays)
        return Space(arrays[value["space"]], value["state_names"], value["action_names"])
    if "array" in value:
        return arrays[value["array"]]
    if "tuple" in value:
        return tuple(_decode(item, arrays) for item in value["tuple"])
    if "mapping" in value:
        return {key: _decode(item, arrays) for key, item in value["mapping"].items()}
    if "agent" in value:
        from driftmdp.agents import builtin

        return builtin()[value["agent"]](**{key: _decode(v, arrays) for key, v in value["parameters"].items()})
    kinds: dict[str, Any] = {kind.__name__: kind for kind in (*PARTS, *DETECTORS.values(), Costs)}
    return kinds[value["part"]](**{name: _decode(item, arrays) for name, item in value["fields"].items()})


def _check_pairs(n_actions: NDArray[Any], arrays: Arrays) -> None:
    """Refuse a space that is too large for its file: an agent takes memory for every pair, seen or not."""
    pairs, stored = float(n_actions.sum(dtype=np.float64)), sum(array.nbytes for array in arrays.values())
    if pairs > max(MODEST_PAIRS, stored):
        raise ValueError(f"a space of {pairs:.3g} pairs in a file of {stored:,} bytes")

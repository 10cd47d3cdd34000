"""Worlds in files: plain arrays and a header, as npz or as JSON, without pickle.

Both hold the same. The ``header`` has ``format`` ("driftmdp world"), ``version`` (1), ``kind`` ("mdp" or
"drifting"), ``state_names`` and ``action_names`` (null, or lists), and ``digest``, the SHA-256 of everything else.
Old files have no digest. The arrays, by name:

======================================  =====================================================================
name                                    content
======================================  =====================================================================
``n_actions``                           how many actions each state offers, shape (S,)
``rewards``                             (n_pairs,), or (K, n_pairs) of a drifting world, one row per anchor
``indptr``, ``indices``, ``data``       the transitions by pair, CSR, anchor below anchor
``weights_index``                       the anchor of each step, shape (T,), or instead
``weights_indptr``, ``_indices``, ...   the weights (T, K) as CSR
``reward_weights_...``                  the same for the rewards, if they have their own weights
======================================  =====================================================================

In npz the header is JSON text in the array ``header``. JSON files are ``{"header": ..., "arrays": ...}``.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from driftmdp.errors import InvalidInputError
from driftmdp.files import write_whole
from driftmdp.mdp import DriftingMdp, Mdp, Space
from driftmdp.mdp.sparse import csr_from_arrays
from driftmdp.mdp.weights import Weights
from driftmdp.npz import Arrays, pack, read_regular, unpack
from driftmdp.validation import as_file, one_of, shown

FORMAT, VERSION = "driftmdp world", 1
SUFFIXES = (".npz", ".json")
HEADER_KEYS = ("format", "version", "kind", "state_names", "action_names")


def save(world: Mdp | DriftingMdp, path: str | os.PathLike[str]) -> None:
    """Write an MDP or a drifting MDP to a file, exactly. The file is written whole or not at all.

    Parameters
    ----------
    world
        What to store. Of a :class:`Problem`, store its ``drifting``.
    path
        A name that ends in ``.npz`` (small and quick) or ``.json`` (readable, larger).

    Examples
    --------
    >>> import tempfile
    >>> from driftmdp import Mdp, Space
    >>> from driftmdp.interchange import load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Mdp(Space.uniform(1, 2), [0, 0.1], [[1], [1]]), f"{folder}/coin.json")
    ...     load(f"{folder}/coin.json").rewards
    array([0. , 0.1])
    """
    hint = " Of a Problem, save its drifting."
    if not isinstance(world, (Mdp, DriftingMdp)):
        raise InvalidInputError(f"world must be an Mdp or a DriftingMdp; got {type(world).__name__}.{hint}")
    file = _checked_path(path)
    header, arrays = _header(world), _arrays(world)
    header["digest"] = _digest(header, arrays)
    content = _as_json(header, arrays) if file.suffix == ".json" else pack(header, arrays)
    try:
        write_whole(file, content)
    except OSError as error:
        rule, why = f"{path} must be in a folder that can be written to", error.strerror or error
        raise InvalidInputError(f"{rule}; nothing was changed ({why}).") from None


def load(path: str | os.PathLike[str]) -> Mdp | DriftingMdp:
    """Return the world that ``save`` wrote to a file, number for number.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, is damaged, was not written by ``save``, or was written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> import driftmdp as dm
    >>> from driftmdp.interchange import load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(dm.problems.two_state(horizon=1000).drifting, f"{folder}/two-state.npz")
    ...     load(f"{folder}/two-state.npz")
    <DriftingMdp: 1,000 steps, ... anchors, 2 states, 4 pairs>
    """
    file = _checked_path(path)
    try:
        content = read_regular(file)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror or error
        raise InvalidInputError(f"{path} must be a world that can be read; {reason}.") from None
    try:
        header, arrays = _of_json(content) if file.suffix == ".json" else unpack(content, path)
        is_world, version = header["format"] == FORMAT, header["version"]
    except InvalidInputError:
        raise
    except Exception:  # the file may hold anything
        is_world = False
    if not is_world:
        raise InvalidInputError(f"{path} must be a file written by save; it is not one, or it is damaged.")
    if type(version) is not int or version != VERSION:
        newer = type(version) is int and version > VERSION
        advice = "Update driftmdp to read it" if newer else "It was edited. Save the world again"
        raise InvalidInputError(f"{path} must have version {VERSION}; got {shown(version)}. {advice}.")
    try:
        world = _world(header, arrays)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InvalidInputError(f"{path} must be a whole world; it does not fit together ({reason}).") from None
    if "digest" in header and header["digest"] != _digest(header, arrays):  # old files have none
        rule = f"{path} must hold what save wrote; its checksum differs, so it was damaged or edited"
        raise InvalidInputError(f"{rule}. If you edited it, delete the digest in its header.")
    return world


def _checked_path(path: str | os.PathLike[str]) -> Path:
    file = as_file(path)
    if file.suffix not in SUFFIXES:
        raise InvalidInputError(f"path must end in {' or '.join(SUFFIXES)}; got {shown(path)}.")
    return file


def _header(world: Mdp | DriftingMdp) -> dict[str, Any]:
    kind = "mdp" if isinstance(world, Mdp) else "drifting"
    names = {"state_names": world.space.state_names, "action_names": world.space.action_names}
    return {"format": FORMAT, "version": VERSION, "kind": kind, **names}


def _arrays(world: Mdp | DriftingMdp) -> Arrays:
    arrays: Arrays = {"n_actions": world.space.n_actions}
    if isinstance(world, Mdp):
        return arrays | {"rewards": world.rewards} | _csr_arrays(world.transitions, "")
    arrays |= {"rewards": world.anchor_rewards} | _csr_arrays(world.anchor_transitions, "")
    arrays |= _weight_arrays(world.weights, "weights_")
    if not world.rewards_follow_transitions:
        arrays |= _weight_arrays(world.reward_weights, "reward_weights_")
    return arrays


def _csr_arrays(matrix: sp.csr_array, prefix: str) -> Arrays:
    return {f"{prefix}{part}": getattr(matrix, part) for part in ("indptr", "indices", "data")}


def _weight_arrays(weights: Weights, prefix: str) -> Arrays:
    return _csr_arrays(weights.matrix, prefix) if weights.index is None else {f"{prefix}index": weights.index}


def _world(header: dict[str, Any], arrays: Arrays) -> Mdp | DriftingMdp:
    """Return the world of a header and arrays. Raises anything if they do not fit together."""
    unknown = sorted(set(header) - {*HEADER_KEYS, "digest"})
    if unknown:
        raise InvalidInputError(f"the header must have no {shown(unknown[0])}")
    for name, array in arrays.items():
        if array.dtype.kind not in "iuf":
            raise InvalidInputError(f"{shown(name)} must be numbers; got {array.dtype}")
    space = Space(arrays["n_actions"], header["state_names"], header["action_names"])
    if one_of(header["kind"], "kind", ("mdp", "drifting")) == "mdp":
        return Mdp(space, arrays["rewards"], _csr(arrays, "", space.n_pairs, space.n_states))
    rewards = arrays["rewards"]
    stacked = _csr(arrays, "", len(rewards) * space.n_pairs, space.n_states)
    n = space.n_pairs
    anchors = [Mdp(space, rewards[k], stacked[k * n : (k + 1) * n]) for k in range(len(rewards))]
    has_own = any(name.startswith("reward_weights_") for name in arrays)
    weights = _weights(arrays, "weights_", len(anchors))
    return DriftingMdp(anchors, weights, _weights(arrays, "reward_weights_", len(anchors)) if has_own else None)


def _weights(arrays: Arrays, prefix: str, n_anchors: int) -> Any:
    index = arrays.get(f"{prefix}index")
    return _csr(arrays, prefix, arrays[f"{prefix}indptr"].size - 1, n_anchors) if index is None else index


def _csr(arrays: Arrays, prefix: str, n_rows: int, n_columns: int) -> sp.csr_array:
    data, indices, indptr = (arrays[f"{prefix}{part}"] for part in ("data", "indices", "indptr"))
    return csr_from_arrays(data, indices, indptr, (n_rows, n_columns), f"{prefix}data")


def _digest(header: dict[str, Any], arrays: Arrays) -> str:
    """Return the SHA-256 of everything else, the same for npz and JSON."""
    digest = hashlib.sha256(json.dumps({name: header[name] for name in HEADER_KEYS}).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}{array.shape}".encode())
        digest.update(array.astype("<f8" if array.dtype.kind == "f" else "<i8").tobytes())
    return digest.hexdigest()


def _as_json(header: dict[str, Any], arrays: Arrays) -> bytes:
    lists = {name: array.tolist() for name, array in arrays.items()}
    return json.dumps({"header": header, "arrays": lists}, allow_nan=False).encode()


def _of_json(content: bytes) -> tuple[Any, Arrays]:
    document = json.loads(content, object_pairs_hook=_unique_names, parse_constant=_refuse_constant)
    return document["header"], {name: np.array(values) for name, values in document["arrays"].items()}


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name occurs twice")
    return named


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")

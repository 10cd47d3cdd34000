"""A user's own code: found by ``module:name``, and known by a digest of the files that it is made of."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from driftmdp.errors import InvalidInputError, UnknownNameError

__all__ = ["digest_of_code", "find"]

MARK = "__driftmdp_digest__"


def find(name: str) -> Any:
    """Return what ``module:name`` stands for: a class or a function.

    Examples
    --------
    >>> find("fractions:Fraction")
    <class 'fractions.Fraction'>
    """
    module_name, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise UnknownNameError(
            f"There is no {name!r}: {type(error).__name__}: {error}. Write 'module:name', with the module in the "
            "folder of the spec, in the current one, or installed."
        ) from None
    if not callable(found):
        raise InvalidInputError(f"{name} must be a class or a function; got {found!r}.")
    return found


def digest_of_code(name: str) -> str:
    """Return a digest of the module, and of all modules beside it that it uses.

    Raises
    ------
    InvalidInputError
        If a file was edited after this process had imported it: the old code would run under the new name.
    """
    module = importlib.import_module(name.partition(":")[0])
    whole = hashlib.sha256()
    for file, owner in sorted(_files(module).items()):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        if vars(owner).setdefault(MARK, content) != content:
            raise InvalidInputError(
                f"{file} was edited after it was imported, so its old code would run; start Python anew."
            )
        whole.update(f"{owner.__name__} {content}\n".encode())
    return whole.hexdigest()[:16]


def _files(module: ModuleType) -> dict[Path, ModuleType]:
    """Return the files of a module and of what it uses from the same folder or package."""
    file = _file_of(module)
    if file is None:
        return {}
    package = sys.modules.get(module.__name__.partition(".")[0], module)
    root = (_file_of(package) or file).parent
    if "site-packages" in root.parts and root.name == "site-packages":
        return {file: module}
    found: dict[Path, ModuleType] = {}
    waiting = [module]
    while waiting:
        current = waiting.pop()
        here = _file_of(current)
        if here is None or here in found or not here.is_relative_to(root):
            continue
        found[here] = current
        for value in list(vars(current).values()):
            owner = value if inspect.ismodule(value) else sys.modules.get(getattr(value, "__module__", None) or "")
            if owner is not None:
                waiting.append(owner)
    return found


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file and file.endswith(".py") else None
